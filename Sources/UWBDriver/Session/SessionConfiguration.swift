// SPDX-License-Identifier: Apache-2.0
public import UCI

/// A FiRa two-way-ranging session. Both ends need the same values, except for role and addresses.
///
/// Sources: FiRa application configuration parameters and their defaults as published in the AOSP
/// and pica packet definitions; the set beyond the mandatory list is what QM33SDK 1.1.1 needs
/// before it starts.
public struct SessionConfiguration: Sendable, Hashable {
  /// Which end this is.
  public enum Role: UInt8, Sendable, Hashable {
    /// Answers; follows the controller's schedule.
    case controlee = 0
    /// Sets the schedule and begins each ranging round.
    case controller = 1
  }

  /// How a distance is measured in a ranging round.
  public enum RoundUsage: UInt8, Sendable, Hashable {
    /// Single-sided, results exchanged afterwards.
    case singleSidedDeferred = 1
    /// Double-sided, results exchanged afterwards.
    case doubleSidedDeferred = 2
    /// Single-sided, results in the ranging frames.
    case singleSidedNonDeferred = 3
    /// Double-sided, results in the ranging frames.
    case doubleSidedNonDeferred = 4
  }

  /// Scrambled timestamp sequence from eight octets that both ends know. They are key material:
  /// nothing here prints them.
  public struct StaticSTS: Sendable, Hashable, CustomStringConvertible {
    /// VENDOR_ID, two octets in the order of the wire.
    public var vendorID: [UInt8]
    /// STATIC_STS_IV, six octets in the order of the wire.
    public var iv: [UInt8]

    /// From the two parts; `validate` checks their lengths.
    public init(vendorID: [UInt8], iv: [UInt8]) {
      self.vendorID = vendorID
      self.iv = iv
    }

    /// The eight octets that Qorvo's and NXP's samples use: 08 07, 01…06.
    public static let sample = StaticSTS(vendorID: [0x08, 0x07], iv: [1, 2, 3, 4, 5, 6])

    /// Says nothing about the octets.
    public var description: String { "static STS (hidden)" }
  }

  /// Which end this is.
  public var role: Role
  /// Chosen freely, the same at both ends: it enters the key derivation.
  public var sessionID: UInt32
  /// This device.
  public var address: MACAddress
  /// The controller's controlees (1…8 in practice), or the controlee's controller.
  public var peers: [MACAddress]
  /// 5 or 9 on the chips in the field.
  public var channel: UInt8 = 9
  /// 9…12.
  public var preambleCode: UInt8 = 10
  /// Start-of-frame delimiter: 0 or 2.
  public var sfd: UInt8 = 2
  /// RFRAME: 1 (SP1) or 3 (SP3).
  public var rframe: UInt8 = 3
  /// Slot in RSTU; 1200 are one millisecond.
  public var slotDuration: UInt16 = 2_400
  /// Slots in a ranging round.
  public var slotsPerRound: UInt8 = 25
  /// From one ranging round to the next, in milliseconds.
  public var interval: UInt32 = 200
  /// How a distance is measured.
  public var roundUsage: RoundUsage = .doubleSidedDeferred
  /// The scrambled timestamp sequence.
  public var sts = StaticSTS.sample
  /// Ask for angles of arrival, where the chip can.
  public var wantsAngles = true
  /// Ask for received power; not in FiRa 1.x.
  public var wantsRSSI = true
  /// Change the ranging round within the block from block to block.
  public var hopping = false
  /// The chip stops after so many measurements; 0: never.
  public var maxMeasurements: UInt16 = 0
  /// Sent behind the others, as they are; one with the id of another takes its place.
  public var additional: [TLV] = []

  /// A session with FiRa's defaults.
  public init(role: Role, sessionID: UInt32, address: MACAddress, peers: [MACAddress]) {
    self.role = role
    self.sessionID = sessionID
    self.address = address
    self.peers = peers
  }

