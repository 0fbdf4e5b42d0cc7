// SPDX-License-Identifier: Apache-2.0

/// The bytes of an NXP chip after the one-way measurements of a SESSION_INFO_NTF, if the parameter
/// EXTENDED_NOTIFICATIONS is set.
///
/// The length at its front bounds every read; bytes that do not match it exactly are not a tail.
///
/// Source: nxp-uwb/sr250-uwbiot-zephyr (facts only).
package enum NXPOneWayTail: Hashable, Sendable {
  /// A tail of measurements of angles only.
  case angles(OneWayAngles)
  /// A tail of uplink TDoA.
  case uplink(Uplink)

  /// Angles and power of measurements of angles only.
  package struct OneWayAngles: FieldGroup, Hashable, Sendable {
    package struct Measurement: Hashable, Sendable {
      /// An angle for each of `antennas`.
      package var angles: [NXPVendorTail.AngleEntry] = []
      /// Received power: dBm in Q8.8.
      package var rawRSSI: Int16 = 0
    }

    /// 0 first version, 0xA0 with flags of the field of view.
    package var type: UInt8 = 0
    /// 0 ToA, 1 AoA.
    package var rxMode: UInt8 = 0
    /// Pairs of antennas.
    package var antennas: [UInt8] = []
    /// The angles and the power of each measurement of the notification.
    package var measurements: [Measurement] = []
    /// The number of measurements of the notification.
    fileprivate var count = 0

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("type", &type)
      try coder.field("rx_mode", &rxMode, .names(["TOA", "AOA"]))
      try coder.numbers("antennas", &antennas)
      let (angles, hasFlag) = (antennas.count, type == 0xA0)
      try coder.list(
        "measurements", &measurements, .exactly(count), blank: Measurement()
      ) { c, measurement throws(PayloadError) in
        try c.list(
          "angles", &measurement.angles, .exactly(angles), blank: .init()
        ) { c, angle throws(PayloadError) in
          try c.field("angle_deg", &angle.rawAngle, .scaled(128))
          try c.field("pdoa_deg", &angle.rawPDoA, .scaled(128))
          try c.field("index", &angle.index)
          try c.optional("field_of_view", &angle.fieldOfViewFlag, if: hasFlag)
        }
        try c.field("rssi_dbm", &measurement.rawRSSI, .scaled(256))
      }
    }
  }

  /// Power and phases of uplink TDoA.
  package struct Uplink: FieldGroup, Hashable, Sendable {
    package struct Phase: Hashable, Sendable {
      /// Phase difference of arrival: degrees in Q9.7.
      package var rawPDoA: Int16 = 0
      /// The position in the channel impulse response at which the phases were taken.
      package var index: UInt16 = 0
    }

    /// Received power of two receivers: dBm in Q8.8; empty where it is missing.
    package var rawRSSI: [Int16] = []
    package var phases: [Phase] = []
    /// The raw remaining bytes: receiver mode, antennas, coexistence with Wi-Fi and a tag, in an
    /// unknown layout.
    package var rest: [UInt8] = []

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      var length = UInt8(rawRSSI.isEmpty ? 0 : 5 + 4 * phases.count)
      try coder.field("extension", &length, .hidden)
      let isThere = length > 0
      try coder.numbers("rssi_dbm", &rawRSSI, .exactly(isThere ? 2 : 0), .scaled(256))
      try coder.list(
        "phases", &phases, isThere ? .u8 : .exactly(0), blank: Phase()
      ) { c, phase throws(PayloadError) in
        try c.field("pdoa_deg", &phase.rawPDoA, .scaled(128))
        try c.field("index", &phase.index)
      }
      try coder.require(
        !isThere || Int(length) == 5 + 4 * phases.count, "extension",
        "it does not end with its phases")
      try coder.bytes("rest", &rest, .rest)
    }
  }

  /// Reads the bytes after the last measurement; nil for other types of measurements.
  package init?(_ bytes: [UInt8], behind measurements: SessionInfo.Measurements) {
    var reader = unsafe PayloadReader(bytes.span.bytes)
    guard let body = try? reader.longCounted("vendor data"), !body.isEmpty else { return nil }
    var coder = unsafe FieldReader(PayloadReader(body.span.bytes), .assumed)
    do throws(PayloadError) {
      switch measurements {
      case .oneWayAoA(let list):
        var angles = OneWayAngles()
        angles.count = list.count
        try angles.visit(&coder)
        self = .angles(angles)
      case .uplinkTDoA:
        var uplink = Uplink()
        try uplink.visit(&coder)
        self = .uplink(uplink)
      default: return nil
      }
    } catch { return nil }
    guard coder.reader.remaining == 0 else { return nil }
  }
}
