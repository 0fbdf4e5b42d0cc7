// SPDX-License-Identifier: Apache-2.0

/// Finds messages in a stream of bytes: each is ended by a byte that is zero.
package struct VarlinkFraming: Sendable {
  /// Bytes of the longest message, without its end.
  package let limit: Int
  private var buffer: [UInt8] = []
  /// Where the next message begins.
  private var start = 0
  /// Up to where no end was found.
  private var searched = 0

  package init(limit: Int = 65_536) { self.limit = limit }

  /// Bytes that were not taken as messages yet.
  package var count: Int { buffer.count - start }

  /// Appends the next bytes of the stream, cut anywhere.
  package mutating func append(_ bytes: some Sequence<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      (searched, start) = (searched - start, 0)
    }
    buffer += bytes
  }

  /// The next message, without its end; nil until it is complete.
  ///
  /// - Throws: `VarlinkMessageError.tooLong`, after which nothing that follows can be read.
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

/// Why bytes are no message of varlink.
package enum VarlinkMessageError: Error, Hashable, CustomStringConvertible {
  case tooLong(limit: Int)
  case notJSON(JSONError)
  case notAnObject
  /// A member is missing, or has a value of another kind.
  case invalid(member: String)

  package var description: String {
    switch self {
    case .tooLong(let limit): "The message is longer than \(limit) bytes."
    case .notJSON(let error): "The message is not JSON: \(error)."
    case .notAnObject: "The message is not an object."
    case .invalid(let member): "The member \(member) is missing, or its value is of another kind."
    }
  }
}
