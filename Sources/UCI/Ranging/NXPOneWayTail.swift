// SPDX-License-Identifier: Apache-2.0

/// What an NXP chip puts behind the one-way measurements of a SESSION_INFO_NTF, if the parameter
/// EXTENDED_NOTIFICATIONS is set.
///
/// Every read is bounded by the length at its front; what does not fit it exactly is no tail.
///
/// Source: nxp-uwb/sr250-uwbiot-zephyr (facts only).
public enum NXPOneWayTail: Hashable, Sendable {
  /// Of measurements of angles only.
  case angles(OneWayAngles)
  /// Of uplink TDoA.
  case uplink(Uplink)

  /// Angles and power of measurements of angles only.
  public struct OneWayAngles: Hashable, Sendable {
    /// What belongs to one measurement.
    public struct Measurement: Hashable, Sendable {
      /// One for each of `antennas`.
      public var angles: [NXPVendorTail.AngleEntry]
      /// Received power: dBm in Q8.8.
      public var rawRSSI: Int16

      /// Received power in dBm.
      public var rssiDBm: Double { Double(rawRSSI) / 256 }
    }

    /// 0 first version, 0xA0 with flags of the field of view.
    public var type: UInt8
    /// 0 ToA, 1 AoA.
    public var rxMode: UInt8
    /// Pairs of antennas.
    public var antennas: [UInt8]
    /// One for each measurement of the notification.
    public var measurements: [Measurement]
  }

  /// Power and phases of uplink TDoA.
  public struct Uplink: Hashable, Sendable {
    /// A phase difference.
    public struct Phase: Hashable, Sendable {
      /// Phase difference of arrival: degrees in Q9.7.
      public var rawPDoA: Int16
      /// Where in the channel impulse response the phases were taken.
      public var index: UInt16
    }

    /// Received power of two receivers: dBm in Q8.8; empty where it is not said.
    public var rawRSSI: [Int16]
    /// Phase differences.
    public var phases: [Phase]
    /// What follows, as it comes: receiver mode, antennas, coexistence with Wi-Fi and a tag, of which
    /// the exact layout is not known.
    public var rest: [UInt8]
  }

  /// From the bytes behind the last measurement; nil for other measurements than these two.
  package init?(_ bytes: [UInt8], behind measurements: SessionInfo.Measurements) {
    var reader = unsafe PayloadReader(bytes.span.bytes)
    guard let body = try? reader.longCounted("vendor data"), !body.isEmpty else { return nil }
    var rest = unsafe PayloadReader(body.span.bytes)
    do throws(PayloadError) {
      switch measurements {
      case .oneWayAoA(let list): self = .angles(try OneWayAngles(from: &rest, list.count))
      case .uplinkTDoA: self = .uplink(try Uplink(from: &rest))
      default: return nil
      }
    } catch { return nil }
    guard rest.remaining == 0 else { return nil }
  }
}

extension NXPOneWayTail.OneWayAngles {
  fileprivate init(from reader: inout PayloadReader, _ count: Int) throws(PayloadError) {
    type = try reader.u8("type")
    rxMode = try reader.u8("RX mode")
    antennas = try reader.counted("antennas")
    measurements = []
    for _ in 0..<count {
      var angles: [NXPVendorTail.AngleEntry] = []
      for _ in antennas { angles.append(try reader.angleEntry(hasFlag: type == 0xA0)) }
      measurements.append(Measurement(angles: angles, rawRSSI: try reader.i16("RSSI")))
    }
  }
}

extension NXPOneWayTail.Uplink {
  fileprivate init(from reader: inout PayloadReader) throws(PayloadError) {
    rawRSSI = []
    phases = []
    rest = []
    let bytes = try reader.counted("extension")
    if !bytes.isEmpty {
      var body = unsafe PayloadReader(bytes.span.bytes)
      rawRSSI = [try body.i16("RSSI"), try body.i16("RSSI")]
      for _ in 0..<(try body.u8("number of phases")) {
        phases.append(Phase(rawPDoA: try body.i16("PDoA"), index: try body.u16("PDoA index")))
      }
      guard body.remaining == 0 else {
        throw PayloadError.invalid(field: "extension", reason: "it is longer than its phases")
      }
    }
    rest = reader.rest()
  }
}
