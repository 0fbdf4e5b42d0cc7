// SPDX-License-Identifier: Apache-2.0

import UCI

/// The calibration of a simulated chip in the form of its family. It survives resets and power
/// cycles.
struct CalibrationStore: Sendable {
  /// Values by key; nil if the family has none.
  var keys: [String: [UInt8]]?
  /// Values by channel and number; nil if the family has none.
  var parameters: [NXPParameter: [UInt8]]?

  struct NXPParameter: Hashable, Sendable {
    var channel: UInt8
    var number: UInt8
  }

  /// The keys of a DWM3001CDK for two antennas, with the defaults of its firmware.
  ///
  /// Source: the defaults in l1_config.yml of DW3_QM33_SDK 1.1.0. Values that the file lacks are
  /// invented.
  static let qm33: CalibrationStore = {
    var keys: [String: [UInt8]] = [
      "xtal_trim": [0x2E], "restricted_channels": [0, 0], "alternate_pulse_shape": [0],
      "rf_noise_offset": [0xF9], "rx_diag_config.cir_n_taps": [16, 0],
      "rx_diag_config.cir_fp_tap_offset": [8, 0], "ip_sts_sanity_thres_q2": [0],
      "ref_frame0.phy_cfg": [0x44, 0x21, 0x07], "ref_frame0.payload_size": [127, 0],
      "ant_pair0.axis": [0], "ant_pair0.ant_paths": [0x01, 0x02], "ant_set0.tx_ant_path": [0],
      "ant_set0.nb_rx_ants": [1], "ant_set0.rx_ants": [1, 0xFF, 0xFF],
      "ant_set0.rx_ants_are_pairs": [0],
    ]
    for (antenna, transceiver) in [(0, UInt8(0)), (1, 1)] {
      keys["ant\(antenna).transceiver"] = [transceiver]
      keys["ant\(antenna).port"] = [UInt8(antenna + 1)]
      for channel in [5, 9] {
        let path = "ant\(antenna).ch\(channel)"
        keys["\(path).ant_delay"] = [0x15, 0x40, 0, 0]
        keys["\(path).pg_delay"] = [0x34]
        keys["\(path).pa_gain_offset"] = [0]
        keys["\(path).rssi_offset_q3"] = [0]
        keys["\(path).ref_frame0.tx_power_index"] = [0x0C, 0x0C, 0x0C, 0x0C]
      }
    }
    for channel in [5, 9] {
      keys["ant_pair0.ch\(channel).pdoa.offset"] = [0, 0]
      keys["ant_pair0.ch\(channel).pdoa.lut_id"] = [0xFF]
    }
    return CalibrationStore(keys: keys)
  }()

  /// The short values in the published log of an SR250.
  static let sr250: CalibrationStore = {
    var parameters: [NXPParameter: [UInt8]] = [
      NXPParameter(channel: 0, number: 0x01): [3, 0x25, 0, 0x25, 0, 4, 0]
    ]
    for channel: UInt8 in [5, 9] {
      let values: [UInt8: [UInt8]] = [
        0x02: [4, 1, 0x78, 0x48, 2, 0x72, 0x48, 3, 0x76, 0x48, 4, 0x69, 0x48],
        0x03: [2, 1, 0xD2, 0x3A, 2, 0x46, 0xC2],
        0x04: [2, 1, 3, 0, 0x2A, 0, 2, 3, 0, 0x2C, 0], 0x64: [1, 1, 0xE8, 0xFF],
        0x65: [2, 1, 0, 0, 2, 0, 0], 0x66: [2, 1, 0xD3, 0xE0, 2, 0x45, 0x1C],
        0x69: [2, 1, 0, 2, 0],
      ]
      for (number, value) in values {
        parameters[NXPParameter(channel: channel, number: number)] = value
      }
    }
    return CalibrationStore(parameters: parameters)
  }()
}

