// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Calls back, on a queue of its own, while a descriptor has something to read.
final class ReadWatch: @unchecked Sendable {
  // Sound: Dispatch's objects may be used from any thread; they are not marked as such on Linux.
  private let source: any DispatchSourceRead

  /// - Parameters:
  ///   - label: of the queue, for debuggers.
  ///   - readable: reads what there is; false ends the watch.
  ///   - ended: called once, when nothing is read any more; the descriptor may be closed then.
  init(
    _ descriptor: Int32, label: String, readable: @escaping @Sendable () -> Bool,
    ended: @escaping @Sendable () -> Void
  ) {
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: label))
    // The handlers go with the cancellation, and the circle with them.
    source.setEventHandler { [source] in
      if !readable() { source.cancel() }
    }
    source.setCancelHandler(handler: ended)
    source.resume()
  }

  deinit { source.cancel() }

  /// Ends it; twice is once.
  func cancel() { source.cancel() }
}
