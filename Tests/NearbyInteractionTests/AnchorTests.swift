// SPDX-License-Identifier: Apache-2.0
import Foundation
import System
import Testing
import UCI
import UWBTestSupport

@testable import NearbyInteraction

/// Sessions with anchors, on a scripted chip, because the simulated ones do not support them.
@Suite struct AnchorTests {
  /// A message of an anchor in the layout of FiRa 2.0.
  static func message(_ type: UInt8, from anchor: UInt16, sent: UInt64, block: UInt16) -> [UInt8] {
    var writer = PayloadWriter()
    writer.u16(anchor)
    writer.u8(0)  // status OK
    writer.u8(type)
    // 64-bit timestamps, location relative.
    writer.u16(1 << 1 | 1 << 3 | 2 << 5)
    writer.u16(block)
    writer.u8(0)
    writer.u8(0xFF)
    writer.bytes([0, 0, 0, 0, 0, 0])
    writer.u8(161)  // -80.5 dBm
    writer.u32(UInt32(truncatingIfNeeded: sent))
    writer.u32(UInt32(sent >> 32))
    writer.u32(UInt32(truncatingIfNeeded: sent + 639))
    writer.u32(UInt32((sent + 639) >> 32))
    writer.u16(UInt16(bitPattern: 1_024))  // the responder is 1 ppm fast
    writer.u16(UInt16(bitPattern: -2_048))  // the anchor is 2 ppm slow
    writer.u32(0)
    writer.u32(0)
    writer.u16(0)
    writer.bytes([UInt8](repeating: 0, count: 10))
    return writer.bytes
  }

  static func notification(token: UInt32, block: UInt16) -> [UInt8] {
    var writer = PayloadWriter()
    writer.u32(UInt32(block))
    writer.u32(token)
    writer.u8(0)
    writer.u32(200)
    writer.u8(2)  // downlink TDoA
    writer.bytes([0, 0])
    writer.bytes([UInt8](repeating: 0, count: 8))
    writer.u8(3)
    writer.bytes(message(0, from: 0x11, sent: 63_897_600_000, block: block))
    writer.bytes(message(1, from: 0x22, sent: 63_897_700_000, block: block))
    writer.bytes(message(2, from: 0x11, sent: 63_897_800_000, block: block))
    return [0x62, 0x00, 0x00, UInt8(writer.bytes.count)] + writer.bytes
  }

  /// A chip that supports the tag's role and answers all commands with OK.
  final class TagChip: Sendable {
    struct State {
      var rest: [UInt8] = []
      var commands: [[UInt8]] = []
    }
    let state = Locked(State())
    /// DEVICE_ROLES includes the role of a tag.
    let roles: [UInt8]
    /// The fields of SESSION_UPDATE_DT_TAG_RANGING_ROUNDS_RSP.
    let roundStatus: UInt8

    /// The fields of SESSION_SET_APP_CONFIG_RSP.
    let configurationStatus: UInt8

    init(
      roles: [UInt8] = [0x00, 0x01], roundStatus: UInt8 = 0, configurationStatus: UInt8 = 0
    ) {
      self.roles = roles
      self.roundStatus = roundStatus
      self.configurationStatus = configurationStatus
    }

    var commands: [[UInt8]] { state.withLock { $0.commands } }

    func answer(_ bytes: [UInt8]) -> [UInt8] {
      state.withLock { state in
        state.rest += bytes
        var answers: [UInt8] = []
        while state.rest.count >= 4, state.rest.count >= 4 + Int(state.rest[3]) {
          let command = Array(state.rest[..<(4 + Int(state.rest[3]))])
          state.rest.removeFirst(command.count)
          state.commands.append(command)
          answers += answer(to: command)
        }
        return answers
      }
    }

    private static func packet(_ type: UInt8, _ group: UInt8, _ opcode: UInt8, _ payload: [UInt8])
      -> [UInt8]
    { [type << 5 | group, opcode, 0, UInt8(payload.count)] + payload }

    private static func session(_ state: UInt8) -> [UInt8] {
      packet(3, 1, 2, [7, 0, 0, 0, state, 0])
    }

    private func answer(to command: [UInt8]) -> [UInt8] {
      let (group, opcode) = (command[0] & 0xF, command[1])
      func ok(_ more: [UInt8] = []) -> [UInt8] { Self.packet(2, group, opcode, [0] + more) }
      switch (group, opcode) {
      case (0, 0): return ok() + Self.packet(3, 0, 1, [1])
      case (0, 2): return ok([0, 2, 0, 2, 0, 2, 0, 2, 0])
      // Versions of FiRa 2.0, and the roles.
      case (0, 3): return ok([2, 2, 4, 2, 0, 2, 0, 5, 2] + roles)
      case (1, 0): return ok([7, 0, 0, 0]) + Self.session(0)
      case (1, 3) where configurationStatus != 0:
        return Self.packet(2, 1, 3, [configurationStatus, 0])
      case (1, 3): return ok([0]) + Self.session(3)
      case (1, 9): return Self.packet(2, 1, 9, [roundStatus, 0])
      case (2, 0): return ok() + Self.session(2)
      case (2, 1): return ok() + Self.session(3)
      case (1, 1): return ok() + Self.session(1)
      default: return ok()
      }
    }
  }

