// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing
import UCI
import UWB
import UWBLink
import UWBTestSupport

/// Commands and answers on an unreliable link.
@Suite(.timeLimit(.minutes(10))) struct ExchangeTests {
  static let count = bytes("21 05 00 00")
  static let info = bytes("20 02 00 00")

  /// Returns the chip's answers to a packet after the handshake. `number` counts packets with these
  /// bytes.
  typealias Answers = @Sendable (_ packet: [UInt8], _ number: Int) -> [[UInt8]]

  static func open(_ answers: @escaping Answers) async throws -> (UWBDevice, ScriptedChip) {
    let numbers = Mutex<[[UInt8]: Int]>([:])
    return try await CommandTests.open { packet, _ in
      let number = numbers.withLock { numbers in
        numbers[packet, default: 0] += 1
        return numbers[packet]!
      }
      return answers(packet, number)
    }
  }

  // MARK: retries

  @Test("The request to repeat a command comes as a notification", arguments: [1, 3, 10])
  func retryAsANotification(_ times: Int) async throws {
    let (device, chip) = try await Self.open { packet, number in
      number <= times ? [bytes("60 07 00 01 0a")] : DWM3001CDK.answers(packet)
    }
    #expect(try await device.send(GetSessionCount()).count == 0)
    #expect(chip.sent == Array(repeating: Self.count, count: times + 1))
    await device.close()
  }

  @Test func retryAsAStatusMeansSendAgain() async throws {
    let (device, chip) = try await Self.open { packet, number in
      number <= 3 ? [bytes("41 05 00 01 0a")] : DWM3001CDK.answers(packet)
    }
    #expect(try await device.send(GetSessionCount()).count == 0)
    #expect(chip.sent == Array(repeating: Self.count, count: 4), "the same, unchanged")
    await device.close()
  }

  @Test func aCommandThatIsNotIdempotentIsRepeatedWhenTheChipAsksForIt() async throws {
    // The chip requests a command again if it did not carry the command out.
    let (device, chip) = try await Self.open { packet, number in
      packet[0] == 0x22 && number == 1
        ? [bytes("60 07 00 01 0a")] : [bytes("42 00 00 01 00")]
    }
    #expect(try await device.send(SessionStart(sessionToken: 1)).status == .ok)
    #expect(chip.sent.count == 2)
    await device.close()
  }

  @Test("Only the newest message is repeated")
  func onlyTheNewestMessageIsRepeated() async throws {
    let (device, chip) = try await Self.open { packet, number in
      packet == Self.count && number == 1
        ? [bytes("60 07 00 01 0a")] : DWM3001CDK.answers(packet)
    }
    _ = try await device.send(GetDeviceInfo())
    #expect(try await device.send(GetSessionCount()).count == 0)
    // No command is outstanding, so none is sent again.
    let events = device.events
    chip.say(bytes("60 07 00 01 0a") + DWM3001CDK.ready)
    for await event in events { if case .deviceStatus = event { break } }
    _ = try await device.send(GetDeviceInfo())
    #expect(chip.sent == [Self.info, Self.count, Self.count, Self.info])
    await device.close()
  }

  // MARK: late answers

  @Test("The response to another command completes nothing")
  func aResponseToSomethingElse() async throws {
    let (device, _) = try await Self.open { packet, _ in
      [bytes("41 06 00 02 00 03"), bytes("42 05 00 01 00")] + DWM3001CDK.answers(packet)
    }
    let response = try await device.send(GetSessionCount())
    #expect(response == SessionCountResponse(status: .ok, count: 0))
    await device.close()
  }

  static func state(of token: UInt8) -> [UInt8] { [0x21, 0x06, 0, 4, token, 0, 0, 0] }

  @Test func aLateAnswerDoesNotCompleteTheNextCommandOfTheSameOpcode() async throws {
    // The slow chip answers the questions for session 1 (ACTIVE) only after the next packet.
    let (device, chip) = try await Self.open { packet, number in
      switch packet {
      case Self.state(of: 1): []
      case Self.info where number == 1:
        [bytes("41 06 00 02 00 02"), bytes("41 06 00 02 00 02"), DWM3001CDK.deviceInfo]
      case Self.state(of: 2): [bytes("41 06 00 02 00 03")]
      default: DWM3001CDK.answers(packet)
      }
    }
    await #expect(throws: DriverError.self) {
      _ = try await device.send(GetSessionState(sessionToken: 1))
    }
    #expect(try await device.send(GetSessionState(sessionToken: 2)).state == .idle)
    #expect(
      chip.sent == [
        Self.state(of: 1), Self.state(of: 1), Self.info, Self.state(of: 2),
      ])
    await device.close()
  }

  @Test func aLostCommandDoesNotBlockTheNextOnes() async throws {
    // The chip never answers this question. After the answer to any later command, the driver
    // expects no answer to it any more.
    let (device, chip) = try await Self.open { packet, number in
      switch packet {
      case Self.state(of: 1): []
      case Self.state(of: 2): [bytes("41 06 00 02 00 03")]
      default: DWM3001CDK.answers(packet)
      }
    }
    await #expect(throws: DriverError.self) {
      _ = try await device.send(GetSessionState(sessionToken: 1))
    }
    #expect(try await device.send(GetSessionCount()).count == 0)
    #expect(try await device.send(GetSessionState(sessionToken: 2)).state == .idle)
    #expect(
      chip.sent == [
        Self.state(of: 1), Self.state(of: 1), Self.count, Self.state(of: 2),
      ])
    await device.close()
  }

  @Test func theOtherResponseToARepeatedQueryStaysOutstanding() async throws {
    // The chip answers the question twice, and both answers are late. The first answer completes
    // the question, and the second answer must not complete the next question.
    let (device, chip) = try await Self.open { packet, number in
      switch packet {
      case Self.state(of: 1): number == 1 ? [] : [bytes("41 06 00 02 00 02")]
      case Self.info: [bytes("41 06 00 02 00 02"), DWM3001CDK.deviceInfo]
      case Self.state(of: 2): [bytes("41 06 00 02 00 03")]
      default: []
      }
    }
    #expect(try await device.send(GetSessionState(sessionToken: 1)).state == .active)
    #expect(try await device.send(GetSessionState(sessionToken: 2)).state == .idle)
    #expect(chip.sent.suffix(2) == [Self.info, Self.state(of: 2)])
    await device.close()
  }

  @Test func aSilentChipIsQueriedAndNotCommanded() async throws {
    let time = VirtualTime()
    let (received, receive) = AsyncStream<Void>.makeStream()
    let (device, chip) = try await CommandTests.open(clock: time.clock) { _, _ in
      receive.yield()
      return []
    }
    let commands = Task {
      await #expect(throws: DriverError.self) {
        _ = try await device.send(SessionInit(sessionID: 1))
      }
      return await #expect(throws: DriverError.self) {
        _ = try await device.send(SessionInit(sessionID: 2))
      }
    }
    // The loop receives the command, the question that follows it, and the question before the next
    // command.
    var packets = received.makeAsyncIterator()
    for _ in 0..<3 {
      await packets.next()
      await time.timers(1)
      time.advance(.milliseconds(600))
    }
    let error = await commands.value
    // The error names a command without an answer, so the driver never sent the second
    // SESSION_INIT.
    let command = try #require(error?.command)
    #expect(error == .noAnswer(command: command, milliseconds: 600, garbage: 0))
    #expect(command != "SESSION_INIT_CMD")
    #expect(chip.sent.filter { $0[0] == 0x21 && $0[1] == 0 }.count == 1)
    await device.close()
  }

  @Test("After a timeout the state is read back instead of repeating the command")
  func aSlowAnswerToWhatMustNotBeRepeated() async throws {
    // The chip exceeds the time-out, and then answers before the next question.
    let (device, chip) = try await Self.open { packet, number in
      switch (packet[0], packet[1]) {
      case (0x21, 0x00): []
      case (0x20, 0x02) where number == 1:
        [bytes("41 00 00 05 00 05 00 00 00"), bytes("61 02 00 06 05 00 00 00 00 00")]
          + [DWM3001CDK.deviceInfo]
      default: DWM3001CDK.answers(packet)
      }
    }
    #expect(
      try await device.send(SessionInit(sessionID: 1))
        == SessionInitResponse(status: .ok, handle: 5))
    #expect(chip.sent.filter { $0[0] == 0x21 }.count == 1)
    await device.close()
  }

  static func makeSession(
    _ answers: @escaping Answers
  ) async throws -> (Result<UInt32, DriverError>, [[UInt8]]) {
    let (device, chip) = try await Self.open(answers)
    let result: Result<UInt32, DriverError>
    do throws(DriverError) {
      result = .success(try await device.makeSession(SessionTests.configuration).token)
    } catch {
      result = .failure(error)
    }
    let sent = chip.sent
    await device.close()
    return (result, sent)
  }

  @Test("SESSION_INIT is repeated only when the chip has no more sessions than before")
  func aLostSessionInitIsRepeated() async throws {
    let (result, sent) = try await Self.makeSession { packet, number in
      packet[0] == 0x21 && packet[1] == 0 && number == 1 ? [] : DWM3001CDK.answers(packet)
    }
    #expect(try result.get() == 1)
    #expect(
      sent.prefix(4).map { Array($0.prefix(2)) } == [
        [0x21, 0x00], [0x20, 0x02], [0x21, 0x05], [0x21, 0x00],
      ])
  }

  @Test("A session created without a response is named by the chip's report")
  func aSessionWhoseAnswerWasLost() async throws {
    let (result, sent) = try await Self.makeSession { packet, _ in
      packet[0] == 0x21 && packet[1] == 0
        ? [bytes("61 02 00 06 01 00 00 00 00 00")] : DWM3001CDK.answers(packet)
    }
    #expect(try result.get() == 1)
    #expect(sent.filter { $0[0] == 0x21 && $0[1] == 0 }.count == 1)
  }

  @Test("A session that may exist is not created twice")
  func aSessionThatMayExist() async throws {
    let (result, sent) = try await Self.makeSession { packet, _ in
      switch (packet[0], packet[1]) {
      case (0x21, 0x00): []
      case (0x21, 0x05): [bytes("41 05 00 02 00 01")]
      default: DWM3001CDK.answers(packet)
      }
    }
    guard case .failure(let error) = result,
      error.code == .noAnswer, error.command == "SESSION_INIT_CMD"
    else {
      Issue.record("\(result)")
      return
    }
    #expect(sent.filter { $0[0] == 0x21 && $0[1] == 0 }.count == 1)
  }

  @Test("SESSION_START is not repeated for a session that is ranging", arguments: [2, 3])
  func aStartWhoseAnswerWasLost(_ state: UInt8) async throws {
    let (device, chip) = try await Self.open { packet, number in
      switch (packet[0], packet[1]) {
      case (0x22, 0x00):
        // Either the answer or the whole command is lost.
        number == 1
          ? (state == 2 ? [bytes("61 02 00 06 01 00 00 00 02 00")] : [])
          : DWM3001CDK.answers(packet)
      case (0x21, 0x06): [bytes("41 06 00 02 00") + [state]]
      default: DWM3001CDK.answers(packet)
      }
    }
    let session = try await device.makeSession(SessionTests.configuration)
    try await session.start()
    #expect(session.state == .active)
    #expect(chip.sent.filter { $0[0] == 0x22 && $0[1] == 0 }.count == (state == 2 ? 1 : 2))
    await device.close()
  }

  @Test("Each command has the time that its chip needs")
  func timeouts() {
    #expect(DeviceProfile.generic.responseTimeout == 2_000)
    let reset = Opcode(GroupID(rawValue: 0xF), 0x00)
    #expect(DeviceProfile.qorvo.responseTimeout(for: reset) == 6_000)
    #expect(DeviceProfile.qorvo.responseTimeout(for: .sessionInit) == 2_000)
  }

  @Test("An error response may be a status and nothing else")
  func aShortErrorResponse() async throws {
    let (device, _) = try await Self.open { _, _ in [bytes("42 03 00 01 15")] }
    let response = try await device.send(GetRangingCount(sessionToken: 1))
    #expect(response == RangingCountResponse(status: .sessionNotConfigured, count: nil))
    await device.close()
  }

  @Test("Bytes after an error status are ignored")
  func aLongErrorResponse() async throws {
    let (device, _) = try await Self.open { _, _ in [bytes("42 01 00 02 01 03")] }
    #expect(try await device.send(SessionStop(sessionToken: 1)).status == .rejected)
    await device.close()
  }
}
