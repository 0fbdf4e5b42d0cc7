// SPDX-License-Identifier: Apache-2.0
package import JSON

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
    own: StaticString? = nil, capacity: Int = 256, _ appendParameters: (inout JSONText) -> Void
  ) {
    var text = JSONText(capacity: capacity)
    text.append(#"{"parameters":{"#)
    appendParameters(&text)
    (self.own, common) = (own, text.count)
    Self.appendEnd(to: &text, own, 0, [], continues: true)
    message = text.bytes
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
    var end = JSONText(capacity: 64 + more.count)
    Self.appendEnd(to: &end, own, value, more, continues: continues)
    output += message[..<common]
    output += end.bytes
  }

  private static func appendEnd(
    to text: inout JSONText, _ own: StaticString?, _ value: UInt64, _ more: [UInt8],
    continues: Bool
  ) {
    if let own {
      text.appendKey(own)
      text.appendDigits(value)
    }
    text.append(contentsOf: more)
    text.append(continues ? #"},"continues":true}"# : "}}")
    text.append(0)
  }
}