  @Test func messagesOfAnchorsReachTheDelegate() async throws {
    let chip = TagChip()
    let terminal = try ScriptedTerminal { chip.answer($0) }
    let recorder = Recorder()
    let session = recorder.session(on: terminal.path)
    let configuration = NIDLTDOAConfiguration(networkIdentifier: 77)
    configuration.radio.rounds = [0, 3]
    session.run(configuration)
    #expect(await recorder.wait { $0 == [.started] }, "\(recorder.calls)")
    for block in UInt16(1)...2 { terminal.say(Self.notification(token: 7, block: block)) }
    #expect(await recorder.wait { $0 == [.started, .anchors(3), .anchors(3)] })
    let messages = recorder.anchorMessages
    try #require(messages.count == 6)
    #expect(messages.prefix(3).map(\.measurementType) == [.poll, .response, .final])
    #expect(messages.prefix(3).map(\.address) == [0x11, 0x22, 0x11])
    #expect(messages.allSatisfy { $0.clusterInitiatorAddress == 0x11 })
    let response = messages[1]
    #expect(response.rawTransmitTime == 63_897_700_000)
    #expect(abs(messages[0].transmitTime - 1) < 1e-12)
    #expect(abs(response.receiveTime - response.transmitTime - 639 / 63_897_600_000) < 1e-12)
    #expect(response.signalStrength == -80.5)
    #expect(abs(response.carrierFrequencyOffset + 2e-6) < 1e-12)
    #expect(response.responderClockFrequencyOffset == 1e-6)
    #expect(messages[0].responderClockFrequencyOffset == nil)
    #expect(response.coordinatesType == .relative && response.hasCoordinates)
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: response, requiringSecureCoding: true)
    #expect(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDLTDOAMeasurement.self, from: archive)
        == response)
    await session.close()
    // Parameters that a tag's session must and must not have.
    let configured = try #require(chip.commands.first { $0[0] == 0x21 && $0[1] == 3 })
    let parameters = try Self.parameters(configured)
    #expect(parameters[0x11] == [8] && parameters[0x01] == [5])
    #expect(parameters[0x00] == nil && parameters[0x07] == nil && parameters[0x05] == nil)
    #expect(chip.commands.contains { $0[0] == 0x21 && $0[1] == 9 && $0.suffix(3) == [2, 0, 3] })
    terminal.hangUp()
  }

  /// The run ends while the device is being opened, so it does not start.
  @Test func runsThatEndBeforeTheDeviceOpensDoNotStart() async throws {
    let chip = TagChip()
    let terminal = try ScriptedTerminal { chip.answer($0) }
    let recorder = Recorder()
    let session = recorder.session(on: terminal.path)
    session.run(NIDLTDOAConfiguration(networkIdentifier: 77))
    session.invalidate()
    await session.close()
    recorder.drain()
    #expect(recorder.calls.isEmpty)
    // The chip receives a reset and the queries of its identity, but no session.
    #expect(!chip.commands.contains { $0[0] == 0x21 && $0[1] == 0 })
    terminal.hangUp()
  }

  /// Runs a tag's session: returns the calls to the app, and whether rounds were configured.
  private func run(
    on chip: TagChip, rounds: [UInt8] = [0], until: @escaping @Sendable ([Recorder.Call]) -> Bool
  ) async throws -> (calls: [Recorder.Call], choosesRounds: Bool) {
    let terminal = try ScriptedTerminal { chip.answer($0) }
    let recorder = Recorder()
    let session = recorder.session(on: terminal.path)
    let configuration = NIDLTDOAConfiguration(networkIdentifier: 77)
    configuration.radio.rounds = rounds
    session.run(configuration)
    #expect(await recorder.wait(until))
    await session.close()
    terminal.hangUp()
    return (recorder.calls, chip.commands.contains { $0[0] == 0x21 && $0[1] == 9 })
  }

  /// Only the chip decides which roles it supports.
  @Test func chipsThatDoNotListTheTagsRoleAreAsked() async throws {
    // Initiator and responder.
    let refusing = TagChip(roles: [0x03, 0x00], configurationStatus: 4)
    let calls = try await run(on: refusing) { !$0.isEmpty }.calls
    #expect(calls == [.invalidated(.unsupportedPlatform)])
    let taking = try await run(on: TagChip(roles: [0x03, 0x00])) { !$0.isEmpty }
    #expect(taking.calls == [.started])
    let listed = try await run(on: TagChip(configurationStatus: 4)) { !$0.isEmpty }.calls
    #expect(listed == [.invalidated(.invalidConfiguration)])
  }

  @Test func refusedRoundsEndTheSession() async throws {
    let run = try await run(on: TagChip(roundStatus: 1)) { !$0.isEmpty }
    #expect(run.calls == [.invalidated(.sessionFailed)] && run.choosesRounds)
  }

  @Test func withoutRoundsTheChipsDefaultsStay() async throws {
    let run = try await run(on: TagChip(), rounds: []) { !$0.isEmpty }
    #expect(run.calls == [.started] && !run.choosesRounds)
  }

  private static func parameters(_ command: [UInt8]) throws -> [UInt8: [UInt8]] {
    var list: [UInt8: [UInt8]] = [:]
    var place = 9
    while place + 1 < command.count {
      let length = Int(command[place + 1])
      list[command[place]] = Array(command[(place + 2)..<(place + 2 + length)])
      place += 2 + length
    }
    return list
  }

  @Test func invalidNetworkIdentifiersAreErrors() throws {
    let recorder = Recorder()
    let session = recorder.session(on: "tcp:127.0.0.1:9")
    session.run(NIDLTDOAConfiguration(networkIdentifier: -1))
    recorder.drain()
    #expect(recorder.calls == [.invalidated(.invalidConfiguration)])
  }
}
