// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Synchronization
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

/// The parts of Documentation/swift-uwb.docc/DeviceOddities.md that concern the whole driver.
@Suite(.timeLimit(.minutes(10))) struct OddityTests {
  typealias Ends = EndToEndTests

  static func open(
    profile: DeviceProfile? = nil, _ script: @escaping ScriptedChip.Script
  ) async throws -> (UWBDevice, ScriptedChip) {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, count in
      script(packet, count)
    }
    return (
      try await UWBDevice.open(chip.endpoint, options: .init(profile: profile).patient), chip
    )
  }

  // MARK: joined messages

  /// SESSION_INFO of eight peers in two packets.
  static let info: [[UInt8]] = Segmentation.packets(
    type: .notification, opcode: .sessionInfo,
    payload: SessionInfo(
      sequenceNumber: 9, sessionToken: 1, intervalMilliseconds: 200,
      twoWay: (1...8).map {
        TwoWayMeasurement(peer: MACAddress(UInt16($0)), status: .ok, rawDistance: 400)
      }
    ).encoded())

  /// Returns the successful measurements, at most `wanted`, that a ranging session delivers for
  /// messages of the chip.
  static func delivered(_ said: [[UInt8]], until wanted: Int) async throws -> [RangingMeasurement] {
    let (device, chip) = try await Self.open { packet, _ in DWM3001CDK.answers(packet) }
    let session = try await device.makeSession(SessionTests.configuration)
    let stream = session.measurements()
    try await session.start()
    for packet in said { chip.say(packet) }
    var measurements: [RangingMeasurement] = []
    for try await measurement in stream where measurement.result.status == .ok {
      measurements.append(measurement)
      if measurements.count == wanted { break }
    }
    await device.close()
    return measurements
  }

  @Test("A data packet between two control segments does no harm")
  func dataBetweenSegments() async throws {
    let data = bytes("02 00 00 11 01 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00")
    let half = bytes("12 00 00 05 01 00 00 00 00")
    let rest = bytes("02 00 00 0c 01 00 00 00 00 00 00 00 00 00 00 00")
    let (device, chip) = try await Self.open { packet, _ in DWM3001CDK.answers(packet) }
    let session = try await device.makeSession(SessionTests.configuration)
    let (stream, received) = (session.measurements(), session.receivedData())
    try await session.start()
    // A whole message, and a message in two parts.
    for packet in [Self.info[0], data, half, Self.info[1], rest] { chip.say(packet) }
    var count = 0
    for try await measurement in stream where measurement.result.status == .ok {
      count += 1
      if count == 8 { break }
    }
    for await data in received.prefix(2) { #expect(data.source == MACAddress(1)) }
    await device.close()
  }

  @Test("A packet that interrupts a message is processed, and the message is dropped")
  func aMessageThatIsInterrupted() async throws {
    let (device, chip) = try await Self.open { packet, _ in
      packet[1] == 0x05 && packet[0] == 0x21
        ? [Self.info[0]] + DWM3001CDK.answers(packet) + [Self.info[1]]
        : DWM3001CDK.answers(packet)
    }
    let session = try await device.makeSession(SessionTests.configuration)
    let stream = session.measurements()
    try await session.start()
    #expect(try await device.send(GetSessionCount()).count == 0)
    for packet in Self.info { chip.say(packet) }
    var count = 0
    for try await measurement in stream where measurement.result.status == .ok {
      count += 1
      if count == 8 { break }
    }
    #expect(count == 8)
    // DEVICE_STATUS ERROR in the middle of a message.
    let events = device.events
    chip.say(Self.info[0])
    chip.say(bytes("60 01 00 01 ff"))
    for await event in events { if case .deviceStatus(.error) = event { break } }
    await device.close()
  }

  @Test("A long command is sent in packets of the length that the chip announces")
  func longCommands() async throws {
    let (device, chip) = try await Self.open { packet, _ in
      switch (packet[0], packet[1]) {
      // MAX_MESSAGE_SIZE 104.
      case (0x20, 0x03): [bytes("40 03 00 06 00 01 00 02 68 00")]
      // The chip answers after the last segment only.
      case (0x31, 0x03): []
      default: DWM3001CDK.answers(packet)
      }
    }
    let session = try await device.makeSession(SessionTests.configuration)
    try await session.configure([TLV(0xE3, Array(repeating: 1, count: 240))])
    let sent = chip.packets.suffix(3)
    #expect(sent.map { $0[0] } == [0x31, 0x31, 0x21])
    #expect(sent.map { $0.count } == [104, 104, 51])
    await device.close()
  }

  // MARK: order

  @Test("Notifications may come before the response they belong to")
  func notificationsAheadOfResponses() async throws {
    let (device, _) = try await Self.open { packet, _ in
      // The chip's last answer arrives first.
      Array(DWM3001CDK.answers(packet).reversed())
    }
    try await device.withSession(SessionTests.configuration) { session in
      let stream = session.measurements()
      try await session.start()
      #expect(session.state == .active)
      _ = stream
      try await session.stop()
      #expect(session.state == .idle)
    }
    await device.close()
  }

  @Test("READY before the response to a reset is not the end of the reset")
  func twoReadyAroundAReset() async throws {
    // The chip accepts no command before its second READY.
    let isReady = Mutex<Bool>(false)
    let (device, chip) = try await Self.open { packet, _ in
      guard packet[0] == 0x20, packet[1] == 0 else {
        return isReady.withLock { $0 } ? DWM3001CDK.answers(packet) : []
      }
      isReady.withLock { $0 = true }
      return [DWM3001CDK.ready, bytes("40 00 00 01 00"), DWM3001CDK.ready]
    }
    #expect(chip.opcodes == [[0x20, 0], [0x20, 2], [0x20, 3]])
    await device.close()
  }

  @Test("A chip that never reports READY by itself is reset all the same")
  func noReadyAfterPowerUp() async throws {
    let chip = try ScriptedChip { packet, _ in DWM3001CDK.answers(packet) }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    #expect(device.state == .ready)
    await device.close()
  }

  @Test("CORE_DEVICE_RESET has one byte of payload")
  func theResetHasItsByte() async throws {
    let (device, chip) = try await Self.open { packet, _ in DWM3001CDK.answers(packet) }
    #expect(chip.packets.first == bytes("20 00 00 01 00"))
    await device.close()
  }

  @Test("A session status may come before its session is known and after it was removed")
  func statusesThatRace() async throws {
    let (device, chip) = try await Self.open { packet, _ in
      switch (packet[0], packet[1]) {
      case (0x21, 0x00):
        [bytes("61 02 00 06 01 00 00 00 00 00"), bytes("41 00 00 05 00 01 00 00 00")]
      case (0x21, 0x03):
        [bytes("61 02 00 06 01 00 00 00 03 00"), bytes("41 03 00 02 00 00")]
      default: DWM3001CDK.answers(packet)
      }
    }
    for _ in 0..<3 {
      let session = try await device.makeSession(SessionTests.configuration)
      #expect(session.state == .idle)
      try await session.close()
      chip.say(bytes("61 02 00 06 01 00 00 00 01 00"))
      _ = try await device.send(GetSessionCount())
    }
    await device.close()
  }

  @Test("A round without a peer is a notification without measurements, not an end")
  func aRoundWithoutPeers() async throws {
    let nobody = bytes(
      "62 00 00 19 05 00 00 00 01 00 00 00 00 c8 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00")
    let measurements = try await Self.delivered([nobody] + Self.info, until: 8)
    #expect(measurements.map(\.sequenceNumber) == Array(repeating: 9, count: 8))
  }

  // MARK: names of sessions

  @Test("Everything after SESSION_INIT uses the handle, in FiRa 1.x the id")
  func handles() async throws {
    for profile in [ChipProfile.qm33, .fira1] {
      let (bench, chips) = try Ends.bench([profile])
      let device = try await Ends.open(chips[0])
      let first = try await device.makeSession(Ends.configurations().controller)
      var other = Ends.configurations().controller
      other.sessionID = 0x1234
      let second = try await device.makeSession(other)
      #expect([first.token, second.token] == (profile.name == "fira1" ? [42, 0x1234] : [1, 2]))
      let stream = second.measurements()
      try await second.start()
      for try await measurement in stream.prefix(2) {
        #expect(measurement.sessionToken == second.token)
      }
      #expect(first.state == .idle && second.state == .active)
      #expect(try await first.parameters([0x04]) == [TLV(0x04, [9])])
      // The names are released: the id can be used again.
      try await second.close()
      let third = try await device.makeSession(other)
      #expect(third.state == .idle)
      await device.close()
      bench.stop()
    }
  }

  @Test("With different session ids the peer is not heard, and nothing says why")
  func sessionIDs() async throws {
    let (bench, chips) = try Ends.bench([.qm33, .qm33])
    var (controller, controlees) = Ends.configurations()
    controlees[0].sessionID = 43
    controller.sessionID = 42
    let (a, b) = (try await Ends.open(chips[0]), try await Ends.open(chips[1]))
    try await b.makeSession(controlees[0]).start()
    let session = try await a.makeSession(controller)
    let stream = session.measurements()
    try await session.start()
    for try await measurement in stream.prefix(5) {
      #expect(measurement.result.status == .rangingRxTimeout)
    }
    await a.close()
    await b.close()
    bench.stop()
  }
}
