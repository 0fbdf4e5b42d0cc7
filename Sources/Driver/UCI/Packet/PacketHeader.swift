// SPDX-License-Identifier: Apache-2.0

/// The four bytes at the head of every UCI packet.
///
/// Control packets: type, boundary flag and group; opcode; reserved; length. Data and test packets:
/// type, boundary flag and format; reserved; length in 16 bits, little-endian. NXP chips announce a
/// 16-bit length in a control packet by bit 7 of the second byte.
@usableFromInline
package struct PacketHeader: Hashable, Sendable {
  /// Bytes of a header.
  @inlinable package static var length: Int { 4 }

  /// Bits 7..5 of the first byte.
  @usableFromInline package var type: MessageType
  /// Bit 4 of the first byte, PBF: more segments of this message follow.
  @usableFromInline package var moreFollows: Bool
  /// Lower four bits of the first byte: the group of a control packet, or the format (DPF) of a
  /// data packet.
  @usableFromInline package var group: GroupID
  /// Lower six bits of the second byte; 0 in data packets.
  @usableFromInline package var oid: UInt8
  /// Bit 7 of the second byte of a control packet, NXP: the length has 16 bits.
  @usableFromInline package var isExtended: Bool
  /// Bytes of payload in this packet.
  @usableFromInline package var payloadLength: Int

  /// Creates a header with `payloadLength` unchanged.
  @inlinable
  package init(
    type: MessageType, moreFollows: Bool = false, group: GroupID, oid: UInt8,
    isExtended: Bool = false, payloadLength: Int
  ) {
    self.type = type
    self.moreFollows = moreFollows
    self.group = group
    self.oid = oid
    self.isExtended = isExtended
    self.payloadLength = payloadLength
  }

  /// Creates a header for a control packet.
  @inlinable
  package init(
    _ type: MessageType, _ opcode: Opcode, moreFollows: Bool = false, payloadLength: Int
  ) {
    self.init(
      type: type, moreFollows: moreFollows, group: opcode.group, oid: opcode.oid,
      isExtended: payloadLength > 255, payloadLength: payloadLength)
  }

  /// Group and opcode of a control packet.
  @inlinable package var opcode: Opcode { Opcode(group, oid) }

  /// Reads a header. Reserved bits are ignored, as the specification requires.
  ///
  /// - Parameters:
  ///   - bytes: at least four bytes.
  ///   - dataLengthInByte3: whether data packets of this device carry their length in the fourth
  ///     byte only, as with Qorvo's serial firmware of the QM33.
  /// - Throws: `PayloadError` when there are fewer than four bytes.
  @inlinable
  package init(parsing bytes: RawSpan, dataLengthInByte3: Bool = false) throws(PayloadError) {
    guard bytes.byteCount >= 4 else {
      throw PayloadError.tooShort(field: "header", needed: 4, available: bytes.byteCount)
    }
    // Sound: there are four bytes.
    let o = unsafe bytes.unsafeLoadUnaligned(as: (UInt8, UInt8, UInt8, UInt8).self)
    type = MessageType(rawValue: o.0 >> 5)
    moreFollows = o.0 & 0x10 != 0
    group = GroupID(rawValue: o.0)
    if type.isControl {
      oid = o.1 & 0x3F
      isExtended = o.1 & 0x80 != 0
      payloadLength = isExtended ? Int(o.2) | Int(o.3) << 8 : Int(o.3)
    } else {
      oid = 0
      isExtended = false
      payloadLength =
        dataLengthInByte3 && type == .data ? Int(o.3) : Int(o.2) | Int(o.3) << 8
    }
  }

  /// Returns whether a whole packet has the length in its fourth byte, although its header implies
  /// 16 bits of length. That applies to data of Qorvo's serial firmware. It also applies to control
  /// packets of other vendors that set the reserved bit by which NXP's chips announce a long
  /// length.
  ///
  /// - Parameter packet: a packet with its header, of which `self` is the header.
  package func hasShortLength(of packet: RawSpan) -> Bool {
    guard !type.isControl || isExtended, packet.byteCount >= Self.length else { return false }
    let last = unsafe packet.unsafeLoad(fromByteOffset: 3, as: UInt8.self)
    return packet.byteCount == Self.length + Int(last)
  }

  /// Returns the four bytes of the header. A length that is too large is a programming error.
  package func encoded(dataLengthInByte3: Bool = false) -> [UInt8] {
    let first = type.rawValue << 5 | (moreFollows ? 0x10 : 0) | group.rawValue
    precondition((0...0xFFFF).contains(payloadLength), "a UCI payload has at most 65535 bytes")
    let low = UInt8(payloadLength & 0xFF)
    let high = UInt8(payloadLength >> 8)
    if type.isControl {
      if isExtended { return [first, oid | 0x80, low, high] }
      precondition(payloadLength <= 255, "a control packet has at most 255 bytes of payload")
      return [first, oid, 0, low]
    }
    if dataLengthInByte3 && type == .data {
      precondition(payloadLength <= 255, "this device takes at most 255 bytes of data payload")
      return [first, 0, 0, low]
    }
    return [first, 0, low, high]
  }
}
