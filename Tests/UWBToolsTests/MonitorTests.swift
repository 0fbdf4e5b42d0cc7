// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import ArgumentParser
import CommandSupport
import Foundation
import Synchronization
import SystemPackage
import ProgramTestSupport
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import UWBTools

@Suite(.ownThreads) struct MonitorTests {
  /// Monitors until a line holds `last`.
  static func lines(
    _ endpoint: LinkEndpoint, until last: String, style: PacketStyle = .line,
    proxy: ProxyTerminal? = nil, tap: UWBDevice.PacketTap? = nil, resets: Bool = false,
    meanwhile: @Sendable () async throws -> Void = {}
  ) async throws -> (lines: [String], summary: String) {
    final class Output: Sendable {
      let text = Mutex("")
      let (seen, end) = AsyncStream<Void>.makeStream()
    }
    let output = Output()
    let task = Task {
      var monitoring = Monitoring(
        printer: PacketPrinter(style), proxy: proxy,
        write: { text in
          output.text.withLock { $0 += text }
          if text.contains(last) { output.end.finish() }
        })
      try await monitoring.run(
        endpoint, profile: nil, tap: tap, resets: resets, limit: nil)
      return monitoring.summary
    }
    try await meanwhile()
    for await _ in output.seen {}
    task.cancel()
    let summary = try await task.value
    return (output.text.withLock { $0 }.split(separator: "\n").map(String.init), summary)
  }

  @Test func nothingIsSentBetweenAResetAndREADY() async throws {
    let (bench, chip) = try simulatedChip(.pica)
    let (lines, summary) = try await Self.lines(
      .serial(path: FilePath(chip.path)), until: "CORE_GET_DEVICE_INFO_RSP", resets: true)
    // The chip reported this state when the port was opened.
    let words = lines.filter { !$0.hasSuffix("state ERROR") }.map {
      $0.split(separator: " ").dropFirst().prefix(2).joined(separator: " ")
    }
    #expect(
      words.suffix(5) == [
        "> CORE_DEVICE_RESET_CMD", "< CORE_DEVICE_RESET_RSP", "< CORE_DEVICE_STATUS_NTF",
        "> CORE_GET_DEVICE_INFO_CMD", "< CORE_GET_DEVICE_INFO_RSP",
      ], "\(lines)")
    #expect(summary.contains(" 2 to it"))
    #expect(chip.disorderlyCommands == 0)
    bench.stop()
  }

  @Test func listeningSendsNothing() async throws {
    let terminal = try ScriptedTerminal { _ in [] }
    terminal.say(hexBytes("60 01 00 01 01 61 02 00 06 01 00 00 00 02 00"))
    let (lines, summary) = try await Self.lines(
      .serial(path: FilePath(terminal.path)), until: "SESSION_STATUS_NTF")
    #expect(lines.count == 2)
    #expect(lines[0].hasSuffix("< CORE_DEVICE_STATUS_NTF  state READY"))
    #expect(
      lines[1].hasSuffix("< SESSION_STATUS_NTF  session 1, state ACTIVE, reason MANAGEMENT_COMMAND")
    )
    #expect(summary == "2 packets from the chip, 0 to it, 0 bytes skipped\n")
    #expect(terminal.bytes == [], "a listener resets nothing and asks nothing")
    terminal.hangUp()
  }

  /// The silence after the first packet shows its end. Packets in the other direction are printed
  /// before it.
  @Test func timesNeverGoBack() async throws {
    let terminal = try ScriptedTerminal { _ in hexBytes("40 02 00 01 00") }
    terminal.say(hexBytes("60 01 00 01 01"))
    let recorded = Mutex<[UInt64]>([])
    let link = try await PacketLink(
      .serial(path: FilePath(terminal.path)),
      record: { _, _, time in recorded.withLock { $0.append(time) } })
    var times: [UInt64] = []
    _ = try await link.ask([hexBytes("20 02 00 00")], timeout: .seconds(300)) {
      times.append($0.time)
    }
    await link.closeAndWait()
    terminal.hangUp()
    #expect(times.count == 3)
    #expect(times == times.sorted())
    #expect(recorded.withLock { $0 } == times)
  }

  @Test func bytesThatAreNotUCIAreCounted() async throws {
    let terminal = try ScriptedTerminal { _ in [] }
    terminal.say(hexBytes("FF FF FF 60 01 00 01 01 60 01 00 01 02 60 01 00 01 01"))
    let (lines, summary) = try await Self.lines(
      .serial(path: FilePath(terminal.path)), until: "state ACTIVE")
    terminal.hangUp()
    #expect(lines.contains { $0.hasSuffix("< (3 bytes that are not UCI)") })
    #expect(summary.hasSuffix("0 to it, 3 bytes skipped\n"))
  }

  @Test func theEndOfTheLinkIsAFailure() async throws {
    let terminal = try ScriptedTerminal { _ in [] }
    terminal.say(hexBytes("60 01 00 01 01 60 01 00 01 02"))
    var monitoring = Monitoring(
      printer: PacketPrinter(.line),
      write: { if $0.contains("state ACTIVE") { terminal.hangUp() } })
    var failure: LinkError?
    do {
      try await monitoring.run(
        .serial(path: FilePath(terminal.path)), profile: nil, tap: nil, resets: false,
        limit: nil)
    } catch let error as LinkError { failure = error }
    #expect(failure?.code == .deviceGone)
    #expect(monitoring.summary.hasPrefix("2 packets from the chip"))
  }

  @Test func anotherProgramCanUseTheProxy() async throws {
    let (bench, chip) = try simulatedChip()
    let proxy = try ProxyTerminal(link: nil)
    let path = proxy.path
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).pcapng"
    ).path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let capture = try CaptureFile(file)
    let (lines, summary) = try await Self.lines(
      .serial(path: FilePath(chip.path)), until: "SESSION_DEINIT_RSP", proxy: proxy,
      tap: capture.tap,
      meanwhile: {
        let device = try await UWBDevice.open(.serial(path: FilePath(path)), options: .patient)
        #expect(device.profile == .qorvo)
        let session = SessionConfiguration(
          role: .controller, sessionID: 7, address: MACAddress(1), peers: [MACAddress(2)])
        try await device.withSession(session) { try await $0.start() }
        await device.close()
      })
    proxy.close()
    bench.stop()
    func index(_ name: String) -> Int? { lines.firstIndex { $0.contains(name) } }
    let order = [
      "> CORE_DEVICE_RESET_CMD", "< CORE_DEVICE_RESET_RSP", "> CORE_GET_DEVICE_INFO_CMD",
      "< CORE_GET_CAPS_INFO_RSP", "> SESSION_INIT_CMD", "> SESSION_SET_APP_CONFIG_CMD",
      "< SESSION_START_RSP", "> SESSION_DEINIT_CMD", "< SESSION_DEINIT_RSP",
    ].map(index)
    #expect(!order.contains(nil))
    #expect(order.compactMap { $0 } == order.compactMap { $0 }.sorted())
    #expect(lines.contains { $0.contains("STATIC_STS_IV = <redacted>") })
    let packets = try CaptureReader.read(file: file).packets
    #expect(Set(packets.map(\.direction)) == [.outbound, .inbound])
    #expect(packets.allSatisfy { $0.isWhole })
    #expect(summary.contains("\(packets.count { $0.direction == .outbound }) to it"))
  }

  @Test func anUnreadProxyDoesNotStop() async throws {
    let terminal = try ScriptedTerminal { _ in [] }
    let proxy = try ProxyTerminal(link: nil)
    // More bytes than a pseudo-terminal holds without a reader: about 68 kB.
    let notification = hexBytes("61 02 00 06 01 00 00 00 02 00")
    let (lines, summary) = try await Self.lines(
      .serial(path: FilePath(terminal.path)), until: "CORE_DEVICE_STATUS_NTF", proxy: proxy,
      meanwhile: {
        // The writer has a thread of its own, because it waits for room, which a task of the
        // monitor makes.
        Thread {
          for _ in 0..<100 { terminal.say((0..<100).flatMap { _ in notification }) }
          terminal.say(hexBytes("60 01 00 01 01"))
        }.start()
      })
    proxy.close()
    terminal.hangUp()
    #expect(lines.count == 10_001)
    #expect(summary.contains("not read by the other program"))
  }

  @Test func resetReadsTheDeviceInformation() async throws {
    let (bench, chip) = try simulatedChip()
    let (lines, _) = try await Self.lines(
      .serial(path: FilePath(chip.path)), until: #""name":"CORE_GET_DEVICE_INFO_RSP""#,
      style: .json, resets: true)
    bench.stop()
    let objects = try lines.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.allSatisfy { $0["time_s"] is Double })
    #expect(objects.contains { $0["direction"] as? String == "to_chip" })
    #expect(objects.last?["direction"] as? String == "from_chip")
    #expect(objects.last?["vendor"] as? String == "qorvo")
  }

  @Test func theLinkToTheProxyReplacesOnlyLinks() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let link = folder.appendingPathComponent("uwb").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nowhere")
    let proxy = try ProxyTerminal(link: link)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == proxy.path)
    proxy.close()
    #expect(!FileManager.default.fileExists(atPath: link))
    try "precious".write(toFile: link, atomically: false, encoding: .utf8)
    let error = #expect(throws: Errno.self) { try ProxyTerminal(link: link) }
    #expect(error == .fileExists)
    #expect(try String(contentsOfFile: link, encoding: .utf8) == "precious")
  }
}

