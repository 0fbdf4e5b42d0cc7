// SPDX-License-Identifier: Apache-2.0

package import UCI

/// The behaviour of one kind of chip, as data.
public struct ChipProfile: Sendable {
  /// The firmware's way of splitting received bytes into packets.
  package enum Reception: Hashable, Sendable {
    /// The header determines the end of a packet: type, group and a length of 8 or 16 bits, as
    /// specified.
    case byHeader
    /// The fourth byte determines the end of every packet. An incomplete packet is dropped with the
    /// first chunk that arrives this many nanoseconds after its beginning.
    case fourthByte(garbageTimeout: UInt64)
  }

  /// The time at which the chip reports READY again.
  package enum ReadyRule: Hashable, Sendable {
    /// The chip reports READY after the IDLE of the last active session.
    case afterStop
    /// The chip reports READY only at the following DEINIT, before its response.
    case beforeDeinitResponse
  }

  /// The angles that the antennas of the board determine.
  package struct Angles: OptionSet, Hashable, Sendable {
    /// The bits of the capability AOA_SUPPORT.
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Azimuth in front of the antenna; directions behind it appear mirrored.
    package static let azimuth90 = Angles(rawValue: 1)
    package static let azimuth180 = Angles(rawValue: 2)
    package static let elevation = Angles(rawValue: 4)
    package static let figureOfMerit = Angles(rawValue: 8)
  }

  /// The name in lists and on the command line.
  public var name: String
  /// The dialect of the chip's messages. Sessions have handles since FiRa 2.0.
  package var dialect: Dialect
  /// The payload of CORE_GET_DEVICE_INFO_RSP, status included.
  package var deviceInfo: [UInt8]
  /// The payload of CORE_GET_CAPS_INFO_RSP, status included.
  package var capabilities: [UInt8]
  /// The angles that the board measures; must match the capabilities.
  package var angles: Angles = []

  /// The state in CORE_DEVICE_STATUS_NTF after power-up.
  package var bootState = DeviceState.ready
  /// Whether nothing is answered before NXP's CORE_DEVICE_INIT.
  package var needsDeviceInit = false
  /// The number of CORE_DEVICE_INIT, and of RESET, that are answered with a retry after each
  /// power-up.
  package var retriesAfterBoot = 0
  /// Whether the chip is powered up again whenever a host closes its port.
  package var forgetsHosts = false
  /// The nanoseconds from the response to the report of a change of state. Until then, commands
  /// that depend on the new state are refused, and after a reset nothing is answered.
  package var reportDelay: UInt64 = 0
  /// Whether a command after the configured time of silence finds the chip asleep and has to be
  /// repeated.
  package var sleeps = false
  /// Whether READY is also sent before the response to a reset.
  package var readyBeforeResetResponse = false
  /// A notification before the first response after a reset; with NXP, the state of the secure
  /// element.
  package var notificationAfterReset: [UInt8] = []

  /// Whether the removal of a session is reported.
  package var reportsRemoval = true
  /// Whether sessions are named by their id although the chip reports FiRa 2.0.
  package var lacksHandles = false
  /// The first session handle; each further handle is one higher.
  package var firstHandle: UInt32 = 1
  package var maximumSessions = 5
  package var maximumControlees = 8
  /// The status for a session ID that is in use.
  package var duplicateSession = Status.sessionDuplicate
  /// The parameters that have to be set before a session is IDLE and can start.
  package var requiredParameters: [AppConfigID] = []
  /// The parameters of FiRa that this firmware refuses, together with the whole command.
  package var refusedParameters: Set<AppConfigID> = []
  /// The parameters of the vendor and their possible lengths.
  package var vendorParameters: [AppConfigID: [Int]] = [:]
  package var channels: Set<UInt8> = [5, 9]
  /// The roles that the chip can have, numbered like DEVICE_ROLE; must match the capabilities.
  package var roles: Set<UInt8> = [0, 1]
  /// The layout of messages of anchors: 1, or 2 since FiRa 3.0.
  package var downlinkVersion = 1
  /// The greatest number of active downlink TDoA ranging rounds of an anchor.
  package var maximumAnchorRounds = 10
  /// The greatest number of active downlink TDoA ranging rounds of a tag.
  package var maximumTagRounds = 10

  /// The parameters of the device configuration and their values after a reset.
  package var deviceParameters: [UInt8: [UInt8]] = [0x01: [1]]
  /// An identifier of device configuration with a second byte.
  package var twoByteDeviceParameter: UInt8?
  /// The groups of the vendor that exist; other groups are answered with UNKNOWN_GID.
  package var vendorGroups: Set<UInt8> = []
  /// The commands of the vendor and the payloads of their responses.
  package var vendorResponses: [Opcode: [UInt8]] = [:]

  /// Whether DEVICE_STATUS ACTIVE is sent before SESSION_STATUS ACTIVE.
  package var deviceStatusFirst = true
  package var ready = ReadyRule.afterStop
  /// The number n if every n-th SESSION_STOP while ranging must be repeated; 0 for none.
  package var stopRetryPeriod = 0

  /// The NLoS byte of every measurement.
  package var lineOfSight = LineOfSight.notDetermined
  /// Whether a round has an entry for each peer that was not received.
  package var reportsFailures = true
  /// Whether failed measurements contain the slot of the failure.
  package var reportsErrorSlot = true
  /// Whether peers that did not answer have an entry in the measurements of a round.
  package var reportsSilentPeers = true
  /// Whether measurements contain the ranging interval.
  package var reportsInterval = true
  /// Whether angles are sent in whole degrees, rather than in steps of 1/128 degree.
  package var anglesInDegrees = false
  /// Whether the list of refused parameters is announced but missing.
  package var cutsRefusals = false
  /// Whether RSSI_REPORTING is honoured.
  package var reportsRSSI = true
  /// The RSSI of measurements without an RSSI.
  package var unknownRSSI: UInt8 = 0
  /// The bytes after the measurements if the host has enabled extended notifications and there are
  /// no diagnostics.
  package var measurementTail: [UInt8] = []
  package var diagnostics = DiagnosticsForm.none
  /// Whether long notifications are sent in one packet with a length of 16 bits if the host has
  /// enabled extended notifications.
  package var extendedLength = false

  /// The radio tests that the chip supports, by their opcodes in group 0xD.
  package var radioTests: Set<UInt8> = [0x02, 0x03, 0x05, 0x06, 0x08]

  /// The payload of the longest data packet in bytes; must match the capabilities.
  package var maximumDataPayload = 255
  /// The number of bytes of data that fit into one ranging round.
  package var maximumDataSize: UInt16 = 1_000

  var calibration = CalibrationStore()

  package var reception = Reception.byHeader
  /// The number of bytes that are queued for a host that does not read. Packets that do not fit are
  /// dropped whole.
  package var transmitQueue = 32_768

  /// Whether sessions are named by a handle rather than by their id.
  var usesHandles: Bool { dialect.generation >= .fira2 && !lacksHandles }

  /// The chip of a board that has sent NXP's boot command already, as bridges do: the driver opens
  /// it without waiting for an answer first.
  package var initialised: ChipProfile {
    var profile = self
    profile.needsDeviceInit = false
    return profile
  }

  /// All profiles, by name.
  public static let all: [ChipProfile] = [.qm33, .qm33PDoA, .sr250, .fira1, .fira2, .fira3, .pica]

  /// Returns the profile with this name.
  package static func named(_ name: String) -> ChipProfile? {
    all.first { $0.name.lowercased() == name.lowercased() }
  }
}
