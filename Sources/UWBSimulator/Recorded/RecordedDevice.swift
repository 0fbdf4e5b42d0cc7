// SPDX-License-Identifier: Apache-2.0

import Glibc
import Locking
package import SystemPackage

/// A recorded chip on a pseudo-terminal, for any host that can open a serial port.
///
/// One thread serves it. It ends with `stop()` or with the device.
package final class RecordedDevice: Sendable {
  private let core: RecordedDeviceCore
  private let thread: ServiceThread

  /// The chip has power at once, and says so in bytes that wait for its host.
  ///
  /// - Parameters: as of `RecordedChip`.
  /// - Throws: `Errno` when there is no pseudo-terminal to be had.
  package init(
    _ recording: Recording, speed: Double = 1, repeats: Bool = false
  ) throws(Errno) {
    core = try RecordedDeviceCore(RecordedChip(recording, speed: speed, repeats: repeats))
    thread = ServiceThread(core)
  }

  deinit { stop() }

  /// What a host opens, like `/dev/pts/5`.
  package var path: String { core.path }
  /// What came of the requests so far.
  package var statistics: RecordedChip.Statistics { core.statistics }

  /// Makes a symbolic link to the path, in the place of a link that is there; removed with this.
  package func link(at path: String) throws(Errno) { try core.link(at: path) }

  /// Begins to serve. Twice is once.
  package func start() { thread.start() }

  /// Stops serving and waits for the thread. The pseudo-terminal stays.
  package func stop() { thread.stop() }
}

/// What the device and its thread share.
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

  /// A host that reads nothing for so long has lost it; nothing of the recording is dropped before.
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
      // What is due goes out before what is asked for now.
      state.port.enqueue(state.chip.takeOutput(at: now))
      for bytes in terminal.read(&buffer) { state.chip.receive(bytes, at: now) }
      state.port.enqueue(state.chip.takeOutput(at: now))
      state.port.flush()
      return (state.port.waiting.map { [$0] } ?? [], state.chip.nextDeadline)
    }
  }
}
