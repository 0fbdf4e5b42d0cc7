// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SiteScenarios
import UWBSite

/// Figures of the survey of anchors.
struct SurveyFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "survey", abstract: "Places of anchors from ranges between them, and from a walk.")

  @Option(help: "Made-up sites for each figure.") var layouts = 240
  @Option(help: "The seed of the made-up sites.") var seed: UInt64 = 1
  @Flag(help: "Print each site that is wrong or ambiguous.") var verbose = false
  @Option(help: "The folder of the data set lias; without it, the walk is skipped.")
  var lias: String?

  func run() throws {
    for count in [8, 16] { complete(count) }
    nearest(16, 0.6)
    nearest(28, 0.4)
    nearest(16, 0.4, roughPlaces: 2)
    WalkFigures.simulate(layouts: layouts / 4, seed: seed)
    if let lias {
      try WalkFigures.run(lias)
    } else {
      print("R3   skipped: --lias names the folder of the data set")
    }
  }

  /// R1: all pairs, with delays and blocked paths.
  private func complete(_ count: Int) {
    var random = SeededNormal(seed: seed)
    var (scaling, squares, score) = ([Double](), [Double](), SurveyScore())
    for _ in 0..<layouts {
      let site = SimulatedSurvey(count: count, random: &random)
      scaling.append(
        SurveyScore.rms(site.errors(of: TextbookSurvey.classicalScaling(site.anchors, site.ranges)))
      )
      squares.append(
        SurveyScore.rms(site.errors(of: TextbookSurvey.leastSquares(site.anchors, site.ranges))))
      score.add(site)
    }
    let (aim, late) = count == 8 ? (11.0, 16.0) : (6.5, 8.5)
    let title = "\(count) anchors, all pairs"
    print(
      Figure(
        id: "R1", quantity: "\(title), RMS", unit: "cm",
        textbook: ("classical scaling", 100 * Errors.rms(scaling)),
        value: 100 * Errors.rms(score.layouts), aim: 0...aim
      ).line)
    print(
      Figure(
        id: "R1", quantity: "\(title), 95 % of sites", unit: "cm",
        textbook: ("least squares", 100 * Errors.quantile(squares, 0.95)),
        value: 100 * Errors.quantile(score.layouts, 0.95), aim: 0...late
      ).line)
    print("     least squares, RMS \(centimetres(Errors.rms(squares)))")
    print("     \(score.shares)")
  }

  /// R2: the nearest pairs only.
  private func nearest(_ count: Int, _ share: Double, roughPlaces: Double? = nil) {
    var random = SeededNormal(seed: seed)
    var (squares, score) = ([Double](), SurveyScore())
    for _ in 0..<layouts {
      var site = SimulatedSurvey(count: count, share: share, random: &random)
      if let roughPlaces { site.addRoughPlaces(error: roughPlaces, &random) }
      guard site.isConnected else { continue }
      squares.append(
        SurveyScore.rms(site.errors(of: TextbookSurvey.leastSquares(site.anchors, site.ranges))))
      score.add(site, gauge: roughPlaces == nil ? .shape : .places)
    }
    let aims = [16: roughPlaces == nil ? 9.8 : 31, 28: 12.0]
    let rough = roughPlaces == nil ? "" : ", rough places"
    let title = "\(count) anchors, \(Int(100 * share)) % of pairs\(rough)"
    print(
      Figure(
        id: "R2", quantity: "\(title), median", unit: "cm",
        textbook: ("least squares", 100 * Errors.quantile(squares, 0.5)),
        value: 100 * Errors.quantile(score.layouts, 0.5), aim: 0...(aims[count] ?? 0)
      ).line)
    print(
      "     \(score.layouts.count) connected sites; "
        + "\(squares.count { $0 > 1 }) folded by least squares, unnoticed")
    print("     \(score.folds)")
    print("     \(score.shares)")
    if verbose { print(score.details) }
  }

  private func centimetres(_ metres: Double) -> String { "\((metres * 1000).rounded() / 10) cm" }
}

/// The errors of many surveys.
struct SurveyScore {
  private(set) var layouts: [Double] = []
  private var deviations: [Double] = []
  private var wrong = 0
  private var reported = 0
  private var stated = 0
  private var folded = 0
  private var foldedReported = 0
  private var right = 0
  private var open = 0
  private var alarms = 0
  private(set) var details = ""

  static func rms(_ errors: [SIMD2<Double>]) -> Double {
    Errors.rms(errors.map { ($0 * $0).sum().squareRoot() })
  }

  mutating func add(_ site: SimulatedSurvey, gauge: SurveyGauge = .shape) {
    guard let survey = try? Survey(site.ranges, anchors: site.anchors, gauge: gauge) else { return }
    let scores = site.scores(of: survey.places)
    // Rough places hold the frame, so that their ellipses include its error.
    let own = gauge == .places ? site.ownScores(of: survey.places) : scores
    layouts.append(Errors.rms(scores.map(\.error)))
    deviations += own.map(\.squaredDeviations)
    let worst = scores.max { $0.error < $1.error }
    let isFolded = (worst?.error ?? 0) > 1
    let isReported = !survey.ambiguities.isEmpty
    let isOpen = survey.places.contains { $0.ranges <= 2 }
    if Errors.rms(scores.map(\.error)) > 1 {
      folded += 1
      foldedReported += isReported ? 1 : 0
    }
    if isFolded {
      wrong += 1
      if isReported { reported += 1 } else if (worst?.squaredDeviations ?? 0) < 6.18 { stated += 1 }
    } else if isOpen {
      open += 1
    } else {
      right += 1
      alarms += isReported ? 1 : 0
    }
    note(survey, scores, isFolded, isReported, isOpen)
  }

  private mutating func note(
    _ survey: Survey, _ scores: [(error: Double, squaredDeviations: Double)], _ isFolded: Bool,
    _ isReported: Bool, _ isOpen: Bool
  ) {
    guard isFolded || (isReported && !isOpen) else { return }
    let worst = scores.indices.max { scores[$0].error < scores[$1].error } ?? 0
    details += "\(layouts.count - 1): rms \(layouts.last ?? 0) worst A\(worst) \(scores[worst]) "
    let place = survey.places[worst]
    details += "ranges \(place.ranges) axis \(place.ellipse.axes.major)"
    for ambiguity in survey.ambiguities {
      details += " \(ambiguity.kind) \(ambiguity.anchors) \(ambiguity.cost) \(ambiguity.distance);"
    }
    details += "\n"
  }

  var folds: String {
    "more than 1 m wrong: \(folded) sites by RMS, \(foldedReported) reported; "
      + "\(wrong) by any anchor, \(reported) reported, \(stated) more within the ellipse; "
      + "right: \(right) sites, \(alarms) false alarms; \(open) more with an anchor that two or "
      + "fewer ranges leave open"
  }

  var shares: String {
    let one = Errors.share(deviations, within: 2.28)
    let two = Errors.share(deviations, within: 6.18)
    return "ellipses of one and two deviations (68 and 95 %) contain "
      + "\((10 * one).rounded() / 10) and \((10 * two).rounded() / 10) %"
  }
}
