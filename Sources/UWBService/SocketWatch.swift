// SPDX-License-Identifier: Apache-2.0
import CUWB
import Dispatch
import Glibc

/// Says which of many sockets something has happened to. Dispatch sees one descriptor for all of them: a
/// source of its own is not safe at a socket whose other end may hang up, because Dispatch on Linux then
/// takes it from its tables on the source's queue while its own thread uses them.
final class SocketWatch: Sendable {
  private let descriptor = cuwb_watch_open()

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Watches a socket until it is closed.
  func add(_ socket: Int32, as number: Int) {
    cuwb_watch_set(descriptor, socket, UInt64(number), false, true)
  }

  /// - Parameter waitsForRoom: whether to tell when the socket takes more.
  func change(_ socket: Int32, as number: Int, waitsForRoom: Bool) {
    cuwb_watch_set(descriptor, socket, UInt64(number), waitsForRoom, false)
  }

  /// Calls `body` with the number of each socket to which something has happened, in a queue.
  func source(
    in queue: DispatchQueue, _ body: @escaping @Sendable (Int) -> Void
  ) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [descriptor] in
      var numbers = [UInt64](repeating: 0, count: 64)
      let count = cuwb_watch_take(descriptor, &numbers, Int32(numbers.count))
      for number in numbers.prefix(Int(max(0, count))) { body(Int(number)) }
    }
    // The source uses the descriptor until then.
    source.setCancelHandler { withExtendedLifetime(self) {} }
    return source
  }
}
