// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UCIReference

struct Diff: Command {
  static let configuration = CommandConfiguration(
    abstract: "Compare two ends of a session and show what prevents ranging.",
    discussion: """
      Each side is a session profile; a capture (pcapng, log or hexadecimal), of which the last \
      configuration of a session is used; the output of caps --format json; or a device (a path below \
      /dev, usb:SERIAL, tcp:host:port), whose session is read without a reset. Parameters that were \
      not set are compared with their defaults. For example:
        uwbctl diff controller.json controlee.json
        uwbctl diff board-a.pcapng board-b.pcapng
        uwbctl diff controller.json /dev/ttyACM0
        uwbctl diff controller.json /dev/ttyACM0 --capabilities
      The exit status is 83 when the two cannot range. Keys are compared, but never printed.
      """)

  @Argument(help: "One end.", completion: .file()) var first: String
  @Argument(help: "The other end.", completion: .file()) var second: String
  @Option(
    help: ArgumentHelp(
      "The session on a device: its handle since FiRa 2.0, its id before. Give it twice for two "
        + "devices (default: search for sessions)."))
  var session: [UInt32] = []
  @Flag(help: "Compare the capabilities of devices instead of their sessions.")
  var capabilities = false
  @OptionGroup(title: "Device") var chip: ChipOptions
  @Option(help: "Output format: text, or json (one object a line).") var format = OutputFormat.text

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
    standardOutput.write(
      differences.map { format == .json ? json($0) : text($0, missing) }.joined())
    let prevents = differences.contains { $0.effect == .preventsRanging }
    if format == .text {
      standardOutput.write(
        prevents
          ? "These two cannot range with each other.\n" : "No difference prevents ranging.\n")
    }
    if prevents { throw Failure(.cannotRange) }
  }

  /// Reads files first: the ids in them help to find the sessions of devices.
  private func sides() async throws -> [DiffSide] {
    let names = [first, second]
    var sides: [DiffSide?] = try names.map { name in
      DiffDevice.isNamed(by: name)
        ? nil : try DiffSide(file: name)
    }
    var ids: [UInt32] = []
    for side in sides {
      if case .sessions(let ends) = side?.content { ids += ends.compactMap(\.sessionID) }
    }
    var wanted = session[...]
    for index in sides.indices where sides[index] == nil {
      sides[index] = try await DiffDevice(names[index], chip).side(
        capabilities: capabilities, session: wanted.popFirst(), ids: ids)
    }
    return sides.compactMap(\.self)
  }

  /// The last session of each, unless both have one with the same id.
  private func pair(
    _ a: [SessionPeerConfiguration], _ b: [SessionPeerConfiguration], _ sides: [DiffSide]
  ) throws -> (SessionPeerConfiguration, SessionPeerConfiguration) {
    for (side, ends) in zip(sides, [a, b]) where ends.isEmpty {
      throw Failure(
        .data, "\(side.name) has no session.",
        try: DiffDevice.isNamed(by: side.name)
          ? "Name its session with --session, or compare capabilities with --capabilities." : nil)
    }
    let shared = a.last { end in
      end.sessionID != nil && b.contains { $0.sessionID == end.sessionID }
    }
    let one = shared ?? a[a.count - 1]
    return (one, b.last { $0.sessionID != nil && $0.sessionID == one.sessionID } ?? b[b.count - 1])
  }

  /// - Parameter missing: what is printed for missing values; nil: nothing.
  private func text(_ difference: SessionDifference, _ missing: [String?]) -> String {
    let values = zip([difference.first, difference.second], missing).compactMap { $0 ?? $1 }
    return "\(difference.effect.words): \(difference.name): "
      + printable(values.joined(separator: " / ")) + "\n  \(printable(difference.reason))\n"
  }

  private func json(_ difference: SessionDifference) -> String {
    var line = JSONLine()
    line.add("effect", difference.effect.words)
    line.add("name", difference.name)
    line.add("first", difference.first)
    line.add("second", difference.second)
    line.add("reason", difference.reason)
    return line.text + "\n"
  }
}

extension SessionDifference.Effect {
  /// In text and JSON; never changes.
  var words: String {
    switch self {
    case .preventsRanging: "prevents ranging"
    case .notKnown: "not known"
    case .doesNotMatter: "does not matter"
    }
  }
}
