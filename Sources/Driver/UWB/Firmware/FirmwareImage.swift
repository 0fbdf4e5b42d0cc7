// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UWBLink

/// A firmware file that is checked before any part of it is sent.
package struct FirmwareImage: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// NXP SR1xx: loaded into memory each time the chip is switched on.
    case hbci
    /// NXP SR2xx: written to flash.
    case hdll
  }

  /// The kind of loader that accepts the image.
  package let kind: Kind
  package let bytes: [UInt8]
  /// The end of each frame of an HDLL image.
  let frameEnds: [Int]

  /// The largest image that an SR1xx accepts. Source: AOSP's HAL.
  static let longestHBCI = 256 * 1_024
  /// The size of the largest accepted file. Known files are smaller: an SR250's has 378 kB.
  static let longest = 16 * 1_024 * 1_024

  /// Reads and checks a file.
  ///
  /// - Throws: `FirmwareError`: `unreadable`, `notAnImage`.
  package init(path: String, kind: Kind) throws(FirmwareError) {
    let bytes: [UInt8]
    do { bytes = try InputFile.bytes(of: path, limit: Self.longest, isText: false) } catch {
      throw .unreadable(path: path, why: "\(error)")
    }
    try self.init(bytes, kind: kind, path: path)
  }

  /// Checks the contents of a file; `path` is for errors.
  ///
  /// - Throws: `FirmwareError.notAnImage`.
  package init(_ bytes: [UInt8], kind: Kind, path: String = "") throws(FirmwareError) {
    self.kind = kind
    self.bytes = bytes
    func refuse(_ why: String) -> FirmwareError { .notAnImage(path: path, why: why) }
    guard let first = bytes.first else { throw refuse("it is empty") }
    guard bytes.contains(where: { $0 != first }) else {
      throw refuse("all its bytes are the same")
    }
    if let format = Self.format(bytes) { throw refuse("it is \(format)") }
    switch kind {
    case .hbci:
      guard bytes.count <= Self.longestHBCI else {
        throw refuse("it has \(bytes.count) bytes, and the chip takes \(Self.longestHBCI)")
      }
      if (try? Self.frames(bytes, refuse)) != nil { throw refuse("it is one for an SR2xx") }
      frameEnds = []
    case .hdll:
      frameEnds = try Self.frames(bytes, refuse)
    }
  }

  /// The major and minor version: bytes 4 and 5 of the second frame. Nil if the file has none.
  package var version: (major: UInt8, minor: UInt8)? {
    guard frameEnds.count > 1, frameEnds[1] - frameEnds[0] > 5 else { return nil }
    return (bytes[frameEnds[0] + 4], bytes[frameEnds[0] + 5])
  }

  /// Returns the ends of the frames. An image for an SR2xx consists of frames only; the CRC of each
  /// is checked.
  private static func frames(
    _ bytes: [UInt8], _ refuse: (String) -> FirmwareError
  ) throws(FirmwareError) -> [Int] {
    var ends: [Int] = []
    var start = 0
    while start < bytes.count {
      let length = HDLL.length(of: bytes[start...])
      guard length > HDLL.headerLength + HDLL.checkLength, length <= HDLL.longestFrame,
        start + length <= bytes.count
      else {
        throw refuse("no frame is at byte \(start); it may have been cut off")
      }
      guard HDLL.isIntact(bytes[start..<start + length]) else {
        throw refuse("the frame at byte \(start) does not fit its check: the file is damaged")
      }
      start += length
      ends.append(start)
    }
    return ends
  }

  /// Returns the format of a file that is not firmware, if users often pass such files by mistake.
  private static func format(_ bytes: [UInt8]) -> String? {
    let beginnings: [([UInt8], String)] = [
      (Array("PK\u{3}\u{4}".utf8), "a zip file: unpack it first"), ([0x1F, 0x8B], "compressed"),
      ([0x7F, 0x45, 0x4C, 0x46], "a program (ELF)"),
      (Array("version https".utf8), "a Git LFS pointer"),
      (Array("<!".utf8), "a web page"), (Array("<html".utf8), "a web page"),
    ]
    if let known = beginnings.first(where: { bytes.starts(with: $0.0) }) { return known.1 }
    let isText = bytes.prefix(256).allSatisfy {
      (0x20..<0x7F).contains($0) || (9...13).contains($0)
    }
    return isText ? "text" : nil
  }
}
