// SPDX-License-Identifier: Apache-2.0

/// Bytes from hexadecimal digits; spaces are skipped.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }
  precondition(digits.count.isMultiple(of: 2), "bytes have two digits each")
  return stride(from: 0, to: digits.count, by: 2).map { start in
    let first = digits.index(digits.startIndex, offsetBy: start)
    return UInt8(digits[first..<digits.index(first, offsetBy: 2)], radix: 16)!
  }
}

/// Configuration data that devices sent, as published.
enum Captured {
  /// A DWM3001CDK's answer to `initialize`, version 1.1, with the message's identifier
  /// (forum.qorvo.com, topic 21738).
  static let qorvoMessage = bytes(
    "01 0100 0000 14 00000000000000000000 15"
      + "0100 0100 3FF50300 B80B0000 00000101 01 11D7 1900")
  /// The answer of another board, with an automatic update rate
  /// (maa-x/ESP32-DW3000-AppleNearbyInteraction).
  static let qorvoAutomatic = bytes(
    "01 0100 0000 00 00000000000000000000 15"
      + "0100 0100 3FF50300 B80B0000 00000101 01 1200 1900")
  /// The UWB part of a DWM3001CDK with an older image, version 1.0 (forum.qorvo.com, topic 10796).
  static let qorvoUWB10 = bytes("0100 0000 3FF50300 B80B0000 01090900 00 AAAA")
  /// An iPhone's shareable data, version 1.1 (maa-x/ESP32-DW3000-AppleNearbyInteraction).
  static let phone = bytes(
    "0100 0100 19 4555 A85F0000 0B 09 0600 100E C600 03 397B28D4B8D7 87B4 6400")
}
