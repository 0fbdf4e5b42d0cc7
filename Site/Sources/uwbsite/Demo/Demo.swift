// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SiteScenarios
import SiteServer
import UWBSite

struct Demo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Follow simulated tags, without any hardware.",
    discussion: """
      Six simulated anchors find their own places. Twenty tags walk through six rooms with walls, \
      and range in the order of a plan. One anchor is unplugged, and comes back. Survey, plan, \
      engine and zones are the ones of the other commands.

      On a terminal, a table shows the last place of each tag with the radius that holds 95 of 100 \
      places, and a line each change; q or Ctrl-C ends the demo. Elsewhere, lines are printed.

      --page shows a live map of them in a browser, at the address that is printed.

      --site and --jsonl print the surveyed site and the measurements instead, for `uwbsite run`:

      uwbsite demo --site > demo.json; uwbsite demo --jsonl | uwbsite run demo.json
      """)

  private static let tags = 20

  @Option(help: "Another number is another demo.") var seed: UInt64 = 1
  @Option(help: "Multiple of the real speed.") var speed = 1.0
  @Option(help: "Simulated seconds. (default: 60.0, with a page 3600.0)") var duration: Double?
  @Flag(help: "Print the site file with the places that the survey found.") var site = false
  @Flag(help: "Print the measurements as lines of JSON.") var jsonl = false
  @OptionGroup var page: PageArguments

  /// The simulated seconds.
  var seconds: Double { duration ?? (page.address == nil ? 60 : 3600) }

  func validate() throws {
    guard speed > 0, speed.isFinite else {
      throw ValidationError("--speed is a number greater than 0")
    }
    guard (1...86_400).contains(seconds) else {
      throw ValidationError("--duration is 1 to 86400 seconds")
    }
    if site, jsonl { throw ValidationError("--site and --jsonl are two outputs; give one") }
  }

  func run() async throws { try await Terminal.onThread { try start() } }

  private func start() throws {
    try Terminal.run { () throws(CommandFailure) in
      let survey: DemoSurvey
      let world: DemoWorld
      do {
        survey = try DemoSurvey(seed: seed, tags: Self.tags)
        world = try DemoWorld(seed: seed, tags: Self.tags, duration: seconds)
      } catch { throw CommandFailure(.data, "\(error)") }
      if site { return try Terminal.write(survey.site.json) }
      Interrupt.install()
      if jsonl { return try print(world) }
      try Terminal.write(Self.text(survey, world))
      try follow(survey.site, world)
    }
  }

  /// Prints the measurements at their times.
  private func print(_ world: DemoWorld) throws(CommandFailure) {
    var (world, pace) = (world, DemoPace(speed))
    while !Interrupt.isSet, let step = world.step() {
      if case .round(_, let time, _, _) = step { pace.wait(for: time) }
      try Terminal.write(DemoRecording.lines(step, world))
    }
  }

  private func follow(_ site: Site, _ world: DemoWorld) throws(CommandFailure) {
    let truth = DemoTruth(tags: world.tags.count)
    let screen = DemoScreen(world.tags, duration: seconds, truth, size: Keyboard.size) {
      text throws(SinkFailure) in
      do throws(CommandFailure) { try Terminal.write(text) } catch {
        throw SinkFailure(error.description)
      }
    }
    let changes = SiteChanges()
    let service = try page.options(siteFile: nil).map { options in
      var options = options
      options.changes = changes
      return ServiceSink(at: PageArguments.socket, mode: 0o600, page: options)
    }
    defer { service?.close() }
    let keyboard = Keyboard()
    defer { keyboard.close() }
    do throws(SinkFailure) {
      var runner = try SiteRunner(
        site, [Source("demo", .recording(DemoRecording(world, truth)))],
        sinks: [screen] + (service.map { [$0] } ?? []),
        speed: speed, epoch: 0, changes: changes,
        isStopped: { Interrupt.isSet || Keyboard.hasQuit() })
      try runner.run()
    } catch { throw CommandFailure(.inputOutput, "\(error)") }
  }

  /// Returns the result of the survey and the plan as text.
  static func text(_ survey: DemoSurvey, _ world: DemoWorld) -> String {
    var lines = ["\(survey.errors.count) anchors have found their places:"]
    for (place, error) in zip(survey.survey.places, survey.errors) {
      let (x, y) = (DemoTable.fixed(place.position.x), DemoTable.fixed(place.position.y))
      let deviation = DemoTable.fixed(place.ellipse.axes.major)
      lines.append(
        "  \(place.id)  \(x), \(y) m +- \(deviation) m (true error \(DemoTable.fixed(error)) m)")
    }
    let rate = DemoTable.fixed(1 / world.plan.block, 1)
    let air = Int((100 * world.plan.occupancy).rounded())
    lines.append(
      "\(world.tags.count) tags range \(rate) times a second in turn: \(air) % of the air.")
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Waits for simulated times.
struct DemoPace {
  private let speed: Double
  private let start = ContinuousClock.now

  init(_ speed: Double) { self.speed = speed }

  func wait(for time: Double) {
    let until = start + .seconds(time / speed)
    while ContinuousClock.now < until, !Interrupt.isSet {
      Interrupt.sleep(min(until - ContinuousClock.now, .milliseconds(100)))
    }
  }
}
