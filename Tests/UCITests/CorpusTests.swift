// SPDX-License-Identifier: Apache-2.0

import Testing
import UCIReference
import UCITestSupport

@testable import UCI

@Suite struct CorpusTests {
  @Test(
    .enabled(
      if: Corpus.exists(Corpus.frames),
      "Skipped: there is no uci-frames.jsonl in the folder named by UWB_CORPUS."))
  func everyFrame() throws {
    var comparison = Comparison()
    var complete = 0
    var broken = 0
    var opaque: [String: [String]] = [:]
    for line in try Corpus.lines(Corpus.frames) {
      let text = try #require(line["hex"].text)
      let packet = bytes(text)
      comparison.place = text
      let dialect = Self.dialect(of: line)
      if line["truncated"].isTrue || !line["length_ok"].isTrue {
        #expect(throws: PayloadError.self, "\(text)") {
          try Message(packet: packet, dialect: dialect)
        }
        broken += 1
        continue
      }
      complete += 1
      let message = try Message(packet: packet, dialect: dialect)
      #expect(message.payload(dialect: dialect) == Array(packet.dropFirst(4)), "\(text)")
      _ = message.fields(dialect: dialect)
      if case .opaque(_, let problem) = message.content, line["pbf"].number != 1 {
        let name = message.name(dialect: dialect)
        opaque[name, default: []].append(problem.map { "\(text) \($0)" } ?? text)
      }
      let header = try PacketHeader(parsing: packet.span.bytes)
      #expect(header.type == message.type && header.opcode == message.opcode)
      #expect(header.moreFollows == (line["pbf"].number == 1 || line["pbf"].isTrue), "\(text)")
      comparison.kind(line["kind"].text ?? "", header)
      // A segment is not a message, and the other decoder does not support NXP's long identifiers.
      guard !header.moreFollows, !Self.hasLongIdentifiers(message) else { continue }
      comparison.compare(line["reference_decode"], ReferenceView.fields(of: message))
      comparison.compare(hostDecoded: line["decoded"]["host_decoded"], message)
      comparison.compare(vendor: line["decoded"], message)
    }
    // The rest are messages without a published layout, or with a wrong header. All other messages
    // are decoded.
    for (name, packets) in opaque where !Self.withoutLayout.contains(name) {
      Issue.record("\(name) was not understood: \(packets)")
    }
    #expect(complete >= 500)
    #expect(broken >= 5)
    #expect(comparison.compared >= 4_500)
    #expect(comparison.notCompared.isEmpty, "keys of the corpus: \(comparison.notCompared)")
    print("corpus: \(complete) frames, \(broken) broken ones, \(comparison.compared) fields")
  }

  // The messages from pica are invalid commands, sent on purpose, and their answers, ends of
  // segmented messages, and unused groups. The messages from AOSP are segments of invented vendor
  // messages.
  private static let withoutLayout: Set<String> = [
    "ANDROID_FIRA_RANGE_DIAGNOSTICS_CMD", "ANDROID_FIRA_RANGE_DIAGNOSTICS_RSP",
    "CORE_DEVICE_RESET_CMD", "CORE_DEVICE_STATUS_CMD", "CORE_DEVICE_SUSPEND_CMD",
    "DATA_MESSAGE_SND", "GROUP_0x1_0x3F_CMD", "GROUP_0x2_0x02_CMD", "GROUP_0x2_0x02_RSP",
    "GROUP_0x3_0x00_CMD", "GROUP_0x3_0x00_RSP", "GROUP_0x4_0x05_RSP", "RESERVED_7_0x0_0x00",
    "SESSION_INFO_NTF", "SESSION_STATUS_RSP", "SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS_CMD",
    "VENDOR_0x9_0x01_CMD", "VENDOR_0x9_0x01_NTF", "VENDOR_0x9_0x01_RSP", "VENDOR_0x9_0x05_RSP",
    "VENDOR_0xB_0x01_CMD",
  ]

  private static func dialect(of line: JSON) -> Dialect {
    let vendor = line["vendor"].text ?? ""
    let version = line["fira_version"].text ?? ""
    return Dialect(
      generation: version.hasPrefix("1") ? .fira1 : .fira2,
      vendor: vendor.hasPrefix("NXP") ? .nxp : vendor.hasPrefix("Qorvo") ? .qorvo : .unknown)
  }

  private static func hasLongIdentifiers(_ message: Message) -> Bool {
    switch message.content {
    case .payload(let config as SetConfig): config.parameters.contains { $0.subID != nil }
    case .payload(let list as TLVListResponse):
      list.parameters?.contains { $0.subID != nil } ?? false
    case .payload(let list as DeviceConfigResponse):
      list.parameters?.contains { $0.subID != nil } ?? false
    default: false
    }
  }

  @Test(
    .enabled(
      if: Corpus.exists(Corpus.payloads),
      "Skipped: there is no uci-payload-vectors.jsonl in the folder named by UWB_CORPUS."))
  func everyPayload() throws {
    var parameters = 0
    var measurements = 0
    for line in try Corpus.lines(Corpus.payloads) {
      let text = try #require(line["hex"].text)
      let bytes = bytes(text)
      let what = line["what"].text ?? ""
      if what == "APP_CONFIG TLV" {
        // A parameter of a session, as the only one of a command.
        let command = [1, 0, 0, 0, 1] + bytes
        let config = try SetAppConfig(decoding: command)
        #expect(config.encoded() == command)
        let id = AppConfigID(rawValue: config.parameters[0].id)
        let name = try #require(line["decoded"]["name"].text)
        #expect(Self.isSameParameter(name, id.name), "\(name) is \(id.name) here")
        let length = config.parameters[0].value.count
        let lengths = try #require(id.parameter(in: .assumed, length: length), "\(name)").lengths
        #expect(lengths.isEmpty || lengths.contains(length), "\(name)")
        parameters += 1
      } else if what.contains("DlTdoa") && !what.contains("V2") {
        let isExtended = what.hasPrefix("Extended")
        var coder = FieldReader(PayloadReader(bytes.span.bytes), .assumed)
        var writer = FieldWriter(writer: PayloadWriter(), dialect: .assumed)
        var list: [DownlinkTDoAMeasurement] = []
        while coder.reader.remaining > 0 {
          var measurement = DownlinkTDoAMeasurement()
          try measurement.visit(&coder, isExtended: isExtended)
          try measurement.visit(&writer, isExtended: isExtended)
          list.append(measurement)
        }
        #expect(writer.writer.bytes == bytes)
        for (expected, measurement) in zip(line["decoded"].list, list) {
          measurements += Self.compare(expected, measurement)
        }
      }
    }
    #expect(parameters >= 50)
    #expect(measurements >= 25)
    print("payload vectors: \(parameters) parameters, \(measurements) fields of measurements")
  }

  /// Returns whether two names are of the same parameter. The corpus adds values to names, or uses
  /// older names.
  private static func isSameParameter(_ corpus: String, _ name: String) -> Bool {
    let older = [
      "RANGING_INTERVAL": "RANGING_DURATION", "RANGE_DATA_NTF_PROXIMITY_NEAR": "NEAR_PROXIMITY",
      "RANGE_DATA_NTF_PROXIMITY_FAR": "FAR_PROXIMITY",
      "RANGE_DATA_NTF_AOA_BOUND": "AOA_BOUND_CONFIG",
    ]
    return (older[corpus] ?? corpus).uppercased()
      .replacing("RANGE_DATA_NTF_CONFIG", with: "SESSION_INFO_NTF_CONFIG")
      .replacing("ABSOLUTE_", with: "")
      .replacing("SCHEDULED_MODE", with: "SCHEDULE_MODE").hasPrefix(name)
  }

  /// The number of compared fields.
  private static func compare(_ expected: JSON, _ measurement: DownlinkTDoAMeasurement) -> Int {
    let view = ReferenceView.downlink(measurement)
    var compared = 0
    for (key, value) in expected.object {
      let ours: JSON? =
        switch key {
        case "mac_address": JSON(measurement.peer.value)
        case "message_control": JSON(measurement.control.rawValue)
        case "tx_timestamp": JSON(measurement.txTimestamp)
        case "rx_timestamp": JSON(measurement.rxTimestamp)
        case "dt_anchor_location": JSON(measurement.location)
        case "ranging_rounds": JSON(measurement.activeRounds)
        default: view[key]
        }
      guard let ours else {
        Issue.record("nothing to compare \(key) with")
        continue
      }
      let theirs: JSON
      if let text = value.text, text.hasPrefix("0x") {
        theirs = JSON(UInt64(text.dropFirst(2), radix: 16) ?? 0)
      } else {
        theirs = value
      }
      #expect(ours == theirs, "\(key)")
      compared += 1
    }
    return compared
  }
}
