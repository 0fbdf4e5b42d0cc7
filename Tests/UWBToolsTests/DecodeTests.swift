// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBTestSupport
import UCI
import UWBTools

/// The output of a run over some lines.
private struct Run {
  var output: [String] = []
  var complaints: [String] = []
  var failures = 0

  init(
    _ lines: [String], json: Bool = true, showSecrets: Bool = false, vendor: Dialect.Vendor? = nil
  ) throws {
    final class Lines {
      var output: [String] = []
      var complaints: [String] = []
    }
    let written = Lines()
    var session = DecodeSession(
      decoder: FrameDecoder(vendor: vendor), format: FrameFormat(showSecrets: showSecrets),
      isJSON: json, write: { written.output.append($0) },
      complain: { written.complaints.append($0) })
    for (index, line) in lines.enumerated() { try session.takeLine(line, number: index + 1) }
    session.finish()
    output = written.output
    complaints = written.complaints
    failures = session.failures
  }
}

@Suite(.ownThreads) struct DecodeTests {
  // The distance is 123 cm at -17.5 degrees and -76 dBm. The layout is from a capture of a Qorvo
  // DWM3001CDK.
  private let ranging =
    "62 00 00 38 | 02000000 01000000 00 c8000000 01 00 00 00000000 00000000 01 0100 00 00 7b00 "
    + "40f757 800250 000000 000000 00 98 " + String(repeating: "00", count: 11)

  /// Messages of the chip between the segments of a command do not end the command.
  @Test func directionsDoNotInterruptEachOther() throws {
    let run = try Run([
      "31 03 00 07 | 01000000 02 00 01", "60 01 00 01 01", "21 03 00 04 | 01 04 01 09",
    ])
    #expect(run.complaints == [])
    #expect(run.output.last?.contains(#""message_length":11"#) == true, "\(run.output)")
    let cut = try Run(["31 03 00 07 | 01000000 02 00 01", "60 01 00 01 01"])
    #expect(cut.complaints == ["The last segment of a message is missing."])
  }

