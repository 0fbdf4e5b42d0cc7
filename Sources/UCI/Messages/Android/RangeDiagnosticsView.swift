// SPDX-License-Identifier: Apache-2.0

/// A RANGE_DIAGNOSTICS_NTF, Android's or Qorvo's, read in place, without copying or allocating.
///
/// The view borrows the payload and cannot outlive it. Its bounds are checked once in `init`.
/// `RangeDiagnosticsNotification` is the same as a value.
public struct RangeDiagnosticsView: ~Escapable {
  /// The whole payload.
  public let payload: RawSpan
  /// What names the session.
  public let sessionToken: UInt32
  /// The same as in the SESSION_INFO_NTF of the round.
  public let sequenceNumber: UInt32
  /// How many messages of the round it reports on.
  public let count: Int

  /// What stands before the items of a report.
  public struct Head: Hashable, Sendable {
    /// The place of the report in the notification, from 0.
    public var index: Int
    /// Which message: 0 RIM, 1 RRM, 2 RFM, 3 CM, 4 MRM, 5 RRRM, 6 CU.
    public var message: UInt8
    /// 0 received, 1 sent.
    public var action: UInt8
    /// Which antennas were used.
    public var antennaSet: UInt8
  }

  /// Reads the head of a payload and walks over its items.
  ///
  /// - Throws: `PayloadError` where the payload ends too early.
  @_lifetime(copy payload)
  public init(_ payload: RawSpan) throws(PayloadError) {
    var reader = PayloadReader(payload)
    self.payload = payload
    sessionToken = try reader.u32("session token")
    sequenceNumber = try reader.u32("sequence number")
    count = Int(try reader.u8("number of reports"))
    try Self.walk(payload, count) { _, _, _ in }
  }

  /// Calls `body` with each item: its report, its type and its bytes, in order.
  public func forEachItem(_ body: (Head, UInt8, RawSpan) -> Void) {
    // `init` has walked there already.
    try? Self.walk(payload, count, body)
  }

  private static func walk(
    _ payload: RawSpan, _ count: Int, _ body: (Head, UInt8, RawSpan) -> Void
  ) throws(PayloadError) {
    var reader = PayloadReader(payload)
    _ = try reader.u32("session token")
    _ = try reader.u32("sequence number")
    _ = try reader.u8("number of reports")
    for index in 0..<count {
      let head = Head(
        index: index, message: try reader.u8("message"), action: try reader.u8("action"),
        antennaSet: try reader.u8("antenna set"))
      // In Int: without optimisation other ranges allocate.
      for _ in 0..<Int(try reader.u8("number of items")) {
        let type = try reader.u8("item type")
        let length = Int(try reader.u16("item length"))
        let start = reader.offset
        try reader.skip(length, "item")
        body(head, type, payload.extracting(start..<start + length))
      }
    }
  }
}
