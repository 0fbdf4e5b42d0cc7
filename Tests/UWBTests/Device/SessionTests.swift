// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Synchronization
import Testing
import UCI
import UWB
import UWBLink

@Suite(.timeLimit(.minutes(10))) struct SessionTests {
  static let configuration = SessionConfiguration(
    role: .controller, sessionID: 7, address: MACAddress(0x0000), peers: [MACAddress(0x0001)])

  static func open() async throws -> (UWBDevice, ScriptedChip) {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      DWM3001CDK.answers(packet)
    }
    return (try await UWBDevice.open(chip.endpoint, options: .patient), chip)
  }

  @Test func aSessionUsesTheHandleAndLeavesNothingBehind() async throws {
    let (device, chip) = try await Self.open()
    let measurements = try await device.withSession(Self.configuration) { session in
      #expect(session.token == 1)
      let stream = session.measurements()
      try await session.start()
      #expect(session.state == .active)
      var list: [RangingMeasurement] = []
      for try await measurement in stream.prefix(3) { list.append(measurement) }
      return list
    }
    #expect(measurements.map(\.sequenceNumber) == [0, 1, 2])
    #expect(measurements.allSatisfy { $0.result.status == .rangingRxTimeout })
    #expect(measurements.allSatisfy { $0.result.distanceCentimetres == nil })
    await device.close()
    let tail = chip.packets.suffix(2).map { Array($0) }
    #expect(tail == [bytes("22 01 00 04 01 00 00 00"), bytes("21 01 00 04 01 00 00 00")])
  }

  @Test func aSessionThatWasClosedDoesNotStartAnother() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.withSession(Self.configuration) { $0 }
    let other = try await device.makeSession(Self.configuration)
    #expect(other.token == session.token)
    let error = await #expect(throws: DriverError.self) { try await session.start() }
    #expect(error == .sessionEnded(.deinitialised, .managementCommand))
    #expect(!chip.packets.contains { $0.starts(with: bytes("22 00")) })
    await device.close()
  }

  @Test func aStreamThatIsTakenTooLateEnds() async throws {
    let (device, _) = try await Self.open()
    let closed = try await device.withSession(Self.configuration) { $0 }
    for try await _ in closed.estimates() { Issue.record("the session is closed") }
    let session = try await device.makeSession(Self.configuration)
    try await session.start()
    await device.close()
    for try await _ in session.rounds() {}
    try await session.close()
    for try await _ in session.measurements() { Issue.record("the session is closed") }
  }

  @Test func rangeLendsEstimatesAndLeavesNothingBehind() async throws {
    let (device, chip) = try await Self.open()
    let estimates = try await device.range(with: Self.configuration) { stream in
      var list: [EstimatedMeasurement] = []
      for try await estimate in stream.prefix(3) { list.append(estimate) }
      return list
    }
    #expect(estimates.map(\.measurement.sequenceNumber) == [0, 1, 2])
    #expect(estimates.allSatisfy { $0.peer == 1 && $0.distance == nil })
    await device.close()
    #expect(chip.packets.suffix(2).map { Array($0.prefix(2)) } == [[0x22, 0x01], [0x21, 0x01]])
  }

  @Test func anInvalidNameIsALinkError() async {
    let error = await #expect(throws: DriverError.self) { try await UWBDevice.open("usb:") }
    guard let cause = error?.linkError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .invalidEndpoint)
  }

  @Test func aSessionThatCannotWorkIsNotMadeUnlessItIsForced() async throws {
    let (device, chip) = try await Self.open()
    var configuration = Self.configuration
    configuration.slotsPerRound = 1
    let before = chip.packets.count
    let wrong = configuration
    let error = await #expect(throws: DriverError.self) {
      try await device.withSession(wrong) { _ in Issue.record("it was made") }
    }
    #expect(error?.code == .configurationProblems)
    await #expect(throws: DriverError.self) { try await device.makeSession(wrong) }
    #expect(chip.packets.count == before)
    let token = try await device.withSession(wrong, checked: false) { $0.token }
    #expect(token == 1)
    await device.close()
  }

  @Test func whatAChipSaysByItselfIsReported() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    try await session.start()
    let events = device.events
    let messages = [
      bytes("61 07 00 08 01 00 00 00 01 34 12 00"), bytes("62 04 00 05 01 00 00 00 01"),
      bytes("62 05 00 08 01 00 00 00 00 00 01 01"),
      bytes("02 00 00 11 01 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00"),
      bytes("6c 22 00 01 07"),
    ]
    for message in messages { chip.say(message) }
    chip.say(bytes("41 06 00 02 00 03"))
    chip.say(bytes("60 07 00 01 03"))
    var seen: [[UInt8]] = []
    reading: for await event in events {
      switch event {
      case .message(let message):
        seen.append([
          message.type.rawValue << 5 | message.opcode.group.rawValue, message.opcode.oid,
        ])
      case .unexpectedResponse(let opcode): seen.append([0x40 | opcode.group.rawValue, opcode.oid])
      case .genericError(let status):
        #expect(status == .syntaxError)
        break reading
      default: break
      }
    }
    // The first byte of a data packet has the format in the position of the opcode.
    #expect(
      seen == [
        [0x61, 0x07], [0x62, 0x04], [0x62, 0x05], [0x02, 0x00], [0x6C, 0x22], [0x41, 0x06],
      ])
    await device.close()
  }

  @Test func subscribersComeAndGoWhileASessionRanges() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    let calls = Mutex(0)
    let callback = session.onRounds { _ in calls.withLock { $0 += 1 } }
    var first = session.measurements().makeAsyncIterator()
    try await session.start()
    for _ in 0..<3 { _ = try await first.next() }
    #expect(calls.withLock { $0 } == 3)
    callback.cancel()
    chip.say(DWM3001CDK.rxTimeout(sequence: 3))
    #expect(try await first.next()?.sequenceNumber == 3)
    #expect(calls.withLock { $0 } == 3)
    let late = session.measurements()
    chip.say(DWM3001CDK.rxTimeout(sequence: 4))
    #expect(try await first.next()?.sequenceNumber == 4)
    #expect(try await late.first { _ in true }?.sequenceNumber == 4)
    await device.close()
  }

  @Test func aSessionThatTheChipStopsWithoutAReasonHasEnded() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    let (stream, events) = (session.measurements(), device.events)
    try await session.start()
    chip.say(bytes("61 02 00 06 01 00 00 00 03 00"))
    for try await _ in stream {}
    var ends = events.compactMap { $0.end(of: session) }.makeAsyncIterator()
    #expect(await ends.next() == .sessionEnded(.idle, .managementCommand))
    try await session.stop()
    await device.close()
  }

  @Test func whyASessionEndedIsKeptUnlessItWasStopped() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    try await session.start()
    try await session.stop()
    #expect(session.unexpectedEnd == nil)
    let stream = session.measurements()
    try await session.start()
    chip.say(bytes("61 02 00 06 01 00 00 00 03 02"))
    for try await _ in stream {}
    #expect(session.unexpectedEnd == .sessionEnded(.idle, StateChangeReason(rawValue: 2)))
    try await session.start()
    #expect(session.unexpectedEnd == nil)
    await device.close()
  }

  @Test func aCommandOfAnyKindHasAnAnswerOfAnyKind() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet[0] == 0x2C ? [[0x4C, packet[1], 0, 3, 0, 7, 8]] : DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let group = GroupID(rawValue: 0xC)
    #expect(try await device.send(Opcode(group, 0x11), payload: []) == [0, 7, 8])
    #expect(try await device.send(Opcode(group, 0x12), payload: [1, 2]) == [0, 7, 8])
    #expect(chip.packets.suffix(2) == [[0x2C, 0x11, 0, 0], [0x2C, 0x12, 0, 2, 1, 2]])
    await device.close()
  }

  struct Trouble: Error {}

  @Test func anErrorInTheBodyStopsAndDeinitialises() async throws {
    let (device, chip) = try await Self.open()
    await #expect(throws: Trouble.self) {
      try await device.withSession(Self.configuration) { session in
        try await session.start()
        throw Trouble()
      }
    }
    #expect(chip.packets.suffix(2).map { $0[1] } == [0x01, 0x01])
    await device.close()
  }

  @Test func cancellationStopsAndDeinitialises() async throws {
    let (device, chip) = try await Self.open()
    let (started, signal) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await device.withSession(Self.configuration) { session in
        let stream = session.measurements()
        try await session.start()
        signal.yield()
        for try await _ in stream {}
        try Task.checkCancellation()
      }
    }
    for await _ in started { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(
      chip.packets.suffix(2) == [
        bytes("22 01 00 04 01 00 00 00"), bytes("21 01 00 04 01 00 00 00"),
      ])
    await device.close()
  }

  @Test func theStreamEndsWhenTheChipEndsTheSession() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    let stream = session.measurements()
    try await session.start()
    // The answer arrives after all earlier messages.
    _ = try await device.send(GetSessionCount())
    chip.say(bytes("61 02 00 06 01 00 00 00 03 02"))
    var count = 0
    for try await _ in stream { count += 1 }
    #expect(count == 3)
    await device.close()
  }

  @Test func theStreamThrowsWhenTheDeviceVanishes() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet[0] == 0x21 && packet[1] == 0x06 ? nil : DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let session = try await device.makeSession(Self.configuration)
    let stream = session.measurements()
    try await session.start()
    await #expect(throws: DriverError.self) {
      _ = try await device.send(GetSessionState(sessionToken: 1))
    }
    let error = await #expect(throws: DriverError.self) { for try await _ in stream {} }
    guard let cause = error?.linkError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .closedByPeer)
  }

  @Test func theCallbackSeesEachNotificationInPlaceOnTheReaderThread() async throws {
    let (device, _) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    let (seen, saw) = AsyncStream<UInt32>.makeStream()
    session.onRounds { round in
      if case .measurements(let view) = round.kind { saw.yield(view.sequenceNumber) }
    }
    try await session.start()
    var numbers: [UInt32] = []
    for await number in seen.prefix(3) { numbers.append(number) }
    #expect(numbers == [0, 1, 2])
    await device.close()
  }

  @Test func aMessageWithADamagedEndIsNotJoinedWithTheNextOne() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    let (seen, saw) = AsyncStream<[TwoWayMeasurement]>.makeStream()
    let (heard, hear) = AsyncStream<Void>.makeStream()
    session.onRounds { round in
      hear.yield()
      guard case .measurements(let view) = round.kind, view.count == 8 else { return }
      var measurements: [TwoWayMeasurement] = []
      view.forEachTwoWayMeasurement { measurements.append($0) }
      saw.yield(measurements)
    }
    try await session.start()
    // The chip's answer to the start includes the first three rounds, and the chip may still be
    // writing it. One of its messages between two segments would count as the second segment.
    for await _ in heard.prefix(3) {}
    let sent = (1...8).map {
      TwoWayMeasurement(
        peer: MACAddress(UInt16($0)), status: .ok, rawDistance: 400, rawRSSI: 140)
    }
    let message = SessionInfo(
      sequenceNumber: 9, sessionToken: 1, intervalMilliseconds: 200, twoWay: sent)
    let packets = Segmentation.packets(
      type: .notification, opcode: .sessionInfo, payload: message.encoded())
    // The last segment lost its header in transit.
    chip.say(packets[0])
    chip.say(Array(packets[1].dropFirst(4)))
    for _ in 0..<3 { for packet in packets { chip.say(packet) } }
    for await measurements in seen.prefix(2) { #expect(measurements == sent) }
    await device.close()
  }

  @Test func aSlowConsumerLosesTheNewestAndIsTold() async throws {
    let (device, chip) = try await Self.open()
    let session = try await device.makeSession(Self.configuration)
    let stream = session.measurements(capacity: 4)
    let events = device.events
    let (heard, hear) = AsyncStream<Void>.makeStream()
    session.onRounds { _ in hear.yield() }
    try await session.start()
    // The chip's answer to the start includes the first three rounds, and the chip may still be
    // writing it.
    for await _ in heard.prefix(3) {}
    for number in 3..<20 { chip.say(DWM3001CDK.rxTimeout(sequence: UInt8(number))) }
    // The answer arrives after all earlier messages.
    _ = try await device.send(GetSessionCount())
    #expect(stream.dropped == 16)
    var taken: [RangingMeasurement] = []
    for try await measurement in stream.prefix(4) { taken.append(measurement) }
    #expect(taken.map(\.sequenceNumber) == [0, 1, 2, 3])
    chip.say(DWM3001CDK.rxTimeout(sequence: 20))
    let next = try await stream.first { _ in true }
    #expect(next?.sequenceNumber == 20)
    #expect(next?.lostBefore == 16)
    await device.close()
    var total = 0
    for await event in events {
      if case .measurementsDropped(sessionToken: 1, let count) = event { total = count }
    }
    #expect(total == 16)
  }

  @Test("SESSION_START answered with OK does not mean that the session ranges")
  func acceptedButUnusableParametersAreAnErrorWithTheReason() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet[0] == 0x22 && packet[1] == 0x00
        ? [bytes("42 00 00 01 00"), bytes("61 02 00 06 01 00 00 00 03 23")]
        : DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let session = try await device.makeSession(Self.configuration)
    let error = await #expect(throws: DriverError.self) { try await session.start() }
    #expect(error == .sessionEnded(.idle, .invalidRangingDuration))
    await device.close()
  }

  @Test func refusedParametersAreNamedAndTheSessionIsRemoved() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet[0] == 0x21 && packet[1] == 0x03
        ? [bytes("41 03 00 04 04 01 0d 04")] : DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let error = await #expect(throws: DriverError.self) {
      _ = try await device.makeSession(Self.configuration)
    }
    #expect(
      error
        == .parametersRefused(
          .invalidParameter, [RefusedParameter(id: 0x0D, status: .invalidParameter)]))
    #expect(chip.packets.last == bytes("21 01 00 04 01 00 00 00"))
    await device.close()
  }

  @Test func aSessionThatTheChipDidNotMakeIsNotRemoved() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet.starts(with: [0x21, 0x00])
        ? [bytes("41 00 00 01 13")] : DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let error = await #expect(throws: DriverError.self) {
      try await device.makeSession(Self.configuration)
    }
    #expect(error?.code == .refused && error?.command == "SESSION_INIT_CMD")
    await device.close()
    #expect(chip.packets.last?.prefix(2) == [0x21, 0x00])
  }

  @Test(arguments: [
    ("interval", 10), ("slots", 1), ("peers", 0), ("channel", 7), ("self", 0), ("twice", 0),
  ])
  func contradictionsAreFoundBeforeAnythingIsSent(_ what: String, _ value: Int) async throws {
    var configuration = Self.configuration
    switch what {
    case "interval": configuration.interval = UInt32(value)
    case "slots": configuration.slotsPerRound = UInt8(value)
    case "peers": configuration.peers = []
    case "channel": configuration.channel = UInt8(value)
    case "self": configuration.peers = [configuration.address]
    default: configuration.peers = [MACAddress(1), MACAddress(1)]
    }
    let checked = configuration
    let error = #expect(throws: DriverError.self) { try checked.validate() }
    guard let problems = error?.configurationProblems, !problems.isEmpty else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func keyMaterialIsInNoText() {
    let text = "\(Self.configuration) \(String(reflecting: Self.configuration.sts))"
    #expect(!text.contains("[8, 7]") && !text.contains("1, 2, 3"))
  }

  /// The controller ended the session in band. The next start does not treat this end as its own.
  @Test func aSessionThatEndedByItselfMayBeStartedAgain() async throws {
    let active = bytes("61 02 00 06 01 00 00 00 02 00")
    // The chip pauses between its answer and the state.
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      DWM3001CDK.answers(packet)
    } pace: { packet, _ in
      packet == active ? 20_000 : 0
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let session = try await device.makeSession(Self.configuration)
    let events = device.events
    try await session.start()
    chip.say(bytes("61 02 00 06 01 00 00 00 03 05"))
    for await event in events {
      if case .sessionStatus(let status) = event, status.reason == .stoppedInBand { break }
    }
    try await session.start()
    #expect(session.state == .active)
    await device.close()
  }
}
