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

  /// What an end reports to the other, as the bits of RESULT_REPORT_CONFIG.
  public struct ResultReport: OptionSet, Sendable, Hashable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Any bits.
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

  /// Which end this is.
  public var role: Role
  /// Chosen freely, the same at both ends: it enters the key derivation.
  public var sessionID: UInt32
  /// What the session is for.
  public var type = SessionType.ranging
  /// This device.
  public var address: MACAddress
  /// The controller's controlees (1…8 in practice), or the controlee's controller.
  public var peers: [MACAddress] {
    didSet { if peers.count > 1 { isOneToMany = true } }
  }
  /// Whether several controlees share each ranging round, the same at all ends. Several peers set
  /// it. A controlee sets it itself, and so does a controller that gets further peers later.
  public var isOneToMany: Bool
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
  /// Blocks without a ranging round between two with one.
  public var blockStride: UInt8 = 0
  /// How a distance is measured.
  public var roundUsage: RoundUsage = .doubleSidedDeferred
  /// Where the scrambled timestamp sequence comes from.
  public var sts: STS = .fixed(.sample)
  /// Keys change every 2 to the power of this many blocks (0…15); nil: never.
  public var keyRotationRate: UInt8?
  /// Ask for angles of arrival, where the chip can.
  public var wantsAngles = true
  /// What the ends report to each other; nil: all, or the time of flight only without angles.
  public var resultReport: ResultReport?
  /// Ask for received power; not in FiRa 1.x.
  public var wantsRSSI = true
  /// Change the ranging round within the block from block to block.
  public var hopping = false
  /// Frame check sequence.
  public var fcs: FCS = .crc16
  /// What the chip is asked to report of single frames, where it is known how; nil: nothing. Chips
  /// that cannot be asked range without.
  public var diagnostics: DiagnosticsRequest?
  /// The chip stops after this many measurements; 0: never.
  public var maxMeasurements: UInt16 = 0
  /// Sent after the others, as they are; one with the id of another takes its place.
  public var additional: [TLV] = []
  /// Not sent, for sessions that are no two-way ranging and have no such parameter.
  package var omitted: Set<AppConfigID> = []

  /// A session with FiRa's defaults.
  public init(role: Role, sessionID: UInt32, address: MACAddress, peers: [MACAddress]) {
    self.role = role
    self.sessionID = sessionID
    self.address = address
    self.peers = peers
    isOneToMany = peers.count > 1
  }

  /// The slot in milliseconds.
  public var slotMilliseconds: Double {
    get { Double(slotDuration) / 1_200 }
    set { slotDuration = UInt16(max(0, min((newValue * 1_200).rounded(), 65_535))) }
  }
}
