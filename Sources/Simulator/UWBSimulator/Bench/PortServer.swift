// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import SystemPackage

/// Chips with ports.
protocol Served: Sendable {
  var ports: [Port] { get }
  /// Passes bytes between the chips and their ports, at a time in nanoseconds.
  ///
  /// - Returns: the descriptors to wait for, and the latest time to serve the chips again.
  mutating func serve(
    at now: UInt64, _ buffer: inout [UInt8]
  ) -> (descriptors: [pollfd], deadline: UInt64?)
}

/// Serves chips on a thread of its own while it is running. Releasing it closes their ports.
final class PortServer<Chips: Served>: Sendable {
  private enum Phase { case stopped, running, ended }
  private struct State {
    var chips: Chips
    var phase = Phase.stopped
  }

  private let state: Locked<State>
  private let wake = WakePipe()
  private let beginning = nanoseconds(of: CLOCK_MONOTONIC)
  private let thread = Locked<pthread_t?>(nil)

  init(_ chips: Chips) { state = Locked(State(chips: chips)) }

  deinit {
    state.withLock { state in
      for var port in state.chips.ports { port.close() }
    }
  }

  /// Nanoseconds since the server was created.
  private var now: UInt64 { nanoseconds(of: CLOCK_MONOTONIC) - beginning }

  /// Opens a terminal for another port.
  ///
  /// - Throws: The error of the system if it has no descriptor or thread left.
  func openTerminal() throws(Errno) -> PseudoTerminal {
    guard wake.readEnd >= 0 else { throw Errno.tooManyOpenFiles }
    let terminal = try PseudoTerminal()
    do throws(Errno) { try startThread() } catch {
      terminal.hangUp()
      throw error
    }
    return terminal
  }

  /// Changes the chips, at a time in nanoseconds, and wakes the thread to continue.
  func update<R: Sendable, E: Error>(
    _ body: (inout Chips, _ now: UInt64) throws(E) -> R
  ) throws(E) -> R {
    defer { wake.wake() }
    return try state.withLock { state throws(E) in try body(&state.chips, now) }
  }

  /// Serves the chips from now on.
  func start() { change(to: .running) }

  /// Stops serving the chips, which are idle when this returns.
  func stop() { change(to: .stopped) }

  /// Ends the thread and waits for it. The owner has to call this, because the thread retains the
  /// server.
  func end() {
    change(to: .ended)
    thread.withLock { thread in
      guard let running = thread else { return }
      pthread_join(running, nil)
      thread = nil
    }
  }

  private func change(to phase: Phase) {
    state.withLock { $0.phase = phase }
    wake.wake()
  }

  /// Starts the thread with the first port. It is idle until `start()`.
  private func startThread() throws(Errno) {
    try thread.withLock { thread throws(Errno) in
      guard thread == nil else { return }
      var new = pthread_t()
      let work = unsafe Unmanaged.passRetained(Work { self.run() })
      let code = unsafe pthread_create(
        &new, nil,
        { argument in
          guard let argument = unsafe argument else { return nil }
          unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
          return nil
        }, work.toOpaque())
      guard code == 0 else {
        unsafe work.release()
        throw Errno(rawValue: code)
      }
      thread = new
    }
  }

  private func run() {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while case (var descriptors, let deadline)? = state.withLock({ turn(&$0, &buffer) }) {
      wake.wait(&descriptors, until: deadline, now: now)
    }
  }

  /// Serves the chips once while the server is running.
  ///
  /// - Returns: The descriptors and the deadline to wait for; nil at the end.
  private func turn(
    _ state: inout State, _ buffer: inout [UInt8]
  ) -> (descriptors: [pollfd], deadline: UInt64?)? {
    switch state.phase {
    case .stopped: ([], nil)
    case .running: state.chips.serve(at: now, &buffer)
    case .ended: nil
    }
  }
}

/// The work of a thread.
private final class Work {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}
