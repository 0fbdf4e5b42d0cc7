// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import System

/// Accepts connections at a listening socket.
@ServiceActor final class Acceptor {
  private let source: any DispatchSourceRead
  private var isPaused = false

  /// Begins to accept.
  ///
  /// - Parameters:
  ///   - socket: A non-blocking socket that listens. The acceptor closes it when it stops.
  ///   - accepted: Takes over the descriptor of a connection.
  init(_ socket: Int32, _ accepted: @escaping @ServiceActor (Int32) -> Void) {
    source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: ServiceQueue.shared.queue)
    // These are called before the queue runs them as jobs of the actor.
    source.setEventHandler { @Sendable [weak self] in
      ServiceQueue.shared.handle {
        if !Self.accept(from: socket, accepted) { self?.pause() }
      }
    }
    source.setCancelHandler { @Sendable in close(socket) }
    source.resume()
  }

  func stop() {
    resume()
    source.cancel()
  }

  /// Accepts up to 16 connections; the event source fires again for the rest.
  ///
  /// - Returns: False when no descriptor is free.
  private static func accept(from socket: Int32, _ accepted: (Int32) -> Void) -> Bool {
    for _ in 0..<16 {
      let descriptor = Glibc.accept(socket, nil, nil)
      guard descriptor >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return ![EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno)
      }
      makeNonBlocking(descriptor)
      accepted(descriptor)
    }
    return true
  }

  /// Pauses accepting for 100 ms when no descriptor is free. Dispatch would otherwise call the
  /// handler in a busy loop.
  private func pause() {
    isPaused = true
    source.suspend()
    ServiceQueue.shared.later(after: .milliseconds(100)) { [weak self] in self?.resume() }
  }

  private func resume() {
    if isPaused { source.resume() }
    isPaused = false
  }
}
