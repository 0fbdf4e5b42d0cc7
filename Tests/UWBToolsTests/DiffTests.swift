// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Foundation
import ProgramTestSupport
import Synchronization
import SystemPackage
import Testing
import UWBTestSupport
import UCI
import UCIReference
import UWB
import UWBSimulator
import UWBTools

/// Unique keys, which the test looks for in the output.
private let key = "5E:C2:E7:5E:C2:E7:5E:C2:E7:5E:C2:E7:5E:C2:E7:01"

/// One end of a session that ranges; an empty value removes a parameter.
private func end(
  _ isController: Bool, _ changes: [String] = [], id: UInt32? = 42, isReadBack: Bool = false
) throws -> SessionPeerConfiguration {
  var list = try [
    "DEVICE_TYPE=\(isController ? "controller" : "controlee")",
    "DEVICE_ROLE=\(isController ? "initiator" : "responder")", "MULTI_NODE_MODE=unicast",
    "RANGING_ROUND_USAGE=DS-TWR deferred", "MAC_ADDRESS_MODE=short",
    "DEVICE_MAC_ADDRESS=\(isController ? "0x1122" : "0x3344")", "NUMBER_OF_CONTROLEES=1",
    "DST_MAC_ADDRESS=\(isController ? "0x3344" : "0x1122")", "CHANNEL_NUMBER=9",
    "STS_CONFIG=static", "RFRAME_CONFIG=SP3", "SCHEDULE_MODE=time scheduled",
    "PREAMBLE_CODE_INDEX=10", "SFD_ID=2", "SLOT_DURATION=2ms", "RANGING_DURATION=200ms",
    "SLOTS_PER_RR=25", "VENDOR_ID=08:07", "STATIC_STS_IV=01:02:03:04:05:06",
  ].map { try TLV(appConfig: $0) }
  for change in changes {
    let isRemoval = change.hasSuffix("=")
    let tlv = try TLV(appConfig: isRemoval ? change + "hex:00" : change)
    list.removeAll { $0.id == tlv.id }
    if !isRemoval { list.append(tlv) }
  }
  return SessionPeerConfiguration(
    sessionID: id, parameters: SessionParameters(list), isReadBack: isReadBack)
}