extension SimulatedChip {
  /// Handles a calibration command; returns false if it is not one of this family.
  mutating func calibrate(_ opcode: Opcode, _ payload: [UInt8]) throws -> Bool {
    switch opcode {
    case QorvoSetCalibration.opcode where calibration.keys != nil:
      try setKeys(try read(QorvoSetCalibration.self, payload))
    case QorvoGetCalibration.opcode where calibration.keys != nil:
      reportKeys(try read(QorvoGetCalibration.self, payload))
    case NXPSetCalibration.opcode where calibration.parameters != nil:
      let command = try read(NXPSetCalibration.self, payload)
      calibration.parameters?[
        .init(channel: command.channel, number: command.parameter)] = command.value
      respond(opcode, .ok)
    case NXPGetCalibration.opcode where calibration.parameters != nil:
      let command = try read(NXPGetCalibration.self, payload)
      let key = CalibrationStore.NXPParameter(
        channel: command.channel, number: command.parameter)
      guard let bytes = calibration.parameters?[key] else { throw Refusal(.invalidParameter) }
      respond(
        opcode,
        BodyResponse(
          status: .ok, body: NXPCalibrationValue(parameter: command.parameter, bytes: bytes)))
    default: return false
    }
    return true
  }

  /// Sets the keys, or none if a key is unknown or its value has a different length.
  private mutating func setKeys(_ command: QorvoSetCalibration) throws(Refusal) {
    let entries = command.entries.map {
      (key: String(decoding: $0.key, as: UTF8.self), value: $0.value)
    }
    guard entries.allSatisfy({ calibration.keys?[$0.key]?.count == $0.value.count }) else {
      throw Refusal(.invalidParameter)
    }
    for entry in entries { calibration.keys?[entry.key] = entry.value }
    respond(QorvoSetCalibration.opcode, .ok)
  }

  private mutating func reportKeys(_ command: QorvoGetCalibration) {
    let keys =
      command.keys.isEmpty
      ? (calibration.keys ?? [:]).keys.sorted().map { Array($0.utf8) } : command.keys
    var isComplete = true
    var writer = PayloadWriter()
    for key in keys {
      let value = calibration.keys?[String(decoding: key, as: UTF8.self)]
      isComplete = isComplete && value != nil
      writer.u8(UInt8(key.count))
      writer.bytes(key)
      writer.u8((value == nil ? Status.invalidParameter : .ok).rawValue)
      writer.u8(UInt8(value?.count ?? 0))
      writer.bytes(value ?? [])
    }
    var response = PayloadWriter()
    response.u8((isComplete ? Status.ok : .invalidParameter).rawValue)
    response.u16(UInt16(keys.count))
    response.bytes(writer.bytes)
    respond(QorvoGetCalibration.opcode, response.bytes)
  }
}

/// The ticks between the counter of a chip and the air.
struct AntennaDelays: Hashable, Sendable {
  var transmit = 0.0
  var receive = 0.0
}

extension CalibrationStore {
  /// Returns the antenna delays that are set for a channel, in ticks.
  ///
  /// Qorvo: `ant_delay` of the sending and of the receiving antenna, in ticks. NXP: RX_ANT_DELAY of
  /// the first antenna, in quarters of a centimetre of the distance that results, which is half of
  /// the delay (source: UWBIoT API Reference Guide).
  func delays(channel: UInt8) -> AntennaDelays {
    func ticks(_ antenna: UInt8?) -> Double {
      Double((antenna.flatMap { keys?["ant\($0).ch\(channel).ant_delay"] } ?? []).number)
    }
    if let keys {
      return AntennaDelays(
        transmit: ticks(keys["ant_set0.tx_ant_path"]?.first),
        receive: ticks(keys["ant_set0.rx_ants"]?.first))
    }
    if let list = parameters?[NXPParameter(channel: channel, number: 0x02)], list.count >= 4 {
      let quarters = Double(UInt16(littleEndianBytes: list[2...]))
      return AntennaDelays(
        receive: (2 * quarters / 400 / TwoWayStamps.metresPerTick).rounded())
    }
    return AntennaDelays()
  }
}
