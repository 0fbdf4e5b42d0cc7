// SPDX-License-Identifier: Apache-2.0

package import UCI

extension TestConfigSet: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("parameters", .testConfig(parameters))]
  }
}

extension TestConfigGet: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("parameters", .list(ids.map { .text(TestConfigID($0).name) })),
    ]
  }
}

extension TestPeriodicTX: Describable {}
extension TestPERRX: Describable {}
extension TestRX: Describable {}
extension TestLoopback: Describable {}

extension Describable where Self: TestPSDUCommand {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("psdu", .bytes(psdu))] }
}

extension TestPeriodicTXNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("status", .status(status))] }
}

extension TestPERRXNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("status", .status(status))]
      + zip(Self.counterNames, counters).map { Field($0, .number($1)) }
  }
}

extension TestSSTWRNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("status", .status(status)), Field("ticks", .number(ticks))]
  }
}

extension TestFrame {
  var fields: [Field] {
    var fields: [Field] = []
    if let txTimestamp { fields.append(Field("tx_time_us", .decimal(txTimestamp.microseconds))) }
    fields += [
      Field("rx_time_us", .decimal(rxTimestamp.microseconds)),
      Field("azimuth_deg", .decimal(Double(rawAzimuth) / 128)),
      Field("elevation_deg", .decimal(Double(rawElevation) / 128)),
    ]
    if let gap = arrivalGapNanoseconds { fields.append(Field("arrival_gap_ns", .number(gap))) }
    return fields + [Field("phr", .number(phr)), Field("psdu", .bytes(psdu))]
  }
}

extension TestRXNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("status", .status(status))] + (frame?.fields ?? [])
  }
}

extension TestLoopbackNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("status", .status(status))] + (frame?.fields ?? [])
  }
}

extension QorvoTestDebugNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("rssi_dbm", .list(receivers.map { .decimal($0.rssiDBm) })),
      Field("noise", .number(rawNoise)),
      Field("azimuth_deg", .decimal(Double(rawAngles[0]) / 128)),
      Field("elevation_deg", .decimal(Double(rawAngles[1]) / 128)),
      Field("carrier_offset_ppm", .decimal(carrierOffsetPPM)),
    ]
  }
}

extension TestSRRXNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("status", .status(status))]
      + zip(Self.counterNames, counters).map { Field($0, .number($1)) }
      + (bitmap.isEmpty ? [] : [Field("sts_bitmap", .bytes(bitmap))])
  }
}
