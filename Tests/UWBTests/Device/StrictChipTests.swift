// SPDX-License-Identifier: Apache-2.0
import Synchronization
import System
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport

/// Chips that reject commands that come too early or too often, lose their state before a reset, or
/// report wrong capabilities.
@Suite(.timeLimit(.minutes(10))) struct StrictChipTests {
  typealias Ends = EndToEndTests

  /// Opens a device, which waits for each answer as long as it takes.
  private static func open(
    _ endpoint: LinkEndpoint, _ policy: UWBDevice.ResetPolicy = .reset,
    tap: UWBDevice.PacketTap? = nil, clock: AlarmClock = .patient()
  ) async throws(DriverError) -> UWBDevice {
    var options = UWBDevice.Options(tap: tap, resetPolicy: policy)
    options.clock = clock
    return try await UWBDevice.open(endpoint, options: options)
  }

  private static func open(
    _ chip: SimulatedBench.Chip, tap: UWBDevice.PacketTap? = nil
  ) async throws(DriverError) -> UWBDevice {
    try await open(.serial(path: FilePath(chip.path)), tap: tap)
  }

  /// Opcodes of packets to the chip, and states from the chip, in order.
  private final class Wire: Sendable {
    private let seen = Mutex<[String]>([])
    var words: [String] { seen.withLock { $0 } }

    var tap: UWBDevice.PacketTap {
      { direction, packet, _ in
        let bytes = packet.withUnsafeBytes { Array($0) }
        let word: String? =
          switch (direction, bytes[0] & 0x0F, bytes[1]) {
          case (.outbound, 0, 0): "RESET"
          case (.outbound, 0, 2): "GET_DEVICE_INFO"
          case (.outbound, 1, 0): "INIT"
          case (.outbound, 1, 3): "SET_APP_CONFIG"
          case (.outbound, 2, 0): "START"
          case (.outbound, 2, 1): "STOP"
          case (.outbound, 1, 1): "DEINIT"
          case (.inbound, 0, 1) where bytes[0] == 0x60: "device \(bytes[4])"
          case (.inbound, 1, 2) where bytes[0] == 0x61: "session \(bytes[8])"
          default: nil
          }
        if let word { self.seen.withLock { $0.append(word) } }
      }
    }
  }

  @Test func theOrderOnTheWireIsThatOfAndroidsHost() async throws {
    let (bench, chips) = try Ends.bench([.pica])
    let wire = Wire()
    let device = try await Self.open(chips[0], tap: wire.tap)
    try await device.withSession(Ends.configurations().controller) { session in
      try await session.start()
      try await session.stop()
      try await session.start()
    }
    await device.close()
    // The chip reports ERROR to a new host, before or after the first command.
    var all = wire.words
    if let error = all.firstIndex(of: "device 255") { all.remove(at: error) }
    let words = all.drop { $0 != "RESET" }
    #expect(words.prefix(3) == ["RESET", "device 1", "GET_DEVICE_INFO"])
    // The host waits for the session's state after STOP. The device's state follows, before or
    // after the next command.
    #expect(
      words.filter { $0 != "device 1" } == [
        "RESET", "GET_DEVICE_INFO", "INIT", "session 0", "SET_APP_CONFIG", "session 3",
        "START", "device 2", "session 2", "STOP", "session 3",
        "START", "device 2", "session 2", "STOP", "session 3", "DEINIT",
      ])
    #expect(chips[0].disorderlyCommands == 0)
    bench.stop()
  }

  /// The stream ends with the state IDLE, and then the consumer closes the session.
  @Test func whatHasStoppedIsNotStoppedAgain() async throws {
    let (bench, chips) = try Ends.bench([.pica])
    let device = try await Self.open(chips[0])
    for _ in 0..<10 {
      try await device.withSession(Ends.configurations().controller) { session in
        let stream = session.rounds()
        try await session.start()
        let stops = (0..<3).map { _ in Task { try await session.stop() } }
        for try await _ in stream {}
        try await session.close()
        for stop in stops { try await stop.value }
      }
    }
    await device.close()
    #expect(chips[0].disorderlyCommands == 0)
    bench.stop()
  }

  @Test func aChipThatListsOnlyOtherSchedulesRanges() async throws {
    let (bench, chips) = try Ends.bench([.pica, .pica])
    let (controller, controlees) = Ends.configurations()
    let (a, b) = (try await Self.open(chips[0]), try await Self.open(chips[1]))
    let problems = controller.problems(
      for: a.dialect, capabilities: Capabilities(a.capabilities))
    #expect(problems.errors.isEmpty)
    #expect(problems.warnings.map(\.parameters) == [[.scheduleMode]])
    #expect(problems.warnings.allSatisfy { $0.recoverySuggestion != nil })
    let far = try await b.makeSession(controlees[0])
    try await far.start()
    let measured = try await a.withSession(controller) { session in
      let stream = session.measurements()
      try await session.start()
      var list: [RangingMeasurement] = []
      for try await measurement in stream.prefix(5) { list.append(measurement) }
      return list
    }
    #expect(measured.allSatisfy { ($0.result.distanceCentimetres ?? 0) > 200 })
    #expect(measured.allSatisfy { $0.result.rawRSSI == 0xFF && $0.result.rssiDBm == nil })
    await a.close()
    await b.close()
    bench.stop()
  }

  @Test func aChipThatAnswersOnlyWithErrorsIsToBeReset() async throws {
    let (bench, chips) = try Ends.bench([.pica])
    let endpoint = LinkEndpoint.serial(path: FilePath(chips[0].path))
    // The chip forgets each host, and reports ERROR to the next one.
    for _ in 0..<3 {
      let error = await #expect(throws: DriverError.self) {
        try await Self.open(endpoint, .keepState)
      }
      #expect(error?.code == .needsReset)
      #expect(error?.recoverySuggestion?.contains("reset") == true)
      let device = try await Self.open(endpoint)
      #expect(device.wasReset && device.state == .ready)
      await device.close()
    }
    bench.stop()
  }

  @Test func aRefusalToSayWhoItIsIsAnErrorToo() async throws {
    let chip = try ScriptedChip { packet, _ in
      packet[1] == 2 ? [bytes("40 02 00 01 02")] : DWM3001CDK.answers(packet)
    }
    let error = await #expect(throws: DriverError.self) {
      try await Self.open(chip.endpoint, .keepState)
    }
    #expect(error?.code == .needsReset)
    #expect(!chip.opcodes.contains([0x20, 0x00]), "nobody has agreed to a reset")
  }

  /// The chip sends the error when the host opens the port, and the host reads it during the reset.
  @Test func anErrorFromBeforeTheResetIsNoAnswerToIt() async throws {
    let chip = try ScriptedChip { packet, _ in
      packet.starts(with: [0x20, 0x00])
        ? [bytes("60 01 00 01 FF"), bytes("40 00 00 01 00"), DWM3001CDK.ready]
        : DWM3001CDK.answers(packet)
    }
    let device = try await Self.open(chip.endpoint)
    #expect(device.state == .ready)
    await device.close()
  }

  @Test(arguments: ["0a", "0a 00", "0a 01 04"])
  func aRequestToRepeatMayHaveAnyLength(_ answer: String) async throws {
    let refused = Mutex(Set<[UInt8]>())
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      let opcode = Array(packet.prefix(2))
      guard refused.withLock({ $0.insert(opcode).inserted }) else {
        return DWM3001CDK.answers(packet)
      }
      let payload = bytes(answer)
      return [[opcode[0] & 0x0F | 0x40, opcode[1], 0, UInt8(payload.count)] + payload]
    }
    let device = try await Self.open(chip.endpoint)
    try await device.withSession(SessionTests.configuration) { try await $0.start() }
    await device.close()
    let sent = chip.sent.map { Array($0.prefix(2)) }
    for opcode in [[0x21, 0x00], [0x21, 0x03], [0x22, 0x00], [0x22, 0x01], [0x21, 0x01]]
      as [[UInt8]]
    {
      #expect(sent.count { $0 == opcode } == 2)
    }
  }

  @Test(arguments: ["04", "04 02", "04 01 08", "04 ff 00 00"])
  func aRefusalIsOneWhateverFollowsItsStatus(_ answer: String) async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      guard packet.starts(with: [0x21, 0x03]) else { return DWM3001CDK.answers(packet) }
      let payload = bytes(answer)
      return [[0x41, 0x03, 0, UInt8(payload.count)] + payload]
    }
    let device = try await Self.open(chip.endpoint)
    let error = await #expect(throws: DriverError.self) {
      try await device.makeSession(SessionTests.configuration)
    }
    #expect(error?.code == .parametersRefused && error?.status == .invalidParameter)
    await device.close()
  }

  /// The driver waits for a chip that never reports INIT, and then uses it nevertheless.
  @Test func parametersWaitForTheReportOfTheSession() async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      packet.starts(with: [0x21, 0x00])
        ? [bytes("41 00 00 05 00 01 00 00 00")] : DWM3001CDK.answers(packet)
    }
    // The first wait of three seconds is the wait for the report.
    let isFirst = Mutex(true)
    let clock = AlarmClock.patient { time in
      guard time == .seconds(3) else { return false }
      return isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
    }
    let device = try await Self.open(chip.endpoint, clock: clock)
    let session = try await device.makeSession(SessionTests.configuration)
    #expect(session.state == .idle)
    await device.close()
  }
}
