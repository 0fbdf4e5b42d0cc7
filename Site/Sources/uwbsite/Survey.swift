// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBSite

struct SurveyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "survey",
    abstract: "Find the places of anchors from the ranges between them.",
    discussion: """
      Tables are CSV or JSON lines with the columns from, to and distance_m, or the output of \
      `uwbctl range` as NAME=FILE with the name of its anchor. A pair needs five ranges, or a \
      column sd_m. Prints places with deviations, the residual of each pair, blocked pairs, other \
      shapes that fit as well, and the distance that is worth measuring next.

      Ranges determine a shape only. Its frame are the places of three anchors in the site file, \
      or --at twice, or --at and --toward; --left or --right decides on the mirror image.

      With --walk, a rig of three tags was carried through the site, and the column from has the \
      tags. The delay of the ranges has to be known: a walk does not reveal it.
      """)

  @Argument(help: "Tables of ranges.", completion: .file())
  var tables: [String]

  @Option(help: "The site file with heights, delays and rough places.", completion: .file())
  var site: String?

  @Option(
    help: "The height of all anchors in metres, or of one as NAME=HEIGHT.")
  var height: [String] = []

  @Option(help: "The known place of an anchor: NAME=X,Y.")
  var at: [String] = []

  @Option(help: "The direction to an anchor from the one of --at: NAME=DEGREES, left of x.")
  var toward: String?

  @Option(help: "An anchor on the left of the line between the two.")
  var left: String?

  @Option(help: "An anchor on the right of the line.")
  var right: String?

  @Option(name: .shortAndLong, help: "Write the site file with the places.", completion: .file())
  var output: String?

  @Flag(help: "The ranges are from a walk with a rig of tags.")
  var walk = false

  @Option(help: "A tag of the rig: NAME=X,Y,Z in metres, Z above the floor.")
  var tag: [String] = []

  @Option(help: "The length by which all ranges of a walk are too long, in metres.")
  var delay = 0.0

  func run() throws {
    try Terminal.run { () throws(CommandFailure) in
      let rows = try Self.rows(tables)
      let known = try site.map { path throws(CommandFailure) in try SiteFiles.read(path) } ?? .empty
      if walk {
        try runWalk(rows, known)
      } else {
        try runSurvey(rows, known)
      }
    }
  }

  private func runSurvey(_ rows: [RangeRow], _ known: Site) throws(CommandFailure) {
    let readings = rows.map {
      RangeReading(
        from: $0.from, to: $0.to, distance: $0.distance, deviation: $0.deviation,
        blocked: $0.blocked)
    }
    let ranges = PairRanges(readings)
    guard ranges.names.count <= Self.mostAnchors else {
      throw CommandFailure(
        .data, "\(ranges.names.count) anchors; a survey has at most \(Self.mostAnchors)")
    }
    let anchors = try self.anchors(ranges.names, known)
    let gauge = try gauge(ranges.names, anchors)
    let survey: Survey
    do {
      survey = try Survey(
        ranges, anchors: anchors, gauge: gauge,
        commonDelayDeviation: known.hasCalibratedDelays(ranges.names) ? 0.01 : 0.15)
    } catch { throw CommandFailure(.data, "\(error)") }
    try Terminal.write(SurveyReport(survey, ranges).text)
    var result = known
    result.update(with: survey)
    try write(result)
  }

  private func runWalk(_ rows: [RangeRow], _ known: Site) throws(CommandFailure) {
    let rig = try rig()
    let readings = rows.map {
      WalkReading(time: $0.time ?? 0, tag: $0.from, anchor: $0.to, distance: $0.distance)
    }
    let names = WalkSurvey.anchors(readings, rig)
    let anchors = try self.anchors(names, known)
    let gauge = try gauge(names, anchors.map { SurveyAnchor($0.id, height: $0.height) })
    let heights = Dictionary(
      anchors.map { ($0.id, $0.height) }, uniquingKeysWith: { first, _ in first })
    let survey: WalkSurvey
    do {
      survey = try WalkSurvey(readings, rig: rig, delay: delay, heights: heights, gauge: gauge)
    } catch { throw CommandFailure(.data, "\(error)") }
    try Terminal.write(survey.report)
    var result = known
    result.update(with: survey, gauge: gauge)
    try write(result)
  }

  private func write(_ site: Site) throws(CommandFailure) {
    guard let output else { return }
    try SiteFiles.write(site.json, to: output)
  }

  /// The limit of anchors: the work grows with the cube of their number.
  static let mostAnchors = 120

  // MARK: tables

  private static func rows(_ tables: [String]) throws(CommandFailure) -> [RangeRow] {
    var rows: [RangeRow] = []
    for table in tables {
      let parts = table.split(separator: "=", maxSplits: 1).map(String.init)
      let (name, path) = parts.count == 2 ? (parts[0], parts[1]) : (nil, table)
      do { rows += try RangeTable.rows(SiteFiles.bytes(path), from: name) } catch {
        if let failure = error as? CommandFailure { throw failure }
        throw CommandFailure(.data, "\(path): \(error)")
      }
    }
    return rows
  }

  // MARK: options

  private func anchors(_ names: [String], _ known: Site) throws(CommandFailure) -> [SurveyAnchor] {
    var (common, own): (Double?, [String: Double]) = (nil, [:])
    for option in height {
      let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
      guard let value = parts.last.flatMap(Double.init), abs(value) < 10_000 else {
        throw CommandFailure(
          .usage, "--height \(option): a height such as 2.5 or A0=2.5 belongs here")
      }
      if parts.count == 2 { own[parts[0]] = value } else { common = value }
    }
    for name in own.keys where !names.contains(name) {
      throw CommandFailure(.usage, "--height \(name): no range has this anchor")
    }
    return names.map { name in
      let given = own[name] ?? common
      let height = given.map { ($0, 0.02) } ?? (0, Self.unknownHeight)
      let anchor = known.anchors.first { $0.id == name } ?? Site.Anchor(named: name)
      return SurveyAnchor(anchor, height: height)
    }
  }

  /// The deviation of heights that nobody has measured, for anchors at about the same height.
  static let unknownHeight = 0.3

  private func gauge(
    _ names: [String], _ anchors: [SurveyAnchor]
  ) throws(CommandFailure) -> SurveyGauge {
    let known = try at.map { text throws(CommandFailure) in
      try numbers("--at", text, names, count: 2, form: "NAME=X,Y")
    }
    guard let first = known.first else {
      guard toward == nil, left == nil, right == nil else {
        throw CommandFailure(.usage, "--toward, --left and --right need --at NAME=X,Y")
      }
      return anchors.count { $0.rough != nil } >= 3 ? .places : .shape
    }
    let start = SIMD2(first.values[0], first.values[1])
    let side = try side(names)
    if known.count == 2 && toward == nil {
      let end = SIMD2(known[1].values[0], known[1].values[1])
      return .anchors(first.anchor, at: start, known[1].anchor, at: end, side: side)
    }
    guard known.count == 1, let toward else {
      throw CommandFailure(.usage, "a frame takes --at twice, or --at once and --toward")
    }
    let other = try numbers("--toward", toward, names, count: 1, form: "NAME=DEGREES")
    return .line(
      .init(
        first.anchor, at: start, toward: other.anchor, heading: other.values[0] * .pi / 180,
        side: side))
  }

  private func side(_ names: [String]) throws(CommandFailure) -> SurveyGauge.Line.Side? {
    guard left == nil || right == nil else {
      throw CommandFailure(.usage, "one of --left and --right is enough")
    }
    guard let name = left ?? right else { return nil }
    guard let anchor = names.firstIndex(of: name) else {
      throw CommandFailure(.usage, "\(name) is not an anchor of the tables")
    }
    return .init(anchor, isLeft: left != nil)
  }

  private func numbers(
    _ option: String, _ text: String, _ names: [String], count: Int, form: String
  ) throws(CommandFailure) -> (anchor: Int, values: [Double]) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    let values = Self.values(parts.last ?? "")
    guard parts.count == 2, values.count == count else {
      throw CommandFailure(.usage, "\(option) \(text): \(form) belongs here")
    }
    guard let anchor = names.firstIndex(of: parts[0]) else {
      throw CommandFailure(.usage, "\(option) \(text): \(parts[0]) is not an anchor of the tables")
    }
    return (anchor, values)
  }

  private static func values(_ text: String) -> [Double] {
    text.split(separator: ",", omittingEmptySubsequences: false)
      .compactMap { Double($0) }.filter { abs($0) < 100_000 }
  }

  private func rig() throws(CommandFailure) -> WalkRig {
    let tags = try tag.map { text throws(CommandFailure) -> WalkRig.Tag in
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      let values = Self.values(parts.last ?? "")
      guard parts.count == 2, values.count == 3 else {
        throw CommandFailure(.usage, "--tag \(text): NAME=X,Y,Z belongs here")
      }
      return .init(parts[0], SIMD3(values[0], values[1], values[2]))
    }
    guard tags.count >= 3 else {
      throw CommandFailure(.usage, "--walk takes --tag NAME=X,Y,Z for each of three tags or more")
    }
    return WalkRig(tags)
  }
}
