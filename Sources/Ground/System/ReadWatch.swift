// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Dispatch
internal import Glibc

/// A watch that calls back while a descriptor is readable. It has its own queue, so it does not use
/// the threads of Swift's tasks.
package final class ReadWatch: @unchecked Sendable {
  // Sendable: dispatch sources are thread-safe, though not marked so on Linux.
  private let source: any DispatchSourceRead

  /// Starts to watch a descriptor.
  ///
  /// - Parameters:
  ///   - label: the queue's name, for debuggers.
  ///   - readable: reads the available bytes. It returns false to end the watch.
  ///   - ended: called once, when the descriptor is no longer used and may be closed.
  package init(
    _ descriptor: Int32, label: String, readable: @escaping @Sendable () -> Bool,
    ended: @escaping @Sendable () -> Void
  ) {
    // A source is not safe with a descriptor whose other end may hang up. Dispatch on Linux then
    // removes it from its tables on the source's queue, while its own thread uses them. So a second
    // descriptor is watched, if one is available.
    let watched = cuwb_watch_readable(descriptor)
    source = DispatchSource.makeReadSource(
      fileDescriptor: watched < 0 ? descriptor : watched, queue: DispatchQueue(label: label))
    // Cancellation releases the handlers, which breaks the reference cycle.
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
