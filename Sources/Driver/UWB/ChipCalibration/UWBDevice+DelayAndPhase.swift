// SPDX-License-Identifier: Apache-2.0
internal import UCI

extension UWBDevice {
  /// Returns the delays that make every distance of this chip some metres shorter: its current
  /// delays plus the corresponding increase. Does not write them; `calibrate` does.
  ///
  /// Qorvo: `ant_delay` of every antenna that sends or receives for ranging. An increase of one
  /// tick (15.65 ps) shortens distances by 4.69 mm: half by the sending delay, half by the
  /// receiving delay. NXP: RX_ANT_DELAY of every antenna, in quarters of a centimetre of distance
  /// (source: UWBIoT API Reference Guide).
  ///
  /// - Parameters:
  ///   - channel: the channel of the delays.
  ///   - metres: the change; a negative one makes distances longer.
  ///   - antennas: the antennas by the chip's numbers; empty: the antennas that it ranges with.
  /// - Throws: `CalibrationError`; `.unreadable` where a delay would be negative.
  public func antennaDelays(
    channel: UInt8, shorteningBy metres: Double, antennas: [UInt8] = []
  ) async throws(CalibrationError) -> [CalibrationEntry] {
    switch profile.calibration {
    case .unknown: throw .unsupported(chip: profile.name)
    case .namedKeys:
      let used = antennas.isEmpty ? try await rangingAntennas() : antennas
      // A tick is 1/(128 · 499.2 MHz), converted to metres at the speed of light in air.
      let ticks = (metres * 128 * 499.2e6 / 299_702_547).rounded()
      var list = try await calibration(used.map { "ant\($0).ch\(channel).ant_delay" })
      for index in list.indices {
        list[index].bytes = try shifted(list[index], list[index].bytes[...], by: ticks)
      }
      return list
    case .numberedParameters:
      var list = try await calibration(["ch\(channel).rx_ant_delay"])
      for index in list.indices {
        for (antenna, place) in try words(of: list[index])
        where antennas.isEmpty || antennas.contains(antenna) {
          let value = try shifted(
            list[index], list[index].bytes[place], by: (400 * metres).rounded())
          list[index].bytes.replaceSubrange(place, with: value)
        }
      }
      return list
    }
  }

  /// Returns the bytes of an unsigned number plus `steps`.
  private func shifted(
    _ entry: CalibrationEntry, _ bytes: ArraySlice<UInt8>, by steps: Double
  ) throws(CalibrationError) -> [UInt8] {
    let old = Int64(littleEndianBytes: bytes)
    let limit = Int64(1) << Int64(8 * bytes.count)
    guard bytes.count <= 4, abs(steps) < 1e9, 0..<limit ~= old + Int64(steps) else {
      throw .unreadable(
        name: entry.name, value: "\(old) and \(steps.isFinite ? steps : 0) more",
        accepted: "0 to \(limit - 1)")
    }
    return Array(UInt64(old + Int64(steps)).littleEndianBytes.prefix(bytes.count))
  }

  /// Returns the antennas of the first set, for sending and receiving.
  private func rangingAntennas() async throws(CalibrationError) -> [UInt8] {
    func signed(_ name: String) async throws(CalibrationError) -> [Int8] {
      // Firmware without antenna sets has one antenna.
      do {
        return try await calibration([name]).first?.bytes.map(Int8.init(bitPattern:)) ?? []
      } catch {
        if case .refused = error { return [] }
        throw error
      }
    }
    var paths = try await signed("ant_set0.tx_ant_path")
    let count = try await signed("ant_set0.nb_rx_ants").first ?? 0
    let receiving = try await signed("ant_set0.rx_ants").prefix(Int(max(0, count)))
    if try await signed("ant_set0.rx_ants_are_pairs").first == 1 {
      for pair in receiving where pair >= 0 {
        paths += try await signed("ant_pair\(pair).ant_paths")
      }
    } else {
      paths += receiving
    }
    let used = Set(paths.filter { 0...3 ~= $0 }.map { UInt8($0) }).sorted()
    return used.isEmpty ? [0] : used
  }