@Suite("What keeps two ends from ranging", .ownThreads)
struct DiffTests {
  @Test("Matching ends differ only in what has to differ")
  func fitting() throws {
    for found in [
      try end(true).differences(from: end(false)), try end(false).differences(from: end(true)),
    ] {
      #expect(
        found.map(\.name) == ["DEVICE_TYPE", "DEVICE_ROLE", "DEVICE_MAC_ADDRESS"], "\(found)")
      #expect(found.allSatisfy { $0.effect == .doesNotMatter })
    }
  }

  @Test(
    "Each of these prevents ranging, and says why",
    arguments: [
      ("CHANNEL_NUMBER=5", "frequencies"), ("PREAMBLE_CODE_INDEX=9", "preamble"),
      ("SFD_ID=0", "begin"), ("RFRAME_CONFIG=SP1", "different positions"),
      ("STS_CONFIG=provisioned", "different keys"), ("VENDOR_ID=08:09", "timestamp sequences"),
      ("STATIC_STS_IV=01:02:03:04:05:07", "timestamp sequences"),
      ("STATIC_STS_IV=", "a value of its own"), ("SLOT_DURATION=1ms", "does not listen"),
      ("SLOTS_PER_RR=6", "different lengths"), ("RANGING_DURATION=120ms", "different times"),
      ("RANGING_ROUND_USAGE=SS-TWR deferred", "different frames"),
      ("MAC_ADDRESS_MODE=extended", "different lengths"),
      ("MULTI_NODE_MODE=one to many", "--one-to-many"),
      ("HOPPING_MODE=1", "changes its round"), ("MAC_FCS_TYPE=CRC-32", "damaged"),
      ("SCHEDULE_MODE=contention based", "rules"), ("BLOCK_STRIDE_LENGTH=1", "skips blocks"),
      ("PRF_MODE=1", "rates"), ("STS_LENGTH=2", "lengths"),
    ])
  func prevents(change: String, part: String) throws {
    let name = String(change.prefix { $0 != "=" })
    for found in [
      try end(true).differences(from: end(false, [change])),
      try end(true, [change]).differences(from: end(false)),
    ] {
      let match = try #require(found.first { $0.name == name }, "\(found)")
      #expect(match.effect == .preventsRanging)
      #expect(match.reason.contains(part), "\(match)")
      #expect(match.reason.hasSuffix("."))
      #expect(found.first?.effect == .preventsRanging)
    }
  }

  @Test(
    "Each of these may differ",
    arguments: [
      "AOA_RESULT_REQ=0", "RESULT_REPORT_CONFIG=hex:0B", "SESSION_PRIORITY=60",
      "MAX_NUMBER_OF_MEASUREMENTS=7", "SESSION_KEY=" + key, "KEY_ROTATION=on", "HOPPING_MODE=0",
    ])
  func allowed(change: String) throws {
    let found = try end(true).differences(from: end(false, [change]))
    #expect(found.allSatisfy { $0.effect == .doesNotMatter }, "\(found)")
    // A default and the same value given explicitly do not differ.
    #expect(
      found.contains { change.hasPrefix($0.name + "=") } == (change != "HOPPING_MODE=0"), "\(found)"
    )
  }

  @Test("Defaults are resolved and named")
  func defaults() throws {
    let found = try end(true, ["CHANNEL_NUMBER=5"]).differences(
      from: end(false, ["CHANNEL_NUMBER="]))
    let match = try #require(found.first)
    #expect(match.name == "CHANNEL_NUMBER" && match.effect == .preventsRanging)
    #expect(match.first == "5" && match.second == "9 (default)")
  }

  @Test("Ids, roles and addresses are compared together")
  func together() throws {
    func names(_ a: SessionPeerConfiguration, _ b: SessionPeerConfiguration) -> [String] {
      a.differences(from: b).filter { $0.effect == .preventsRanging }.map(\.name)
    }
    #expect(try names(end(true), end(false, id: 43)) == ["SESSION_ID"])
    #expect(try names(end(true), end(false, id: nil)) == [])
    #expect(
      try names(end(true), end(false, ["DEVICE_TYPE=controller", "DEVICE_ROLE=initiator"]))
        == ["DEVICE_TYPE", "DEVICE_ROLE"])
    #expect(try names(end(true), end(false, ["DST_MAC_ADDRESS=0x5566"])) == ["DST_MAC_ADDRESS"])
    // Both configurations belong to the same end.
    #expect(
      try names(end(true), end(true))
        == [
          "DEVICE_TYPE", "DEVICE_ROLE", "DST_MAC_ADDRESS", "DST_MAC_ADDRESS", "DEVICE_MAC_ADDRESS",
        ])
    // The controller has several controlees, one of which is the other end.
    let many = ["DST_MAC_ADDRESS=0x5566,0x3344", "NUMBER_OF_CONTROLEES=2"]
    #expect(try names(end(true, many), end(false)) == [])
  }

  @Test("An address with its bytes in the other order is recognised")
  func turnedAddress() throws {
    let found = try end(true, ["DST_MAC_ADDRESS=0x4433"]).differences(from: end(false))
    let match = try #require(found.first)
    #expect(match.name == "DST_MAC_ADDRESS" && match.effect == .preventsRanging)
    #expect(match.reason.contains("bytes in the other order"))
    let other = try end(true, ["DST_MAC_ADDRESS=0x5566"]).differences(from: end(false))
    #expect(other.first?.reason.contains("order") == false)
  }

  @Test(
    "A static STS typed as integers is recognised by its reversed bytes",
    arguments: [
      (["VENDOR_ID=07:08"], 1), (["STATIC_STS_IV=06:05:04:03:02:01"], 1),
      (["VENDOR_ID=07:08", "STATIC_STS_IV=06:05:04:03:02:01"], 2),
      (["VENDOR_ID=06:05", "STATIC_STS_IV=04:03:02:01:07:08"], 2),
    ])
  func turnedKey(changes: [String], count: Int) throws {
    let found = try end(true).differences(from: end(false, changes))
      .filter { $0.effect == .preventsRanging }
    #expect(found.count == count)
    #expect(found.allSatisfy { $0.reason.contains("the same in the other order") }, "\(found)")
  }

  @Test("Redacted keys and values that a chip does not report are unknown")
  func hidden() throws {
    let zeros = ["STATIC_STS_IV=00:00:00:00:00:00"]
    let captured = try end(true, zeros)
    for other in [try end(false), try end(false, zeros)] {
      let match = try #require(captured.differences(from: other).first)
      #expect(match.name == "STATIC_STS_IV" && match.effect == .notKnown)
    }
    let read = try end(false, ["STATIC_STS_IV=", "HOPPING_MODE="], isReadBack: true)
    let found = try end(true, ["HOPPING_MODE=1"]).differences(from: read)
    #expect(Set(found.prefix(2).map(\.name)) == ["STATIC_STS_IV", "HOPPING_MODE"])
    #expect(found.prefix(2).allSatisfy { $0.effect == .notKnown && $0.second == nil })
  }
}

