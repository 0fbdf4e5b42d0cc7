// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// A successful reply whose parameters are encoded once for all connections that receive it.
package struct EncodedReply: Sendable {
  /// A parameter that differs between connections, after all others. The name needs no escapes.
  private let own: StaticString?
  /// The length of the beginning that all messages share.
  private let common: Int

  /// The message with its zero byte if another reply to the same call follows and the connection's
  /// own parameter is 0. Connections share its bytes.
  package let message: [UInt8]

  /// The length in bytes, without the parts that differ between connections.
  package var count: Int { common }

  /// - Parameters:
  ///   - own: The name of a parameter that differs between connections.
  ///   - capacity: The expected length of the message in bytes.
  ///   - appendParameters: Appends the members of the parameters, without braces.
  package init(
    own: StaticString? = nil, capacity: Int = 0, _ appendParameters: (inout [UInt8]) -> Void
  ) {
    var message: [UInt8] = []
    message.reserveCapacity(capacity)
    message.append(#"{"parameters":{"#)
    appendParameters(&message)
    (self.own, common) = (own, message.count)
    Self.appendEnd(to: &message, own, 0, [], continues: true)
    self.message = message
  }

  /// Appends the message of one connection, with its zero byte.
  ///
  /// - Parameters:
  ///   - value: The value of the connection's own parameter.
  ///   - more: Further encoded parameters, each with its comma before it.
  ///   - continues: Whether another reply to the same call follows.
  package func append(
    to output: inout [UInt8], own value: UInt64 = 0, more: [UInt8] = [], continues: Bool = false
  ) {
    output += message[..<common]
    Self.appendEnd(to: &output, own, value, more, continues: continues)
  }

  private static func appendEnd(
    to output: inout [UInt8], _ own: StaticString?, _ value: UInt64, _ more: [UInt8],
    continues: Bool
  ) {
    if let own {
      output.append(",\"")
      output.append(own)
      output.append("\":")
      output.appendDigits(value)
    }
    output += more
    output.append(continues ? #"},"continues":true}"# : "}}")
    output.append(0)
  }
}
