// SPDX-License-Identifier: Apache-2.0

/// RADAR_DATA_MESSAGE (DPF 15): what a radar received, sweep by sweep.
public struct RadarDataMessage: UCIPayload, Hashable {
  /// The data packet format in the place of the group.
  public static let opcode = Opcode(GroupID(rawValue: 15), 0)

  /// What one sweep received.
  public struct Sweep: Hashable, Sendable {
    /// Counts up with every sweep.
    public var sequenceNumber: UInt32
    /// When the sweep was.
    public var timestamp: UInt32
    /// The vendor's own bytes, at most 255.
    public var vendorData: [UInt8]
    /// The samples as they came.
    public var samples: [UInt8]
  }

  /// What names the session.
  public var sessionToken: UInt32
  /// Whether the data is good.
  public var status: Status
  /// 0: samples of sweeps.
  public var dataType: UInt8
  /// Samples in a sweep.
  public var samplesPerSweep: UInt8
  /// Size of a sample: 0 32 bits, 1 48 bits, 2 64 bits.
  public var bitsPerSample: UInt8
  /// Where the samples begin.
  public var sweepOffset: UInt16
  /// Bytes of the data of a sweep, as announced.
  public var sweepDataSize: UInt16
  /// At most 255.
  public var sweeps: [Sweep]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends,
  /// and for samples of an unknown size.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    status = Status(rawValue: try reader.u8("status"))
    dataType = try reader.u8("data type")
    let count = try reader.u8("number of sweeps")
    samplesPerSweep = try reader.u8("samples per sweep")
    bitsPerSample = try reader.u8("bits per sample")
    sweepOffset = try reader.u16("sweep offset")
    sweepDataSize = try reader.u16("sweep data size")
    sweeps = []
    guard bitsPerSample <= 2 || count == 0 else {
      throw PayloadError.invalid(field: "bits per sample", reason: "the size is not known")
    }
    let length = Int(samplesPerSweep) * (4 + 2 * Int(bitsPerSample))
    for _ in 0..<count {
      sweeps.append(
        Sweep(
          sequenceNumber: try reader.u32("sweep sequence number"),
          timestamp: try reader.u32("sweep timestamp"),
          vendorData: try reader.counted("vendor data"),
          samples: try reader.bytes(length, "samples")))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(status.rawValue)
    writer.u8(dataType)
    writer.u8(UInt8(sweeps.count))
    writer.u8(samplesPerSweep)
    writer.u8(bitsPerSample)
    writer.u16(sweepOffset)
    writer.u16(sweepDataSize)
    for sweep in sweeps {
      writer.u32(sweep.sequenceNumber)
      writer.u32(sweep.timestamp)
      writer.counted(sweep.vendorData)
      writer.bytes(sweep.samples)
    }
  }
}
