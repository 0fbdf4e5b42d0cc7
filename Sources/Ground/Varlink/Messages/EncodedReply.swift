// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// A successful reply whose parameters are encoded once for all connections that receive it.
package struct EncodedReply: Sendable {
  /// The message up to the end of the parameters.
  private var beginning: [UInt8] = []

  /// The length in bytes, without the parts that differ between connections.
  package var count: Int { beginning.count }

  /// - Parameters:
  ///   - capacity: The expected length of the message in bytes.
  ///   - appendParameters: Appends the members of the parameters, without braces.
  package init(capacity: Int = 0, _ appendParameters: (inout [UInt8]) -> Void) {
    beginning.reserveCapacity(capacity)
    beginning += #"{"parameters":{"#.utf8
    appendParameters(&beginning)
  }

  /// Appends the message of one connection, with its zero byte.
  ///
  /// - Parameters:
  ///   - own: A parameter that differs between connections, after all others. The name needs no
  ///     escapes.
  ///   - more: Further encoded parameters, each with its comma before it.
  ///   - continues: Whether another reply to the same call follows.
  package func append(
    to output: inout [UInt8], own: (name: String, value: UInt64)? = nil, more: [UInt8] = [],
    continues: Bool = false
  ) {
    output += beginning
    if let own {
      output += #",""#.utf8
      output += own.name.utf8
      output += #"":"#.utf8
      output.appendDigits(own.value)
    }
    output += more
    output += (continues ? #"},"continues":true}"# : "}}").utf8
    output.append(0)
  }
}
