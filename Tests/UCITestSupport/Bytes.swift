// SPDX-License-Identifier: Apache-2.0

package import UCI

/// Bytes from hexadecimal digits; spaces and bars are skipped.
package func bytes(_ text: String) -> [UInt8] {
  let digits = text.compactMap { $0 == " " || $0 == "|" || $0 == "\n" ? nil : $0 }
  precondition(digits.count.isMultiple(of: 2), "bytes have two digits each")
  return stride(from: 0, to: digits.count, by: 2).map {
    UInt8(String(digits[$0...$0 + 1]), radix: 16)!
  }
}

package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Decodes a packet and returns its typed payload; nil if it has another type or cannot be decoded.
package func decode<T: UCIPayload>(
  _ packet: String, as: T.Type, dialect: Dialect = .assumed
) throws -> T? {
  guard
    case .payload(let payload as T) = try Message(packet: bytes(packet), dialect: dialect).content
  else { return nil }
  return payload
}

/// The payload of a packet: the expected result of encoding it again.
package func reencoded(_ packet: String, dialect: Dialect = .assumed) throws -> [UInt8] {
  try Message(packet: bytes(packet), dialect: dialect).payload(dialect: dialect)
}

package func payload(of packet: String) -> [UInt8] { Array(bytes(packet).dropFirst(4)) }

/// Decodes a payload through the view that does not copy.
package func withView<R>(_ payload: [UInt8], _ body: (borrowing SessionInfoView) throws -> R) throws
  -> R
{
  let view = try SessionInfoView(payload.span.bytes)
  return try body(view)
}
