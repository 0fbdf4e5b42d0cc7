// SPDX-License-Identifier: Apache-2.0
package import JSON

/// Splits a stream of bytes into messages. A zero byte ends each message.
package struct VarlinkFraming: Sendable {
  /// The length of the longest message in bytes, without the zero byte.
  package let limit: Int
  private var buffer: [UInt8] = []
  /// The index at which the next message begins.
  private var start = 0
  /// The index up to which the buffer holds no zero byte.
  private var searched = 0

  package init(limit: Int = 65_536) { self.limit = limit }

  /// The number of bytes that no returned message has consumed.
  package var count: Int { buffer.count - start }

  /// Appends the next bytes of the stream, which may begin and end inside a message.
  package mutating func append(_ bytes: some Sequence<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      (searched, start) = (searched - start, 0)
    }
    buffer += bytes
  }

  /// Returns the next message without its zero byte, or nil until it is complete.
  ///
  /// - Throws: `VarlinkMessageError.tooLong`; the rest of the stream is then unreadable.
  package mutating func next() throws(VarlinkMessageError) -> [UInt8]? {
    let end = buffer[searched...].firstIndex(of: 0)
    guard (end ?? buffer.count) - start <= limit else { throw .tooLong(limit: limit) }
    guard let end else {
      searched = buffer.count
      return nil
    }
    defer { (start, searched) = (end + 1, end + 1) }
    return Array(buffer[start..<end])
  }
}

/// The reason why bytes are not a varlink message.
package enum VarlinkMessageError: Error, Hashable, CustomStringConvertible {
  case tooLong(limit: Int)
  case notJSON(JSONError)
  case notAnObject
  /// A member is missing or has a value of the wrong type.
  case invalid(member: String)

  package var description: String {
    switch self {
    case .tooLong(let limit): "The message is longer than \(limit) bytes."
    case .notJSON(let error): "The message is not JSON: \(error)."
    case .notAnObject: "The message is not an object."
    case .invalid(let member): "The member \(member) is missing, or its value has the wrong type."
    }
  }
}
