// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Formats
import Foundation
import SystemPackage
import Testing
import UWBTestSupport

@testable import UWBLink
import UWBTools

@Suite(.ownThreads) struct ListTests {
  @Test func builtInPortsAreListedOnlyOnRequest() throws {
    let machine = try FakeMachine.desk()
    try machine.usbDevice("1-8", "0403", "601c", ["product": "FT4222"])
    func names(all: Bool) -> [String] {
      PortReport.all(machine.discovery, machine.processes, all: all).map {
        $0.port?.path.lastComponent?.string ?? "none"
      }
    }
    #expect(names(all: false) == ["ttyACM0", "ttyACM1", "ttyACM2", "ttyUSB0", "none"])
    #expect(
      names(all: true) == ["ttyACM0", "ttyACM1", "ttyACM2", "ttyS0", "ttyUSB0", "none"])
  }

  @Test func textShowsTheEndpointAndTheHolder() throws {
    let machine = try FakeMachine.desk()
    try machine.process(812, "ModemManager", open: [machine.root + "/dev/ttyACM1"])
    let reports = PortReport.all(machine.discovery, machine.processes, all: false)
    let text = try #require(reports.dropFirst().first).text
    #expect(text.hasPrefix("\(machine.root)/dev/ttyACM1  Qorvo DWM3001CDK"))
    #expect(text.contains("open as        usb:E5A1B2C3D4F6?if=0\n"))
    #expect(text.contains("held by        ModemManager (812)\n"))
    #expect(text.contains("usb            1915:520f Nordic Semiconductor nRF52 USB Product\n"))
    let probe = try #require(reports.first).text
    #expect(probe.contains("note           Probably the debug port."))
    #expect(!probe.contains("held by"))
  }

  @Test func chipsOfTheServiceAreListed() throws {
    let machine = try FakeMachine.desk()
    let port = machine.root + "/dev/ttyACM1"
    let session = Chips.Session(
      id: 42, state: "ranging", share: "everyone",
      owners: [Chips.User(uid: 4_000_000_000, pid: 812)])
    let chips = [
      SharedPort(chip: Chips.Chip(name: "/dev/uwb/qorvo-1", sessions: [session]), place: port),
      SharedPort(
        chip: Chips.Chip(name: "tcp:a:1", problem: "It is being opened."), place: "tcp:a:1"),
    ]
    let reports = PortReport.all(machine.discovery, machine.processes, chips, all: false)
    let text = try #require(reports.dropFirst().first).text
    #expect(text.contains("shared as      /dev/uwb/qorvo-1\n"))
    #expect(text.contains("session 42     ranging, for everyone, held by 4000000000 (812)\n"))
    let last = try #require(reports.last)
    #expect(
      last.text == """
        tcp:a:1  chip of the service
          shared as  tcp:a:1
          problem    It is being opened.

        """)
    #expect(PortReport.json.line(last).contains(#""shared_as":"tcp:a:1""#))
  }

  /// All that `List` of the service returns about a chip.
  @Test func aSharedChipHasItsNamesHolderAndCounts() throws {
    var session = Chips.Session(
      id: 7, state: "waiting", share: "user", owners: [Chips.User(uid: 4_000_000_000, pid: 812)])
    session.address = "0x0102"
    (session.counters.measured, session.counters.failed, session.counters.missing) = (812, 3, 2)
    var chip = Chips.Chip(
      name: "tcp:a:1", sessions: [session],
      borrower: Chips.Borrower(
        Chips.User(uid: 4_000_000_001, pid: 9), reason: "uwbctl reset", since: 5))
    (chip.device, chip.serial, chip.model) = ("usb:AB", "AB", "QM33")
    let machine = try FakeMachine.desk()
    let shared = [SharedPort(chip: chip, place: "tcp:a:1")]
    let report = try #require(
      PortReport.all(machine.discovery, machine.processes, shared, all: false).last)
    #expect(
      report.text == """
        tcp:a:1  chip of the service
          shared as      tcp:a:1
          lasting name   usb:AB
          chip           QM33
          serial number  AB
          lent to        4000000001 (9): uwbctl reset
          session 7      waiting, address 0x0102, for its user alone, held by 4000000000 (812)
            counts       measured 812, failed 3, missing 2

        """)
    let line = PortReport.json.line(report)
    for member in [
      #""serial":"AB""#, #""lasting_name":"usb:AB","model":"QM33""#,
      #""lent_to":[{"uid":4000000001,"pid":9,"reason":"uwbctl reset","since_us":5}]"#,
      #""share":"user","address":"0x0102","measured":812,"failed":3,"missing":2"#,
    ] { #expect(line.contains(member), "\(line)") }
  }

  @Test func jsonHasStableKeys() throws {
    let machine = try FakeMachine.desk()
    try machine.process(812, "ModemManager", open: [machine.root + "/dev/ttyACM1"])
    let report = PortReport.all(machine.discovery, machine.processes, all: false)[1]
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(PortReport.json.line(report).utf8))
        as? [String: Any])
    #expect(object["path"] as? String == machine.root + "/dev/ttyACM1")
    #expect(object["kind"] as? String == "board")
    #expect(object["usb_vendor"] as? String == "1915")
    #expect(object["usb_product"] as? String == "520f")
    #expect(object["serial"] as? String == "E5A1B2C3D4F6")
    #expect(object["endpoint"] as? String == "usb:E5A1B2C3D4F6?if=0")
    #expect(object["interface"] as? Int == 0)
    let holders = try #require(object["held_by"] as? [[String: Any]])
    #expect(holders.first?["name"] as? String == "ModemManager")
    #expect(
      Set(object.keys) == [
        "path", "name", "kind", "endpoint", "stable_paths", "driver", "usb_vendor", "usb_product",
        "manufacturer", "product", "serial", "interface", "owner", "group", "mode", "may_open",
        "held_by", "note", "shared_as", "lasting_name", "model", "problem",
        "lent_to", "sessions",
      ])
  }

  @Test func textFromADeviceCannotControlTheTerminal() throws {
    let machine = try FakeMachine()
    try machine.usbDevice(
      "1-1", "1234", "5678",
      ["product": "\u{1B}[2Jgone\u{9B}31m", "serial": "A\u{202E}B", "manufacturer": "two\nlines"])
    try machine.cdcPort("ttyACM0", socket: "1-1", interface: "00", numbers: "166:0")
    try machine.process(7, "\u{1B}]0;title\u{7}", open: [machine.root + "/dev/ttyACM0"])
    let report = try #require(
      PortReport.all(machine.discovery, machine.processes, all: false).first)
    for text in [report.text, PortReport.json.line(report)] {
      let bad = text.unicodeScalars.filter {
        ($0.value < 0x20 && $0 != "\n") || (0x7F..<0xA0).contains($0.value) || $0 == "\u{202E}"
      }
      #expect(bad.isEmpty)
    }
    #expect(report.text.contains(#"\u{1b}[2Jgone\u{9b}31m"#))
    #expect(report.text.contains(#"two\u{a}lines"#))
    #expect(report.text.split(separator: "\n").count == report.text.count { $0 == "\n" })
  }
}
