// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// A successful reply whose parameters are encoded once for all connections that receive it.
package struct EncodedReply: Sendable {
  /// The message up to the end of the parameters.
  private var beginning: [UInt8]

  /// - Parameter parameters: The JSON text of each parameter, in the order of the message.
  package init(_ parameters: KeyValuePairs<String, String>) {
    beginning = Array(#"{"parameters":{"#.utf8)
    for (index, parameter) in parameters.enumerated() {
      if index > 0 { beginning.append(UInt8(ascii: ",")) }
      beginning += "\(JSON.string(parameter.key)):".utf8
      beginning += parameter.value.utf8
    }
  }

  /// Appends the message of one connection, with its zero byte.
  ///
  /// - Parameters:
  ///   - own: A parameter that differs between connections, after all others.
  ///   - continues: Whether another reply to the same call follows.
  package func append(
    to output: inout [UInt8], own: (name: String, value: Int)? = nil, continues: Bool = false
  ) {
    output += beginning
    if let own { output += #","\#(own.name)":\#(own.value)"#.utf8 }
    output += (continues ? #"},"continues":true}"# : "}}").utf8
    output.append(0)
  }
}
