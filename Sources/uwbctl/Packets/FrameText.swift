// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UCI

/// Why a line of text does not consist of whole frames.
enum FrameTextError: Error, Equatable, CustomStringConvertible {
  case empty
  case notHexadecimal(Character)
  case oddDigits(Int)
  case shorterThanHeader(Int)
  case shorter(announced: Int, present: Int)
  case longer(announced: Int, present: Int)

  /// One sentence, without the line itself, which may contain keys.
  var description: String {
    switch self {
    case .empty: "The line is empty; a frame has at least 4 bytes."
    case .notHexadecimal(let character):
      "\"\(printable(String(character)))\" is not a hexadecimal digit; write each byte as two "
        + "digits, 0 to f."
    case .oddDigits(let count):
      "The number of hexadecimal digits is odd (\(count)); each byte has two."
    case .shorterThanHeader(let count):
      "The line has \(count) bytes; the header of a frame alone has 4."
    case .shorter(let announced, let present):
      "The header announces a frame of \(announced) bytes, but there are only \(present)."
    case .longer(let announced, let present):
      "The header announces a frame of \(announced) bytes, but there are \(present), and the rest "
        + "is not a whole frame."
    }
  }
}

/// Frames written as text.
enum FrameText {
  /// Parses hexadecimal digits. Skips spaces, colons, dots, commas, dashes, bars and `0x`.
  static func bytes(_ text: some StringProtocol) throws(FrameTextError) -> [UInt8] {
    var digits: [UInt8] = []
    for character in text {
      // The "0" of "0x" has been taken for a digit already.
      if character == "x" || character == "X", digits.last == 0 {
        digits.removeLast()
        continue
      }
      if character.isWhitespace || ":.,-|_".contains(character) { continue }
      guard character.isASCII, let digit = character.hexDigitValue else {
        throw .notHexadecimal(character)
      }
      digits.append(UInt8(digit))
    }
    guard !digits.isEmpty else { throw .empty }
    guard digits.count.isMultiple(of: 2) else { throw .oddDigits(digits.count) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Splits a line into frames, which must make up the whole line.
  static func frames(_ text: some StringProtocol) throws(FrameTextError) -> [[UInt8]] {
    var rest = try bytes(text)[...]
    var frames: [[UInt8]] = []
    while !rest.isEmpty {
      guard let length = length(of: rest), length <= rest.count,
        frames.isEmpty || isPlausible(rest)
      else {
        // An error of the first frame helps more than one of the rest.
        let whole = frames.reduce(0) { $0 + $1.count }
        if whole > 0 { throw .longer(announced: whole, present: whole + rest.count) }
        guard let length = length(of: rest) else { throw .shorterThanHeader(rest.count) }
        throw .shorter(announced: length, present: rest.count)
      }
      frames.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return frames
  }

  /// The length of the first frame; nil when its header is incomplete.
  private static func length(of bytes: ArraySlice<UInt8>) -> Int? {
    let bytes = Array(bytes)
    guard let header = try? PacketHeader(parsing: bytes.span.bytes) else { return nil }
    let announced = PacketHeader.length + header.payloadLength
    return announced > bytes.count && header.hasShortLength(of: bytes.span.bytes)
      ? bytes.count : announced
  }

  /// Whether the bytes after a whole frame look like another frame.
  private static func isPlausible(_ bytes: ArraySlice<UInt8>) -> Bool {
    let first = bytes.startIndex
    switch bytes[first] >> 5 {
    case 0: return bytes[first] & 15 != 0
    case 1...3: return bytes[first + 2] == 0 || bytes[first + 1] & 0x80 != 0
    default: return false
    }
  }

  /// Arguments as lines: each is one, unless all of them are single bytes.
  static func lines(arguments: [String]) -> [String] {
    let areBytes = arguments.allSatisfy { argument in
      let digits = argument.hasPrefix("0x") ? argument.dropFirst(2) : argument[...]
      return digits.count == 2 && digits.allSatisfy(\.isHexDigit)
    }
    return areBytes ? [arguments.joined()] : arguments
  }
}
