// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import CommandSupport
import Foundation
import Synchronization
import SystemPackage
import Testing
import UWBTestSupport
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTools

/// Recorded chips on pseudo-terminals, with the driver as their host.
@Suite(.ownThreads) struct ReplayDeviceTests {
  private struct Dialogue: Decodable, Sendable {
    struct Frame: Decodable, Sendable {
      var dir: String
      var hex: String
    }
    var source: String
    var frames: [Frame]

    var capture: Capture {
      var capture = Capture(format: .hexText)
      capture.packets = frames.map { frame in
        CapturedPacket(
          time: nil, direction: frame.dir == "h2c" ? .outbound : .inbound,
          bytes: bytes(frame.hex))
      }
      return capture
    }
  }

  static let file =
    (ProcessInfo.processInfo.environment["UWB_CORPUS"]
      ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/corpus")
      .path) + "/uci-dialogues.jsonl"

  private static let dialogues: [Dialogue] = {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").compactMap {
      try? JSONDecoder().decode(Dialogue.self, from: Data($0.utf8))
    }
  }()

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  private static func endpoint(_ device: RecordedDevice) -> LinkEndpoint {
    .serial(path: FilePath(device.path))
  }

  @Test(
    .enabled(if: !dialogues.isEmpty, "the recordings are not here: \(file)"),
    arguments: dialogues.indices)
  func theDriverOpensEachRecordedChip(_ index: Int) async throws {
    let dialogue = Self.dialogues[index]
    let recording = Recording(dialogue.capture)
    #expect(recording.packets > 0)
    let chip = try RecordedDevice(recording, speed: .infinity)
    chip.start()
    let device = try await UWBDevice.open(Self.endpoint(chip), options: .patient)
    // By now, the driver must have read every packet of the recorded chip.
    for frame in dialogue.frames where frame.hex.hasPrefix("4002") {
      #expect(device.info == (try BodyResponse<DeviceInfo>(decoding: bytes(frame)).body))
      #expect(device.profile.vendor == .nxp)
    }
    for frame in dialogue.frames where frame.hex.hasPrefix("4003") {
      #expect(device.capabilities == (try TLVListResponse(decoding: bytes(frame)).parameters))
    }
    #expect(chip.statistics.unknown.isEmpty)

    // The test sends every other command that has an answer, in the order of the recording.
    var asked = 0
    for frame in dialogue.frames where frame.dir == "h2c" {
      let packet = Self.bytes(frame.hex)
      guard packet[0] == 0x20 && packet[1] == 4 else { continue }
      let response = try await device.send(
        try SetConfig(decoding: Array(packet[4...]), dialect: device.dialect))
      #expect(response.status == .ok)
      asked += 1
    }
    await device.close()
    #expect(chip.statistics.exact >= asked)
    func bytes(_ frame: Dialogue.Frame) -> [UInt8] { Array(Self.bytes(frame.hex)[4...]) }
  }

  @Test(.enabled(if: dialogues.count > 5, "the recordings are not here: \(file)"))
  func rangingWithARecordedChip() async throws {
    let dialogue = Self.dialogues[5]
    let chip = try RecordedDevice(Recording(dialogue.capture), speed: .infinity)
    chip.start()
    let device = try await UWBDevice.open(Self.endpoint(chip), options: .patient)
    // The session of the recording; its parameters are given in one command instead of two.
    let configuration = SessionConfiguration(
      role: .controlee, sessionID: 0xBFD7_B14A, address: MACAddress(1), peers: [MACAddress(2)])
    let sequences = try await device.withSession(configuration) { session in
      let measurements = session.measurements()
      try await session.start()
      var sequences: [UInt32] = []
      for try await measurement in measurements {
        sequences.append(measurement.sequenceNumber)
        if sequences.count == 4 { break }
      }
      return sequences
    }
    await device.close()
    #expect(sequences == [0, 1, 2, 3])
    // SESSION_INIT, START, STOP and DEINIT equal the recorded ones, byte by byte.
    #expect(chip.statistics.similar == 1)
    #expect(chip.statistics.unknown.isEmpty)
  }

  @Test func aReplayedRangeHasTheSameMeasurements() async throws {
    let packets = Mutex<[CapturedPacket]>([])
    let peers = try SimulatedPeers(profile: .qm33PDoA, peers: 2, seed: 5)
    var configuration = SessionConfiguration(
      role: .controller, sessionID: 42, address: MACAddress(0),
      peers: [MACAddress(1), MACAddress(2)])
    configuration.interval = 20
    configuration.slotsPerRound = 7
    configuration.slotDuration = 2_400
    var options = UWBDevice.Options()
    options.tap = { direction, packet, _ in
      let bytes = packet.withUnsafeBytes { Array($0) }
      packets.withLock {
        // The test does not use the recorded times, because a slow machine would add its delays.
        let time = UInt64($0.count) * 1_000_000
        $0.append(CapturedPacket(time: time, direction: direction, bytes: bytes))
      }
    }
    let first = try await Self.measure(
      SimulatedPeers.endpoint(peers.own), configuration, options, peers)
    peers.bench.stop()
    var capture = Capture(format: .pcapng)
    capture.packets = packets.withLock { $0 }

    let chip = try RecordedDevice(Recording(capture))
    chip.start()
    let second = try await Self.measure(Self.endpoint(chip), configuration, .init(), nil)
    #expect(first.count == 10)
    #expect(second.map(\.result) == first.map(\.result))
    #expect(second.map(\.sequenceNumber) == first.map(\.sequenceNumber))
    #expect(chip.statistics.similar == 0)
    let statistics = chip.statistics
    #expect(statistics.unknown.isEmpty && statistics.invented.isEmpty, "\(statistics)")
  }

  private static func measure(
    _ endpoint: LinkEndpoint, _ configuration: SessionConfiguration, _ options: UWBDevice.Options,
    _ peers: SimulatedPeers?
  ) async throws -> [RangingMeasurement] {
    let device = try await UWBDevice.open(endpoint, options: options)
    let others = try await peers?.start(configuration.mirrored) ?? []
    let list = try await device.withSession(configuration) { session in
      let measurements = session.measurements()
      try await session.start()
      var list: [RangingMeasurement] = []
      for try await measurement in measurements {
        list.append(measurement)
        if list.count == 10 { break }
      }
      return list
    }
    await device.close()
    for other in others { await other.close() }
    return list
  }

  @Test func theSummaryNamesMissingRequests() {
    var statistics = RecordedChip.Statistics()
    statistics.exact = 3
    statistics.unknown = [.sessionGetCount: 2]
    statistics.packetsSent = 9
    #expect(
      statistics.text(of: Recording([]))
        == "5 requests: 3 as recorded, 0 with other contents, 2 not in the capture and rejected "
        + "(SESSION_GET_COUNT_CMD ×2); 9 packets of 0 recorded sent")
  }
}
