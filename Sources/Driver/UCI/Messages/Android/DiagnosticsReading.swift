// SPDX-License-Identifier: Apache-2.0

/// The contents of an item of range diagnostics, read from its bytes.
///
/// Sources: AOSP's packet definitions; DW3_QM33_SDK 1.1.0 (uci_spec_fira.h). They disagree about
/// the scale of the levels of paths, so these stay raw.
package enum DiagnosticsReading: Hashable, Sendable {
  /// RSSI of each receiver, raw.
  case rssi([UInt8])
  /// Angles, one for each axis.
  case aoa([AoA])
  /// Bit 0 received well, 1 interference of Wi-Fi, 2 grant of coexistence exceeded.
  case frameStatus(UInt16)
  /// Clock offset to the sender: 2⁻²⁶ of the frequency.
  case clockOffset(Int32)
  /// The sender's short address.
  case emitter(UInt16)
  /// Levels of the segments of a frame.
  case segments([Segment])
  /// Windows of channel impulse responses.
  case impulseResponses([ImpulseResponse])

  package struct AoA: Hashable, Sendable {
    /// Time difference of arrival, raw, 11 bits of fraction.
    package var rawTDoA: Int16
    /// Phase difference of arrival: radians with 11 bits of fraction.
    package var rawPDoA: Int16
    /// Angle: radians with 11 bits of fraction.
    package var rawAngle: Int16
    /// 0…255, 255 best.
    package var figureOfMerit: UInt8
    /// 0 x, 1 y, 2 z.
    package var axis: UInt8

    /// Phase difference of arrival in radians.
    package var phaseDifference: Double { Double(rawPDoA) / 2048 }
    package var degrees: Double { Double(rawAngle) / 2048 * 180 / .pi }
  }

  package struct Path: Hashable, Sendable {
    package var index: UInt16
    /// Received level, raw; sources disagree about its scale.
    package var rawLevel: UInt16
    /// Time, raw: 64 times the index on Qorvo's chips.
    package var rawTime: UInt16
  }

  /// Levels of one segment of a frame.
  package struct Segment: Hashable, Sendable {
    /// Bits 2…0 segment (0 Ipatov, 1…4 STS), 3 primary receiver, 7…4 receiver.
    package var id: UInt8
    /// Noise floor, raw.
    package var rawNoise: Int16
    /// Received level: an unsigned Q8.8 magnitude of negative dBm.
    package var rawLevel: UInt16
    package var firstPath: Path
    package var peakPath: Path

    package var levelDBm: Double { -Double(rawLevel) / 256 }
  }

  /// A window of a channel impulse response around the first path.
  package struct ImpulseResponse: Hashable, Sendable {
    /// The segment, like `Segment.id`.
    package var id: UInt8
    /// The index of the first path among the samples.
    package var firstPathIndex: UInt8
    package var count: UInt8
    /// The announced bytes of a sample.
    package var sampleSize: UInt8
    /// The raw samples: real and imaginary parts by turns.
    package var samples: [UInt8]
  }
}

extension RangeDiagnosticsNotification.Item {
  /// The contents of the item; nil for an unknown type, and for bytes that do not have the form of
  /// their type.
  package var reading: DiagnosticsReading? {
    var reader = unsafe PayloadReader(value.span.bytes)
    do throws(PayloadError) {
      let reading = try Self.read(type, &reader)
      return reader.remaining == 0 ? reading : nil
    } catch {
      return nil
    }
  }

  private static func read(
    _ type: UInt8, _ reader: inout PayloadReader
  ) throws(PayloadError) -> DiagnosticsReading? {
    switch type {
    case 0: return .rssi(reader.rest())
    case 1:
      var list: [DiagnosticsReading.AoA] = []
      while reader.remaining > 0 {
        list.append(try .init(from: &reader))
      }
      return .aoa(list)
    case 3: return .frameStatus(try reader.u16("frame status"))
    case 4: return .clockOffset(try reader.i32("CFO"))
    case 5: return .emitter(try reader.u16("emitter"))
    case 6:
      var list: [DiagnosticsReading.Segment] = []
      while reader.remaining > 0 {
        list.append(try .init(from: &reader))
      }
      return .segments(list)
    case 7:
      // The size is the size of a sample, or of one of its two parts. The form with which the
      // windows end exactly with the item applies.
      for parts in [1, 2] {
        var attempt = reader
        guard let list = try? attempt.impulseResponses(parts: parts), attempt.remaining == 0 else {
          continue
        }
        reader = attempt
        return .impulseResponses(list)
      }
      return nil
    default: return nil
    }
  }
}

extension DiagnosticsReading.AoA {
  /// Reads an angle; throws `PayloadError` where the bytes end.
  package init(from reader: inout PayloadReader) throws(PayloadError) {
    rawTDoA = try reader.i16("TDoA")
    rawPDoA = try reader.i16("PDoA")
    rawAngle = try reader.i16("AoA")
    figureOfMerit = try reader.u8("FoM")
    axis = try reader.u8("axis")
  }
}

extension DiagnosticsReading.Segment {
  /// Reads a window; throws `PayloadError` where the bytes end.
  package init(from reader: inout PayloadReader) throws(PayloadError) {
    id = try reader.u8("segment")
    rawNoise = try reader.i16("noise")
    rawLevel = try reader.u16("level")
    firstPath = try reader.path()
    peakPath = try reader.path()
  }
}

extension PayloadReader {
  fileprivate mutating func path() throws(PayloadError) -> DiagnosticsReading.Path {
    DiagnosticsReading.Path(
      index: try u16("path index"), rawLevel: try u16("path level"), rawTime: try u16("path time"))
  }

  @_lifetime(self: copy self)
  fileprivate mutating func impulseResponses(
    parts: Int
  ) throws(PayloadError) -> [DiagnosticsReading.ImpulseResponse] {
    var list: [DiagnosticsReading.ImpulseResponse] = []
    while remaining > 0 {
      var response = DiagnosticsReading.ImpulseResponse(
        id: try u8("segment"), firstPathIndex: try u8("first path"), count: try u8("samples"),
        sampleSize: try u8("sample size"), samples: [])
      response.samples = try bytes(
        Int(response.count) * Int(response.sampleSize) * parts, "samples")
      list.append(response)
    }
    return list
  }
}
