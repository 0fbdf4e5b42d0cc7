// SPDX-License-Identifier: Apache-2.0

import DequeModule
import Glibc
import Locking
import SystemPackage

/// What the bench and its thread share.
final class BenchCore: Sendable {
  private struct Port {
    var terminal: PseudoTerminal?
    var link: String?
    /// What the terminal has not taken yet.
    var queue = Deque<UInt8>()
    let limit: Int
  }

  private struct State {
    var simulation: Simulation
    var ports: [Port] = []
    var isStopping = false
  }

  private let state: Locked<State>
  /// A pipe: written to when there is something new for the thread.
  private let wake: (readEnd: FileDescriptor, writeEnd: FileDescriptor)
  private let beginning = BenchCore.monotonic()

  init(scene: Scene) {
    state = Locked(State(simulation: Simulation(scene: scene)))
    guard let pipe = try? FileDescriptor.pipe() else {
      // Out of descriptors: `add` will say so.
      wake = (FileDescriptor(rawValue: -1), FileDescriptor(rawValue: -1))
      return
    }
    wake = pipe
    for end in [wake.readEnd, wake.writeEnd] {
      _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
      _ = fcntl(end.rawValue, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    state.withLock { state in
      for port in state.ports {
        port.terminal?.hangUp()
        if let link = port.link { unlink(link) }
      }
    }
    close(wake.readEnd.rawValue)
    close(wake.writeEnd.rawValue)
  }

  private static func monotonic() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Nanoseconds since the bench was made.
  private var now: UInt64 { Self.monotonic() - beginning }

  // MARK: calls from outside

  func add(
    _ profile: ChipProfile, _ placement: Placement, _ name: String?
  ) throws(Errno) -> Simulation.ChipID {
    guard wake.readEnd.rawValue >= 0 else { throw Errno.tooManyOpenFiles }
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
      // Behind what the chip itself has said so far.
      Self.enqueue(state.simulation.takeOutput(of: id) + packets, on: &state.ports[id.index])
    }
    nudge()
  }

  func unplug(_ id: Simulation.ChipID) {
    state.withLock { state in
      state.simulation.powerDown(id)
      state.ports[id.index].queue.removeAll()
      state.ports[id.index].terminal?.hangUp()
      state.ports[id.index].terminal = nil
      if let link = state.ports[id.index].link { unlink(link) }
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
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(path) }
    guard symlink(self.path(of: id), path) == 0 else { throw Errno(rawValue: errno) }
    state.withLock { $0.ports[id.index].link = path }
  }

  func allowRunning() { state.withLock { $0.isStopping = false } }

  func askToStop() {
    state.withLock { $0.isStopping = true }
    nudge()
  }

  private func nudge() {
    // A full pipe wakes the thread as well.
    _ = withUnsafeBytes(of: UInt8(1)) { write(wake.writeEnd.rawValue, $0.baseAddress, 1) }
  }

  // MARK: the thread

  func run() {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while let (descriptors, deadline) = serve(&buffer) {
      var polled = descriptors
      // Milliseconds, rounded up: a little late rather than in circles.
      let wait = deadline.map { due in due > now ? (due - now + 999_999) / 1_000_000 : 0 }
      poll(&polled, nfds_t(polled.count), wait.map { Int32(clamping: $0) } ?? -1)
      while read(wake.readEnd.rawValue, &buffer, buffer.count) > 0 {}
    }
  }

  /// Does everything that can be done now; returns what to wait for, or nil to end.
  private func serve(_ buffer: inout [UInt8]) -> (descriptors: [pollfd], deadline: UInt64?)? {
    state.withLock { state in
      guard !state.isStopping else { return nil }
      state.simulation.advance(to: now)
      var descriptors = [pollfd(fd: wake.readEnd.rawValue, events: Int16(POLLIN), revents: 0)]
      for id in state.simulation.chips {
        guard let terminal = state.ports[id.index].terminal else { continue }
        let master = terminal.master.rawValue
        // A few chunks at a time, so that one host cannot keep the others waiting.
        for _ in 0..<4 {
          let count = read(master, &buffer, buffer.count)
          guard count > 0 else { break }
          state.simulation.receive(Array(buffer[..<count]), by: id)
        }
        Self.enqueue(state.simulation.takeOutput(of: id), on: &state.ports[id.index])
        Self.flush(&state.ports[id.index], to: master)
        let events = state.ports[id.index].queue.isEmpty ? POLLIN : POLLIN | POLLOUT
        descriptors.append(pollfd(fd: master, events: Int16(events), revents: 0))
      }
      return (descriptors, state.simulation.nextDeadline)
    }
  }

  /// Packets that do not fit are dropped whole: the oldest are kept, as the firmware does it.
  private static func enqueue(_ packets: [[UInt8]], on port: inout Port) {
    for packet in packets where port.queue.count + packet.count <= port.limit {
      port.queue.append(contentsOf: packet)
    }
  }

  private static func flush(_ port: inout Port, to master: Int32) {
    while !port.queue.isEmpty {
      let chunk = Array(port.queue.prefix(1_024))
      let written = write(master, chunk, chunk.count)
      guard written > 0 else { return }
      port.queue.removeFirst(written)
    }
  }
}
