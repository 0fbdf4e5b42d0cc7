// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
import UWB
import UWBLink
import UWBTools

struct Diff: Command {
  static let configuration = CommandConfiguration(
    abstract: "Compare two ends of a session that do not range.",
    discussion: """
      Each side is a session profile; the log of an Android phone with the parameters of a session \
      (adb logcat -s UwbBackend); a capture (pcapng, log or hexadecimal), of which the last \
      configuration of a session is used; the output of caps --format json; or a device, as for range \
      --device, whose session is read without a reset. While uwbctl range of the same user runs with \
      a device, it is asked for its parameters, without the keys. Parameters that were not set are \
      compared with their defaults. For example:
        uwbctl diff controller.json controlee.json
        uwbctl diff board-a.pcapng board-b.pcapng
        uwbctl diff controller.json /dev/ttyACM0
        uwbctl diff /dev/ttyACM0 /dev/ttyACM1
        uwbctl diff controller.json /dev/ttyACM0 --capabilities
      The exit status is 83 when the two cannot range. Keys are compared, but never printed.
      """)

  @Argument(help: "One end: a file, or a device.", completion: .file()) var first: String
  @Argument(help: "The other end, likewise.", completion: .file()) var second: String
  @Option(
    help: ArgumentHelp(
      "The session on a device: its handle since FiRa 2.0, its id before. Give it twice for two "
        + "devices (default: search for sessions)."))
  var session: [UInt32] = []
  @Flag(help: "Compare the capabilities of devices instead of their sessions.")
  var capabilities = false
  @Flag(help: "With --capabilities: reset the devices first, which ends their sessions.")
  var reset = false
  @OptionGroup(title: "Device") var chip: ChipOptions
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func validate() throws {
    try require(!reset || capabilities, "--reset ends the sessions; it needs --capabilities.")
  }

  func execute() async throws {
    let sides = try await sides()
    let differences: [SessionDifference]
    switch (sides[0].content, sides[1].content) {
    case (.sessions(let a), .sessions(let b)):
      let (a, b) = try pair(a, b, sides)
      differences = a.differences(from: b)
    case (.sessions(let list), .capabilities(let can, let dialect)):
      let end = try pair(list, list, sides).0
      differences = CapabilityComparison.differences(end, can, dialect, isSwapped: false)
    case (.capabilities(let can, let dialect), .sessions(let list)):
      let end = try pair(list, list, sides.reversed()).0
      differences = CapabilityComparison.differences(end, can, dialect, isSwapped: true)
    case (.capabilities(let a, let d), .capabilities(let b, let e)):
      differences = CapabilityComparison.differences((a, d), (b, e))
    }
    let missing = zip(sides, sides.reversed()).map { $0.missing(against: $1) }
    format.print(differences, Self.json) { text($0, missing) }
    let prevents = differences.contains { $0.effect == .preventsRanging }
    if format == .text {
      standardOutput.write(
        lines: prevents
          ? "These two cannot range with each other.\n" : "No difference prevents ranging.\n")
    }
    if prevents { throw Failure(.cannotRange) }
  }

  /// Reads files before devices, because the session IDs in files help to find sessions on devices.
  private func sides() async throws -> [DiffSide] {
    let names = [first, second]
    var sides: [DiffSide?] = try names.map { name in
      DiffSide.isDevice(name)
        ? nil : try naming(file: name) { try DiffSide(file: name) }
    }
    var ids: [UInt32] = []
    for side in sides {
      if case .sessions(let ends) = side?.content { ids += ends.compactMap(\.sessionID) }
    }
    var wanted = session[...]
    for index in sides.indices where sides[index] == nil {
      let session = wanted.popFirst()
      if !capabilities { sides[index] = DiffSide(runningOn: names[index], session: session) }
      guard sides[index] == nil else { continue }
      do {
        sides[index] = try await DiffSide(
          device: names[index], chip, capabilities: capabilities, resets: reset,
          session: session, ids: ids)
      } catch let error as DriverError where error.linkError?.code == .busy {
        throw Failure(.busy, error.description, try: Self.recordIt)
      }
    }
    return sides.compactMap(\.self)
  }

  private static let recordIt =
    "Where another program than uwbctl range of this user ranges with the device, compare its profile, "
    + "or a capture of its packets, also while it grows: uwbctl monitor --proxy --capture FILE."

  /// Returns a session of each side: two with the same ID if there are any, or else the last ones.
  private func pair(
    _ a: [SessionPeerConfiguration], _ b: [SessionPeerConfiguration], _ sides: [DiffSide]
  ) throws -> (SessionPeerConfiguration, SessionPeerConfiguration) {
    for (side, ends) in zip(sides, [a, b]) where ends.isEmpty {
      throw Failure(
        .data, "\(side.name) has no session.",
        try: DiffSide.isDevice(side.name)
          ? "Name its session with --session, or compare capabilities with --capabilities. "
            + Self.recordIt : nil)
    }
    let shared = a.last { end in
      end.sessionID != nil && b.contains { $0.sessionID == end.sessionID }
    }
    let one = shared ?? a[a.count - 1]
    return (one, b.last { $0.sessionID != nil && $0.sessionID == one.sessionID } ?? b[b.count - 1])
  }

  /// Formats a difference.
  ///
  /// - Parameter missing: The text for a missing value; nil to omit it.
  private func text(_ difference: SessionDifference, _ missing: [String?]) -> String {
    let values = zip([difference.first, difference.second], missing).compactMap { $0 ?? $1 }
    return "\(difference.effect.words): \(difference.name): "
      + printable(values.joined(separator: " / ")) + "\n  \(printable(difference.reason))\n"
  }

  static let json = JSONTable<SessionDifference>("diff", each: "difference") {
    $0.key("effect", "prevents ranging, not known, or does not matter") { $0.effect.words }
    $0.key("name", "name of the parameter") { $0.name }
    $0.key("first", "value at the first end as text; null: none") { $0.first }
    $0.key("second", "value at the other end") { $0.second }
    $0.key("reason", "explanation") { $0.reason }
  }
}

extension SessionDifference.Effect {
  /// The stable name for text and JSON.
  var words: String {
    switch self {
    case .preventsRanging: "prevents ranging"
    case .notKnown: "not known"
    case .doesNotMatter: "does not matter"
    }
  }
}
