// SPDX-License-Identifier: Apache-2.0

import UCI

/// Why a line of text is not one or more whole frames.
enum FrameTextError: Error, Equatable, CustomStringConvertible {
  case empty
  case notHexadecimal(Character)
  case oddDigits(Int)
  case shorterThanHeader(Int)
  case shorter(announced: Int, present: Int)
  case longer(announced: Int, present: Int)

  /// One sentence. It never repeats the line, which may hold keys.
  var description: String {
    switch self {
    case .empty: "There are no octets here; a frame has at least 4."
    case .notHexadecimal(let character):
      "\"\(character)\" is not a hexadecimal digit; write each octet as two digits, 0 to f."
    case .oddDigits(let count):
      "There are \(count) hexadecimal digits, but octets have two each: one is missing or too many."
    case .shorterThanHeader(let count):
      "There are \(count) octets, but the header of a frame alone has 4."
    case .shorter(let announced, let present):
      "The header announces a frame of \(announced) octets, but only \(present) are there."
    case .longer(let announced, let present):
      "The header announces a frame of \(announced) octets, but there are \(present), and what "
        + "follows is not a whole frame."
    }
  }
}

/// Frames written as text.
enum FrameText {
  /// One frame cut out of a line.
  struct Frame: Equatable {
    var octets: [UInt8]
    /// The length of this data packet stands in its fourth octet only.
    var dataLengthInOctet3 = false
  }

  /// Digits as octets. Spaces, tabs, colons, dots, commas, dashes, bars and `0x` are skipped.
  static func octets(_ text: some StringProtocol) throws(FrameTextError) -> [UInt8] {
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

  /// The frames of a line, one after another; together they have to be the whole line.
  static func frames(_ text: some StringProtocol) throws(FrameTextError) -> [Frame] {
    var rest = try octets(text)[...]
    var frames: [Frame] = []
    var longest = 0
    while !rest.isEmpty {
      guard let frame = next(rest), frames.isEmpty || isPlausible(frame) else {
        // What is wrong with the first frame helps more than what is wrong behind it.
        if !frames.isEmpty { throw .longer(announced: longest, present: longest + rest.count) }
        guard rest.count >= PacketHeader.length else { throw .shorterThanHeader(rest.count) }
        throw .shorter(announced: announced(rest) ?? 0, present: rest.count)
      }
      frames.append(frame)
      longest += frame.octets.count
      rest = rest.dropFirst(frame.octets.count)
    }
    return frames
  }

  private static func announced(_ octets: ArraySlice<UInt8>, inOctet3: Bool = false) -> Int? {
    let header = Array(octets.prefix(PacketHeader.length))
    return (try? PacketHeader(parsing: header.span.bytes, dataLengthInOctet3: inOctet3))
      .map { $0.payloadLength + PacketHeader.length }
  }

  private static func next(_ octets: ArraySlice<UInt8>) -> Frame? {
    guard let length = announced(octets) else { return nil }
    if octets.count >= length { return Frame(octets: Array(octets.prefix(length))) }
    // Qorvo's serial firmware puts the length of data packets elsewhere.
    let first = octets.startIndex
    guard octets[first] >> 5 == 0, octets[first + 2] == 0,
      let other = announced(octets, inOctet3: true), octets.count >= other
    else { return nil }
    return Frame(octets: Array(octets.prefix(other)), dataLengthInOctet3: true)
  }

  /// Whether octets behind a whole frame look like another one rather than like litter.
  private static func isPlausible(_ frame: Frame) -> Bool {
    switch frame.octets[0] >> 5 {
    case 0: frame.octets[0] & 15 != 0
    case 1...3: frame.octets[2] == 0 || frame.octets[1] & 0x80 != 0
    default: false
    }
  }

  /// Arguments as lines: each is one, unless all of them are single octets.
  static func lines(arguments: [String]) -> [String] {
    let areOctets = arguments.allSatisfy { argument in
      let digits = argument.hasPrefix("0x") ? argument.dropFirst(2) : argument[...]
      return digits.count == 2 && digits.allSatisfy(\.isHexDigit)
    }
    return areOctets ? [arguments.joined()] : arguments
  }
}
