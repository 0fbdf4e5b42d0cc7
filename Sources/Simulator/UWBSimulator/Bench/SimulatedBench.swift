// SPDX-License-Identifier: Apache-2.0

import Glibc
public import SystemPackage

/// Simulated chips on pseudo-terminals, in one scene, against the real clock.
///
/// ```swift
/// let bench = SimulatedBench(scene: Scene(seed: 7))
/// let a = try bench.add(profile: .qm33, at: SIMD3(0, 0, 0))
/// let b = try bench.add(profile: .qm33, at: SIMD3(3, 0, 0))
/// bench.start()
/// // Open a.path and b.path like serial ports.
/// ```
///
/// One thread serves all chips between `start()` and `stop()`. It ends with the bench.
public final class SimulatedBench: Sendable {
  private let server: PortServer<SimulatedChips>

  /// Creates a bench without chips.
  public init(scene: Scene = Scene()) {
    server = PortServer(SimulatedChips(simulation: Simulation(scene: scene)))
  }

  deinit { server.end() }

  /// Adds a chip at rest, at a position in metres.
  public func add(
    profile: ChipProfile, at position: SIMD3<Double>, name: String? = nil
  ) throws(Errno) -> Chip {
    try add(profile: profile, placement: Placement(at: position), name: name)
  }

  /// Adds a chip and powers it up. Its first packets wait for the host.
  public func add(
    profile: ChipProfile, placement: Placement, name: String? = nil
  ) throws(Errno) -> Chip {
    let terminal = try server.openTerminal()
    let id = server.change { chips in
      let id = chips.simulation.add(profile, placement: placement, name: name)
      chips.simulation.powerUp(id)
      chips.ports.append(
        Port(
          terminal: terminal, limit: profile.transmitQueue, watchesHosts: profile.forgetsHosts))
      return id
    }
    return Chip(server: server, id: id)
  }

  /// All chips, in the order in which they were added.
  public var chips: [Chip] {
    server.change { $0.simulation.chips }.map { Chip(server: server, id: $0) }
  }

  /// Starts to serve the chips. Does nothing if they are served.
  public func start() { server.start() }

  /// Stops serving the chips. The pseudo-terminals exist until the bench is released.
  public func stop() { server.stop() }

  /// Whether the stamps of exchanges are recorded for `takeExchanges()`.
  package var recordsExchanges: Bool {
    get { server.change { $0.simulation.recordsExchanges } }
    set { server.change { $0.simulation.recordsExchanges = newValue } }
  }

  /// Returns the exchanges since the last call, if `recordsExchanges` is set; at most 100 000.
  package func takeExchanges() -> [RecordedExchange] {
    server.change { $0.simulation.takeExchanges() }
  }

  /// A chip on the bench.
  public struct Chip: Sendable {
    fileprivate let server: PortServer<SimulatedChips>
    fileprivate let id: Simulation.ChipID

    private func change<R: Sendable>(_ body: (inout Simulation) -> R) -> R {
      server.change { body(&$0.simulation) }
    }

    /// The path for the host to open, like `/dev/pts/5`. Changes with `replug()`.
    public var path: String { server.change { $0.ports[id.index].terminal?.path ?? "" } }
    /// The name given to `add`.
    public var name: String { change { $0[id].name } }
    package var profile: ChipProfile { change { $0[id].chip.profile } }
    /// The current position in metres.
    public var position: SIMD3<Double> { change { $0.position(of: id) } }
    /// The movement and orientation, and the errors of clock and calibration.
    public var placement: Placement {
      get { change { $0[id].placement } }
      nonmutating set { change { $0[id].placement = newValue } }
    }
    package var faults: ChipFaults {
      get { change { $0[id].chip.faults } }
      nonmutating set { change { $0[id].chip.faults = newValue } }
    }

    /// The sessions on the chip.
    package var sessionCount: Int { change { $0[id].chip.sessions.count } }

    /// Waits until the number of sessions on the chip meets a condition. The bench must be running.
    package func waitForSessions(_ condition: (Int) -> Bool) async {
      let (counts, count) = AsyncStream<Int>.makeStream(bufferingPolicy: .bufferingNewest(1))
      server.change { $0.watchers.append((id, count)) }
      for await count in counts where condition(count) { return }
    }

    /// The number of commands that came earlier or more often than the chip's state allowed.
    package var disorderlyCommands: Int { change { $0[id].chip.disorderlyCommands } }

    /// Sends arbitrary bytes to the host, after the packets that the chip itself has sent.
    package func chatter(_ bytes: [UInt8]) {
      server.change { $0.ports[id.index].enqueue($0.simulation.takeOutput(of: id) + [bytes]) }
    }
    /// Restarts the chip without closing the port, as with a serial bridge.
    public func restart() { change { $0.restart(id) } }
    /// Simulates an internal failure: DEVICE_STATUS ERROR, then nothing until a reset.
    public func fail() { change { $0.fail(id) } }
    /// Unplugs the chip: the host sees a hang-up, the chip loses power and its state.
    public func unplug() {
      server.change { chips in
        chips.simulation.powerDown(id)
        chips.ports[id.index].unplug()
      }
    }
    /// Plugs the chip in again at a new path; a link created by `link(at:)` follows.
    public func replug() throws(Errno) {
      let terminal = try server.openTerminal()
      try server.change { chips throws(Errno) in
        chips.simulation.powerUp(id)
        try chips.ports[id.index].plug(terminal)
      }
    }
    /// Creates a symbolic link to the path, replacing an existing link. It is removed when the chip
    /// is unplugged and with the bench.
    public func link(at path: String) throws(Errno) {
      try server.change { chips throws(Errno) in try chips.ports[id.index].makeLink(at: path) }
    }
  }
}

/// The chips of a simulation, each with its port.
private struct SimulatedChips: Served {
  var simulation: Simulation
  var ports: [Port] = []
  /// The streams of numbers of sessions, for tests that wait for a number.
  var watchers: [(chip: Simulation.ChipID, count: AsyncStream<Int>.Continuation)] = []

  mutating func serve(
    at now: UInt64, _ buffer: inout [UInt8]
  ) -> (descriptors: [pollfd], deadline: UInt64?) {
    simulation.advance(to: now)
    var descriptors: [pollfd] = []
    for id in simulation.chips {
      guard let terminal = ports[id.index].terminal else { continue }
      if simulation[id].chip.profile.forgetsHosts, ports[id.index].hostHasGone() {
        simulation.restart(id)
      }
      for bytes in terminal.read(&buffer) { simulation.receive(bytes, by: id) }
      ports[id.index].enqueue(simulation.takeOutput(of: id))
      ports[id.index].flush()
      descriptors += ports[id.index].waiting
    }
    watchers.removeAll { watcher in
      let count = simulation[watcher.chip].chip.sessions.count
      if case .terminated = watcher.count.yield(count) { return true }
      return false
    }
    return (descriptors, simulation.nextDeadline)
  }
}

extension PortServer<SimulatedChips> {
  /// Advances the chips to the present time, and changes them.
  fileprivate func change<R: Sendable, E: Error>(
    _ body: (inout SimulatedChips) throws(E) -> R
  ) throws(E) -> R {
    try update { chips, now throws(E) in
      chips.simulation.advance(to: now)
      return try body(&chips)
    }
  }
}
