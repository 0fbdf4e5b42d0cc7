// SPDX-License-Identifier: Apache-2.0

import Glibc
import Locking
package import SystemPackage

/// A recorded chip on a pseudo-terminal.
///
/// One thread serves it; `stop()` or releasing the device ends it.
package final class RecordedDevice: Sendable {
  private let core: RecordedDeviceCore
  private let thread: ServiceThread

  /// Creates the device and powers the chip up.
  ///
  /// - Parameters: see `RecordedChip`.
  /// - Throws: `Errno` if no pseudo-terminal can be opened.
  package init(
    _ recording: Recording, speed: Double = 1, repeats: Bool = false
  ) throws(Errno) {
    core = try RecordedDeviceCore(RecordedChip(recording, speed: speed, repeats: repeats))
    thread = ServiceThread(core)
  }

  deinit { stop() }

  /// The path for the host to open, like `/dev/pts/5`.
  package var path: String { core.path }
  package var statistics: RecordedChip.Statistics { core.statistics }

  /// Creates a symbolic link to the path, replacing an existing link; removed with the device.
  package func link(at path: String) throws(Errno) { try core.link(at: path) }

  /// Starts the thread. Does nothing if it is running.
  package func start() { thread.start() }

  /// Stops the thread and waits for it. The pseudo-terminal stays open.
  package func stop() { thread.stop() }
}

/// The state shared by the device and its thread.
private final class RecordedDeviceCore: Service {
  private struct State {
    var chip: RecordedChip
    var port: Port
    var isStopping = false
  }

  let path: String
  private let state: Locked<State>
  private let wake = WakePipe()
  private let beginning = monotonicNanoseconds()

  /// Large enough that no recording is dropped for a slow host.
  private static let queueLimit = 1 << 26

  init(_ chip: RecordedChip) throws(Errno) {
    guard wake.isOpen else { throw Errno.tooManyOpenFiles }
    let terminal = try PseudoTerminal()
    path = terminal.path
    var chip = chip
    chip.powerUp(at: 0)
    state = Locked(State(chip: chip, port: Port(terminal: terminal, limit: Self.queueLimit)))
  }

  deinit { state.withLock { $0.port.close() } }

  var statistics: RecordedChip.Statistics { state.withLock { $0.chip.statistics } }

  func link(at link: String) throws(Errno) {
    try makeLink(at: link, to: path)
    state.withLock { $0.port.link = link }
  }

  func allowRunning() { state.withLock { $0.isStopping = false } }

  func askToStop() {
    state.withLock { $0.isStopping = true }
    wake.nudge()
  }

  private var now: UInt64 { monotonicNanoseconds() - beginning }

  func run() {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while let (descriptors, deadline) = serve(&buffer) {
      wake.wait(descriptors, until: deadline, now: now)
    }
  }

  private func serve(_ buffer: inout [UInt8]) -> (descriptors: [pollfd], deadline: UInt64?)? {
    state.withLock { state in
      guard !state.isStopping, let terminal = state.port.terminal else { return nil }
      // Due packets are sent before new requests are handled.
      state.port.enqueue(state.chip.takeOutput(at: now))
      for bytes in terminal.read(&buffer) { state.chip.receive(bytes, at: now) }
      state.port.enqueue(state.chip.takeOutput(at: now))
      state.port.flush()
      return (state.port.waiting.map { [$0] } ?? [], state.chip.nextDeadline)
    }
  }
}
