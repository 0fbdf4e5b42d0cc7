// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Testing
import UCI
import UWBSimulator

@testable import UWB

/// Controlees are added and removed while a session ranges.
@Suite(.timeLimit(.minutes(10))) struct ControleeTests {
  typealias Ends = EndToEndTests

  /// A controller that ranges with controlees 1 and 2.
  static func ranging(
    _ profile: ChipProfile,
    _ body: (UWBSession, RangingStream<RangingMeasurement>) async throws -> Void
  ) async throws {
    let (bench, chips) = try Ends.bench([profile])
    let device = try await Ends.open(chips[0])
    try await device.withSession(Ends.configurations(peers: 2).controller) { session in
      let stream = session.measurements(capacity: 1_024)
      try await session.start()
      try await body(session, stream)
    }
    await device.close()
    bench.stop()
  }

  /// Returns the peers of the next round that satisfies a condition.
  static func peers(
    _ stream: RangingStream<RangingMeasurement>, until condition: (Set<MACAddress>) -> Bool
  ) async throws -> Set<MACAddress> {
    var round: UInt32?
    var peers: Set<MACAddress> = []
    for try await measurement in stream {
      if measurement.sequenceNumber != round {
        if condition(peers) { return peers }
        round = measurement.sequenceNumber
        peers = []
      }
      peers.insert(measurement.result.peer)
    }
    return peers
  }

  static let profiles: [ChipProfile] = [.qm33, .sr250, .fira1]

  @Test(arguments: profiles)
  func addedAndRemovedWhileRanging(_ profile: ChipProfile) async throws {
    try await Self.ranging(profile) { session, stream in
      let added = try await session.addControlees([MACAddress(3), MACAddress(4)])
      #expect(
        added == [3, 4].map { ControleeOutcome(address: MACAddress($0), status: .ok) })
      #expect(session.controlees == (1...4).map { MACAddress($0) })
      #expect(try await Self.peers(stream) { $0.count == 4 } == Set((1...4).map { MACAddress($0) }))
      let removed = try await session.removeControlees([MACAddress(1)])
      #expect(removed == [ControleeOutcome(address: MACAddress(1), status: .ok)])
      #expect(session.controlees == (2...4).map { MACAddress($0) })
      #expect(try await Self.peers(stream) { $0.count == 3 } == Set((2...4).map { MACAddress($0) }))
    }
  }

  @Test(arguments: profiles)
  func eachControleeHasAnOutcomeOfItsOwn(_ profile: ChipProfile) async throws {
    try await Self.ranging(profile) { session, _ in
      let added = try await session.addControlees([MACAddress(2), MACAddress(9)])
      #expect(added.map(\.status) == [.addressAlreadyPresent, .ok])
      let removed = try await session.removeControlees([MACAddress(9), MACAddress(7)])
      #expect(removed.map(\.status) == [.ok, .addressNotFound])
      let many = try await session.addControlees((11...18).map { MACAddress($0) })
      #expect(many.prefix(6).allSatisfy { $0.status == .ok })
      #expect(many.suffix(2).allSatisfy { $0.status == .listFull })
      #expect(session.controlees.count == 8)
    }
  }

  @Test("Adding a controlee is complete with the response; no notification follows")
  func additionsAreNotReported() async throws {
    // A wait would take three seconds and have the same result, so the test checks the count
    // instead.
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet[0] == 0x21 && packet[1] == 0x07
        ? [bytes("41 07 00 02 00 00")] : DWM3001CDK.answers(packet)
    }
    var patient = DeviceProfile.qorvo
    patient.stateTimeout = 3_600_000
    let device = try await UWBDevice.open(chip.endpoint, options: .init(profile: patient))
    let session = try await device.makeSession(SessionTests.configuration)
    try await session.start()
    let added = try await session.addControlees([MACAddress(3)])
    #expect(added.map(\.status) == [.ok])
    await device.close()
  }

  @Test("The multicast command has a count and little-endian addresses")
  func theCommandOnTheWire() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet[0] == 0x21 && packet[1] == 0x07
        ? [bytes("41 07 00 05 02 01 34 12 08")] : DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let session = try await device.makeSession(SessionTests.configuration)
    let outcomes = try await session.addControlees([MACAddress(0x1234)])
    #expect(outcomes.map(\.status) == [.addressAlreadyPresent])
    #expect(chip.packets.last == bytes("21 07 00 0c 01 00 00 00 00 01 34 12 00 00 00 00"))
    let keyed = [
      UpdateMulticastList.Controlee(
        address: 5, subSessionID: 9, key: Array(repeating: 0xAB, count: 16))
    ]
    try await session.addControlees(keyed)
    #expect(
      chip.packets.last
        == bytes("21 07 00 1c 01 00 00 00 02 01 05 00 09 00 00 00")
        + Array(repeating: 0xAB, count: 16))
    await device.close()
  }

  @Test func aCommandThatIsRefusedAsAWholeIsAnError() async throws {
    let (bench, chips) = try Ends.bench([.qm33])
    let device = try await Ends.open(chips[0])
    // A unicast session has no list to change.
    let session = try await device.makeSession(Ends.configurations().controller)
    let error = await #expect(throws: DriverError.self) {
      _ = try await session.addControlees([MACAddress(3)])
    }
    #expect(
      error == .refused(command: "SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_CMD", .rejected))
    let extended = await #expect(throws: DriverError.self) {
      _ = try await session.addControlees([MACAddress(extended: 1)])
    }
    guard extended?.code == .invalidConfiguration else {
      Issue.record("\(String(describing: extended))")
      return
    }
    await device.close()
    bench.stop()
  }
}
