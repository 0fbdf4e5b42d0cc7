// SPDX-License-Identifier: Apache-2.0

/// The text of a survey, for terminals with 80 columns.
package struct SurveyReport: Sendable {
  let survey: Survey
  let ranges: PairRanges

  package init(_ survey: Survey, _ ranges: PairRanges) {
    (self.survey, self.ranges) = (survey, ranges)
  }

  package var text: String {
    let parts = [
      [frame], placeLines, delayLines, residualLines, droppedLines, exchangedLines,
      ambiguityLines, nextLines,
    ]
    return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") + "\n" }
      .joined(separator: "\n")
  }

  private func name(_ anchor: Int) -> String { ranges.names[anchor] }

  private func names(_ anchors: [Int]) -> String { anchors.map(name).joined(separator: ", ") }

  private func pair(_ first: Int, _ second: Int) -> String { "\(name(first))–\(name(second))" }

  // MARK: places

  private var frame: String {
    let counts = "\(ranges.names.count) anchors, \(ranges.pairs.count) pairs; frame: "
    switch survey.gauge {
    case .shape:
      return counts + "the centre is 0, 0, and the longest extent is along x.\n"
        + "Place, heading and mirror image are open: give --at, --toward and --left."
    case .places: return counts + "the rough places of the site file."
    case .line(let line):
      let degrees = (line.heading * 1800 / .pi).rounded() / 10
      var text = counts + "\(name(line.anchor)) is at \(metres(line.position.x)), "
      text += "\(metres(line.position.y));\n\(name(line.toward)) is in direction \(degrees)°"
      guard let side = line.side else {
        return text + ". The mirror image is open: give --left or --right."
      }
      return text + ", \(name(side.anchor)) on the \(side.isLeft ? "left" : "right")."
    }
  }

  private var placeLines: [String] {
    let width = max(survey.places.map(\.id.count).max() ?? 0, 6)
    let header =
      "anchor".left(width) + "x m".right(10) + "y m".right(10) + "z m".right(8)
      + "± major".right(9) + "± minor".right(9) + "delay cm".right(12) + "ranges".right(8)
    return [header]
      + survey.places.map { place in
        let axes = place.ellipse.axes
        let delay = "\(centimetres(place.delay)) ± \(centimetres(place.delayDeviation))"
        return place.id.left(width) + metres(place.position.x).right(10)
          + metres(place.position.y).right(10) + fixed(place.height, 2).right(8)
          + deviation(axes.major).right(9) + deviation(axes.minor).right(9) + delay.right(12)
          + "\(place.ranges)".right(8)
      }
  }

  private var delayLines: [String] {
    var lines = [
      "Every range is \(centimetres(survey.commonDelay)) ± "
        + "\(centimetres(survey.commonDelayDeviation)) cm too long (delay of two anchors)."
    ]
    if survey.disagreement > 1 {
      lines.append(
        "The ranges disagree: all deviations of ranges are "
          + "\(fixed(survey.disagreement, 1)) times the stated ones.")
    }
    return lines
  }

  // MARK: ranges

  /// The residuals, several on a line. An exclamation mark stands for a path that was probably
  /// blocked.
  private var residualLines: [String] {
    let cells = survey.residuals.map { residual in
      let name = pair(residual.pair.first, residual.pair.second)
      let sign = residual.excess < 0 ? "−" : "+"
      return "\(name) \(sign)\(centimetres(abs(residual.excess)))"
        + (residual.blocked > 0.5 ? "!" : "")
    }
    let width = (cells.map(\.count).max() ?? 0) + 2
    let columns = max(80 / max(width, 1), 1)
    var lines = ["Measured less computed, cm (! is a path that was probably blocked):"]
    for start in stride(from: 0, to: cells.count, by: columns) {
      let row = cells[start..<min(start + columns, cells.count)]
      lines.append(row.map { $0.left(width) }.joined().trimmedEnd)
    }
    return lines
  }

  private var droppedLines: [String] {
    ranges.dropped.map { dropped in
      let reason =
        switch dropped.reason {
        case .few(let count): "\(count) ranges, of \(PairRanges.fewest) needed"
        case .blocked(let share): "the path was blocked (\(Int(100 * share)) %)"
        }
      return "Left out: \(pair(dropped.first, dropped.second)), \(reason)."
    }
      + ranges.conflicts.map { conflict in
        "\(name(conflict.first)) measured \(metres(conflict.forward)) m to "
          + "\(name(conflict.second)), and \(metres(conflict.backward)) m in return: "
          + "are labels exchanged?"
      }
  }

  // MARK: ambiguities

  private var ambiguityLines: [String] {
    survey.ambiguities.flatMap { ambiguity -> [String] in
      let anchors = names(ambiguity.anchors)
      switch ambiguity.kind {
      case .hinge(let other) where ambiguity.anchors.count == 1:
        return ["AMBIGUOUS: \(anchors) may be anywhere around \(name(other)): one range only."]
      case .hinge(let other):
        return ["AMBIGUOUS: \(anchors) may turn about \(name(other)) together."]
      case .shift:
        return ["AMBIGUOUS: \(anchors) may shift together: too few ranges to the others."]
      case .mirror(let first, let second):
        return ["AMBIGUOUS: \(anchors) may be mirrored about the line \(pair(first, second)),"]
          + elsewhere(ambiguity)
      case .shape:
        return ["AMBIGUOUS: \(anchors) may be elsewhere,"] + elsewhere(ambiguity)
      }
    }
  }

  private func elsewhere(_ ambiguity: SurveyAmbiguity) -> [String] {
    var text = "  up to \(fixed(ambiguity.distance, 1)) m away"
    if let anchor = ambiguity.anchors.first, anchor < ambiguity.alternative.count {
      let place = ambiguity.alternative[anchor]
      text += " (\(name(anchor)) at \(metres(place.x)), \(metres(place.y)))"
    }
    return [text + "; that fits \(fixed(ambiguity.cost.squareRoot(), 1)) deviations worse."]
  }

  private var exchangedLines: [String] {
    guard let exchanged = survey.exchanged else { return [] }
    return [
      "EXCHANGED? The rough places of \(name(exchanged.first)) and \(name(exchanged.second)) fit",
      "  much better the other way round. Check the labels of these two.",
    ]
  }

  private var nextLines: [String] {
    survey.next.map { next in
      let start = "Measure next: \(pair(next.first, next.second)), about "
      let length = "\(fixed(next.distance, 1)) m; "
      switch next.gain {
      case .decides(let difference):
        return start + length + "the shapes differ by \(fixed(difference, 1)) m there."
      case .improves(let from, let to):
        return start + length + "largest deviation \(deviation(from)) → \(deviation(to)) m."
      }
    }
  }

  // MARK: numbers

  private func metres(_ value: Double) -> String { fixed(value, 2) }

  private func centimetres(_ value: Double) -> String { fixed(100 * value, 0) }

  private func deviation(_ value: Double) -> String { value > 99 ? "open" : fixed(value, 2) }
}

/// Returns a number with a fixed count of decimals.
func fixed(_ value: Double, _ decimals: Int) -> String {
  guard value.isFinite else { return "–" }
  guard abs(value) < 1e12 else { return "\(value)" }
  var factor = 1.0
  for _ in 0..<decimals { factor *= 10 }
  let rounded = Int((abs(value) * factor).rounded())
  let sign = value < 0 && rounded > 0 ? "-" : ""
  guard decimals > 0 else { return "\(sign)\(rounded)" }
  let fraction = "\(rounded % Int(factor))"
  let zeros = String(repeating: "0", count: decimals - fraction.count)
  return "\(sign)\(rounded / Int(factor)).\(zeros)\(fraction)"
}

extension String {
  func left(_ width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }

  func right(_ width: Int) -> String {
    String(repeating: " ", count: max(width - count, 0)) + self
  }

  var trimmedEnd: String {
    var result = self
    while result.last == " " { result.removeLast() }
    return result
  }
}
