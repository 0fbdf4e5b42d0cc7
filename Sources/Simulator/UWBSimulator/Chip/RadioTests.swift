// SPDX-License-Identifier: Apache-2.0

import UCI

struct SimulatedRadioTest: Sendable {
  enum Kind: Sendable, Hashable {
    case periodicTX, perRX, rx, loopback, ssTWR(isInitiator: Bool), srRX
  }

  var kind: Kind
  var token: UInt32
  /// The parameters that must be equal at both ends.
  var air: [[UInt8]]
  /// The payload that is sent or expected.
  var psdu: [UInt8]
  var isRandom: Bool
  /// The start in nanoseconds.
  var start: UInt64
  var packets: UInt64
  /// The time from frame to frame in nanoseconds.
  var gap: UInt64
  /// The duration of a slot in nanoseconds.
  var slot: UInt64
  /// Whether frames carry scrambled timestamps.
  var hasSTS: Bool
  var isSTSOnly: Bool
  /// Whether the host wants a bit for each frame.
  var wantsBitmap: Bool
  /// Whether the host wants receiver diagnostics (Qorvo).
  var hasDiagnostics: Bool

  /// The time at which all frames of the test have passed.
  var end: UInt64 { start &+ packets &* gap }
}

/// Frames that are or were on the air.
struct RadioTransmission: Sendable {
  var test: SimulatedRadioTest
  /// The end of the transmission; earlier than the end of the test if the test was stopped.
  var end: UInt64
}

extension SimulatedChip {
  /// The parameters that must be equal at both ends.
  private static let air: [AppConfigID] = [
    .channelNumber, .rframeConfig, .preambleCodeIndex, .sfdID, .psduDataRate, .bprfPHRDataRate,
    .prfMode, .numberOfSTSSegments, .stsLength,
  ]

  /// Handles group 0xD. The commands name no session, because there is only one for tests.
  mutating func radioTest(_ opcode: Opcode, _ payload: [UInt8], at now: UInt64) throws {
    switch opcode {
    case TestConfigSet.opcode: try setTestConfiguration(try read(TestConfigSet.self, payload))
    case TestConfigGet.opcode: try reportTestConfiguration(try read(TestConfigGet.self, payload))
    case TestStopSession.opcode:
      _ = try read(TestStopSession.self, payload)
      guard sessions.contains(where: { $0.type == .deviceTest }) else { throw Refusal(.rejected) }
      respond(opcode, .ok)
      endRadioTest(at: now)
    default:
      guard profile.radioTests.contains(opcode.oid) else { throw Refusal(.unknownOID) }
      try start(opcode, payload, at: now)
    }
  }

  private mutating func start(
    _ opcode: Opcode, _ payload: [UInt8], at now: UInt64
  ) throws(Refusal) {
    guard radioTest == nil,
      let index = sessions.firstIndex(where: { $0.type == .deviceTest && $0.state == .idle })
    else { throw Refusal(.rejected) }
    let session = sessions[index]
    let isInitiator = session.number(.deviceRole) == 1
    let kinds: [Opcode: SimulatedRadioTest.Kind] = [
      TestPeriodicTX.opcode: .periodicTX, TestPERRX.opcode: .perRX, TestRX.opcode: .rx,
      TestLoopback.opcode: .loopback, TestSSTWR.opcode: .ssTWR(isInitiator: isInitiator),
      TestSRRX.opcode: .srRX,
    ]
    guard let kind = kinds[opcode] else { throw Refusal(.unknownOID) }
    let frame = session.bytes(.rframeConfig)
    let test = SimulatedRadioTest(
      kind: kind, token: session.token, air: Self.air.map { session.bytes($0) }, psdu: payload,
      isRandom: testParameter(0x04) == 1, start: now, packets: testParameter(0x00),
      gap: max(1, testParameter(0x01)) * 1_000,
      slot: session.number(.slotDuration) * 1_000_000 / 1_200,
      hasSTS: frame != [0], isSTSOnly: frame == [3], wantsBitmap: testParameter(0x09) != 0,
      hasDiagnostics: session.parameters[0xE8]?.first == 1)
    radioTest = test
    if kind == .periodicTX {
      transmissions = transmissions.suffix(7) + [RadioTransmission(test: test, end: test.end)]
    }
    respond(opcode, .ok)
    if profile.deviceStatusFirst { report(.active) }
    move(index, to: .active)
    report(.active)
  }

  /// Ends the test; its session becomes idle.
  mutating func endRadioTest(at now: UInt64) {
    guard let test = radioTest else { return }
    radioTest = nil
    if test.kind == .periodicTX, let last = transmissions.indices.last {
      transmissions[last].end = min(transmissions[last].end, now)
    }
    guard let index = session(test.token) else { return }
    leaveActive(index, reason: .managementCommand)
  }

  // MARK: parameters

  /// The number of bytes of each parameter, and its default.
  ///
  /// Source: FiRa's test parameters as published in AOSP (RfTestOpenSessionParams).
  private static let testRules: [UInt8: (bytes: Int, standard: UInt64)] = [
    0: (4, 1_000), 1: (4, 2_000), 2: (4, 450), 3: (4, 750), 4: (1, 0), 5: (1, 0), 6: (4, 0),
    7: (4, 0), 8: (1, 0), 9: (1, 0),
  ]

  private func testParameter(_ id: UInt8) -> UInt64 {
    testParameters[id]?.number ?? Self.testRules[id]?.standard ?? 0
  }

  private func knownTest(_ token: UInt32) throws(Refusal) -> Int {
    let index = try known(token)
    guard sessions[index].type == .deviceTest else { throw Refusal(.sessionNotExist) }
    return index
  }

  private mutating func setTestConfiguration(_ command: TestConfigSet) throws(Refusal) {
    let opcode = TestConfigSet.opcode
    let index = try knownTest(command.sessionToken)
    let refused = command.parameters.filter { Self.testRules[$0.id]?.bytes != $0.value.count }
    guard refused.isEmpty else {
      let list = refused.map { RefusedParameter(id: $0.id, status: .invalidParameter) }
      return respond(opcode, ConfigurationResponse(status: .invalidParameter, refused: list))
    }
    for parameter in command.parameters { testParameters[parameter.id] = parameter.value }
    respond(opcode, ConfigurationResponse(status: .ok, refused: []))
    if sessions[index].state == .initialised { move(index, to: .idle) }
  }

  private mutating func reportTestConfiguration(_ command: TestConfigGet) throws(Refusal) {
    let opcode = TestConfigGet.opcode
    _ = try knownTest(command.sessionToken)
    guard command.ids.allSatisfy({ Self.testRules[$0] != nil }) else {
      return respond(opcode, TLVListResponse(status: .invalidParameter, parameters: []))
    }
    let values = command.ids.map { id in
      TLV(id, Array(testParameter(id).bytes.prefix(Self.testRules[id]?.bytes ?? 0)))
    }
    respond(opcode, TLVListResponse(status: .ok, parameters: values))
  }
}
