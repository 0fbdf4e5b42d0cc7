// SPDX-License-Identifier: Apache-2.0
public import UCI

/// A FiRa ranging session at one end. All ends need equal values, except for role and addresses.
///
/// Sources: FiRa application configuration parameters and their defaults as published in the AOSP
/// and pica packet definitions. The parameters beyond the mandatory list are the ones that QM33SDK
/// 1.1.1 needs before it starts.
public struct SessionConfiguration: Sendable, Hashable {
  /// The method of measuring a distance in a ranging round.
  public enum RoundUsage: UInt8, Sendable, Hashable, CaseIterable {
    /// Single-sided; the results are exchanged afterwards.
    case singleSidedDeferred = 1
    /// Double-sided; the results are exchanged afterwards.
    case doubleSidedDeferred = 2
    /// Single-sided; the ranging frames contain the results.
    case singleSidedNonDeferred = 3
    /// Double-sided; the ranging frames contain the results.
    case doubleSidedNonDeferred = 4
    /// Single-sided; responders choose the slots of their answers.
    case contentionSingleSided = 7
    /// Double-sided; responders choose the slots of their answers.
    case contentionDoubleSided = 8

    /// Whether responders choose their slots.
    var isContentionBased: Bool { rawValue >= 7 }
  }

  /// The values that one end reports to the other, as the bits of RESULT_REPORT_CONFIG.
  public struct ResultReport: OptionSet, Sendable, Hashable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Creates a set from any bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The time of flight. Without it, the other end may get no distance.
    public static let timeOfFlight = ResultReport(rawValue: 1)
    /// The azimuth.
    public static let azimuth = ResultReport(rawValue: 2)
    /// The elevation.
    public static let elevation = ResultReport(rawValue: 4)
    /// Figures of merit beside the angles.
    public static let figureOfMerit = ResultReport(rawValue: 8)
  }

  /// The kinds of frame check sequences.
  public enum FCS: UInt8, Sendable, Hashable {
    /// Two bytes; FiRa's default.
    case crc16 = 0
    /// Four bytes.
    case crc32 = 1
  }

  /// The role of this end.
  public var role: Role
  /// The id of the session, which the program chooses. It is equal at both ends, because the keys
  /// are derived from it.
  public var sessionID: UInt32
  /// The type of the session.
  public var type = SessionType.ranging
  /// The address of this device.
  public var address: MACAddress
  /// The peers: the controller's controlees (1…8 in practice), or the controlee's controller. Empty
  /// in one-way ranging, where frames have no addressee.
  public var peers: [MACAddress] {
    didSet { if peers.count > 1 { isOneToMany = true } }
  }
  /// Whether several controlees share each ranging round; equal at all ends. Adding a second peer
  /// to `peers` sets it. Controlees have to set it, and so do controllers that will add peers while
  /// ranging.
  public var isOneToMany: Bool
  /// The channel, 5 or 9 on current chips.
  public var channel: UInt8 = 9
  /// The preamble code, 9…12.
  public var preambleCode: UInt8 = 10
  /// The start-of-frame delimiter: 0 or 2.
  public var sfd: UInt8 = 2
  /// RFRAME: 1 (SP1) or 3 (SP3).
  public var rframe: UInt8 = 3
  /// The duration of a slot in RSTU, 1200 of which are one millisecond.
  public var slotDuration: UInt16 = 2_400
  /// The number of slots in a ranging round.
  public var slotsPerRound: UInt8 = 25
  /// The time from one ranging round to the next, in milliseconds.
  public var interval: UInt32 = 200
  /// The number of blocks without a ranging round between two blocks with one.
  public var blockStride: UInt8 = 0
  /// The method of measuring a distance. It is not used in one-way ranging.
  public var roundUsage: RoundUsage = .doubleSidedDeferred
  /// The source of the scrambled timestamp sequence.
  public var sts: STS = .fixed(.sample)
  /// The exponent n (0…15) of the number of blocks, 2^n, after which keys change; nil: never.
  public var keyRotationRate: UInt8?
  /// Whether angles of arrival are requested from chips that can measure them.
  public var wantsAngles = true
  /// The values that the ends report to each other. Nil: all; without angles, only the time of
  /// flight.
  public var resultReport: ResultReport?
  /// Whether the received power is requested; FiRa 1.x does not have it.
  public var wantsRSSI = true
  /// Whether the position of the ranging round changes from block to block.
  public var hopping = false
  /// The kind of frame check sequence.
  public var fcs: FCS = .crc16
  /// The requested diagnostics of single frames; nil: none. Chips without known diagnostics range
  /// without them.
  public var diagnostics: DiagnosticsRequest?
  /// The number of measurements after which the chip stops; 0: never.
  public var maxMeasurements: UInt16 = 0
  /// Parameters that are sent after the others, unchanged. A parameter with the id of another one
  /// replaces it.
  public var additional: [TLV] = []
  /// Creates a session with FiRa's defaults. The frames of one-way ranging have a payload (SP1).
  public init(role: Role, sessionID: UInt32, address: MACAddress, peers: [MACAddress] = []) {
    self.role = role
    self.sessionID = sessionID
    self.address = address
    self.peers = peers
    isOneToMany = peers.count > 1 || role.isOneWay
    if role.isOneWay { rframe = 1 }
  }
}
