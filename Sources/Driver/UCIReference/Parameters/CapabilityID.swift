// SPDX-License-Identifier: Apache-2.0

import UCI

/// A capability in CORE_GET_CAPS_INFO_RSP, independent of its number: FiRa 2.0 renumbered them.
package struct CapabilityID: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name in the specification, or the vendor's name.
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }
  package init(stringLiteral name: String) { self.init(rawValue: name) }

  // The capabilities used in the code; the table has all capabilities.
  package static let maxMessageSize: CapabilityID = "MAX_MESSAGE_SIZE"
  package static let maxDataPacketPayloadSize: CapabilityID = "MAX_DATA_PACKET_PAYLOAD_SIZE"
  package static let deviceType: CapabilityID = "DEVICE_TYPE"
  package static let deviceRoles: CapabilityID = "DEVICE_ROLES"
  package static let rangingMethod: CapabilityID = "RANGING_METHOD"
  package static let stsConfig: CapabilityID = "STS_CONFIG"
  package static let multiNodeMode: CapabilityID = "MULTI_NODE_MODE"
  package static let rangingTimeStruct: CapabilityID = "RANGING_TIME_STRUCT"
  package static let scheduleMode: CapabilityID = "SCHEDULE_MODE"
  package static let hoppingMode: CapabilityID = "HOPPING_MODE"
  package static let blockStriding: CapabilityID = "BLOCK_STRIDING"
  package static let uwbInitiationTime: CapabilityID = "UWB_INITIATION_TIME"
  package static let channels: CapabilityID = "CHANNELS"
  package static let rframeConfig: CapabilityID = "RFRAME_CONFIG"
  package static let aoaSupport: CapabilityID = "AOA_SUPPORT"
  package static let extendedMACAddress: CapabilityID = "EXTENDED_MAC_ADDRESS"
  package static let sessionKeyLength: CapabilityID = "SESSION_KEY_LENGTH"
  package static let dtAnchorMaxActiveRounds: CapabilityID = "DT_ANCHOR_MAX_ACTIVE_RR"
  package static let dtTagMaxActiveRounds: CapabilityID = "DT_TAG_MAX_ACTIVE_RR"
  package static let minSlotDuration: CapabilityID = "MIN_SLOT_DURATION"
  package static let androidMinSlotDuration: CapabilityID = "MIN_SLOT_DURATION_RSTU"

  /// The numbering of capabilities.
  package enum Numbering: Sendable {
    /// FiRa UCI 1.x, and pica, whatever version it reports.
    case fira1
    /// FiRa UCI 2.0 and later.
    case fira2
  }

  /// Returns the number of the capability; nil if the numbering does not have it.
  package func number(in numbering: Numbering) -> UInt8? {
    CapabilityTable.row(of: self)?.number(in: numbering)
  }

  /// Creates the capability with this number; nil if there is none.
  ///
  /// - Parameter subID: second byte of the number, where it has one (older firmware of NXP).
  package init?(number: UInt8, subID: UInt8? = nil, in numbering: Numbering) {
    let key = CapabilityTable.Key(number: number, subID: subID)
    guard let id = CapabilityTable.numbers[numbering]?[key] else { return nil }
    self = id
  }

  /// Returns the name of a capability; `CAPABILITY_0xNN` where there is none.
  package static func name(of number: UInt8, subID: UInt8? = nil, in numbering: Numbering) -> String
  {
    CapabilityID(number: number, subID: subID, in: numbering)?.rawValue
      ?? unknownParameter("CAPABILITY", number, subID)
  }
}

/// A capability of a chip; its value describes the extent.
package typealias CapabilityParameter = Parameter<CapabilityID>

extension CapabilityID: TabulatedID {
  package static let table = ParameterTable(CapabilityTable.rows.map(\.parameter))
  package var unknownName: String { rawValue }
}
