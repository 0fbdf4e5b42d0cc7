// SPDX-License-Identifier: Apache-2.0
internal import CUWB
package import Dispatch
internal import Glibc
package import SystemPackage

/// A watch of descriptors. They are in an epoll descriptor, which Dispatch watches.
///
/// A Dispatch source for each descriptor is not safe if the other end may hang up. Dispatch on
/// Linux then removes the descriptor from its tables on the source's queue, while its own thread
/// uses the tables.
package final class DescriptorWatch: @unchecked Sendable {
  // Safe because dispatch sources are thread-safe, although they are not marked as such on Linux.
  private let source: any DispatchSourceRead
  /// The epoll descriptor; nil after it was closed, or if the system had no free descriptor.
  private let set: Locked<Int32?>

  private init(
    _ set: Int32, or descriptor: Int32, in queue: DispatchQueue,
    ready: @escaping @Sendable () -> Bool, ended: @escaping @Sendable () -> Void
  ) {
    let open = Locked(set < 0 ? nil : set)
    self.set = open
    source = DispatchSource.makeReadSource(
      fileDescriptor: set < 0 ? descriptor : set, queue: queue)
    // Cancellation releases the handlers, which breaks the reference cycle.
    source.setEventHandler { [source] in
      if !ready() { source.cancel() }
    }
    source.setCancelHandler {
      open.withLock { if let set = $0.take() { close(set) } }
      ended()
    }
    source.resume()
  }

  /// Starts to watch one descriptor. The watch has its own queue, which uses no thread of Swift's
  /// tasks.
  ///
  /// - Parameters:
  ///   - label: the queue's name, for debuggers.
  ///   - readable: called while the descriptor is readable. It returns false to end the watch.
  ///   - ended: called once, when the descriptor is no longer used and may be closed.
  package convenience init(
    _ descriptor: Int32, label: String, readable: @escaping @Sendable () -> Bool,
    ended: @escaping @Sendable () -> Void
  ) {
    self.init(
      cuwb_watch_readable(descriptor), or: descriptor, in: DispatchQueue(label: label),
      ready: readable, ended: ended)
  }

  /// Opens the epoll descriptor of a watch to which descriptors are added.
  package static func openSet() throws(Errno) -> Int32 {
    let set = cuwb_watch_open()
    guard set >= 0 else { throw Errno(rawValue: errno) }
    return set
  }

  /// Starts a watch to which descriptors are added.
  ///
  /// - Parameters:
  ///   - set: a descriptor of `openSet()`, which the watch closes.
  ///   - ready: called on `queue` while `next()` returns numbers.
  package convenience init(
    _ set: Int32, in queue: DispatchQueue, ready: @escaping @Sendable () -> Void
  ) {
    self.init(set, or: set, in: queue) {
      ready()
      return true
    } ended: {
    }
  }

  deinit { source.cancel() }

  /// Ends the watch. Further calls do nothing.
  package func cancel() { source.cancel() }

  /// Watches a further descriptor until it is closed. Each change is reported once.
  package func add(_ descriptor: Int32, as number: Int) {
    change(descriptor, number, waitsForRoom: false, isNew: true)
  }

  /// Changes the events that are reported for an added descriptor.
  ///
  /// - Parameter waitsForRoom: Whether to report when the descriptor is writable.
  package func change(_ descriptor: Int32, as number: Int, waitsForRoom: Bool) {
    change(descriptor, number, waitsForRoom: waitsForRoom, isNew: false)
  }

  private func change(_ descriptor: Int32, _ number: Int, waitsForRoom: Bool, isNew: Bool) {
    set.withLock { set in
      guard let set else { return }
      cuwb_watch_set(set, descriptor, UInt64(number), waitsForRoom, isNew)
    }
  }

  /// Returns the numbers of up to eight added descriptors with events, and whether the other end of
  /// each has hung up. If there are more, `ready` is called again, so that no call takes long.
  package func next() -> [(number: Int, hasHungUp: Bool)] {
    var numbers = [UInt64](repeating: 0, count: 8)
    var hungUp = [Bool](repeating: false, count: 8)
    let count = set.withLock { set in
      guard let set else { return Int32(0) }
      return unsafe cuwb_watch_take(set, &numbers, &hungUp, Int32(numbers.count))
    }
    return zip(numbers, hungUp).prefix(Int(max(0, count))).map { (Int($0), $1) }
  }
}
