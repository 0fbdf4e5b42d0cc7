// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import SystemPackage
import Testing
import UCI
import UWBLink
import UWBSimulator

@testable import UWB

/// Radio tests between simulated chips on pseudo-terminals.
@Suite(.timeLimit(.minutes(10))) struct RadioTestTests {
  private static func devices(
    _ profile: ChipProfile, count: Int = 2, scene: Scene = Scene(distanceNoise: 0),
    isPatient: Bool = true
  ) async throws -> (SimulatedBench, [UWBDevice]) {
    let bench = SimulatedBench(scene: scene)
    var devices: [UWBDevice] = []
    for index in 0..<count {
      let chip = try bench.add(
        profile: profile, placement: Placement(at: SIMD3(3 * Double(index), 0, 0)))
      bench.start()
      // The option is necessary because this chip accepts no command at first, which would cost a
      // time-out.
      let options = UWBDevice.Options(profile: profile.name == "sr250" ? .nxp : nil)
      devices.append(
        try await UWBDevice.open(
          .serial(path: FilePath(chip.path)), options: isPatient ? options.patient : options))
    }
    return (bench, devices)
  }

  private static func short(packets: UInt32 = 50) -> RadioTestConfiguration {
    var configuration = RadioTestConfiguration()
    configuration.packets = packets
    configuration.gap = 1_000
    return configuration
  }

  /// Runs `test` on the second device while the first one sends for longer.
  private static func whileSending(
    _ psdu: [UInt8], _ devices: [UWBDevice], _ test: RadioTest,
    _ configuration: RadioTestConfiguration = short()
  ) async throws -> RadioTestResult? {
    let (signal, hasStarted) = AsyncStream<Void>.makeStream()
    let sender = Task {
      var longer = configuration
      longer.packets = 100_000
      return try await devices[0].run(.periodicTX(psdu: psdu), longer) { hasStarted.finish() }
    }
    for await _ in signal {}
    let result = try await devices[1].run(test, configuration)
    sender.cancel()
    #expect(try await sender.value == nil)
    return result
  }

  @Test func framesAreCounted() async throws {
    let (bench, devices) = try await Self.devices(.sr250)
    let result = try #require(
      try await Self.whileSending([1, 2, 3], devices, .perRX(psdu: [1, 2, 3])))
    guard case .reception(let reception) = result.content else {
      Issue.record("\(result)")
      return
    }
    #expect(reception.count("attempts") == 50)
    #expect(reception.good == 50 && reception.packetErrorRate == 0)
    // This chip does not report its receivers.
    #expect(result.receivers.isEmpty && result.carrierOffsetPPM == nil)
    for device in devices { await device.close() }
    bench.stop()
  }

  @Test func anotherPayloadIsWrongInEveryFrame() async throws {
    let (bench, devices) = try await Self.devices(.qm33)
    var configuration = Self.short()
    configuration.additional = [TLV(AppConfigID.enableDiagnostics, [1])]
    let result = try await Self.whileSending([1], devices, .perRX(psdu: [2]), configuration)
    guard case .reception(let reception)? = result?.content else {
      Issue.record("\(String(describing: result))")
      return
    }
    #expect(reception.count("psdu_bit_errors") == 50)
    #expect(reception.packetErrorRate == 1)
    // The devices are 3 m apart.
    let receiver = try #require(result?.receivers.first)
    #expect(abs(receiver.rssiDBm + 73.5) < 0.5)
    #expect(result?.carrierOffsetPPM == 0)
    for device in devices { await device.close() }
    bench.stop()
  }

  @Test func oneFrameIsReceivedWhole() async throws {
    let (bench, devices) = try await Self.devices(.qm33)
    let result = try await Self.whileSending([7, 8, 9], devices, .rx())
    guard case .frame(let frame)? = result?.content else {
      Issue.record("\(String(describing: result))")
      return
    }
    #expect(frame.psdu == [7, 8, 9])
    for device in devices { await device.close() }
    bench.stop()
  }

  @Test func scrambledTimestampsAreChecked() async throws {
    let (bench, devices) = try await Self.devices(.sr250)
    var configuration = Self.short(packets: 20)
    configuration.rframe = 3
    let result = try await Self.whileSending([], devices, .srRX, configuration)
    guard case .reception(let reception)? = result?.content else {
      Issue.record("\(String(describing: result))")
      return
    }
    #expect(reception.count("sts_found") == 20)
    #expect(reception.bitmap == [0xFF, 0xFF, 0x0F])
    for device in devices { await device.close() }
    bench.stop()
  }

  @Test func bothTimesOfOneExchangeAreADistance() async throws {
    let (bench, devices) = try await Self.devices(.qm33)
    let (signal, hasStarted) = AsyncStream<Void>.makeStream()
    let responder = Task {
      try await devices[1].run(.ssTWR(isResponder: true)) { hasStarted.finish() }
    }
    for await _ in signal {}
    let initiator = try await devices[0].run(.ssTWR(isResponder: false))
    guard case .time(_, let roundTrip)? = initiator?.content,
      case .time(_, let reply)? = try await responder.value?.content
    else {
      Issue.record("\(String(describing: initiator))")
      return
    }
    let distance = RadioTestResult.distance(roundTrip: roundTrip, reply: reply)
    #expect(abs(distance - 3) < 0.01)
    for device in devices { await device.close() }
    bench.stop()
  }

  @Test func aReceiverAloneHearsNothingAndLeavesNothingBehind() async throws {
    let (bench, devices) = try await Self.devices(.fira1, count: 1, isPatient: false)
    var configuration = Self.short()
    configuration.patience = 50
    #expect(try await devices[0].run(.rx(), configuration) == nil)
    let result = try await devices[0].run(.perRX(psdu: []), configuration)
    guard case .reception(let reception)? = result?.content else {
      Issue.record("\(String(describing: result))")
      return
    }
    #expect(reception.packetErrorRate == 1)
    #expect(try await devices[0].send(GetSessionCount()).count == 0)
    await devices[0].close()
    bench.stop()
  }

  @Test func aTestThatTheChipLacksIsRefused() async throws {
    let (bench, devices) = try await Self.devices(.qm33, count: 1)
    let error = await #expect(throws: DriverError.self) { try await devices[0].run(.srRX) }
    #expect(error == .refused(command: "TEST_SR_RX_CMD", .unknownOID))
    #expect(try await devices[0].send(GetSessionCount()).count == 0)
    await devices[0].close()
    bench.stop()
  }

  @Test func contradictionsAreFoundBeforeAnythingIsSent() {
    var configuration = RadioTestConfiguration()
    configuration.receiverWindow = configuration.receiverLead
    #expect(throws: DriverError.self) { try configuration.validate() }
    configuration = .init()
    configuration.packets = 0
    #expect(throws: DriverError.self) { try configuration.validate() }
    configuration = .init()
    configuration.gap = 0
    #expect(throws: DriverError.self) { try configuration.validate() }
    configuration.gap = 1
    configuration.packets = 1
    #expect(throws: Never.self) { try configuration.validate() }
  }

  /// The numbers of the tables of FiRa's and AOSP's radio tests.
  @Test func whatAChipIsToldOfATest() {
    let configuration = RadioTestConfiguration()
    let common: [TLV] = [
      TLV(AppConfigID.channelNumber, [9]), TLV(AppConfigID.numberOfControlees, [1]),
      TLV(AppConfigID.deviceMACAddress, [0, 0]), TLV(AppConfigID.dstMACAddress, [1, 0]),
      TLV(AppConfigID.macFCSType, [0]), TLV(AppConfigID.rframeConfig, [0]),
      TLV(AppConfigID.preambleCodeIndex, [9]), TLV(AppConfigID.sfdID, [2]),
      TLV(AppConfigID.bprfPHRDataRate, [0]), TLV(AppConfigID.prfMode, [0]),
      TLV(AppConfigID.numberOfSTSSegments, [0]), TLV(AppConfigID.stsLength, [1]),
    ]
    #expect(configuration.parameters(of: .perRX(psdu: [])) == common)
    let responder = configuration.parameters(of: .ssTWR(isResponder: true))
    #expect(
      responder.prefix(2) == [
        TLV(AppConfigID.deviceRole, [0]), TLV(AppConfigID.slotDuration, [0x60, 0x09]),
      ])
    for tlv in [
      TLV(AppConfigID.deviceMACAddress, [1, 0]), TLV(AppConfigID.dstMACAddress, [0, 0]),
      TLV(AppConfigID.rframeConfig, [3]), TLV(AppConfigID.numberOfSTSSegments, [1]),
    ] { #expect(responder.contains(tlv)) }
    #expect(
      configuration.parameters(of: .ssTWR(isResponder: false)).first
        == TLV(AppConfigID.deviceRole, [1]))

    let frames = [
      TLV(0x00, [0xE8, 0x03, 0, 0]), TLV(0x01, [0xD0, 0x07, 0, 0]),
      TLV(0x02, [0xC2, 0x01, 0, 0]), TLV(0x03, [0xEE, 0x02, 0, 0]),
    ]
    let start = [TLV(0x06, [0, 0, 0, 0]), TLV(0x07, [0, 0, 0, 0])]
    #expect(
      configuration.testParameters(of: .periodicTX(psdu: []))
        == frames + [TLV(0x04, [0]), TLV(0x05, [0])] + start)
    #expect(
      configuration.testParameters(of: .srRX) == frames + [TLV(0x08, [0]), TLV(0x09, [1])])
    var other = configuration
    (other.isRandom, other.rangingBit, other.incrementsSTSIndex) = (true, true, true)
    #expect(
      other.testParameters(of: .perRX(psdu: []))
        == frames + [TLV(0x04, [1]), TLV(0x05, [1])] + start + [TLV(0x08, [1])])
    #expect(other.testParameters(of: .ssTWR(isResponder: true)) == start + [TLV(0x08, [1])])
    other.additional = [TLV(AppConfigID.sfdID, [0])]
    let replaced = other.parameters(of: .rx())
    #expect(replaced.filter { $0.id == AppConfigID.sfdID.rawValue } == other.additional)
    #expect(replaced.count == common.count)
  }

  @Test func aTestMayTakeTheTimeOfItsFramesAndMore() {
    var configuration = RadioTestConfiguration()
    #expect(configuration.timeout(of: .perRX(psdu: [])) == 2_000 + 3_000)
    #expect(configuration.timeout(of: .rx()) == 3_000)
    configuration.limit = 1_000
    #expect(configuration.timeout(of: .srRX) == 1_000 && configuration.timeout(of: .rx()) == 1_000)
    (configuration.packets, configuration.gap, configuration.limit) = (.max, .max, nil)
    #expect(configuration.timeout(of: .srRX) == (1 << 40) + 3_000)
  }

  @Test func aFrameWithBothFaultsIsCountedOnce() {
    let reception = RadioReception(
      names: ["attempts", "psdu_decode_errors", "psdu_bit_errors", "end_of_frame"],
      counts: [100, 3, 5, 90], isSTSOnly: false)
    #expect(reception.good == 85)
    #expect(abs((reception.packetErrorRate ?? 0) - 0.15) < 1e-12)
    let short = RadioReception(names: ["attempts"], counts: [100], isSTSOnly: false)
    #expect(short.good == nil && short.packetErrorRate == nil)
    let none = RadioReception(
      names: ["attempts", "end_of_frame"], counts: [0, 0], isSTSOnly: false)
    #expect(none.good == 0 && none.packetErrorRate == nil)
  }
}
