// SPDX-License-Identifier: Apache-2.0

package import UCI

extension DataSizeResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("max_data_size", .number(maxDataSize))]
  }
}

extension DataCreditNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("credit", .number(credit))]
  }
}

extension DataTransferStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("sequence", .number(sequenceNumber)),
      Field("status", .code(status)), Field("transmissions", .number(transmissions)),
    ]
  }
}

extension RoleChangeNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("role", .choice(role, ["INITIATOR", "RESPONDER"])),
    ]
  }
}

extension DataMessageSend: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("destination", .text(dataAddress(destination))),
      Field("sequence", .number(sequenceNumber)), Field("data", .bytes(data)),
    ]
  }
}

extension DataMessageReceived: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("status", .status(status)),
      Field("source", .text(dataAddress(source))),
      Field("sequence", .number(sequenceNumber)), Field("data", .bytes(data)),
    ]
  }
}

/// Data messages have room for an extended address; a short one leaves the upper bytes 0.
func dataAddress(_ value: UInt64) -> String {
  (UInt16(exactly: value).map { MACAddress($0) } ?? MACAddress(extended: value)).description
}

extension RadarDataMessage: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("status", .status(status)),
      Field("data_type", .choice(dataType, ["SWEEP_SAMPLES"])),
      Field("samples_per_sweep", .number(samplesPerSweep)),
      Field("bits_per_sample", .choice(bitsPerSample, ["32", "48", "64"])),
      Field("sweep_offset", .number(sweepOffset)),
      Field("sweep_data_size", .number(sweepDataSize)),
      Field(
        "sweeps",
        .list(
          sweeps.map { sweep in
            .object([
              Field("sequence", .number(sweep.sequenceNumber)),
              Field("timestamp", .number(sweep.timestamp)),
              Field("vendor_data", .bytes(sweep.vendorData)),
              Field("samples", .bytes(sweep.samples)),
            ])
          })),
    ]
  }
}
