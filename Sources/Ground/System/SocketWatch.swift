// SPDX-License-Identifier: Apache-2.0
internal import CUWB
package import Dispatch
internal import Glibc

/// An epoll descriptor that watches many sockets, and that Dispatch watches in turn.
///
/// One source per socket is not safe when the other end may hang up. Dispatch on Linux then removes
/// the socket from its tables on the source's queue while its own thread uses them.
package final class SocketWatch: Sendable {
  private let descriptor = cuwb_watch_open()

  package init() {}

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Watches a socket until it is closed.
  package func add(_ socket: Int32, as number: Int) {
    cuwb_watch_set(descriptor, socket, UInt64(number), false, true)
  }

  /// Changes the events that are reported for a socket.
  ///
  /// - Parameter waitsForRoom: Whether to report when the socket is writable.
  package func change(_ socket: Int32, as number: Int, waitsForRoom: Bool) {
    cuwb_watch_set(descriptor, socket, UInt64(number), waitsForRoom, false)
  }

  /// Makes a source that calls `body` on a queue when an event is pending.
  package func source(
    in queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: body)
    // Keeps the descriptor open until the source is cancelled.
    source.setCancelHandler { withExtendedLifetime(self) {} }
    return source
  }

  /// Returns the numbers of up to eight sockets with events. The source fires again for the rest,
  /// so that each turn is short.
  package func next() -> [Int] {
    var numbers = [UInt64](repeating: 0, count: 8)
    let count = unsafe cuwb_watch_take(descriptor, &numbers, Int32(numbers.count))
    return numbers.prefix(Int(max(0, count))).map(Int.init)
  }
}
