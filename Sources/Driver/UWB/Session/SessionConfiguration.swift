// SPDX-License-Identifier: Apache-2.0
public import UCI

/// A FiRa ranging session. All ends need the same values, except for role and addresses.
///
/// Sources: FiRa application configuration parameters and their defaults as published in the AOSP
/// and pica packet definitions. The parameters beyond the mandatory list are the ones that QM33SDK
/// 1.1.1 needs before it starts.
public struct SessionConfiguration: Sendable, Hashable {
  /// The method of measuring a distance in a ranging round.
  public enum RoundUsage: UInt8, Sendable, Hashable, CaseIterable {
    /// Single-sided, results exchanged afterwards.
    case singleSidedDeferred = 1
    /// Double-sided, results exchanged afterwards.
    case doubleSidedDeferred = 2
    /// Single-sided, results in the ranging frames.
    case singleSidedNonDeferred = 3
    /// Double-sided, results in the ranging frames.
    case doubleSidedNonDeferred = 4
    /// Single-sided, responders answer in slots of their choice.
    case contentionSingleSided = 7
    /// Double-sided, responders answer in slots of their choice.
    case contentionDoubleSided = 8

    /// Whether responders choose their slots.
    var isContentionBased: Bool { rawValue >= 7 }
  }

  /// The values that an end reports to the other, as the bits of RESULT_REPORT_CONFIG.
  public struct ResultReport: OptionSet, Sendable, Hashable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Creates a set from any bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The time of flight; without it the other end may get no distance.
    public static let timeOfFlight = ResultReport(rawValue: 1)
    /// The azimuth.
    public static let azimuth = ResultReport(rawValue: 2)
    /// The elevation.
    public static let elevation = ResultReport(rawValue: 4)
    /// Figures of merit beside the angles.
    public static let figureOfMerit = ResultReport(rawValue: 8)
  }

  /// Frame check sequence.
  public enum FCS: UInt8, Sendable, Hashable {
    /// Two bytes; FiRa's default.
    case crc16 = 0
    /// Four bytes.
    case crc32 = 1
  }

  /// The role of this end.
  public var role: Role
  /// The id, chosen freely and equal at both ends: it enters the key derivation.
  public var sessionID: UInt32
  /// The type of the session.
  public var type = SessionType.ranging
  /// The address of this device.
  public var address: MACAddress
  /// The controller's controlees (1…8 in practice), or the controlee's controller. Empty in one-way
  /// ranging, where frames are for everyone.
  public var peers: [MACAddress] {
    didSet { if peers.count > 1 { isOneToMany = true } }
  }
  /// Whether several controlees share each ranging round; equal at all ends. Several peers set it.
  /// A controlee sets it itself, and so does a controller that adds peers later.
  public var isOneToMany: Bool
  /// The channel, 5 or 9 on current chips.
  public var channel: UInt8 = 9
  /// The preamble code, 9…12.
  public var preambleCode: UInt8 = 10
  /// Start-of-frame delimiter: 0 or 2.
  public var sfd: UInt8 = 2
  /// RFRAME: 1 (SP1) or 3 (SP3).
  public var rframe: UInt8 = 3
  /// The slot in RSTU; 1200 are one millisecond.
  public var slotDuration: UInt16 = 2_400
  /// Slots in a ranging round.
  public var slotsPerRound: UInt8 = 25
  /// The time from one ranging round to the next, in milliseconds.
  public var interval: UInt32 = 200
  /// Blocks without a ranging round between two with one.
  public var blockStride: UInt8 = 0
  /// The method of measuring a distance. One-way ranging has none.
  public var roundUsage: RoundUsage = .doubleSidedDeferred
  /// The source of the scrambled timestamp sequence.
  public var sts: STS = .fixed(.sample)
  /// The exponent of the number of blocks (0…15) after which keys change, a power of 2; nil: never.
  public var keyRotationRate: UInt8?
  /// Whether to ask for angles of arrival, where the chip can.
  public var wantsAngles = true
  /// The values that the ends report to each other; nil: all, or without angles the time of flight
  /// only.
  public var resultReport: ResultReport?
  /// Whether to ask for received power; not in FiRa 1.x.
  public var wantsRSSI = true
  /// Whether to change the ranging round within the block from block to block.
  public var hopping = false
  /// Frame check sequence.
  public var fcs: FCS = .crc16
  /// The diagnostics of single frames that the chip is asked for, where the way is known; nil:
  /// none. Other chips range without them.
  public var diagnostics: DiagnosticsRequest?
  /// The number of measurements after which the chip stops; 0: never.
  public var maxMeasurements: UInt16 = 0
  /// Parameters sent after the others, unchanged; one with the id of another replaces it.
  public var additional: [TLV] = []
  /// Creates a session with FiRa's defaults. One-way ranging uses frames with a payload (SP1).
  public init(role: Role, sessionID: UInt32, address: MACAddress, peers: [MACAddress] = []) {
    self.role = role
    self.sessionID = sessionID
    self.address = address
    self.peers = peers
    isOneToMany = peers.count > 1 || role.isOneWay
    if role.isOneWay { rframe = 1 }
  }
}
