// SPDX-License-Identifier: Apache-2.0
import UCI

/// Reads every field of a SESSION_INFO_NTF and adds the fields up, like the reader in C.
enum DecodeSink {
  /// Returns a view of one whole frame; nil if it is not a complete SESSION_INFO_NTF of two-way
  /// measurements.
  @inline(__always)
  @_lifetime(copy frame)
  static func view(_ frame: RawSpan) -> SessionInfoView? {
    guard let header = try? PacketHeader(parsing: frame), header.type == .notification,
      !header.moreFollows, header.opcode == .sessionInfo,
      header.payloadLength <= frame.byteCount - PacketHeader.length,
      let view = try? SessionInfoView(frame.extracting(droppingFirst: PacketHeader.length)),
      view.type == .twoWay
    else { return nil }
    return view
  }

  /// Returns the sum for one whole frame; 0 if it is not a complete SESSION_INFO_NTF.
  @inline(__always)
  static func sum(_ frame: RawSpan) -> UInt64 {
    guard let view = view(frame) else { return 0 }
    var sum =
      UInt64(view.sequenceNumber) &+ UInt64(view.sessionToken)
      &+ UInt64(view.intervalMilliseconds) &+ UInt64(view.type.rawValue)
    view.forEachTwoWayMeasurement { m in
      sum &+= m.peer.value &+ (m.peer.isExtended ? 1 : 0)
      sum &+= UInt64(m.status.rawValue) &+ UInt64(m.lineOfSight.rawValue)
      sum &+= UInt64(m.rawDistance)
      sum &+= Self.sum(m.azimuth) &+ Self.sum(m.elevation)
      sum &+= Self.sum(m.destinationAzimuth) &+ Self.sum(m.destinationElevation)
      sum &+= UInt64(m.slotIndex) &+ UInt64(m.rawRSSI)
    }
    return sum
  }

  @inline(__always)
  private static func sum(_ angle: Angle) -> UInt64 {
    UInt64(bitPattern: Int64(angle.raw)) &+ UInt64(angle.figureOfMerit)
  }

  /// Returns the sum for `rounds` times `count` frames of `length` bytes that are contiguous.
  @inline(never)
  static func sumOfAll(
    _ frames: UnsafeRawBufferPointer, length: Int, count: Int, rounds: Int
  ) -> UInt64 {
    var sum: UInt64 = 0
    for _ in 0..<rounds {
      for index in 0..<count {
        // As in C, this does not check that the frame is inside the memory.
        let frame = UnsafeRawBufferPointer(
          start: frames.baseAddress! + index &* length, count: length)
        sum &+= Self.sum(frame.bytes)
      }
    }
    return sum
  }
}
