// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import UWBSite

/// R6, R7, R8, R10, and the share of errors within the stated deviations.
struct TrackFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tracks", abstract: "Places of moving tags.")

  @Option(help: "Folder with the recordings hanyang, labyrinth and lias.") var data: String?
  @Option(help: "Number of courses of each simulated site.") var courses = 12
  @Option(help: "Only figures whose quantity contains this text.") var only: String?
  @Option(help: "A page of documentation whose table of simulated sites is replaced.")
  var page: String?

  func run() throws {
    var figures: [Figure] = []
    func add(_ name: String, _ make: () -> [Figure]) {
      guard only.map({ name.contains($0) }) ?? true else { return }
      let made = make()
      if made.isEmpty { print("\(name): skipped, not among the recordings of --data") }
      for figure in made { print(figure.line) }
      figures += made
    }
    let folder = data ?? "/nowhere"
    add("labyrinth") { recorded("R6", labyrinth(folder, odometry: true), rmse: 0.20) }
    add("labyrinth, ranges alone") {
      recorded("R6", labyrinth(folder, odometry: false), rmse: nil)
    }
    for (kind, aim) in [("LOS", 0.62), ("NLOS", 0.69)] {
      add("hanyang \(kind)") {
        let walks = hanyang(folder, kind)
        let published = Errors.rms(walks.flatMap(\.published))
        return walks.isEmpty
          ? []
          : recorded("R7", walks.map(\.course), named: "hanyang \(kind)", rmse: aim)
            + [Figure(id: "R7", quantity: "the published filter", unit: "m", value: published)]
      }
    }
    add("lias") { recorded("R7", lias(folder), named: "lias", rmse: 0.073) }
    for site in [SimulatedSite.hall, .corridor, .yard, .flight, .reflecting] {
      add(site.name) { simulated("", site) }
    }
    for site in [SimulatedSite.outside, .wall] { add(site.name) { simulated("R8", site) } }
    if let page { try FigurePage.replace("tracks", in: page, with: shares(figures)) }
    add("cost") { Cost.figures() }
    let missed = figures.count { !$0.isReached }
    print("\(figures.count) figures, \(missed) missed")
    if missed > 0 { throw ExitCode.failure }
  }

  /// Returns a table of the shares within the stated deviations at simulated sites.
  private func shares(_ figures: [Figure]) -> [[String]] {
    let header = ["", "within one deviation", "within two", "textbook: one", "two"]
    let (ones, twos) = ("within one deviation", "within two")
    func share(_ value: Double?) -> String { value.map { Figure.number($0) + " %" } ?? "" }
    let rows = figures.filter { $0.quantity.hasSuffix(ones) && ["", "R8"].contains($0.id) }
    return [header]
      + rows.compactMap { one in
        let subject = one.quantity.dropLast(ones.count)
        guard let two = figures.first(where: { $0.quantity == subject + twos }) else { return nil }
        let name = subject.trimmingCharacters(in: [":", " "])
        return [
          name, share(one.value), share(two.value), share(one.textbook?.value),
          share(two.textbook?.value),
        ]
      }
  }

  private func recorded(
    _ id: String, _ courses: [Course], named name: String? = nil, rmse: Double?
  ) -> [Figure] {
    courses.isEmpty ? [] : compare(id, name ?? courses[0].name, courses, rmse: rmse)
  }

  private func simulated(_ id: String, _ site: SimulatedSite) -> [Figure] {
    let courses = (0..<courses).map { site.course(seed: UInt64($0 + 1), seconds: 120) }
    return compare(id, site.name, courses, rmse: nil, hasHeight: site.height == .free)
  }

  private func compare(
    _ id: String, _ name: String, _ courses: [Course], rmse: Double?, hasHeight: Bool = false
  ) -> [Figure] {
    var run = TrackRun()
    var (nearest, linear, kalman, multiples) = ([Double](), [Double](), [Double](), [Double]())
    for course in courses {
      run.add(course)
      let textbook = Textbook.run(course)
      nearest += textbook.nearest
      linear += textbook.linear
      kalman += textbook.kalman
      multiples += textbook.multiples
    }
    func figure(
      _ quantity: String, _ unit: String, _ value: Double, _ aim: ClosedRange<Double>? = nil,
      _ textbook: (String, Double)? = nil
    ) -> Figure {
      Figure(
        id: id, quantity: "\(name): \(quantity)", unit: unit, textbook: textbook, value: value,
        aim: aim)
    }
    var result = [
      figure("nearest anchor, RMSE", "m", Errors.rms(nearest)),
      figure("linear least squares, RMSE", "m", Errors.rms(linear)),
      figure(
        "RMSE", "m", Errors.rms(run.errors), rmse.map { 0...$0 },
        ("plain Kalman filter", Errors.rms(kalman))),
      figure(
        "median", "m", Errors.quantile(run.errors, 0.5), nil,
        ("plain", Errors.quantile(kalman, 0.5))),
      figure(
        "95 %", "m", Errors.quantile(run.errors, 0.95), nil,
        ("plain", Errors.quantile(kalman, 0.95))),
      figure(
        "within one deviation", "%", Errors.share(run.multiples, within: 1), 60...76,
        ("plain", Errors.share(multiples, within: 1))),
      figure(
        "within two", "%", Errors.share(run.multiples, within: 2), 91...98,
        ("plain", Errors.share(multiples, within: 2))),
      figure(
        "within the ellipse of 95", "%", Errors.share(run.ellipses, within: 1),
        id == "R8" ? 95...100 : nil),
      figure("refused", "%", 100 * Double(run.refused) / Double(max(1, run.rounds))),
    ]
    if hasHeight {
      result += [
        figure("height, RMSE", "m", Errors.rms(run.lifts)),
        figure("height within one deviation", "%", Errors.share(run.heights, within: 1), 60...76),
        figure("height within two", "%", Errors.share(run.heights, within: 2), 91...98),
      ]
    }
    return result
  }
}
