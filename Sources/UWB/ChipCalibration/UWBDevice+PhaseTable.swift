// SPDX-License-Identifier: Apache-2.0
internal import UCI

extension UWBDevice {
  /// The values with which a chip takes the offset of a pair of antennas away from its phases, and
  /// makes angles of them by a table. Nothing is written; `calibrate` does that.
  ///
  /// Phases are taken to have been measured with the offset that the chip has now, which it subtracts
  /// (Qorvo: `ant_pair#.ch#.pdoa.offset`, `pdoa_lut#.data` and `pdoa.lut_id`; NXP: PDOA_OFFSET). No
  /// published document says which sign the offset has: measure again after writing.
  ///
  /// - Parameters:
  ///   - pair: as the chip numbers it.
  ///   - offset: radians, of the phase straight ahead.
  ///   - table: angles and phases in radians, rising angles, without the offset.
  /// - Returns: also what the chip cannot take, in a sentence.
  /// - Throws: `CalibrationError`.
  public func phaseCalibration(
    channel: UInt8, pair: UInt8, offset: Double, table: [(angle: Double, phase: Double)]
  ) async throws(CalibrationError) -> (entries: [CalibrationEntry], missing: String?) {
    let degrees = offset * 180 / .pi
    switch profile.calibration {
    case .unknown: throw .unsupported(chip: profile.name)
    case .namedKeys:
      let stem = "ant_pair\(pair).ch\(channel).pdoa"
      var entries = try await calibration(["\(stem).offset"])
      for index in entries.indices {
        let bytes = entries[index].bytes
        guard bytes.count == 2 else { throw lengthProblem(entries[index], 2) }
        let old = Double(Int16(bitPattern: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)) / 2048
        entries[index].bytes = Self.word(Self.wrapped(old + offset, .pi) * 2048)
      }
      // Firmwares without tables of their own keep their angles.
      let names = ["pdoa_lut\(pair).data", "\(stem).lut_id"]
      let present: [CalibrationEntry]
      do { present = try await calibration(names) } catch {
        if case .refused = error {
          return (entries, "This firmware has no \(names[0]): only the offset is written.")
        }
        throw error
      }
      guard present.count == 2, present[0].bytes.count == 124, table.count >= 2 else {
        return (entries, "The table does not fit into \(names[0]): only the offset is written.")
      }
      entries.append(CalibrationEntry(name: names[0], bytes: Self.lookUpTable(table)))
      entries.append(CalibrationEntry(name: names[1], bytes: [pair]))
      return (entries, nil)
    case .numberedParameters:
      var entries = try await calibration(["ch\(channel).pdoa_offset"])
      for index in entries.indices {
        let bytes = entries[index].bytes
        guard let count = bytes.first, bytes.count == 1 + 3 * Int(count) else {
          throw lengthProblem(entries[index], 1 + 3 * Int(bytes.first ?? 0))
        }
        guard
          let place = (0..<Int(count)).map({ 2 + 3 * $0 }).first(where: { bytes[$0 - 1] == pair })
        else {
          throw .unreadable(
            name: entries[index].name, value: "pair \(pair)", accepted: "a pair that it has")
        }
        let word = UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
        let old = Double(Int16(bitPattern: word)) / 128
        entries[index].bytes.replaceSubrange(
          place..<place + 2, with: Self.word(Self.wrapped(old + degrees, 180) * 128))
      }
      return (entries, "This chip's table of angles is not written: only the offset.")
    }
  }

  /// 31 times a phase and its angle, 11 bits of fraction each, rising phases.
  private static func lookUpTable(_ table: [(angle: Double, phase: Double)]) -> [UInt8] {
    let (low, high) = (table[0].angle, table[table.count - 1].angle)
    var points = (0..<31).map { index -> (angle: Double, phase: Double) in
      let angle = low + (high - low) * Double(index) / 30
      let after = table.firstIndex { $0.angle >= angle } ?? table.count - 1
      let (b, a) = (table[max(1, after)], table[max(1, after) - 1])
      let part = b.angle > a.angle ? (angle - a.angle) / (b.angle - a.angle) : 0
      return (angle, a.phase + max(0, min(1, part)) * (b.phase - a.phase))
    }
    points.sort { $0.phase < $1.phase }
    return points.flatMap { word($0.phase * 2048) + word($0.angle * 2048) }
  }

  private func lengthProblem(_ entry: CalibrationEntry, _ expected: Int) -> CalibrationError {
    .wrongLength(name: entry.name, expected: expected, given: entry.bytes.count)
  }

  private static func word(_ value: Double) -> [UInt8] {
    let whole = Int16(max(-32768, min(32767, value.rounded())))
    return Array(UInt64(UInt16(bitPattern: whole)).littleEndianBytes.prefix(2))
  }

  /// Into -half..<half.
  private static func wrapped(_ value: Double, _ half: Double) -> Double {
    value - 2 * half * (value / (2 * half)).rounded()
  }
}
