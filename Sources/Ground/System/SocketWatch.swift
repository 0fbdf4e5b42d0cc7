// SPDX-License-Identifier: Apache-2.0
internal import CUWB
package import Dispatch
internal import Glibc

/// Says which of many sockets something has happened to. Dispatch sees one descriptor for all of them: a
/// source of its own is not safe at a socket whose other end may hang up, because Dispatch on Linux then
/// takes it from its tables on the source's queue while its own thread uses them.
package final class SocketWatch: Sendable {
  private let descriptor = cuwb_watch_open()

  package init() {}

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Watches a socket until it is closed.
  package func add(_ socket: Int32, as number: Int) {
    cuwb_watch_set(descriptor, socket, UInt64(number), false, true)
  }

  /// - Parameter waitsForRoom: whether to tell when the socket takes more.
  package func change(_ socket: Int32, as number: Int, waitsForRoom: Bool) {
    cuwb_watch_set(descriptor, socket, UInt64(number), waitsForRoom, false)
  }

  /// Calls `body` in a queue when something has happened to one of them.
  package func source(
    in queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: body)
    // The source uses the descriptor until then.
    source.setCancelHandler { withExtendedLifetime(self) {} }
    return source
  }

  /// The numbers of some sockets to which something has happened; there may be more of them, which are told
  /// next, so that no turn is long.
  package func next() -> [Int] {
    var numbers = [UInt64](repeating: 0, count: 8)
    let count = cuwb_watch_take(descriptor, &numbers, Int32(numbers.count))
    return numbers.prefix(Int(max(0, count))).map(Int.init)
  }
}
