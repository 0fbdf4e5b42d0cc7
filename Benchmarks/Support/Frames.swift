// SPDX-License-Identifier: Apache-2.0
import UCI

/// Whole SESSION_INFO_NTF frames with their headers, one after another in memory.
final class Frames: @unchecked Sendable {
  /// The number of different frames. With eight measurements each, they fit into the first-level
  /// cache.
  static let count = 64

  let bytes: UnsafeMutableRawBufferPointer
  /// The number of bytes in each frame.
  let length: Int

  /// - Parameter measurements: the number of measurements in each frame.
  init(measurements: Int) {
    var random = SplitMix(state: UInt64(measurements))
    let frames = (0..<Self.count).map {
      Self.frame(number: UInt32($0), measurements: measurements, &random)
    }
    length = frames[0].count
    bytes = .allocate(byteCount: length * Self.count, alignment: 64)
    bytes.copyBytes(from: frames.joined())
  }

  deinit { bytes.deallocate() }

  /// Returns one frame. Its distances correspond to a peer that is 4 m away.
  static func frame(number: UInt32, measurements: Int, _ random: inout SplitMix) -> [UInt8] {
    let payload = payload(number: number, measurements: measurements, &random)
    let header = PacketHeader(.notification, .sessionInfo, payloadLength: payload.count)
    return header.encoded() + payload
  }

  /// Returns the frame in as many packets as necessary.
  static func packets(
    number: UInt32, measurements: Int, _ random: inout SplitMix
  ) -> [UInt8] {
    let payload = payload(number: number, measurements: measurements, &random)
    return Array(
      Segmentation.packets(type: .notification, opcode: .sessionInfo, payload: payload).joined())
  }

  private static func payload(
    number: UInt32, measurements: Int, _ random: inout SplitMix
  ) -> [UInt8] {
    func angle() -> Angle {
      Angle(
        raw: Int16.random(in: -11_520...11_520, using: &random),
        figureOfMerit: UInt8.random(in: 0...100, using: &random))
    }
    let list = (0..<measurements).map { index in
      TwoWayMeasurement(
        peer: MACAddress(UInt16(index + 1)), status: .ok, lineOfSight: .lineOfSight,
        rawDistance: UInt16.random(in: 390...410, using: &random), azimuth: angle(),
        elevation: angle(), destinationAzimuth: angle(), destinationElevation: angle(),
        slotIndex: UInt8(index), rawRSSI: UInt8.random(in: 100...200, using: &random))
    }
    let message = SessionInfo(
      sequenceNumber: number, sessionToken: 42, intervalMilliseconds: 200, twoWay: list)
    var writer = PayloadWriter()
    message.encode(into: &writer, dialect: Dialect())
    return writer.bytes
  }
}

/// A small random number generator with a seed, so that each run decodes the same bytes.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