  /// Returns the values with which a chip corrects the phases of a pair of antennas by an offset,
  /// and converts them to angles by a table. Does not write them; `calibrate` does.
  ///
  /// The phases are assumed to be measured with the current offset of the chip, which the chip
  /// subtracts (Qorvo: `ant_pair#.ch#.pdoa.offset`, `pdoa_lut#.data` and `pdoa.lut_id`; NXP:
  /// PDOA_OFFSET). No published document has the sign of the offset. Measure again after writing.
  ///
  /// - Parameters:
  ///   - pair: the pair, by the chip's number.
  ///   - offset: the phase straight ahead in radians.
  ///   - table: angles and phases in radians, sorted by angle, without the offset.
  /// - Returns: the values, and a sentence about the parts that the chip does not support.
  /// - Throws: `CalibrationError`.
  package func phaseCalibration(
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
        guard bytes.count == 2 else {
          throw .wrongLength(name: entries[index].name, expected: 2, given: bytes.count)
        }
        let old = Double(Self.signed(bytes[...])) / 2048
        entries[index].bytes = Self.word(Self.wrapped(old + offset, .pi) * 2048)
      }
      // Firmware without tables computes angles from its own curve, so only the offset is returned.
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
        guard let place = try words(of: entries[index]).first(where: { $0.number == pair })?.place
        else {
          throw .unreadable(
            name: entries[index].name, value: "pair \(pair)", accepted: "a pair that it has")
        }
        let old = Double(Self.signed(entries[index].bytes[place])) / 128
        entries[index].bytes.replaceSubrange(
          place, with: Self.word(Self.wrapped(old + degrees, 180) * 128))
      }
      return (entries, "This chip's table of angles is not written: only the offset.")
    }
  }

  /// Returns 31 pairs of a phase and its angle, with 11 bits of fraction each, sorted by phase.
  private static func lookUpTable(_ table: [(angle: Double, phase: Double)]) -> [UInt8] {
    let (low, high) = (table[0].angle, table[table.count - 1].angle)
    var points = (0..<31).map { index -> (angle: Double, phase: Double) in
      let angle = low + (high - low) * Double(index) / 30
      let after = table.firstIndex { $0.angle >= angle } ?? table.count - 1
      let (b, a) = (table[after], table[max(0, after - 1)])
      let part = b.angle > a.angle ? (angle - a.angle) / (b.angle - a.angle) : 0
      return (angle, a.phase + max(0, min(1, part)) * (b.phase - a.phase))
    }
    points.sort { $0.phase < $1.phase }
    return points.flatMap { word($0.phase * 2048) + word($0.angle * 2048) }
  }

  /// Parses NXP's list: a count, then the number of an antenna or pair and 16 bits for each entry.
  private func words(
    of entry: CalibrationEntry
  ) throws(CalibrationError) -> [(number: UInt8, place: Range<Int>)] {
    let bytes = entry.bytes
    guard let count = bytes.first, bytes.count == 1 + 3 * Int(count) else {
      throw .unreadable(
        name: entry.name, value: CalibrationForm.raw(bytes),
        accepted: "a count and three bytes for each antenna or pair")
    }
    return (0..<Int(count)).map { (bytes[1 + 3 * $0], 2 + 3 * $0..<4 + 3 * $0) }
  }

  private static func signed(_ bytes: ArraySlice<UInt8>) -> Int16 {
    Int16(littleEndianBytes: bytes)
  }

  private static func word(_ value: Double) -> [UInt8] {
    Int16(max(-32768, min(32767, value.rounded()))).littleEndianBytes
  }

  /// Returns the value wrapped into -half..<half.
  private static func wrapped(_ value: Double, _ half: Double) -> Double {
    value - 2 * half * (value / (2 * half)).rounded()
  }
}
