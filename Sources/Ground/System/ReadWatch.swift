// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Dispatch
internal import Glibc

/// Calls back while a descriptor is readable. The queue is its own, so its thread is not one of those
/// that run Swift's tasks.
package final class ReadWatch: @unchecked Sendable {
  // Sendable: dispatch sources are thread-safe, though not marked so on Linux.
  private let source: any DispatchSourceRead

  /// - Parameters:
  ///   - label: the queue's name, for debuggers.
  ///   - readable: reads what there is; false ends the watch.
  ///   - ended: called once, when the descriptor is no longer used and may be closed.
  package init(
    _ descriptor: Int32, label: String, readable: @escaping @Sendable () -> Bool,
    ended: @escaping @Sendable () -> Void
  ) {
    // A source is not safe at a descriptor whose other end may hang up: Dispatch on Linux then takes it
    // from its tables on the source's queue while its own thread uses them. Without a descriptor to
    // spare, it has to do.
    let watched = cuwb_watch_readable(descriptor)
    source = DispatchSource.makeReadSource(
      fileDescriptor: watched < 0 ? descriptor : watched, queue: DispatchQueue(label: label))
    // Cancellation releases the handlers, and with them the reference cycle.
    source.setEventHandler { [source] in
      if !readable() { source.cancel() }
    }
    source.setCancelHandler {
      if watched >= 0 { close(watched) }
      ended()
    }
    source.resume()
  }

  deinit { source.cancel() }

  /// Ends the watch. Further calls do nothing.
  package func cancel() { source.cancel() }
}
