// SPDX-License-Identifier: Apache-2.0

import UCI

// The sources of layouts and switches: nxp-uwb/sr250-uwbiot-zephyr and
// nxp-appcodehub/an-sr250-uwb-plug-and-play-demo (facts only). ANTENNAS_CONFIGURATION_RX and
// RFRAME_LOG_NTF are among the vendor's parameters, extended notifications in the device
// configuration.
extension SimulatedChip {
  private enum NXPParameter {
    static let receivingAntennas: UInt8 = 0x03
    static let frameLog: UInt8 = 0x7B
  }

  /// Handles SET_VENDOR_APP_CONFIG: stores all values.
  mutating func setVendorParameters(_ payload: [UInt8]) throws {
    let command = try read(NXPSetAppConfig.self, payload)
    let index = try known(command.sessionToken)
    for parameter in command.parameters {
      sessions[index].vendorParameters[parameter.id] = parameter.value
    }
    respond(NXPSetAppConfig.opcode, ConfigurationResponse(status: .ok, refused: []))
  }

  /// Returns the bytes after the measurements of a round. With pairs of antennas the bytes have
  /// phases and levels. Without configured angles they are the bytes of a published log of an
  /// SR250.
  func measurementTail(
    _ index: Int, _ entries: [TwoWayMeasurement], _ seen: [Observation]
  ) -> [UInt8] {
    let antennas = sessions[index].vendorParameters[NXPParameter.receivingAntennas] ?? []
    guard profile.diagnostics == .nxp, antennas.first == 1, antennas.count >= 2,
      antennas.count == 2 + Int(antennas[1])
    else { return profile.measurementTail }
    let pairs = antennas[2...]
    // The first version, no Wi-Fi, AoA; then the receivers of the first pair.
    var body: [UInt8] = [0x00, 0x00, 0x01, UInt8(pairs.count)] + pairs + [0x01, 2, 1, 2]
    for entry in entries {
      let reception = seen.first {
        $0.reception != nil && $0.emitter == entry.peer && $0.message.isRanging
      }?
      .reception
      for pair in pairs { body += angles(pair, entry, reception) }
      for _ in 0..<2 { body += receiver(reception) }
    }
    // The last byte announces that there is no authentication tag.
    return UInt16(body.count).bytes + body + [0]
  }

  /// Returns the angles of a measurement. Pair 1 is the pair for azimuth, pair 2 the pair for
  /// elevation, as on Murata's 2BP.
  private func angles(
    _ pair: UInt8, _ entry: TwoWayMeasurement, _ reception: Reception?
  ) -> [UInt8] {
    guard let reception else { return [UInt8](repeating: 0, count: 6) }
    let isElevation = pair == 2
    let phase = isElevation ? reception.phases.up : reception.phases.right
    return (isElevation ? entry.elevation : entry.azimuth).raw.bytes + phase.degreesQ7
      + UInt16(Self.firstPath).bytes
  }

  /// The position of the first path in the receiver's window: 13 ns in Q10.6, as in logs of an
  /// SR150.
  private static let firstPath = 832.0

  private func receiver(_ reception: Reception?) -> [UInt8] {
    guard let reception else { return [UInt8](repeating: 0, count: 6) }
    let seen = PathsSeen(reception)
    return [seen.snrFirst, seen.snrMain] + seen.first.bytes + seen.main.bytes
  }

  private struct PathsSeen {
    var snrFirst, snrMain: UInt8
    var first, main: UInt16

    init(_ reception: Reception) {
      let channel = reception.channel
      func decibels(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
      let off = reception.level - channel.level
      snrFirst = decibels(reception.firstPathLevel - channel.noise)
      snrMain = decibels(channel.peak.level + off - channel.noise)
      first = UInt16(SimulatedChip.firstPath)
      main = UInt16(
        SimulatedChip.firstPath
          + ((channel.peak.delay - channel.firstPath.delay) * 64).rounded())
    }
  }

  /// Sends RFRAME_LOG_NTF: an entry for each receiver and frame.
  mutating func reportFrameLog(_ index: Int, _ sequence: UInt32, _ seen: [Observation]) {
    let session = sessions[index]
    guard session.vendorParameters[NXPParameter.frameLog]?.first == 1 else { return }
    let entries = seen.flatMap { observation in
      (0..<UInt8(2)).compactMap { receiver in
        observation.reception.map { entry($0, slot: observation.slot, receiver: receiver) }
      }
    }
    guard !entries.isEmpty else { return }
    var log = PayloadWriter()
    log.u32(session.token)
    log.u32(sequence)
    log.bytes([1, UInt8(min(255, entries.count)), UInt8(entries[0].count), 0])
    for entry in entries.prefix(255) { log.bytes(entry) }
    notify(NXPRFrameLogNotification.opcode, log.bytes)
  }

  private func entry(_ reception: Reception, slot: Int, receiver: UInt8) -> [UInt8] {
    let channel = reception.channel
    let seen = PathsSeen(reception)
    func power(_ dBm: Double) -> [UInt8] {
      // The unit is not published. The value here is relative to the noise.
      UInt32(max(0, min(4e9, power10(dBm - channel.noise) * 256))).bytes
    }
    let phase = receiver == 0 ? 0 : reception.phases.right
    let taps = channel.response(samples: 16, firstPathAt: 4, phase: phase)
    // 512 ticks are a unit of 1/124.8 µs.
    let units = UInt32(truncatingIfNeeded: reception.stamp >> 9)
    let part = Int16(reception.stamp & 511)
    var bytes: [UInt8] = [receiver << 6 | UInt8(min(63, slot)), 4, profile.lineOfSight.rawValue]
    bytes += seen.first.bytes + seen.main.bytes + [seen.snrMain, seen.snrFirst]
    bytes += ((reception.level - channel.noise).q8) + reception.level.q8
    bytes += power(channel.peak.level) + power(channel.firstPath.level) + UInt32(256).bytes
    bytes += Int16(max(-32_768, min(32_767, (reception.carrier * 1e6 * 2048).rounded()))).bytes
    bytes += phase.degreesQ7
    bytes += taps.flatMap { $0.real.sample + $0.imaginary.sample }
    return bytes + units.bytes + part.bytes
  }
}

extension RoundMessage {
  /// Whether the stamps of the message determine a distance.
  var isRanging: Bool {
    switch self {
    case .rangingInitiation, .rangingResponse, .rangingFinal: true
    case .control, .measurementReport, .resultReport: false
    }
  }
}
