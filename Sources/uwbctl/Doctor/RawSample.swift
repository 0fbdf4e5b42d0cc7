// SPDX-License-Identifier: Apache-2.0

import UCI
import UWBLink

/// Bytes from a line that does not carry UCI.
struct RawSample {
  let bytes: [UInt8]

  /// Asks for the device information and reads whatever arrives. nil when the device cannot be opened.
  static func take(_ endpoint: LinkEndpoint) async -> RawSample? {
    try? await Link.with(endpoint) { link in
      for packet in Segmentation.packets(GetDeviceInfo()) { try? await link.write(packet) }
      let bytes = try? await runBlocking { link.readRaw(milliseconds: 600, limit: 512) }
      return RawSample(bytes: bytes ?? [])
    }
  }

  /// A description on one line; nil when nothing arrived.
  var words: String? {
    guard !bytes.isEmpty else { return nil }
    let readable = bytes.filter { (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x0D }
    if readable.count * 10 >= bytes.count * 9 {
      let text = String(decoding: bytes.prefix(60), as: UTF8.self)
      let lines = text.split(whereSeparator: \.isNewline)
      return "it looks like text: \"\(lines.joined(separator: " / "))\""
    }
    if let first = bytes.first, bytes.allSatisfy({ $0 == first }) {
      return "all \(bytes.count) bytes are 0x\(hexDigits(first))"
    }
    let digits = bytes.prefix(16).map { hexDigits($0) }.joined(separator: " ")
    return "it begins with \(digits)"
  }
}
