// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import CommandSupport
import Formats
package import Ranging

/// The option `--region`, and the actions when a peer enters, stays in or leaves a region.
package struct RegionOptions: ParsableArguments {
  /// A value of the form `NAME=METRES` or `NAME=ENTER:LEAVE`.
  package struct Region: ExpressibleByArgument {
    var region: RegionRules.Region

    package init?(argument: String) {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      let numbers = parts[1].split(separator: ":", omittingEmptySubsequences: false)
        .map { Double($0) }
      switch (numbers.count, numbers.first ?? nil, numbers.last ?? nil) {
      case (1, let radius?, _): region = .init(String(parts[0]), radius: radius)
      case (2, let enter?, let leave?):
        region = .init(String(parts[0]), enter: enter, leave: leave)
      default: return nil
      }
    }
  }

  /// A value of the form `[REGION=]LINE[,active-low]`.
  package struct Line: ExpressibleByArgument {
    /// The region; nil for the largest one.
    package var region: String?
    package var line: String
    var isActiveLow: Bool

    package init?(argument: String) {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let words = parts[parts.count - 1].split(
        separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
      guard !words[0].isEmpty, words.count == 1 || words[1] == "active-low" else { return nil }
      region = parts.count == 2 ? String(parts[0]) : nil
      line = String(words[0])
      isActiveLow = words.count == 2
    }
  }

  @Option(
    name: .customLong("region"),
    help: ArgumentHelp(
      """
      Watch a region: NAME=METRES, or NAME=ENTER:LEAVE with a boundary for each way; repeat it for \
      larger regions around it. Smoothed distances count, with their deviations.
      """, valueName: "name=metres"))
  package var regions: [Region] = []
  @Option(help: "Seconds after which a peer has stayed in a region.")
  package var dwell = Seconds(10)
  @Option(help: "A peer leaves all regions after this many seconds without a distance.")
  package var absence = Seconds(5)
  @Option(
    help: ArgumentHelp(
      """
      Run a shell command when a peer enters a region. UWB_REGION, UWB_PEER, UWB_DISTANCE_M, \
      UWB_DEVIATION_M and others are in its environment; its output goes to standard error.
      """, valueName: "command"))
  var onEnter: String?
  @Option(
    help: ArgumentHelp("Run a command when a peer has left a region.", valueName: "command"))
  var onLeave: String?
  @Option(
    help: ArgumentHelp("Run a command when a peer has stayed in a region.", valueName: "command"))
  var onDwell: String?
  /// Whether there are commands to run. Their output goes to standard error.
  package var hasCommands: Bool { [onEnter, onLeave, onDwell].contains { $0 != nil } }
  @Option(help: "End a command that takes longer than this many seconds.")
  var commandTime = Seconds(10)
  @Option(
    help: ArgumentHelp(
      """
      Set a GPIO line while a peer is in the largest region, or in a certain one: REGION=LINE. LINE is \
      its name or CHIP:OFFSET, with ,active-low if low means set. Repeat it for more lines.
      """, valueName: "line"))
  package var gpio: [Line] = []

  /// The rules; nil without regions.
  package var rules: RegionRules? {
    get throws(RegionError) {
      guard !regions.isEmpty else { return nil }
      return try RegionRules(
        regions.map(\.region), dwell: dwell.duration / .seconds(1),
        absence: absence.duration / .seconds(1))
    }
  }

  package func command(for kind: RegionChange.Kind) -> (option: String, command: String)? {
    switch kind {
    case .entered: onEnter.map { ("--on-enter", $0) }
    case .left: onLeave.map { ("--on-leave", $0) }
    case .dwelled: onDwell.map { ("--on-dwell", $0) }
    }
  }

  package init() {}

  package func validate() throws {
    do throws(RegionError) { _ = try rules } catch {
      throw ValidationError("--region: \(error)")
    }
    let commands = [onEnter, onLeave, onDwell].compactMap { $0 }
    try require(
      !regions.isEmpty || commands.isEmpty && gpio.isEmpty,
      "--on-enter, --on-leave, --on-dwell and --gpio need a --region.")
    try require(!commands.contains { $0.allSatisfy(\.isWhitespace) }, "A command is empty.")
    try require(
      commandTime.duration > .zero && commandTime.duration <= .seconds(3_600),
      "--command-time takes more than 0 and at most 3600 seconds.")
    for line in gpio {
      try require(
        line.region.map { name in regions.contains { $0.region.name == name } } ?? true,
        "--gpio: there is no region '\(printable(line.region ?? ""))'.")
    }
    try require(Set(gpio.map(\.line)).count == gpio.count, "--gpio: give each line once.")
  }
}