  @Test func rangingAsJSON() throws {
    let run = try Run([ranging])
    #expect(
      run.output == [
        #"{"mt":"notification","gid":2,"oid":0,"name":"SESSION_INFO_NTF","pbf":false,"length":56,"#
          + #""sequence":2,"session":1,"interval_ms":200,"type":"TWO_WAY","type_code":1,"#
          + #""measurements":[{"mac":"0x0001","status":"OK","status_code":0,"distance_cm":123,"#
          + #""azimuth_deg":-17.5,"azimuth_fom":87,"elevation_deg":5.0,"elevation_fom":80,"#
          + #""destination_azimuth_deg":0.0,"destination_azimuth_fom":0,"#
          + #""destination_elevation_deg":0.0,"destination_elevation_fom":0,"slot":0,"#
          + #""rssi_dbm":-76.0,"nlos":false}],"vendor_tail":""}"#
      ])
    #expect(run.failures == 0)
  }

  @Test func separatorsBetweenDigitsAreIgnored() throws {
    for text in ["4200000115", "42:00:00:01:15", "42-00.00 01|15", "0x42 0x00 0x00 0x01 0x15"] {
      #expect(try FrameText.bytes(text) == [0x42, 0, 0, 1, 0x15])
    }
    #expect(FrameText.lines(arguments: ["42", "00", "00", "01", "15"]) == ["4200000115"])
    #expect(FrameText.lines(arguments: ["60010001 01", "42"]).count == 2)
  }

  @Test func linesThatAreNotFramesAreErrors() throws {
    let run = try Run([
      "", "# a comment", "  ", "4", "zz", "4200", "42000001", "42000001 00 ff", "60010001 01",
    ])
    #expect(run.failures == 5)
    #expect(run.output.count == 6)
    #expect(run.output.dropLast().allSatisfy { $0.hasPrefix(#"{"error":""#) })
    #expect(run.output.last?.contains(#""state":"READY","state_code":1"#) == true)
    let text = try Run(["zz"], json: false)
    #expect(text.output.isEmpty)
    #expect(text.complaints.first?.hasPrefix("line 1: error: ") == true)
  }

  @Test func severalFramesOnALine() throws {
    let run = try Run(["40000001 00 60010001 01"])
    #expect(run.output.count == 2)
  }

  @Test func segmentsAreJoined() throws {
    let payload = payloadOfEight
    let packets = Segmentation.packets(
      type: .notification, opcode: .sessionInfo, payload: payload)
    let run = try Run(packets.map { $0.map { String($0, radix: 16).leftPadded }.joined() })
    #expect(run.output[0].contains(#""pbf":true"#))
    #expect(run.output[0].contains(#""payload":""#))
    #expect(run.output[1].contains(#""message_length":273"#))
    #expect(run.output[1].components(of: #""distance_cm":100"#) == 8)
    let half = try Run([packets[0].map { String($0, radix: 16).leftPadded }.joined()])
    #expect(half.complaints.count == 1)
  }

  private var payloadOfEight: [UInt8] {
    SessionInfo(
      sequenceNumber: 0, sessionToken: 7, intervalMilliseconds: 0,
      twoWay: (0..<8).map {
        TwoWayMeasurement(peer: MACAddress(UInt16($0)), status: .ok, rawDistance: 100)
      }
    ).encoded()
  }

  @Test func keysAreNotShown() throws {
    let key = String(repeating: "6b", count: 16)
    let lines = [
      "21030017 01000000 01 4510" + key, "21030017 01000000 01 4610" + key,
      // Neither a list that ends too early nor a segment can be decoded.
      "21030017 01000000 02 4510" + key, "31030017 01000000 02 4510" + key,
      "2107001c 07000000 02 01 c021 00000000" + key, "41040015 00 01 4510" + key + "00",
    ]
    for json in [true, false] {
      let hidden = try Run(lines, json: json)
      #expect(hidden.failures == 0)
      #expect(hidden.output.count == lines.count)
      #expect(hidden.output.allSatisfy { $0.contains("<redacted>") })
      #expect(!hidden.output.joined().contains("6b6b"))
      #expect(!hidden.output.joined().contains("6b 6b"))
      let shown = try Run(lines, json: json, showSecrets: true)
      #expect(shown.output.allSatisfy { $0.contains("6b6b") || $0.contains("6b 6b") })
    }
    let iv = try Run(["2103000d 01000000 01 2806010203040506"])
    #expect(iv.output[0].contains("<redacted>") && !iv.output[0].contains("0102030405"))
    let vendor = try Run(["21030009 01000000 01 27020807"])
    #expect(vendor.output[0].contains("VENDOR_ID") && !vendor.output[0].contains("redacted"))
  }

  @Test func vendorMessages() throws {
    #expect(try Run(["2e000002 0000"]).output[0].contains("VENDOR_0xE_0x00_CMD"))
    #expect(
      try Run(["2e000002 0000"], vendor: .nxp).output[0].contains("NXP_CORE_DEVICE_INIT_CMD"))
    let unknown = try Run(["6f330003 010203"]).output[0]
    #expect(unknown.contains(#""payload":"010203""#))
  }

  @Test func dataLengthsOfQorvo() throws {
    let run = try Run(["01000012 01000000 bb02000000000000 0100 0200 6869"])
    #expect(run.failures == 0)
    #expect(run.output[0].contains(#""data":"6869""#))
  }

  @Test func asText() throws {
    let run = try Run(["42000001 15", ranging], json: false)
    #expect(
      run.output[0] == """
        response SESSION_START_RSP  gid 0x02 oid 0x00  1 byte
          status: ERROR_SESSION_NOT_CONFIGURED (0x15): The session lacks parameters it needs before it can start.
        """)
    #expect(run.output[1].contains("\n    - mac: 0x0001\n      status: OK (0x00)"))
    let parameters = try Run(["2103000f 01000000 02 08026009 0904c8000000"], json: false)
    #expect(parameters.output[0].contains("    SLOT_DURATION = 2400 RSTU"))
  }
}

extension String {
  fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
  fileprivate func components(of part: String) -> Int { split(separator: part).count - 1 }
}
