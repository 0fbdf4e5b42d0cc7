// SPDX-License-Identifier: Apache-2.0

/// Packets of HBCI, the protocol of the loader in NXP's SR1xx. Source: AOSP's hardware/nxp/uwb
/// (Apache-2.0), halimpl/hal/hbci.
///
/// A header of four bytes (class and kind, instruction, length with the lower byte first), then
/// data and a check byte. Header and data travel apart, and each is acknowledged.
enum HBCI {
  /// The upper half of the first byte.
  enum Class: UInt8 {
    case general = 0x00
    /// An image of the usual kind.
    case image = 0x50
  }

  /// The lower half of the first byte.
  enum Kind: UInt8 {
    case query = 1
    case answer = 2
    case command = 3
    case acknowledgement = 4
  }

  static let headerLength = 4
  /// Bytes of data in a segment to the chip, and in an answer.
  static let segmentLength = 2_048
  static let answerLength = 256

  // Instructions.
  static let ready: UInt8 = 0x21
  static let enterImageMode: UInt8 = 0x24
  static let chipID: UInt8 = 0x31
  static let otpInfo: UInt8 = 0x36
  static let acknowledged: UInt8 = 0x01
  static let segment: UInt8 = 0x01
  static let imageStatus: UInt8 = 0x01
  static let imageAccepted: UInt8 = 0x01

  static func header(
    _ class: Class, _ kind: Kind, _ instruction: UInt8, length: UInt16 = 0
  ) -> [UInt8] {
    [`class`.rawValue | kind.rawValue, instruction, UInt8(length & 0xFF), UInt8(length >> 8)]
  }

  static let acknowledgement = header(.general, .acknowledgement, acknowledged)

  /// The two's complement of the sum of all bytes: with it the sum is 0.
  static func check(_ bytes: some Sequence<UInt8>) -> UInt8 {
    0 &- bytes.reduce(0, &+)
  }

  /// One segment of an image: its header, and its data with the check byte.
  static func segment(
    _ data: ArraySlice<UInt8>, moreFollow: Bool
  ) -> (header: [UInt8], data: [UInt8]) {
    // A full segment that others follow is announced by the upper bit alone.
    let length = moreFollow ? 0x8000 : UInt16(data.count + 1)
    let header = header(.image, .command, segment, length: length)
    return (header, data + [check(header) &+ check(data)])
  }

  /// The chip did not get what was sent: LRC, class, instruction, length.
  static func isTransmissionError(_ code: UInt8) -> Bool { (0x81...0x84).contains(code) }

  static func meaning(ofAcknowledgement code: UInt8) -> String? {
    switch code {
    case 0x81: "the check byte was wrong"
    case 0x82: "the class was not understood"
    case 0x83: "the instruction was not understood"
    case 0x84: "the length of a segment was wrong"
    default: nil
    }
  }

  static func meaning(ofGeneral code: UInt8) -> String? {
    switch code {
    case 0xD1: "its own start has failed (autoload)"
    case 0xD2: "its stored GPIO configuration is damaged"
    case 0xD3: "its stored trim values are damaged"
    case 0xD4: "its stored GPIO configuration and trim values are damaged"
    case 0xE1: "its loader has failed"
    case 0xE3, 0xE4, 0xE5: "its loader could not enter that mode"
    default: nil
    }
  }

  static func meaning(ofImage code: UInt8) -> String? {
    switch code {
    case 0x81: "the image's header is too large"
    case 0x82: "the image's header cannot be read"
    case 0x83, 0x84, 0x85, 0x86: "the image is encrypted in a way the chip does not know"
    case 0x87: "the length of the image's key is wrong"
    case 0x88: "the description of the image's contents is wrong"
    case 0x89: "the chip does not take this version"
    case 0x8A, 0x8B: "the image is for other chips"
    case 0x8C: "the image's contents do not fit their hash"
    case 0x8D: "the image is not signed for this chip (production or development?)"
    case 0x8E, 0x8F: "the image's settings for its installation are wrong"
    case 0x90: "the image is too large"
    case 0x91: "the image's settings for a quick start cannot be read"
    case 0x92, 0x93: "the image does not fit its hash"
    case 0x94: "the image's settings for its execution cannot be read"
    case 0x95: "the chip cannot read its key"
    default: nil
    }
  }
}
