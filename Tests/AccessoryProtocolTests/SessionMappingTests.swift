// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI
import UCIReference
import UWB

@Suite struct SessionMappingTests {
  private func captured() throws -> (AccessoryConfigurationData, ShareableConfigurationData) {
    (
      try AccessoryConfigurationData(Array(Captured.qorvoMessage.dropFirst())),
      try ShareableConfigurationData(Captured.phone)
    )
  }

  @Test func parametersOfTheCapturedSession() throws {
    let (accessory, phone) = try captured()
    let session = try phone.session(of: .accessory, with: accessory.uwb)
    #expect(session.sessionID == 24_488)
    #expect(session.type == .ranging)
    let parameters = session.parameters(for: .fira2)
    // The expected values come from captures and from the sources, byte by byte.
    let expected: [(AppConfigID, [UInt8])] = [
      (.deviceType, [1]), (.deviceRole, [1]), (.multiNodeMode, [0]), (.rangingRoundUsage, [2]),
      (.macAddressMode, [0]), (.deviceMACAddress, bytes("11D7")), (.numberOfControlees, [1]),
      (.dstMACAddress, bytes("87B4")), (.channelNumber, [9]), (.stsConfig, [0]),
      (.rframeConfig, [3]), (.scheduleMode, [1]), (.preambleCodeIndex, [11]), (.sfdID, [2]),
      (.slotDuration, bytes("100E")), (.rangingDuration, bytes("C6000000")), (.slotsPerRR, [6]),
      (.vendorID, bytes("4C00")), (.staticSTSIV, bytes("397B28D4B8D7")), (.stsLength, [1]),
      (.resultReportConfig, [1]), (.hoppingMode, [0]), (.rangingRoundControl, [3]),
      (.maxRRRetry, [0, 0]),
    ]
    for (id, value) in expected {
      #expect(parameters.first { $0.id == id.rawValue }?.value == value, "\(id.name)")
    }
    #expect(session.problems().errors.isEmpty)
  }

  @Test func theTwoSidesHaveOppositeRoles() throws {
    var (accessory, phone) = try captured()
    for (accessoryRole, appRole) in [
      (SessionConfiguration.Role.controller, SessionConfiguration.Role.controlee),
      (.controlee, .controller),
    ] {
      accessory.uwb.role = accessoryRole
      phone.hopping.toggle()
      let near = try phone.session(of: .accessory, with: accessory.uwb)
      let far = try phone.session(of: .app, with: accessory.uwb)
      #expect(near.role == accessoryRole)
      #expect(far.role == appRole)
      #expect(near.hopping == phone.hopping && far.hopping == phone.hopping)
      let ends = [near, far].map {
        SessionPeerConfiguration(
          sessionID: $0.sessionID, parameters: SessionParameters($0.parameters(for: .fira2)))
      }
      #expect(ends[0].differences(from: ends[1]).filter { $0.effect == .preventsRanging }.isEmpty)
    }
  }

  @Test(arguments: [(13, "slots per round"), (15, "slot duration"), (17, "ranging interval")])
  func zeroesAreNamed(place: Int, field: String) throws {
    let (accessory, _) = try captured()
    var bytes = Captured.phone
    bytes[place] = 0
    bytes[place + 1] = 0
    let data = try ShareableConfigurationData(bytes)
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try data.session(of: .app, with: accessory.uwb)
      } == field)
  }

  @Test func invalidSlotsAndAddressesAreNamed() throws {
    var (accessory, data) = try captured()
    accessory.uwb.address = data.address
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try data.session(of: .app, with: accessory.uwb)
      } == "destination address")
    data.slotsPerRound = 256
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try data.session(of: .app, with: accessory.uwb)
      } == "slots per round")
  }

  @Test func answersHonourRequestsAndDiffer() throws {
    var (accessory, _) = try captured()
    let first = ShareableConfigurationData.answering(accessory)
    let second = ShareableConfigurationData.answering(accessory)
    #expect(first.version == .v11)
    #expect(first.interval == 180)
    #expect(first.initialisationVector != second.initialisationVector)
    #expect(first.sessionID != second.sessionID)
    #expect(first.address != accessory.uwb.address)
    accessory.preferredUpdateRate = .infrequent
    #expect(ShareableConfigurationData.answering(accessory).interval == 770)
    accessory.uwb.version = .v20
    accessory.uwb.request = .init(
      hopping: true, slotsPerRound: 20, slotDuration: 3_600, interval: 50)
    let third = ShareableConfigurationData.answering(accessory)
    #expect(third.hopping && third.slotsPerRound == 20 && third.slotDuration == 3_600)
    // A round of 20 slots of 3 ms does not fit into 50 ms.
    #expect(third.interval == 60)
    #expect(try third.session(of: .app, with: accessory.uwb).problems().errors.isEmpty)
  }
}
