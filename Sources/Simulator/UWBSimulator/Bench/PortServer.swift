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

/// Serves chips on a thread of its own until it is stopped; releasing it closes their ports.
final class PortServer<Chips: Served>: Sendable {
  private struct State {
    var chips: Chips
    var isStopping = false
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
  func openTerminal() throws(Errno) -> PseudoTerminal {
    guard wake.readEnd >= 0 else { throw Errno.tooManyOpenFiles }
    return try PseudoTerminal()
  }

  /// Changes the chips, at a time in nanoseconds, and wakes the thread to continue.
  func update<R: Sendable, E: Error>(
    _ body: (inout Chips, _ now: UInt64) throws(E) -> R
  ) throws(E) -> R {
    defer { wake.wake() }
    return try state.withLock { state throws(E) in try body(&state.chips, now) }
  }

  /// Does nothing if the thread is running.
  func start() {
    thread.withLock { thread in
      guard thread == nil else { return }
      state.withLock { $0.isStopping = false }
      var new = pthread_t()
      let code = unsafe pthread_create(
        &new, nil,
        { argument in
          guard let argument = unsafe argument else { return nil }
          unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
          return nil
        }, Unmanaged.passRetained(Work { self.run() }).toOpaque())
      precondition(code == 0, "cannot create a thread: \(Errno(rawValue: code))")
      thread = new
    }
  }

  /// Stops the thread and waits for it. Its owner has to call this: the thread retains the server.
  func stop() {
    thread.withLock { thread in
      guard let running = thread else { return }
      state.withLock { $0.isStopping = true }
      wake.wake()
      pthread_join(running, nil)
      thread = nil
    }
  }

  private func run() {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while case (var descriptors, let deadline)? = state.withLock({ state in
      state.isStopping ? nil : state.chips.serve(at: now, &buffer)
    }) {
      wake.wait(&descriptors, until: deadline, now: now)
    }
  }
}

/// The work of a thread.
private final class Work {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}
