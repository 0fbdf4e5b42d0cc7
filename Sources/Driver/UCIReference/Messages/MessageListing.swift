// SPDX-License-Identifier: Apache-2.0

public import UCI

extension Message {
  /// Returns the contents of the message as an ordered list of names and values.
  ///
  /// Bytes without a known layout are listed as `payload` or `trailing`. Values of keys are
  /// `.secret`, and so are such bytes of messages that can carry keys.
  public func fields(dialect: Dialect = .assumed) -> [Field] {
    var fields: [Field] = []
    if let status { fields.append(Field("status", .status(status))) }
    let secretive = Self.canCarryKeys(type: type, opcode: opcode, dialect: dialect)
    switch content {
    case .payload(let payload):
      let listed = FieldLister.fields(of: payload, opcode, dialect)
      fields += status == nil ? listed : listed.filter { $0.name != "status" }
    case .opaque(let bytes, let error):
      if let error { fields.append(Field("problem", .text(error.description))) }
      fields.append(Field("payload", secretive ? .secret(bytes) : .bytes(bytes)))
    }
    if case .payload(let info as SessionInfo) = content {
      fields += info.describe(tail: trailing, dialect)
    } else if !trailing.isEmpty {
      fields.append(Field("trailing", secretive ? .secret(trailing) : .bytes(trailing)))
    }
    return fields
  }
}

extension TLV {
  /// The value as a number where it is short enough, otherwise its bytes.
  var plainValue: FieldValue {
    value.count <= 4 ? integer.map { .number($0) } ?? .bytes(value) : .bytes(value)
  }
}

// Messages that are listed with more than their fields: parsed bytes of vendors, numbers made of
// several fields.

extension BodyResponse: ListedFields where Body == DeviceInfo {
  func fields(dialect: Dialect) -> [Field] {
    guard let info = body else { return [] }
    var fields = FieldLister.fields(of: info, .coreGetDeviceInfo, dialect)
    let vendorInfo = fields.removeLast()
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
    return fields + [vendorInfo]
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
  fileprivate var fieldValue: FieldValue {
    let time = (Double(timestamp) + Double(timestampFraction) / 512) / 124.8
    let fields = FieldLister.fields(of: self, NXPRFrameLogNotification.opcode, .assumed)
    return .object(
      fields.filter { $0.name != "nlos" } + [Field("rx_time_us", .decimal(time))]
        + lineOfSight.fields)
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
