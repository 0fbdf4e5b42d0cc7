// SPDX-License-Identifier: Apache-2.0

/// RADAR_RX_NTF of NXP's group 9: channel impulse responses, or who is there.
///
/// Source: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_ocpd); names of the fields
/// (facts only) nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.
public struct NXPRadarNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0x9), 0x0A)

  /// Somebody.
  public struct Detection: Hashable, Sendable {
    /// Centimetres.
    public var distance: UInt16
    /// Degrees.
    public var angle: Int8
    /// A number that names it.
    public var id: UInt8
    /// A measure of the signal to noise, as it comes: its unit is not known.
    public var rawValue: UInt32
  }

  /// What was measured.
  public enum Content: Hashable, Sendable {
    /// Channel impulse responses: how many, units of 4 bytes in each, a reserved byte, bytes.
    case impulseResponses(count: UInt16, size: UInt8, reserved: UInt8, bytes: [UInt8])
    /// Whether somebody is there, a mode, how many, a reserved byte, who.
    case presence(
      detected: UInt8, mode: UInt8, count: UInt8, reserved: UInt8, detections: [Detection])
    /// Something else.
    case other([UInt8])
  }

  /// What names the session.
  public var sessionToken: UInt32
  /// Whether the data is good.
  public var status: Status
  /// 0 channel impulse responses, 1 presence.
  public var type: UInt8
  /// What was measured.
  public var content: Content

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  ///
  /// The detections that are there are read, whatever their number says: published logs have one
  /// where it is 0.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    status = Status(rawValue: try reader.u8("status"))
    type = try reader.u8("radar type")
    switch type {
    case 0:
      content = .impulseResponses(
        count: try reader.u16("number of responses"), size: try reader.u8("size"),
        reserved: try reader.u8("reserved"), bytes: reader.rest())
    case 1:
      let detected = try reader.u8("presence")
      let mode = try reader.u8("mode")
      let count = try reader.u8("number of detections")
      let reserved = try reader.u8("reserved")
      var list: [Detection] = []
      while reader.remaining >= 8 {
        list.append(
          Detection(
            distance: try reader.u16("distance"),
            angle: Int8(bitPattern: try reader.u8("angle")), id: try reader.u8("id"),
            rawValue: try reader.u32("detection value")))
      }
      content = .presence(
        detected: detected, mode: mode, count: count, reserved: reserved, detections: list)
    default: content = .other(reader.rest())
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(status.rawValue)
    writer.u8(type)
    switch content {
    case .impulseResponses(let count, let size, let reserved, let bytes):
      writer.u16(count)
      writer.u8(size)
      writer.u8(reserved)
      writer.bytes(bytes)
    case .presence(let detected, let mode, let count, let reserved, let detections):
      for value in [detected, mode, count, reserved] { writer.u8(value) }
      for detection in detections {
        writer.u16(detection.distance)
        writer.u8(UInt8(bitPattern: detection.angle))
        writer.u8(detection.id)
        writer.u32(detection.rawValue)
      }
    case .other(let bytes): writer.bytes(bytes)
    }
  }
}
