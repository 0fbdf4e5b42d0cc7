// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBSite

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Plan the rounds of many anchors and tags.",
    discussion: """
      Prints the scheme, the schedule of a block, the use of the air, and the expected success \
      beside sessions of other sites. Without --scheme, the first scheme that works is planned: two \
      ways with tags as controllers, two ways with anchors as controllers, blinks of tags, or tags \
      that only listen.

      A wish that cannot work is refused with the number that is the reason; the status is 65. \
      --anchor-caps and --tag-caps check the chips, too: files that `uwbctl caps --format json` has \
      written.

      --profiles FOLDER writes a profile for each end of each session, for `uwbctl range` and the \
      service, and schedule.json with the starts of the rounds. `uwbsite run --rounds FOLDER` \
      starts the controllers of this host at these times, and again as their clocks drift. For \
      blinks, one anchor only gives the time: the one with the role sync in the site file, or the \
      first.

      --map writes a drawing of the expected deviation instead, from the places of a site file.
      """)

  @Argument(help: "A site file, for the numbers of its anchors and tags, and for --map.")
  var file: String?
  @Option(help: "The number of anchors.") var anchors: Int?
  @Option(help: "The number of tags.") var tags: Int?
  @Option(help: "Places a second of each tag.") var rate = 5.0
  @Option(help: "The scheme: tags, anchors, up or down.") var scheme: String?
  @Option(help: "The length of a slot in milliseconds.") var slot = 2.0
  @Option(help: "The greatest number of controlees of a chip.") var controlees = 8
  @Option(help: "The number of sessions of other sites in range.") var neighbours = 0
  @Flag(help: "Give anchors a round with one another, in which they compare their clocks.")
  var shareTime = false
  @Option(help: "The capabilities of the anchors' chips, as JSON lines.", completion: .file())
  var anchorCaps: String?
  @Option(help: "The capabilities of the tags' chips, as JSON lines.", completion: .file())
  var tagCaps: String?
  @Option(help: "Write a profile for each node into this folder.", completion: .directory)
  var profiles: String?
  @Flag(help: "Draw the expected deviation, as SVG.") var map = false
  @Option(help: "The height of the tags in metres, for --map.") var height = 1.2
  @Option(help: "The deviation of a range in metres, for --map.") var deviation = 0.1

  func validate() throws {
    if let scheme, PlanScheme(rawValue: scheme) == nil {
      throw ValidationError("--scheme is tags, anchors, up or down")
    }
    let positive = [slot, rate, deviation].allSatisfy { $0 > 0 && $0.isFinite }
    guard positive, height.isFinite, (1...1000).contains(controlees), neighbours >= 0 else {
      throw ValidationError("--slot, --rate, --controlees and --deviation are positive")
    }
    if file == nil && (map || anchors == nil || tags == nil) {
      throw ValidationError("give a site file, or --anchors and --tags")
    }
    if map, profiles != nil { throw ValidationError("--map and --profiles are two outputs") }
  }

  func run() throws {
    try Terminal.run { () throws(CommandFailure) in
      var site: Site?
      if let file { site = try SiteFiles.read(file) }
      try Terminal.write(text(site))
    }
  }

  /// Returns the text or the drawing, and writes the profiles.
  func text(_ site: Site?) throws(CommandFailure) -> String {
    if let site, map { return try drawing(site) }
    let plan = try plan(request(site))
    try check(plan)
    if let profiles { try write(plan, site, to: profiles) }
    return Self.text(plan)
  }

  private func request(_ site: Site?) -> PlanRequest {
    var request = PlanRequest(
      anchors: anchors ?? site?.anchors.count ?? 0, tags: tags ?? site?.tags.count ?? 0, rate: rate)
    request.slot = slot / 1000
    request.chips.mostControlees = controlees
    request.neighbours = neighbours
    request.sharesTime = shareTime
    return request
  }

  /// Checks the capabilities of the chips.
  private func check(_ plan: Plan) throws(CommandFailure) {
    let needs = ChipNeeds(plan)
    var reasons: [String] = []
    for (file, sessions) in [(anchorCaps, needs.anchorSessions), (tagCaps, needs.tagSessions)] {
      guard let file else { continue }
      let text = try SiteFiles.bytes(file)
      do throws(PlanRefusal) {
        let chip = try ChipAbilities(lines: text)
        reasons += needs.refusals(chip, sessions: sessions).map { "\(file): \($0)" }
      } catch { throw CommandFailure(.data, "\(file): \(error)") }
    }
    guard reasons.isEmpty else {
      throw CommandFailure(.data, reasons.joined(separator: "\n"))
    }
  }

  private func write(_ plan: Plan, _ site: Site?, to folder: String) throws(CommandFailure) {
    let files: [(name: String, text: String)]
    do throws(PlanRefusal) { files = try PlanProfiles(plan, site).files } catch {
      throw CommandFailure(.data, error.description)
    }
    try SiteFiles.createFolder(folder)
    for file in files { try SiteFiles.write(file.text, to: "\(folder)/\(file.name)") }
  }

  private func drawing(_ site: Site) throws(CommandFailure) -> String {
    let scheme = self.scheme.flatMap(PlanScheme.init) ?? .twoWayByTags
    let expected = ExpectedDeviation(site, scheme, height: height, deviation: deviation)
    guard expected.count >= 3 else {
      throw CommandFailure(.data, "\(expected.count) anchors have places; 3 are needed")
    }
    return DeviationPlot(site, expected).svg
  }

  private func plan(_ request: PlanRequest) throws(CommandFailure) -> Plan {
    if let scheme = scheme.flatMap(PlanScheme.init) {
      do { return try Plan(scheme, request) } catch {
        throw CommandFailure(.data, error.description)
      }
    }
    let (plan, refusals) = Plan.best(request)
    if let plan { return plan }
    let reasons = refusals.map { "\($0.rawValue): \($1)" }
    throw CommandFailure(.data, "no scheme works\n\(reasons.joined(separator: "\n"))")
  }

  // MARK: text

  static func text(_ plan: Plan) -> String {
    var lines = ["scheme: \(plan.scheme.rawValue) (\(name(plan.scheme)))"]
    lines.append("block: \(milliseconds(plan.block)), air in use: \(percent(plan.occupancy))")
    if plan.request.neighbours > 0 {
      let minutes = Int((plan.deadTime / 60).rounded())
      lines.append(
        "sessions of other sites in range: \(plan.request.neighbours); with hopping"
          + " \(percent(plan.success)) of the rounds succeed; without, two sessions that meet"
          + " collide for \(minutes) minutes")
    }
    if plan.rounds.count > 1 {
      lines.append(
        "without this schedule, rounds at random times: \(percent(plan.uncoordinatedSuccess))")
    }
    lines.append("chips: \(ChipNeeds(plan).description)")
    // Blinks and differences need no gaps, because one clock determines all rounds.
    let isTwoWay = plan.scheme == .twoWayByTags || plan.scheme == .twoWayByAnchors
    let starts = isTwoWay ? starts(plan, &lines) : plan.rounds.map(\.start)
    lines.append("start     slots  controller   others")
    let shown = plan.rounds.prefix(20)
    lines += zip(shown, starts).map(row)
    if plan.rounds.count > shown.count {
      lines.append("and \(plan.rounds.count - shown.count) more")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the starts with gaps between rounds, and adds a line about the gaps.
  private static func starts(_ plan: Plan, _ lines: inout [String]) -> [Double] {
    do throws(PlanRefusal) {
      let schedule = try ControllerSchedule(plan)
      let minutes = (schedule.holdTime / 6).rounded() / 10
      lines.append(
        "gaps of \(milliseconds(schedule.gap)): clocks of +- 20 ppm use them up in"
          + " \(minutes) minutes")
      return schedule.sessions.map(\.start)
    } catch {
      lines.append("only for controllers with one clock: \(error)")
      return plan.rounds.map(\.start)
    }
  }

  private static func row(_ round: Plan.Round, _ start: Double) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    let others = round.areAnchors ? "anchors" : "tags"
    return padded(milliseconds(start), 10) + padded("\(round.slots)", 7)
      + padded(round.controller, 13)
      + "\(others) \(round.others.lowerBound) to \(round.others.upperBound)"
  }

  private static func name(_ scheme: PlanScheme) -> String {
    switch scheme {
    case .twoWayByTags: "each tag ranges with all anchors in a round"
    case .twoWayByAnchors: "each anchor ranges with a group of tags in a round"
    case .differencesUp: "tags send blinks, anchors with a common time receive them"
    case .differencesDown: "anchors exchange messages, tags listen"
    }
  }

  private static func milliseconds(_ seconds: Double) -> String {
    "\((10_000 * seconds).rounded() / 10) ms"
  }

  private static func percent(_ part: Double) -> String { "\(Int((100 * part).rounded())) %" }
}
