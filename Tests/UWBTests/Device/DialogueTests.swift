// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import Testing
import UCI
@testable import UWB
import UWBLink

/// Real dialogues between a host and an NXP SR250, replayed with the driver in the host's place.
/// The recordings are not part of this package; without them the test reports that it was skipped.
@Suite(.timeLimit(.minutes(10))) struct DialogueTests {
  struct Dialogue: Decodable, Sendable {
    struct Frame: Decodable, Sendable {
      var dir: String
      var hex: String
      var complete: Bool
    }
    var source: String
    var frames: [Frame]
  }

  static let file: String = {
    let folder =
      ProcessInfo.processInfo.environment["UWB_CORPUS"]
      ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "shared/corpus").path
    return folder + "/uci-dialogues.jsonl"
  }()

  static var dialogues: [Dialogue] {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").compactMap {
      try? JSONDecoder().decode(Dialogue.self, from: Data($0.utf8))
    }
  }

  /// One turn: a command, and all packets of the chip until the next command.
  struct Turn {
    var packets: [[UInt8]]
    var answers: [[UInt8]]
  }

  /// Returns the turns of a dialogue. The host's repetitions of a command belong to one turn,
  /// because the driver repeats commands by its own rules. Frames that are incomplete in the
  /// recording cannot be replayed.
  static func turns(_ dialogue: Dialogue) -> (greeting: [[UInt8]], turns: [Turn]) {
    var greeting: [[UInt8]] = []
    var turns: [Turn] = []
    for frame in dialogue.frames where frame.complete {
      let bytes = bytes(frame.hex)
      if frame.dir == "c2h" {
        if turns.isEmpty {
          greeting.append(bytes)
        } else {
          turns[turns.count - 1].answers += [bytes]
        }
      } else {
        turns.append(Turn(packets: [bytes], answers: []))
      }
    }
    return (greeting, turns)
  }

  static func attempt(
    _ engine: CommandEngine, _ packet: [UInt8]
  ) async -> Result<[UInt8], DriverError> {
    do throws(DriverError) {
      return .success(try await engine.sendRaw(packet))
    } catch {
      return .failure(error)
    }
  }

  @Test(
    .enabled(if: !dialogues.isEmpty, "the recordings are not here: \(file)"),
    arguments: dialogues.indices)
  func realDialoguesEndInTheStatesTheyEndedIn(_ index: Int) async throws {
    let dialogue = Self.dialogues[index]
    let (greeting, turns) = Self.turns(dialogue)
    // The chip's packets after each packet of the host, in order.
    let scripted = turns.map(\.answers)
    let chip = try ScriptedChip(greeting: greeting) { _, count in
      count <= scripted.count ? scripted[count - 1] : []
    }
    let link = try Link(chip.endpoint)
    let engine = CommandEngine(link: link, logger: .init(label: "test")) { _ in }
    var profile = hasty
    profile.vendor = .nxp
    engine.adopt(profile, Dialect(generation: .fira3, vendor: .nxp))
    let router = MessageRouter(engine: engine) { _ in }
    let reader = FrameReader(link, handler: { router.receive($0, $1) }, ended: { _ in })
    reader.setFraming(
      {
        var framing = Link.Framing()
        framing.extendedLength = true
        return framing
      }())
    try reader.start()
    defer { reader.stop() }

    // The test gives each command to the driver once; the driver has to make the repetitions of the
    // recording itself.
    var sent = 0
    while sent < turns.count {
      let packet = turns[sent].packets[0]
      let before = chip.packets.count
      if case .failure(let error) = await Self.attempt(engine, packet), error.code == .noAnswer {
        // The recording has no answer here either: the chip was asleep, or the frame is incomplete.
        let answered = turns[sent].answers.contains { $0[0] >> 5 == 2 && $0[1] == packet[1] }
        #expect(!answered, "\(dialogue.source): turn \(sent)")
      }
      let used = chip.packets.count - before
      #expect(used >= 1)
      for offset in 0..<used {
        try #require(sent + offset < turns.count)
        #expect(
          chip.packets[before + offset] == turns[sent + offset].packets[0],
          "\(dialogue.source): packet \(sent + offset)")
      }
      sent += used
    }

    // The states in the notifications of the recording.
    var device: DeviceState?
    var sessions: [UInt32: SessionState] = [:]
    for frame in greeting + turns.flatMap(\.answers) where frame[0] == 0x60 && frame[1] == 0x01 {
      device = DeviceState(rawValue: frame[4])
    }
    for frame in greeting + turns.flatMap(\.answers) where frame[0] == 0x61 && frame[1] == 0x02 {
      let status = try SessionStatusNotification(decoding: Array(frame[4...]))
      sessions[status.sessionToken] = status.state
    }
    let expectedDevice = device
    let expectedSessions = sessions
    let reached = try await engine.wait(milliseconds: 2_000) { chip in
      chip.device == expectedDevice && chip.sessions.mapValues(\.state) == expectedSessions
    }
    #expect(reached != nil, "\(dialogue.source): \(engine.chip)")
  }
}
