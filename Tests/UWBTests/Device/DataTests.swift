// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Synchronization
import Testing
import UCI
import UWBLink
import UWBSimulator

@testable import UWB

/// Data within ranging rounds.
@Suite(.timeLimit(.minutes(10))) struct DataTests {
  typealias Ends = EndToEndTests

  static let profiles: [ChipProfile] = [.qm33, .sr250, .fira1]

  @Test(arguments: profiles)
  func bothEndsExchangeData(_ profile: ChipProfile) async throws {
    let (bench, chips) = try Ends.bench([profile, profile])
    let (controller, controlees) = Ends.configurations()
    let a = try await Ends.open(chips[0])
    let b = try await Ends.open(chips[1])
    let far = try await b.makeSession(controlees[0])
    let near = try await a.makeSession(controller)
    let measured = near.measurements()
    let (toFar, toNear) = (far.receivedData(), near.receivedData())
    try await far.start()
    try await near.start()
    for try await measurement in measured where measurement.result.status.isSuccess { break }
    // One segment, several segments, and an empty message.
    let messages = [[1, 2, 3], (0..<700).map { UInt8(truncatingIfNeeded: $0) }, []]
    for message in messages {
      #expect(try await near.sendData(message, to: MACAddress(1)) == 1)
    }
    try await far.sendData([0xFF], to: MACAddress(0))
    var received: [ReceivedData] = []
    for await data in toFar.prefix(3) { received.append(data) }
    #expect(received.map(\.data) == messages)
    #expect(received.map(\.sequenceNumber) == [0, 1, 2])
    #expect(received.allSatisfy { $0.source == MACAddress(0) && $0.status == .ok })
    for await data in toNear.prefix(1) {
      #expect(data.data == [0xFF])
      #expect(data.source == MACAddress(1))
    }
    #expect(try await near.maximumDataSize() == (profile.name == "fira1" ? nil : 1_000))
    await a.close()
    await b.close()
    #expect(a.statistics.bytesSkipped == 0 && b.statistics.bytesSkipped == 0)
    for await _ in toFar { Issue.record("the session was closed") }
    bench.stop()
  }

  @Test func dataWithoutAPeerAndTooMuchDataAreErrors() async throws {
    let (bench, chips) = try Ends.bench([.qm33])
    let device = try await Ends.open(chips[0])
    let session = try await device.makeSession(Ends.configurations().controller)
    let idle = await #expect(throws: DriverError.self) {
      _ = try await session.sendData([1], to: MACAddress(1))
    }
    #expect(idle?.code == .stateNotReached)
    try await session.start()
    let alone = await #expect(throws: DriverError.self) {
      _ = try await session.sendData([1], to: MACAddress(1))
    }
    #expect(alone == .dataNotSent(.transferError))
    let long = await #expect(throws: DriverError.self) {
      _ = try await session.sendData(Array(repeating: 0, count: 1_001), to: MACAddress(1))
    }
    #expect(long == .dataTooLong(bytes: 1_001, limit: 1_000))
    await device.close()
    bench.stop()
  }

  // MARK: packets on the wire

  static let size = bytes("41 0b 00 07 01 00 00 00 00 e8 03")

  /// A session that ranges, and all packets that its chip received since.
  ///
  /// - Parameter profile: A profile whose time limits a test reaches.
  static func ranging(
    profile: DeviceProfile? = nil, _ script: @escaping ScriptedChip.Script
  ) async throws -> (UWBSession, ScriptedChip) {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, count in
      switch (packet[0], packet[1]) {
      case (0x21, 0x0B): [size]
      case (0x01, _), (0x11, _): script(packet, count)
      default: DWM3001CDK.answers(packet)
      }
    }
    let device = try await UWBDevice.open(
      chip.endpoint, options: profile.map { .init(profile: $0) } ?? .init(profile: .qorvo).patient)
    let session = try await device.makeSession(SessionTests.configuration)
    try await session.start()
    return (session, chip)
  }

  static func segments(_ chip: ScriptedChip) -> [[UInt8]] {
    chip.packets.filter { $0[0] >> 5 == 0 }
  }

  static let credit = bytes("62 04 00 05 01 00 00 00 01")
  static let done = bytes("62 05 00 08 01 00 00 00 00 00 01 01")

  @Test("The response about the data size begins with the session token")
  func dataSize() async throws {
    let (session, _) = try await Self.ranging { _, _ in [] }
    #expect(try await session.maximumDataSize() == 1_000)
    await session.device.close()
  }

  @Test("A short address is in the low two of eight bytes")
  func shortAddresses() async throws {
    let (session, chip) = try await Self.ranging { _, _ in [Self.credit, Self.done] }
    let received = session.receivedData()
    try await session.sendData([0xAA], to: MACAddress(0x1234))
    #expect(
      Self.segments(chip)
        == [bytes("01 00 00 11 01 00 00 00 34 12 00 00 00 00 00 00 00 00 01 00 aa")])
    chip.say(bytes("02 00 00 12 01 00 00 00 00 78 56 00 00 00 00 00 00 05 00 01 00 bb"))
    for await data in received.prefix(1) {
      #expect(
        data
          == ReceivedData(
            source: MACAddress(0x5678), sequenceNumber: 5, status: .ok, data: [0xBB]))
    }
    await session.device.close()
  }

  @Test("Each segment of data waits for its credit")
  func oneCreditForEachSegment() async throws {
    // The credit for a segment arrives only after the answers to two other commands. The driver
    // sends no segment before.
    let (arrivals, sent) = AsyncStream<Void>.makeStream()
    let (session, chip) = try await Self.ranging { packet, _ in
      sent.yield()
      return []
    }
    let sending = Task {
      try await session.sendData(Array(repeating: 7, count: 600), to: MACAddress(1))
    }
    var next = arrivals.makeAsyncIterator()
    for segment in 1...3 {
      await next.next()
      _ = try await session.device.send(GetSessionCount())
      _ = try await session.device.send(GetSessionCount())
      #expect(Self.segments(chip).count == segment)
      chip.say(bytes("62 04 00 05 01 00 00 00 00"))
      chip.say(Self.credit)
    }
    chip.say(Self.done)
    #expect(try await sending.value == 1)
    let segments = Self.segments(chip)
    #expect(segments.map { $0[0] } == [0x11, 0x11, 0x01])
    #expect(segments.map { Int($0[3]) } == [255, 255, 106], "16 bytes of header count")
    await session.device.close()
  }

  @Test("Segments of data are as long as the chip announces")
  func segmentSize() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      switch (packet[0], packet[1]) {
      case (0x20, 0x03): [bytes("40 03 00 0a 00 02 00 02 03 01 01 02 64 00")]
      case (0x21, 0x0B): [Self.size]
      case (0x11, _): [Self.credit]
      case (0x01, _): [Self.credit, Self.done]
      default: DWM3001CDK.answers(packet)
      }
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let session = try await device.makeSession(SessionTests.configuration)
    try await session.start()
    try await session.sendData(Array(repeating: 1, count: 200), to: MACAddress(1))
    #expect(Self.segments(chip).map { $0.count - 4 } == [100, 100, 16])
    await device.close()
  }

  @Test(
    "Reports on data have 6, 7 or 8 bytes",
    arguments: [
      "62 05 00 06 01 00 00 00 00 01", "62 05 00 07 01 00 00 00 00 01 02",
      "62 05 00 08 01 00 00 00 00 00 01 02",
    ])
  func formsOfReports(_ report: String) async throws {
    let (session, _) = try await Self.ranging { _, _ in
      // The reports concern another message, one of several repetitions, and the last repetition.
      let one = bytes(report)
      let other = one.enumerated().map { $0 == 8 ? 9 : $1 }
      let repetition = one.enumerated().map { $0 == (one.count == 12 ? 10 : 9) ? 0 : $1 }
      return [Self.credit, other, repetition, one]
    }
    let transmissions = try await session.sendData([1], to: MACAddress(1))
    #expect(transmissions == (bytes(report).count == 10 ? nil : 2))
    await session.device.close()
  }

  @Test("The status of received data is kept as it came")
  func statusOfReceivedData() async throws {
    let (session, chip) = try await Self.ranging { _, _ in [] }
    let received = session.receivedData()
    chip.say(bytes("02 00 00 11 01 00 00 00 63 01 00 00 00 00 00 00 00 00 00 00 00"))
    for await data in received.prefix(1) { #expect(data.status.rawValue == 0x63) }
    await session.device.close()
  }

  @Test("Data is not sent to an idle session, even though a simulator accepts it")
  func notWhileIdle() async throws {
    let (session, chip) = try await Self.ranging { _, _ in [Self.credit, Self.done] }
    try await session.stop()
    await #expect(throws: DriverError.self) {
      try await session.sendData([1], to: MACAddress(1))
    }
    #expect(Self.segments(chip).isEmpty)
    await session.device.close()
  }

  @Test("Of several segments only the newest is sent again")
  func aSegmentIsSentAgain() async throws {
    let retry = bytes("60 07 00 01 0a")
    let times = Mutex<Int>(0)
    let (session, chip) = try await Self.ranging { _, _ in
      let count = times.withLock { times in
        times += 1
        return times
      }
      return count == 1 ? [retry] : [Self.credit, Self.done]
    }
    try await session.sendData([1], to: MACAddress(1))
    #expect(Self.segments(chip).count == 2 && Set(Self.segments(chip)).count == 1)
    // The chip accepted the segment, so no later repetition includes it.
    let events = session.device.events
    chip.say(retry + DWM3001CDK.ready)
    for await event in events { if case .deviceStatus = event { break } }
    _ = try await session.device.send(GetSessionCount())
    #expect(Self.segments(chip).count == 2)
    await session.device.close()
  }

  @Test func aSegmentIsNotSentAgainWithoutEnd() async throws {
    var profile = DeviceProfile.qorvo
    (profile.retryLimit, profile.dataTimeout) = (3, 200)
    let (session, chip) = try await Self.ranging(profile: profile) { _, _ in
      [bytes("60 07 00 01 0a")]
    }
    let error = await #expect(throws: DriverError.self) {
      try await session.sendData([1], to: MACAddress(1))
    }
    #expect(error?.code == .noAnswer)
    _ = try await session.device.send(GetSessionCount())
    #expect(Self.segments(chip).count == 1 + 3)
    await session.device.close()
  }

  @Test func refusedInTheMiddleTheRestIsNotSent() async throws {
    let (session, chip) = try await Self.ranging { _, _ in
      [bytes("62 05 00 08 01 00 00 00 00 00 03 00")]
    }
    let error = await #expect(throws: DriverError.self) {
      try await session.sendData(Array(repeating: 7, count: 600), to: MACAddress(1))
    }
    #expect(error == .dataNotSent(.noCredit))
    #expect(Self.segments(chip).count == 1)
    await session.device.close()
  }

  @Test func aSlowTakerIsTold() async throws {
    let (session, chip) = try await Self.ranging { _, _ in [] }
    let received = session.receivedData(capacity: 2)
    let events = session.device.events
    let message = bytes("02 00 00 11 01 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00")
    chip.say(message + message + message)
    for await event in events { if case .dataDropped(sessionToken: 1) = event { break } }
    await session.device.close()
    var count = 0
    for await _ in received { count += 1 }
    #expect(count == 2)
  }
}
