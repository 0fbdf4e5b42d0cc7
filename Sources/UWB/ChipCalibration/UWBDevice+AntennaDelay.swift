// SPDX-License-Identifier: Apache-2.0
internal import UCI

extension UWBDevice {
  /// The values with which every distance of this chip becomes shorter by some metres: what it has
  /// now, and so much more delay. Nothing is written; `calibrate` does that.
  ///
  /// Qorvo: `ant_delay` of every antenna that sends or receives for ranging, one tick of 15.65 ps for
  /// 4.69 mm: a distance has half of the delay of sending and half of that of receiving in it. NXP:
  /// RX_ANT_DELAY of every antenna, a quarter of which are centimetres of distance (source: UWBIoT
  /// API Reference Guide).
  ///
  /// - Parameters:
  ///   - metres: negative makes distances longer.
  ///   - antennas: only these, as the chip numbers them; none: those that it ranges with.
  /// - Throws: `CalibrationError`; `.unreadable` where a delay would be less than none.
  public func antennaDelays(
    channel: UInt8, shorteningBy metres: Double, antennas: [UInt8] = []
  ) async throws(CalibrationError) -> [CalibrationEntry] {
    switch profile.calibration {
    case .unknown: throw .unsupported(chip: profile.name)
    case .namedKeys:
      let used = antennas.isEmpty ? try await rangingAntennas() : antennas
      // 1/(128 · 499.2 MHz) at the speed of light in air.
      let ticks = (metres * 128 * 499.2e6 / 299_702_547).rounded()
      var list = try await calibration(used.map { "ant\($0).ch\(channel).ant_delay" })
      for index in list.indices {
        list[index].bytes = try shifted(list[index], list[index].bytes[...], by: ticks)
      }
      return list
    case .numberedParameters:
      var list = try await calibration(["ch\(channel).rx_ant_delay"])
      // A count, then the number of an antenna and 16 bits for each.
      for index in list.indices {
        let bytes = list[index].bytes
        guard let count = bytes.first, bytes.count == 1 + 3 * Int(count) else {
          throw .unreadable(
            name: list[index].name, value: CalibrationForm.raw(bytes),
            accepted: "a count and three bytes for each antenna")
        }
        for antenna in 0..<Int(count)
        where antennas.isEmpty || antennas.contains(bytes[1 + 3 * antenna]) {
          let place = (2 + 3 * antenna)..<(4 + 3 * antenna)
          let value = try shifted(list[index], bytes[place], by: (400 * metres).rounded())
          list[index].bytes.replaceSubrange(place, with: value)
        }
      }
      return list
    }
  }

  /// The bytes of an unsigned number, changed by `steps`.
  private func shifted(
    _ entry: CalibrationEntry, _ bytes: ArraySlice<UInt8>, by steps: Double
  ) throws(CalibrationError) -> [UInt8] {
    let old = bytes.reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let limit = Int64(1) << Int64(8 * bytes.count)
    guard bytes.count <= 4, abs(steps) < 1e9, 0..<limit ~= old + Int64(steps) else {
      throw .unreadable(
        name: entry.name, value: "\(old) and \(steps.isFinite ? steps : 0) more",
        accepted: "0 to \(limit - 1)")
    }
    return Array(UInt64(old + Int64(steps)).littleEndianBytes.prefix(bytes.count))
  }

  /// The antennas of the first set: what sends, and what receives.
  private func rangingAntennas() async throws(CalibrationError) -> [UInt8] {
    func signed(_ name: String) async throws(CalibrationError) -> [Int8] {
      // Firmwares without sets have one antenna.
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
}