@Suite("uwbctl diff with devices", .ownThreads)
struct DiffDeviceTests {
  @Test(
    "What stands for a device",
    arguments: [
      "sim", "tcp:localhost:1", "usb:1234", "/dev/ttyACM9", "uwbd:", "uwbd:/run/uwbd/control",
    ])
  func names(text: String) {
    #expect(DiffSide.isDevice(text))
    #expect(!DiffSide.isDevice("." + text))
  }

  @Test(
    "A session on a chip is found and read, and lives on",
    arguments: [(ChipProfile.qm33, nil as UInt32?), (.qm33, 1), (.fira1, nil)])
  func session(profile: ChipProfile, token: UInt32?) async throws {
    let (bench, chip) = try simulatedChip(profile)
    let left = try end(true, id: 7)
    try await ConfigTests.withChip(chip) { connection in
      let handle = try await connection.send(SessionInit(sessionID: 7)).handle
      let set = try await connection.send(
        SetAppConfig(sessionToken: handle ?? 7, parameters: left.parameters.list))
      #expect(set.status == .ok)
    }
    let options = try ChipOptions.parse([])
    for _ in 0..<2 {
      let side = try await DiffSide(
        device: chip.path, options, capabilities: false, resets: false, session: token,
        ids: [7])
      guard case .sessions(let ends) = side.content else { throw CancellationError() }
      let read = try #require(ends.first)
      #expect(ends.count == 1 && read.isReadBack)
      #expect(read.sessionID == (profile.dialect.generation == .fira1 ? 7 : nil))
      let fits = try end(false, id: 7).differences(from: read)
      #expect(!fits.contains { $0.effect == .preventsRanging }, "\(fits)")
      let bad = try end(false, ["CHANNEL_NUMBER=5"], id: 7).differences(from: read)
      #expect(
        bad.filter { $0.effect == .preventsRanging }.map(\.name) == ["CHANNEL_NUMBER"], "\(bad)")
    }
    bench.stop()
  }

  @Test("Capabilities are compared with a session and with another chip")
  func capabilities() async throws {
    let (bench, chip) = try simulatedChip()
    let side = try await DiffSide(
      device: chip.path, ChipOptions.parse([]), capabilities: true, resets: false,
      session: nil, ids: [])
    bench.stop()
    guard case .capabilities(let list, let dialect) = side.content else {
      throw CancellationError()
    }
    func found(_ changes: [String]) throws -> [SessionDifference] {
      CapabilityComparison.differences(
        try end(true, changes), list, dialect, isSwapped: false)
    }
    #expect(try found([]).isEmpty)
    let channel = try #require(try found(["CHANNEL_NUMBER=6"]).first)
    #expect(channel.effect == .notKnown && channel.name == "CHANNEL_NUMBER")
    #expect(channel.first == "6" && channel.second == nil)
    // A chip of the same kind has other channels: some of them in common, or none.
    for (mask, effect) in [
      (UInt8(0b1001), SessionDifference.Effect.doesNotMatter), (0b10, .preventsRanging),
    ] {
      var other = list
      let place = try #require(
        list.firstIndex {
          CapabilityID.name(of: $0.id, subID: $0.subID, in: Capabilities(list).numbering)
            == "CHANNELS"
        })
      other[place] = TLV(list[place].id, [mask])
      let found = CapabilityComparison.differences((list, dialect), (other, dialect))
      #expect(found.map(\.name) == (list[place].value == [mask] ? [] : ["CHANNELS"]))
      #expect(found.allSatisfy { $0.effect == effect })
    }
  }

  @Test("The output of caps is read")
  func printed() throws {
    let lines = #"{"id":1,"name":"x","meaning":"","octets":"0a0b","summary":""}"# + "\n"
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let printed = try DiffSide(file: folder.write(lines, to: "printed"))
    guard case .capabilities(let list, _) = printed.content else { throw CancellationError() }
    #expect(list == [TLV(1, [10, 11])])
    let cut = try folder.write(#"{"id":1,"octets":"0"}"#, to: "cut")
    #expect(throws: CaptureError.self) { try DiffSide(file: cut) }
  }

  @Test("An Android phone's log is read, and its packets count more than its parameters")
  func androidLog() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let parameters = ["session_id, value: 7", "channel_number, value: 5"].map {
      "05-05 00:00:00.001  1234  1250 I UwbBackend: UWB parameter: \($0)\n"
    }.joined()
    let packets =
      "05-05 00:00:00.001  1234  1250 D NxpUciX: len =   9 > 210000050900000000\n"
      + "05-05 00:00:00.002  1234  1250 D NxpUciX: len =  12 > 210300080900000001040109\n"
    for (text, channel) in [(parameters, 5), (parameters + packets, 9)] as [(String, UInt64)] {
      let side = try DiffSide(file: folder.write(text, to: "log"))
      guard case .sessions(let ends) = side.content else { throw CancellationError() }
      #expect(ends.map { $0.parameters.number(.channelNumber) } == [channel])
    }
  }
}

