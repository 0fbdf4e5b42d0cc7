// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The loader of an SR2xx, by the bytes of nxp.md 3.3 (after nxp-uwb/sr250-uwbiot-zephyr); not made
/// with the loader of this package.
struct HDLLFlash {
  static let ready: [UInt8] = [0x00, 0x04, 0x81, 0x01, 0x02, 0x00, 0x7D, 0xC8]
  private var frames = 0

  /// A header of two bytes, the payload, and CRC-16/CCITT-FALSE over both, all with the higher byte
  /// first.
  static func frame(_ payload: [UInt8]) -> [UInt8] {
    let begin = [UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
    let crc = check(begin)
    return begin + [UInt8(crc >> 8), UInt8(crc & 0xFF)]
  }

  private static func check(_ bytes: [UInt8]) -> Int {
    var crc = 0xFFFF
    for byte in bytes {
      for bit in (0..<8).reversed() {
        let top = crc >> 15 & 1
        crc = crc << 1 & 0xFFFF
        if top != Int(byte) >> bit & 1 { crc ^= 0x1021 }
      }
    }
    return crc
  }

  /// What it says to a frame: the status, and once that its editor is ready.
  mutating func answers(to frame: [UInt8], _ state: inout SideState) -> [[UInt8]] {
    guard frame.count > 5, frame.count == 4 + (Int(frame[0] & 0x1F) << 8 | Int(frame[1])) else {
      state.ledger.violated("a frame of \(frame.count) bytes")
      return []
    }
    let isIntact = Self.check(frame) == 0
    state.ledger.count(isIntact ? "frames" : "frames damaged")
    frames += 1
    let editor: [[UInt8]] =
      frames == 2 ? [[0x00, 0x04, 0x81, 0x03, 0x02, 0x00, 0x13, 0xA8]] : []
    return editor + [Self.frame([0x43, frame[3], isIntact ? 0x00 : 0x83, 0x00])]
  }
}

/// `image hbci|hdll FILE`: a file of the form of a firmware image, with nothing of use in it.
enum Image {
  static func run(_ arguments: [String]) {
    guard arguments.count == 2 else { fail("image hbci|hdll FILE") }
    let filler = (0..<5_000).map { UInt8(($0 &* 31 &+ $0 >> 5) & 0xFF) }
    var bytes = filler
    if arguments[0] == "hdll" {
      // Certificate; first, next and last write to the flash; version 2.7 in the second frame.
      bytes =
        HDLLFlash.frame([0x03, 0x01] + filler[..<64])
        + HDLLFlash.frame([0x03, 0x02, 0x02, 0x07] + filler[..<256])
      for at in stride(from: 0, to: 4_000, by: 500) {
        bytes += HDLLFlash.frame([0x03, 0x03] + filler[at..<(at + 500)])
      }
      bytes += HDLLFlash.frame([0x03, 0x04] + filler[..<32])
    }
    let descriptor = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
      fail("\(arguments[1]): \(lastError)")
    }
    close(descriptor)
  }
}