  /// - Throws: `DriverError.invalidConfiguration` with the first contradiction found.
  public func validate() throws(DriverError) {
    func require(_ condition: Bool, _ why: @autoclosure () -> String) throws(DriverError) {
      if !condition { throw .invalidConfiguration(why()) }
    }
    try require(!peers.isEmpty, "it names no peer")
    try require(
      role == .controller || peers.count == 1, "a controlee has exactly one controller")
    try require(peers.count <= 255, "a session has at most 255 peers")
    try require(Set(peers).count == peers.count, "a peer is named twice")
    try require(!peers.contains(address), "the device is its own peer")
    try require(
      peers.allSatisfy { $0.isExtended == address.isExtended },
      "short and extended addresses are mixed")
    try require(
      [5, 6, 8, 9, 10, 12, 13, 14].contains(channel), "there is no UWB channel \(channel)")
    try require(
      (9...12).contains(preambleCode) || (25...32).contains(preambleCode),
      "preamble code \(preambleCode) is neither 9…12 (BPRF) nor 25…32 (HPRF)")
    try require(interval > 0, "the interval is 0 ms")
    try require(slotDuration > 0 && slotsPerRound > 0, "a ranging round has no slots")
    let round = Double(slotDuration) * Double(slotsPerRound) / 1_200
    try require(
      round <= Double(interval),
      "a ranging round of \(slotsPerRound) slots takes \(round) ms, more than the interval of "
        + "\(interval) ms")
    try require(
      Int(slotsPerRound) >= peers.count + 2,
      "\(slotsPerRound) slots are too few for \(peers.count) peers")
    try require(
      sts.vendorID.count == 2 && sts.iv.count == 6,
      "a static STS has a vendor id of 2 octets and an IV of 6")
  }

  /// The parameters of SESSION_SET_APP_CONFIG, in an order that strict parsers accept: address mode
  /// and number of controlees before the addresses.
  public func parameters(for generation: Dialect.Generation) -> [TLV] {
    func little(_ value: some FixedWidthInteger) -> [UInt8] {
      unsafe withUnsafeBytes(of: value.littleEndian) { unsafe Array($0) }
    }
    var list = [
      TLV(0x00, [role.rawValue]),  // DEVICE_TYPE
      TLV(0x11, [role.rawValue]),  // DEVICE_ROLE: the controller initiates
      TLV(0x03, [peers.count > 1 ? 1 : 0]),  // MULTI_NODE_MODE
      TLV(0x01, [roundUsage.rawValue]),  // RANGING_ROUND_USAGE
      TLV(0x26, [address.isExtended ? 2 : 0]),  // MAC_ADDRESS_MODE
      TLV(0x06, address.octets),  // DEVICE_MAC_ADDRESS
      TLV(0x05, [UInt8(clamping: peers.count)]),  // NUMBER_OF_CONTROLEES
      TLV(0x07, peers.flatMap(\.octets)),  // DST_MAC_ADDRESS
      TLV(0x04, [channel]),  // CHANNEL_NUMBER
      TLV(0x02, [0]),  // STS_CONFIG: static
      TLV(0x12, [rframe]),  // RFRAME_CONFIG
      TLV(0x22, [1]),  // SCHEDULE_MODE: time scheduled
      TLV(0x14, [preambleCode]),  // PREAMBLE_CODE_INDEX
      TLV(0x15, [sfd]),  // SFD_ID
      TLV(0x08, little(slotDuration)),  // SLOT_DURATION
      TLV(0x09, little(interval)),  // RANGING_DURATION
      TLV(0x1B, [slotsPerRound]),  // SLOTS_PER_RR
      TLV(0x27, sts.vendorID),  // VENDOR_ID
      TLV(0x28, sts.iv),  // STATIC_STS_IV
      TLV(0x35, [1]),  // STS_LENGTH: 64 symbols
      TLV(0x0D, [wantsAngles ? 1 : 0]),  // AOA_RESULT_REQ
      TLV(0x2E, [wantsAngles ? 0x0F : 0x01]),  // RESULT_REPORT_CONFIG
      TLV(0x2C, [hopping ? 1 : 0]),  // HOPPING_MODE
    ]
    if generation >= .fira2 { list.append(TLV(0x13, [wantsRSSI ? 1 : 0])) }  // RSSI_REPORTING
    if maxMeasurements > 0 { list.append(TLV(0x32, little(maxMeasurements))) }
    list.removeAll { parameter in additional.contains { $0.id == parameter.id } }
    return list + additional
  }
}