@Suite(.ownThreads) struct PacketFilterTests {
  static func shown(_ arguments: [String]) throws -> [String] {
    let filter = try PacketFilter.parse(arguments)
    let packets = [
      "60 01 00 01 01", "20 02 00 00", "61 02 00 06 01 00 00 00 02 00", "42 00 00 01 00",
      "62 00 00 19 00000000 01000000 00 c8000000 01 00 00 00000000 00000000 00",
      "4E 2B 00 03 00 00 00", "02 00 06 00 01 00 00 00 00 00",
    ].map(hexBytes)
    return packets.compactMap { packet in
      var decoder = FrameDecoder(vendor: .qorvo)
      guard let frame = try? decoder.decode(packet),
        filter.shows(frame.header, name: frame.name)
      else { return nil }
      return frame.name
    }
  }

  @Test(arguments: [
    ([], 7), (["--only", "core"], 2), (["--only", "ranging"], 2), (["--only", "session"], 1),
    (["--only", "data"], 1), (["--only", "vendor"], 1), (["--not", "core,data"], 4),
    (["--only", "response"], 2), (["--only", "SESSION_INFO"], 1),
    (["--only", "session-info-ntf"], 1), (["--only", "SESSION_*"], 3), (["--only", "*_NTF"], 3),
    (["--only", "*"], 7), (["--only", "*", "--not", "*"], 0),
    (["--only", "QORVO_GET_CALIBRATION"], 1), (["--only", "core", "--not", "CORE_GET_*"], 1),
  ])
  func packetsAreChosenByGroupAndName(_ arguments: [String], _ count: Int) throws {
    #expect(try Self.shown(arguments).count == count)
  }

  @Test func aMistypedNameIsAnError() {
    #expect(throws: (any Error).self) { try PacketFilter.parse(["--only", "SESION_INFO_NTF"]) }
    #expect(throws: (any Error).self) { try PacketFilter.parse(["--not", "SESSION_X*"]) }
  }
}
