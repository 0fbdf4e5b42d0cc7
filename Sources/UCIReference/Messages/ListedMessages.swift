// SPDX-License-Identifier: Apache-2.0

import UCI

// Messages of which more is listed than their fields: what a vendor's bytes say, numbers of several
// fields.

extension DeviceInfoResponse: ListedFields {
  func fields(dialect: Dialect) -> [Field] {
    guard let info else { return [] }
    var fields = [
      Field("uci_version", .text(info.uciVersion.description)),
      Field("mac_version", .text(info.macVersion.description)),
      Field("phy_version", .text(info.phyVersion.description)),
      Field("test_version", .text(info.testVersion.description)),
    ]
    switch info.vendorDetails {
    case .qorvo(let qorvo):
      fields += [
        Field("vendor", .text("qorvo")),
        Field("firmware", .text(qorvo.firmware)),
        Field("build", .number(qorvo.build)),
        Field("oem_version", .text(qorvo.oemVersion)),
        Field("soc_id", .bytes(qorvo.socID)),
        Field("device_id", .text("0x" + String(qorvo.deviceID, radix: 16, uppercase: true))),
        Field("packaging", .choice(qorvo.packaging, ["SOC", "SIP"])),
      ]
    case .nxp(let nxp):
      fields += [
        Field("vendor", .text("nxp")),
        Field("device_name", .deviceText(nxp.deviceName)),
        Field("firmware", nxp.firmware.map { .text($0) } ?? .null),
        Field("vendor_uci_version", nxp.uciVersion.map { .text($0) } ?? .null),
        Field("chip_id", nxp.chipID.map { .bytes($0) } ?? .null),
        Field("max_ppm", .number(nxp.maxPPM)),
      ]
    case nil: break
    }
    return fields + [Field("vendor_info", .bytes(info.vendorInfo))]
  }
}

extension NXPRFrameLogNotification: ListedFields {
  func fields(dialect: Dialect) -> [Field] {
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

extension QorvoTestDebugNotification: ListedFields {
  func fields(dialect: Dialect) -> [Field] {
    [
      Field("rssi_dbm", .list(receivers.map { .decimal($0.rssiDBm) })),
      Field("noise", .number(rawNoise)),
      Field("azimuth_deg", .decimal(Double(rawAngles[0]) / 128)),
      Field("elevation_deg", .decimal(Double(rawAngles[1]) / 128)),
      Field("carrier_offset_ppm", .decimal(carrierOffsetPPM)),
    ]
  }
}
