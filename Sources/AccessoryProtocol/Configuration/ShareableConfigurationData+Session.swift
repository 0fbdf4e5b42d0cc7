// SPDX-License-Identifier: Apache-2.0
internal import UCI
public import UWB

/// The two ends of a Nearby Interaction session.
public enum SessionSide: Sendable, Hashable, CaseIterable {
  /// The phone's end, which makes the shareable data.
  case app
  /// The accessory's end.
  case accessory
}

extension ShareableConfigurationData {
  /// Apple's vendor id, 0x004C, in the order of the wire: the first two bytes of the static STS.
  /// Source: AOSP's ranging test application (4C 00 before the vector).
  static let vendorID: [UInt8] = [0x4C, 0x00]

  /// Returns the session of one side, ready for `UWBDevice.makeSession`.
  ///
  /// What is not in the data is the same in all sources: one-to-one double-sided two-way ranging
  /// with deferred results, scheduled by time, SP3 frames, start-of-frame delimiter 2, one STS
  /// segment of 64 symbols, short addresses, only the time of flight in the report, no end by
  /// failed rounds. Sources: AOSP's constants, the notes of a port to a DW3000.
  ///
  /// - Parameters:
  ///   - side: the end to configure.
  ///   - accessory: the accessory's configuration data.
  ///   - angles: whether this side's chip measures angles.
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration` for a value that chips have no
  ///   parameter for.
  public func session(
    of side: SessionSide, with accessory: UWBConfigurationData, angles: Bool = true
  ) throws(AccessoryError) -> SessionConfiguration {
    guard (1...255).contains(slotsPerRound) else {
      throw AccessoryError(
        .invalidConfiguration(field: "slots per round", reason: "is \(slotsPerRound), not 1 to 255")
      )
    }
    guard interval > 0 else {
      throw AccessoryError(.invalidConfiguration(field: "ranging interval", reason: "is 0"))
    }
    guard slotDuration > 0 else {
      throw AccessoryError(.invalidConfiguration(field: "slot duration", reason: "is 0"))
    }
    guard address != accessory.address else {
      throw AccessoryError(
        .invalidConfiguration(field: "destination address", reason: "is the accessory's own"))
    }
    let isController = (accessory.role == .controller) == (side == .accessory)
    let ends = [MACAddress(accessory.address), MACAddress(address)]
    var session = SessionConfiguration(
      role: isController ? .controller : .controlee, sessionID: sessionID,
      address: ends[side == .accessory ? 0 : 1], peers: [ends[side == .accessory ? 1 : 0]])
    session.channel = channel
    session.preambleCode = preambleCode
    session.slotDuration = slotDuration
    session.slotsPerRound = UInt8(slotsPerRound)
    session.interval = UInt32(interval)
    session.sts = .fixed(.init(vendorID: Self.vendorID, iv: initialisationVector.bytes))
    session.hopping = hopping
    session.wantsAngles = angles
    session.resultReport = .timeOfFlight
    session.additional = [
      TLV(.rangingRoundControl, [roundControl]), TLV(.maxRRRetry, [0, 0]),
    ]
    return session
  }

  /// Creates the app's data for a new run, as iPhones are seen to send it: with what the accessory
  /// asks for, and with a random session id, initialisation vector and address.
  ///
  /// The update rate becomes an interval: 180 ms for user-interactive updates, 770 ms for infrequent
  /// ones, otherwise 198 ms; from version 2.0 on the accessory asks for an interval.
  public static func answering(_ accessory: AccessoryConfigurationData) -> Self {
    var data = Self(
      version: accessory.uwb.version, sessionID: .random(in: 1...UInt32.max),
      address: .shortAddress(except: accessory.uwb.address))
    data.preambleCode = .random(in: 9...12)
    data.interval = accessory.preferredUpdateRate.interval
    if accessory.uwb.version >= .v20 {
      let request = accessory.uwb.request
      data.slotsPerRound = min(max(request.slotsPerRound, 6), 255)
      data.slotDuration = max(request.slotDuration, 2_400)
      data.interval = max(request.interval, data.shortestInterval)
      data.hopping = request.hopping
    }
    return data
  }

  /// The duration of a round in milliseconds, rounded up.
  private var shortestInterval: UInt16 {
    UInt16(clamping: (Int(slotsPerRound) * Int(slotDuration) + 1_199) / 1_200)
  }
}

extension AccessoryConfigurationData.UpdateRate {
  fileprivate var interval: UInt16 {
    switch self {
    case .infrequent: 770
    case .userInteractive: 180
    default: 198
    }
  }
}

extension UInt16 {
  /// Returns a random short address that is not reserved (0xFFFE, 0xFFFF) and not `taken`.
  static func shortAddress(except taken: UInt16? = nil) -> UInt16 {
    let value = UInt16.random(in: 1...0xFFFC)
    return value == taken ? value + 1 : value
  }
}
