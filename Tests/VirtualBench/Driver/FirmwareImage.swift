// SPDX-License-Identifier: Apache-2.0

import ChipModels
import Glibc

/// `image hbci|hdll FILE`: a file in the form of a firmware image, with meaningless contents.
enum FirmwareImage {
  static func run(_ arguments: [String]) {
    guard arguments.count == 2 else { fail("image hbci|hdll FILE") }
    let filler = (0..<5_000).map { index in
      let mixed = index &* 31 &+ index >> 5
      return UInt8(mixed & 0xFF)
    }
    var bytes = filler
    if arguments[0] == "hdll" {
      // Certificate; first, next and last write to the flash; version 2.7 in the second frame.
      bytes =
        frame([0x03, 0x01] + filler[..<64]) + frame([0x03, 0x02, 0x02, 0x07] + filler[..<256])
      for at in stride(from: 0, to: 4_000, by: 500) {
        bytes += frame([0x03, 0x03] + filler[at..<(at + 500)])
      }
      bytes += frame([0x03, 0x04] + filler[..<32])
    }
    let descriptor = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
      fail("\(arguments[1]): \(lastError)")
    }
    close(descriptor)
  }

  private static func frame(_ payload: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: payload.count + 4) { buffer, count in
      count = chip_hdll_frame(payload, payload.count, buffer.baseAddress!)
    }
  }
}
