// SPDX-License-Identifier: Apache-2.0

import DequeModule
import Glibc
import Locking
import SystemPackage

/// The state shared by the bench and its thread.
final class BenchCore: Service {
  private struct State {
    var simulation: Simulation
    var ports: [Port] = []
    var isStopping = false
  }

  private let state: Locked<State>
  private let wake = WakePipe()
  private let beginning = monotonicNanoseconds()

  init(scene: Scene) { state = Locked(State(simulation: Simulation(scene: scene))) }

  deinit {
    state.withLock { state in
      for port in state.ports { port.close() }
    }
  }

  /// Nanoseconds since the bench was created.
  private var now: UInt64 { monotonicNanoseconds() - beginning }

  // MARK: control

  func add(
    _ profile: ChipProfile, _ placement: Placement, _ name: String?
  ) throws(Errno) -> Simulation.ChipID {
    guard wake.isOpen else { throw Errno.tooManyOpenFiles }
    let terminal = try PseudoTerminal()
    let id = state.withLock { state in
      state.simulation.advance(to: now)
      let id = state.simulation.add(profile, placement: placement, name: name)
      state.simulation.powerUp(id)
      state.ports.append(Port(terminal: terminal, limit: profile.transmitQueue))
      return id
    }
    nudge()
    return id
  }

  var chips: [Simulation.ChipID] { state.withLock { $0.simulation.chips } }

  func path(of id: Simulation.ChipID) -> String {
    state.withLock { $0.ports[id.index].terminal?.path ?? "" }
  }

  func withSimulation<R: Sendable>(_ body: (inout Simulation) -> R) -> R {
    let result = state.withLock { state in
      state.simulation.advance(to: now)
      return body(&state.simulation)
    }
    nudge()
    return result
  }

  func send(_ packets: [[UInt8]], to id: Simulation.ChipID) {
    state.withLock { state in
      // After the packets that the chip itself has sent.
      state.ports[id.index].enqueue(state.simulation.takeOutput(of: id) + packets)
    }
    nudge()
  }

  func unplug(_ id: Simulation.ChipID) {
    state.withLock { state in
      state.simulation.powerDown(id)
      state.ports[id.index].unplug()
    }
    nudge()
  }

  func replug(_ id: Simulation.ChipID) throws(Errno) {
    let terminal = try PseudoTerminal()
    let link = state.withLock { state -> String? in
      state.simulation.advance(to: now)
      state.simulation.powerUp(id)
      state.ports[id.index].terminal?.hangUp()
      state.ports[id.index].terminal = terminal
      return state.ports[id.index].link
    }
    if let link { try self.link(id, at: link) }
    nudge()
  }

  func link(_ id: Simulation.ChipID, at path: String) throws(Errno) {
    try makeLink(at: path, to: self.path(of: id))
    state.withLock { $0.ports[id.index].link = path }
  }

  func allowRunning() { state.withLock { $0.isStopping = false } }

  func askToStop() {
    state.withLock { $0.isStopping = true }
    nudge()
  }

  private func nudge() { wake.nudge() }

  // MARK: the thread

  func run() {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while let (descriptors, deadline) = serve(&buffer) {
      wake.wait(descriptors, until: deadline, now: now)
    }
  }

  /// Serves all chips; returns what to wait for, or nil to end.
  private func serve(_ buffer: inout [UInt8]) -> (descriptors: [pollfd], deadline: UInt64?)? {
    state.withLock { state in
      guard !state.isStopping else { return nil }
      state.simulation.advance(to: now)
      var descriptors: [pollfd] = []
      for id in state.simulation.chips {
        guard let terminal = state.ports[id.index].terminal else { continue }
        for bytes in terminal.read(&buffer) { state.simulation.receive(bytes, by: id) }
        state.ports[id.index].enqueue(state.simulation.takeOutput(of: id))
        state.ports[id.index].flush()
        if let waiting = state.ports[id.index].waiting { descriptors.append(waiting) }
      }
      return (descriptors, state.simulation.nextDeadline)
    }
  }
}
