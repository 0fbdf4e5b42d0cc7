// SPDX-License-Identifier: Apache-2.0

package import UCI

extension NXPSessionsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("count", .number(count)), Field("sessions", .bytes(entries))]
  }
}

extension NXPDeleteURSK: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session_ids", .list(sessionIDs.map { .number($0) }))]
  }
}

extension NXPDeleteURSKNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let list = outcomes.map {
      FieldValue.object([
        Field("session_id", .number($0.sessionID)), Field("result", .number($0.result)),
      ])
    }
    return [Field("status", .status(status)), Field("outcomes", .list(list))]
  }
}

extension NXPRangeResume: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("sts_index", .number(stsIndex))]
  }
}

extension NXPSchedulerStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let list = sessions.map {
      FieldValue.object([
        Field("session", .number($0.token)), Field("scheduler_status", .number($0.status)),
        Field("successes", .number($0.successes)), Field("failures", .number($0.failures)),
        Field("priority", .number($0.priority)),
      ])
    }
    return [Field("sessions", .list(list))]
  }
}

extension NXPRFrameLogNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("sequence", .number(sequenceNumber)),
      Field("tx_antenna", .number(txAntenna)),
      Field(
        "frames",
        .list(entries.map { NXPReceivedFrame($0).map(\.fieldValue) ?? .bytes($0) })),
    ]
  }
}

extension NXPReceivedFrame {
  var fieldValue: FieldValue {
    .object(
      [
        Field("mapping", .number(mapping)), Field("decode_status", .number(decodeStatus)),
        Field("first_path_ns", .decimal(Double(rawFirstPath) / 64)),
        Field("main_path_ns", .decimal(Double(rawMainPath) / 64)),
        Field("snr_main_db", .number(snrMainPath)), Field("snr_first_db", .number(snrFirstPath)),
        Field("snr_db", .decimal(Double(rawSNR) / 256)),
        Field("rssi_dbm", .decimal(Double(rawRSSI) / 256)),
        Field("main_path_power", .number(mainPathPower)),
        Field("first_path_power", .number(firstPathPower)),
        Field("noise_variance", .number(noiseVariance)),
        Field("cfo_ppm", .decimal(Double(rawClockOffset) / 2048)),
        Field("phase_deg", .decimal(Double(rawPhase) / 128)),
        Field("taps", .list(taps.map { .number($0) })),
        Field(
          "rx_time_us",
          .decimal((Double(timestamp) + Double(timestampFraction) / 512) / 124.8)),
      ] + lineOfSight.fields)
  }
}

extension NXPCIRLogNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("slot", .number(slot)),
      Field("rx_antenna", .number(rxAntenna)), Field("count", .number(count)),
      Field("samples", .bytes(samples)),
    ]
  }
}

extension NXPSetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("parameters", .nxpAppConfig(parameters))]
  }
}

extension NXPGetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("parameters", .list(ids.map { .text(NXPAppConfigID(rawValue: $0).name) })),
    ]
  }
}

extension NXPSetCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("channel", .number(channel)), Field("parameter", .nxpCalibration(parameter)),
      Field("value", .bytes(value)),
    ]
  }
}

extension NXPGetRandom: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("count", .number(count))] }
}

extension NXPRandomResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("random", .secret(random))] }
}

extension NXPBindingStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let names = ["NOT_BOUND", "BOUND_UNLOCKED", "BOUND_LOCKED", "UNKNOWN"]
    return [Field("binding", .choice(binding, names))]
  }
}

extension NXPDeviceInit: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("board_variant", .number(boardVariant)), Field("board_version", .number(boardVersion)),
    ]
  }
}

extension NXPRadarNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let fields = [
      Field("session", .number(sessionToken)), Field("status", .status(status)),
      Field("radar_type", .choice(type, ["CIR", "PRESENCE"])),
    ]
    switch content {
    case .impulseResponses(let count, let size, _, let bytes):
      return fields + [
        Field("count", .number(count)), Field("size_words", .number(size)),
        Field("responses", .bytes(bytes)),
      ]
    case .presence(let detected, let mode, let count, _, let detections):
      return fields + [
        Field("presence", .bool(detected != 0)), Field("mode", .number(mode)),
        Field("count", .number(count)),
        Field(
          "detections",
          .list(
            detections.map {
              .object([
                Field("distance_cm", .number($0.distance)), Field("angle_deg", .number($0.angle)),
                Field("id", .number($0.id)), Field("value_raw", .number($0.rawValue)),
              ])
            })),
      ]
    case .other(let bytes): return fields + [Field("payload", .bytes(bytes))]
    }
  }
}

extension NXPGetCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("channel", .number(channel)), Field("parameter", .nxpCalibration(parameter))]
      + (selector.map { [Field("selector", .number($0))] } ?? [])
  }
}

extension NXPCalibrationResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let value else { return [] }
    return [
      Field("state", .number(value.state)),
      Field("parameter", .nxpCalibration(value.parameter)),
      Field("value", .bytes(value.bytes)),
    ]
  }
}

extension NXPReadOTPCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("channel", .number(channel)), Field("option", .number(option)),
      Field("parameter", .choice(parameter, ["0", "TX_POWER", "CRYSTAL"])),
    ]
  }
}

extension NXPReadOTPCalibrationNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("status", .status(status)), Field("value", .bytes(value))]
  }
}

extension FieldValue {
  /// A parameter of NXP's calibration.
  static func nxpCalibration(_ parameter: UInt8) -> FieldValue {
    .code(
      parameter, name: NXPCalibrationID(rawValue: parameter).name, explanation: nil)
  }
}

extension NXPSetProfile: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("profile", .number(profile)),
      Field("device_type", .choice(deviceType, ["CONTROLEE", "CONTROLLER"])),
      Field("mac", .text(MACAddress(address).description)), Field("role", .number(role)),
      Field("data", .secret(data)),
    ]
  }
}

extension NXPModuleIDResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("module_id", .number(id))] }
}
