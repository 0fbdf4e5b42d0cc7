// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: the same sequence on every run.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    let words = (0..<(count + 7) / 8).map { _ in next() }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
  }
}

/// Frames of chips: layouts seen in the field, with plausible and changing contents.
package struct Wire {
  package var generator: SeededGenerator
  private var sequence: UInt32 = 0

  package init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    sequence = UInt32.random(in: 0..<70_000, using: &generator)
  }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    var value = value.littleEndian
    return withUnsafeBytes(of: &value) { Array($0) }
  }

  /// Bytes 0 … 24 of a SESSION_INFO_NTF and `count` measurements with short addresses.
  package mutating func measurements(_ count: Int) -> [UInt8] {
    var payload = Self.littleEndian(sequence)
    sequence += 1
    payload +=
      [1, 0, 0, 0, 0] + Self.littleEndian(UInt32(200)) + [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    payload.append(UInt8(count))
    for index in 0..<count {
      payload += [UInt8(index + 1), 0]
      if Int.random(in: 0..<5, using: &generator) == 0 {
        payload += [0x21, 0xFF, 0xFF, 0xFF] + Array(repeating: 0, count: 12) + [2]
        payload += Array(repeating: 0, count: 12)
      } else {
        payload += [0, UInt8.random(in: 0...1, using: &generator)]
        payload += Self.littleEndian(UInt16.random(in: 5...2_000, using: &generator))
        payload += Self.littleEndian(Int16.random(in: -11_000...11_000, using: &generator)) + [87]
        payload += Self.littleEndian(Int16.random(in: -5_000...5_000, using: &generator)) + [80]
        payload += [0, 0, 0, 0, 0, 0, 0, UInt8.random(in: 100...180, using: &generator)]
        payload += Array(repeating: 0, count: 11)
      }
    }
    return payload
  }

  package mutating func sessionInfo() -> [UInt8] {
    [0x62, 0x00, 0x00, 0x38] + measurements(1)
  }

  /// Returns a notification of 273 bytes, in two segments.
  package mutating func segmentedSessionInfo() -> [[UInt8]] {
    let payload = measurements(8)
    return [
      [0x72, 0x00, 0x00, 0xFF] + payload.prefix(255),
      [0x62, 0x00, 0x00, 0x12] + payload.dropFirst(255),
    ]
  }

  /// Measurements with the vendor data that NXP chips append.
  package mutating func vendorSessionInfo() -> [UInt8] {
    [0x62, 0x00, 0x00, 0x48] + measurements(1) + [
      0x0E, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00,
    ]
  }

  /// Application data from a peer.
  package mutating func data() -> [UInt8] {
    let count = Int.random(in: 1...180, using: &generator)
    var payload: [UInt8] = [9, 0, 0, 0, 0, 0xAA, 0x01, 0, 0, 0, 0, 0, 0]
    payload += Self.littleEndian(UInt16(truncatingIfNeeded: sequence))
    payload += Self.littleEndian(UInt16(count)) + bytes(count)
    return [0x02, 0x00] + Self.littleEndian(UInt16(payload.count)) + payload
  }

  /// One frame, or the two segments of one message.
  package mutating func message() -> [[UInt8]] {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0: [[0x60, 0x01, 0x00, 0x01, 0x02]]
    case 1: [[0x61, 0x02, 0x00, 0x06, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00]]
    case 2: [[0x42, 0x00, 0x00, 0x01, 0x00]]
    case 3: [[0x62, 0x04, 0x00, 0x05, 0x09, 0x00, 0x00, 0x00, 0x01]]
    case 4...5: segmentedSessionInfo()
    case 6...7: [vendorSessionInfo()]
    case 8...9: [data()]
    default: [sessionInfo()]
    }
  }

  package mutating func frames(atLeast count: Int) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    while frames.count < count { frames += message() }
    return frames
  }
}
