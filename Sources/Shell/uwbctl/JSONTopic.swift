// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
package import Formats
import UWB
import UWBTools

struct JSONTopic: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "json",
    abstract: "Describe the JSON output of a command, with units.",
    discussion: """
      Commands with --format json print one object a line. Keys end with their units: _s, _us and _ns are \
      seconds, micro- and nanoseconds, _m and _cm metres and centimetres, _deg degrees, _dbm and _db \
      decibels, _ppm parts per million. Keys never change their names and meanings, but new ones may be \
      added. Unknown values are null.
      """)

  @Argument(
    help: "A command, such as range or \"test per-rx\" (default: all commands).",
    completion: .list(JSONCatalog.all.map(\.command)))
  var command: [String] = []

  func run() throws {
    let wanted = command.joined(separator: " ")
    let found = JSONCatalog.all.filter {
      wanted.isEmpty || $0.command == wanted || $0.command.hasPrefix(wanted + " ")
    }
    try require(!found.isEmpty, "There is no command '\(printable(wanted))' that prints JSON.")
    for entry in found {
      standardOutput.write(lines: "\(entry.command): one object for each \(entry.each)\n")
      for key in entry.keys {
        standardOutput.write(lines: "  \(key.path.left(30)) \(key.meaning)\n")
      }
      if entry.hasMore {
        standardOutput.write(lines: "  …\(" ".left(29)) the fields of the message\n")
      }
    }
  }
}

/// The JSON keys of each command. A test compares them with the output.
package enum JSONCatalog {
  package static let all: [JSONEntry] =
    [
      PortReport.json.entry, Finding.json.entry, UWBDevice.json.entry, Simulate.json.entry,
      packet.also("monitor"), packet.also("send"), CapabilityList.json.entry,
      ConfigGet.json.entry, ConfigSet.json.entry, ParameterRow.json.entry, Reset.json.entry,
      RangeRow.json.entry, RangeRow.json.entry.also("replay"), OneWayRow.json.entry,
      AccessoryPrinter.json,
      FindPrinter.json, PeerCommand.json, BondRow.json.entry, Replay.json.entry,
    ] + ["list", "add", "remove"].map { RunningRange.json($0).entry } + RadioTestReport.json + [
      ChipCalibration.List.json.entry, PrintedValue.json.entry, PrintedValue.changed.entry,
      PrintedValue.changed.entry.also("calibrate restore"), decoded, Explain.json.entry,
      ConfigurationProblem.json.entry, Diff.json.entry,
    ]

  private static let frame = JSONEntry(
    "decode", each: "frame", hasMore: true,
    [
      "mt": "message type", "gid": "group", "oid": "opcode", "name": "message name",
      "pbf": "whether more segments follow", "length": "payload bytes",
    ])

  /// The keys of a capture, which holds frames or the messages between an accessory and phones.
  private static var decoded: JSONEntry {
    var entry = frame
    entry.each = "frame; a message between accessory and phone has only the keys from message on"
    entry.keys += [
      .init("message?", "the message in words"), .init("protocol?", "apple or android"),
      .init("from_phone?", "whether the phone sent it"),
      .init("with?", "the other end of the recording program"),
      .init("bytes?", "the message in hexadecimal, with zeros in place of keys"),
    ]
    return entry
  }

  private static var packet: JSONEntry {
    var entry = frame
    entry.each = "packet"
    entry.keys.insert(
      contentsOf: [
        .init("time_s", "seconds since the start"), .init("direction", "from_chip or to_chip"),
      ], at: 0)
    return entry
  }
}