/// The program with files.
@Suite("uwbctl diff", .ownThreads)
struct DiffCommandTests {
  static func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
    let outcome = try ChildProcess.run(["diff"] + arguments)
    return (outcome.status, outcome.output + outcome.complaints)
  }

  /// Writes files, lends their paths, and removes them again.
  static func withFiles<R>(_ contents: [String], _ body: ([String]) throws -> R) throws -> R {
    let paths = contents.map { _ in "/tmp/uwbctl-test-\(UUID().uuidString)" }
    defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
    for (path, text) in zip(paths, contents) {
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
    return try body(paths)
  }

  static func profile(_ lines: [String]) -> String {
    "// an end\n{ \"session_id\": 42,\n" + lines.map { "  \($0)" }.joined(separator: ",\n")
      + "\n}\n"
  }

  /// Packets of a host: SESSION_INIT and SET_APP_CONFIG.
  static func packets(
    _ end: SessionPeerConfiguration, token: UInt32? = nil, refused: [AppConfigID] = []
  ) -> [(PacketDirection, [UInt8])] {
    let id = end.sessionID ?? 0
    let set = SetAppConfig(sessionToken: token ?? id, parameters: end.parameters.list)
    let answer: [UInt8] =
      [refused.isEmpty ? 0 : 0x02, UInt8(refused.count)]
      + refused.flatMap { [$0.rawValue, 0x02] }
    return Segmentation.packets(SessionInit(sessionID: id, type: .ranging)).map { (.outbound, $0) }
      + Segmentation.packets(
        type: .response, opcode: .sessionInit,
        payload: [0]
          + (token.map { t in (0..<4).map { UInt8(truncatingIfNeeded: t >> (8 * $0)) } } ?? [])
      ).map { (.inbound, $0) }
      + Segmentation.packets(set).map { (.outbound, $0) }
      + Segmentation.packets(
        type: .response, opcode: .sessionSetAppConfig, payload: answer
      ).map { (.inbound, $0) }
  }

  static func hex(_ packets: [(PacketDirection, [UInt8])]) -> String {
    packets.map { hexDigits($0.1, separator: " ") + "\n" }.joined()
  }

  @Test("Sessions are found in captures by their handles")
  func captures() throws {
    let controller = Self.packets(try end(true), token: 7)
    let file = "/tmp/uwbctl-test-\(UUID().uuidString).pcapng"
    defer { try? FileManager.default.removeItem(atPath: file) }
    let capture = try CaptureFile(file, includeSecrets: true)
    for (index, packet) in controller.enumerated() {
      capture.record(packet.0, packet.1.span.bytes, time: UInt64(index))
    }
    #expect(capture.failure == nil)
    try Self.withFiles([
      Self.hex(Self.packets(try end(false))),
      Self.hex(Self.packets(try end(false, ["CHANNEL_NUMBER=5"], id: 43))),
    ]) { paths in
      let good = try Self.run([file, paths[0]])
      #expect(good.status == 0, "\(good.text)")
      #expect(good.text.hasSuffix("No difference prevents ranging.\n"))
      let bad = try Self.run([file, paths[1]])
      #expect(bad.status == 83)
      #expect(bad.text.contains("prevents ranging: CHANNEL_NUMBER: 9 / 5\n"), "\(bad.text)")
      #expect(bad.text.contains("prevents ranging: SESSION_ID: 42 / 43\n"))
    }
  }

  @Test("Rejected parameters do not count")
  func refused() throws {
    // The host sent channel 5, which the chip rejected. The chip has the default, 9.
    let packets = Self.packets(try end(true, ["CHANNEL_NUMBER=5"]), refused: [.channelNumber])
    try Self.withFiles([Self.hex(packets), Self.hex(Self.packets(try end(false)))]) { paths in
      let result = try Self.run(paths)
      #expect(result.status == 0, "\(result.text)")
    }
  }

  @Test(
    "Keys are compared, and neither printed nor told by their order", arguments: ["text", "json"])
  func secrets(format: String) throws {
    let dynamic = ["STS_CONFIG=provisioned", "VENDOR_ID="]
    let iv = "5E:C2:E7:5E:C2:E7"
    let other = key.replacing("01", with: "02")
    let a = try end(true, dynamic + ["SESSION_KEY=" + key, "STATIC_STS_IV=" + iv])
    let b = try end(false, dynamic + ["SESSION_KEY=" + other])
    try Self.withFiles([a, b].map { Self.hex(Self.packets($0)) }) { paths in
      let result = try Self.run(paths + ["--format", format])
      #expect(result.status == 83)
      #expect(result.text.contains("SESSION_KEY") && result.text.contains("STATIC_STS_IV"))
      #expect(result.text.contains("(hidden)"))
      let bare = result.text.uppercased().filter(\.isHexDigit)
      #expect(!bare.contains("5EC2") && !bare.contains("C2E7"))
      guard format == "json" else { return }
      for line in result.text.split(separator: "\n") {
        #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
      }
    }
  }

  @Test("Whether a chip has what it does not list is not known")
  func capabilities() throws {
    let caps = CapabilityList([TLV(0x0E, [0b1001])], dialect: .assumed)
    #expect(caps.rows.map(\.name) == ["CHANNELS"])
    let end = try end(true, ["CHANNEL_NUMBER=6"])
    try Self.withFiles([
      caps.rows.map(CapabilityList.json.line).joined(), Self.hex(Self.packets(end)),
    ]) { paths in
      for arguments in [paths, paths.reversed()] {
        let result = try Self.run(arguments)
        #expect(result.status == 0)
        #expect(result.text.hasPrefix("not known: CHANNEL_NUMBER: 6\n"), "\(result.text)")
      }
      #expect(try Self.run([paths[0], paths[0]]).status == 0)
    }
  }

  @Test("A file without a session is an error")
  func empty() throws {
    try Self.withFiles(["60 01 00 01 01\n", Self.hex(Self.packets(try end(false)))]) { paths in
      let result = try Self.run(paths)
      #expect(result.status == 65)
      #expect(result.text.contains("has no session"))
      #expect(try Self.run(["/nonexistent", paths[1]]).status == 66)
    }
  }
}
