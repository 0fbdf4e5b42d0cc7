// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import System
import UCI
import UCIReference
import UWB
import UWBLink

/// The reason why a line of text does not consist of whole frames.
package struct FrameTextError: Error, CustomStringConvertible {
  /// The cause in one sentence, without the line itself, which may contain keys.
  package let description: String

  package init(_ description: String) { self.description = description }
}

package enum FrameText {
  /// Parses hexadecimal digits. Skips spaces, colons, dots, commas, dashes, bars and `0x`.
  package static func bytes(_ text: some StringProtocol) throws(FrameTextError) -> [UInt8] {
    var digits: [UInt8] = []
    for character in text {
      // The "0" of "0x" already counts as a digit.
      if character == "x" || character == "X", digits.last == 0 {
        digits.removeLast()
        continue
      }
      if character.isWhitespace || ":.,-|_".contains(character) { continue }
      guard character.isASCII, let digit = character.hexDigitValue else {
        throw FrameTextError(
          "\"\(printable(String(character)))\" is not a hexadecimal digit; write each byte as two "
            + "digits, 0 to f.")
      }
      digits.append(UInt8(digit))
    }
    guard !digits.isEmpty else {
      throw FrameTextError("The line is empty; a frame has at least 4 bytes.")
    }
    guard digits.count.isMultiple(of: 2) else {
      throw FrameTextError(
        "The number of hexadecimal digits is odd (\(digits.count)); each byte has two.")
    }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Splits a line into frames, without remaining bytes.
  package static func frames(_ text: some StringProtocol) throws(FrameTextError) -> [[UInt8]] {
    var rest = try bytes(text)[...]
    var frames: [[UInt8]] = []
    while !rest.isEmpty {
      guard let length = length(of: rest), length <= rest.count,
        frames.isEmpty || isPlausible(rest)
      else {
        // An error in the first frame is more helpful than an error in the rest.
        let whole = frames.reduce(0) { $0 + $1.count }
        let announced = { (count: Int) in
          "The header announces a frame of \(counted(count, "byte")), but there"
        }
        if whole > 0 {
          throw FrameTextError(
            announced(whole) + " are \(whole + rest.count), and the rest is not a whole frame.")
        }
        guard let length = length(of: rest) else {
          throw FrameTextError(
            "The line has \(counted(rest.count, "byte")); the header of a frame alone has 4.")
        }
        throw FrameTextError(announced(length) + " are only \(rest.count).")
      }
      frames.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return frames
  }

  /// Returns the length of the first frame, or nil if its header is incomplete.
  private static func length(of bytes: ArraySlice<UInt8>) -> Int? {
    let bytes = Array(bytes)
    guard let header = try? unsafe PacketHeader(parsing: bytes.span.bytes) else { return nil }
    let announced = PacketHeader.length + header.payloadLength
    return unsafe announced > bytes.count && header.hasShortLength(of: bytes.span.bytes)
      ? bytes.count : announced
  }

  /// Reports whether the bytes after a whole frame look like another frame.
  private static func isPlausible(_ bytes: ArraySlice<UInt8>) -> Bool {
    let first = bytes.startIndex
    switch bytes[first] >> 5 {
    case 0: return bytes[first] & 15 != 0
    case 1...3: return bytes[first + 2] == 0 || bytes[first + 1] & 0x80 != 0
    default: return false
    }
  }

  /// Returns the arguments as lines: one line each, or one line of all arguments if each is a
  /// single byte.
  package static func lines(arguments: [String]) -> [String] {
    let areBytes = arguments.allSatisfy { argument in
      let digits = argument.hasPrefix("0x") ? argument.dropFirst(2) : argument[...]
      return digits.count == 2 && digits.allSatisfy(\.isHexDigit)
    }
    return areBytes ? [arguments.joined()] : arguments
  }
}
