// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A mutex without a value, for what lives outside Swift's sight.
final class Lock: Sendable {
  private let mutex = Mutex(())

  func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    mutex._unsafeLock()
    defer { mutex._unsafeUnlock() }
    return try body()
  }
}
