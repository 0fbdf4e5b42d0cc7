// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The bytes to send over a connection.
package struct OutputBuffer {
  private var bytes: [UInt8] = []
  /// Whether other connections may send the same array.
  private var isShared = false
  /// The number of bytes at the beginning that are sent.
  private var sent = 0
  /// The time since which the other end has accepted no bytes; nil while it accepts them.
  private(set) var blockedSince: ContinuousClock.Instant?

  enum Result { case accepted, blocked, failed }

  /// The number of unsent bytes.
  package var count: Int { bytes.count - sent }
  package var isEmpty: Bool { count == 0 }

  /// Appends bytes, without a copy if no others wait.
  package mutating func append(_ more: [UInt8]) {
    guard isEmpty else { return encode { $0 += more } }
    (bytes, sent, isShared) = (more, 0, true)
  }

  /// Appends the bytes that `body` appends.
  package mutating func encode(_ body: (inout [UInt8]) -> Void) {
    if sent > 0 {
      bytes.removeFirst(sent)
      sent = 0
    }
    body(&bytes)
  }

  /// Sends the bytes with one call of send(2).
  mutating func send(to socket: Int32) -> Result {
    let count = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.send(socket, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
    }
    guard count < 0 else {
      sent += count
      blockedSince = nil
      if sent == bytes.count {
        // Room for some replies stays, so that a fast client costs no allocations.
        bytes.removeAll(keepingCapacity: !isShared && bytes.capacity <= 4_096)
        (sent, isShared) = (0, false)
      }
      return .accepted
    }
    if errno == EINTR { return .accepted }
    guard errno == EAGAIN else { return .failed }
    blockedSince = blockedSince ?? .now
    return .blocked
  }
}
