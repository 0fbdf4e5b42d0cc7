// SPDX-License-Identifier: Apache-2.0

/// GET_POWER_STATS of Android's vendor group.
public struct AndroidGetPowerStats: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = AndroidPowerStatsResponse
  /// Group and opcode.
  public static let opcode = Opcode(.android, 0x00)
  /// There is nothing to give.
  public init() {}
}

/// GET_POWER_STATS_RSP of Android's vendor group.
public struct AndroidPowerStatsResponse: UCIResponse, Hashable {
  /// How long the chip was doing what, in milliseconds since it was powered.
  public struct PowerStats: Hashable, Sendable {
    /// Milliseconds without radio activity.
    public var idleMilliseconds: UInt32
    /// Milliseconds sending.
    public var txMilliseconds: UInt32
    /// Milliseconds receiving.
    public var rxMilliseconds: UInt32
    /// How often the chip woke up.
    public var wakeCount: UInt32

    /// From its fields.
    public init(
      idleMilliseconds: UInt32, txMilliseconds: UInt32, rxMilliseconds: UInt32, wakeCount: UInt32
    ) {
      self.idleMilliseconds = idleMilliseconds
      self.txMilliseconds = txMilliseconds
      self.rxMilliseconds = rxMilliseconds
      self.wakeCount = wakeCount
    }
  }

  /// Whether the chip did what it was asked.
  public var status: Status
  /// Missing in error responses.
  public var stats: PowerStats?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, stats: PowerStats?) {
    self.status = status
    self.stats = stats
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard status == .ok || reader.remaining >= 16 else { return }
    stats = PowerStats(
      idleMilliseconds: try reader.u32("idle time"), txMilliseconds: try reader.u32("TX time"),
      rxMilliseconds: try reader.u32("RX time"), wakeCount: try reader.u32("wake count"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let stats else { return }
    writer.u32(stats.idleMilliseconds)
    writer.u32(stats.txMilliseconds)
    writer.u32(stats.rxMilliseconds)
    writer.u32(stats.wakeCount)
  }
}

/// SET_COUNTRY_CODE of Android's vendor group: which country's rules the radio has to follow.
public struct AndroidSetCountryCode: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.android, 0x01)
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// Two bytes: the letters of ISO 3166-1 in ASCII, or `00` where it is not known.
  public var first: UInt8
  /// The second letter.
  public var second: UInt8

  /// From two ASCII characters; nil for anything else.
  public init?(_ country: String) {
    let bytes = Array(country.utf8)
    guard bytes.count == 2, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
    first = bytes[0]
    second = bytes[1]
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    first = try reader.u8("country code")
    second = try reader.u8("country code")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(first)
    writer.u8(second)
  }
}
