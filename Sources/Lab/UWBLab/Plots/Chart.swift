// SPDX-License-Identifier: Apache-2.0

import Estimators
import Formats
import Glibc
import Ranging

/// A chart with data in their units, and axes. `Figure` draws it.
public struct Chart: Sendable {
  typealias Point = (x: Double, y: Double)

  /// The ways to draw a series.
  enum Mark {
    case points
    case line
    /// The area between two lines.
    case band([(x: Double, low: Double, high: Double)])
    /// Closed outlines.
    case outlines([[Point]])
    /// Vertical lines.
    case bars([(x: Double, low: Double, high: Double)])
    /// Points with names beside them.
    case labels([String])
  }

  struct Series {
    var name: String
    var colour: Colour
    var mark: Mark
    var points: [Point]
    /// Whether the axes include all points. Otherwise, points beyond the axes are marked at the
    /// edge.
    var fits: Bool

    init(
      _ name: String, _ colour: Colour, _ mark: Mark, _ points: [Point] = [], fits: Bool = true
    ) {
      (self.name, self.colour, self.mark) = (name, colour, mark)
      (self.points, self.fits) = (points, fits)
    }
  }

  /// Colours that are visible on white and on black.
  enum Colour: String, CaseIterable {
    case blue = "#3a86c8"
    case red = "#dc4a54"
    case green = "#2f9e5f"
    case orange = "#df8314"
    case violet = "#9a6fc9"
    case grey = "#8a8a8a"

    static func numbered(_ index: Int) -> Colour {
      let order: [Colour] = [.blue, .orange, .green, .violet, .red]
      return order[index % order.count]
    }
  }

  var title: String
  /// The name of the axis with its unit: `range (m)`.
  var x: String
  var y: String
  var series: [Series]
  /// The names along x in place of the numbers 0, 1, 2 and so on.
  var categories: [String]?
  /// Whether both axes have the same scale.
  var isMap = false

  /// Returns the ranges of the axes, with a margin.
  func limits() -> (x: ClosedRange<Double>, y: ClosedRange<Double>) {
    var (xs, ys): ([Double], [Double]) = ([], [])
    for one in series where one.fits {
      xs += one.points.map(\.x)
      ys += one.points.map(\.y)
      switch one.mark {
      case .band(let list), .bars(let list):
        xs += list.map(\.x)
        ys += list.flatMap { [$0.low, $0.high] }
      case .outlines(let list):
        xs += list.joined().map(\.x)
        ys += list.joined().map(\.y)
      default: break
      }
    }
    if let categories { xs = [-0.6, Double(categories.count) - 0.4] }
    return (Self.range(xs, room: categories == nil ? 0.02 : 0), Self.range(ys, room: 0.06))
  }

  private static func range(_ values: [Double], room: Double) -> ClosedRange<Double> {
    let finite = values.filter(\.isFinite)
    guard let low = finite.min(), let high = finite.max() else { return 0...1 }
    let width = high - low
    let margin = width > 1e-9 * max(1, abs(high)) ? room * width : max(0.5, 0.05 * abs(high))
    return (low - margin)...(high + margin)
  }
}

/// The ticks of an axis: 1, 2 or 5 times a power of ten apart.
struct AxisTicks {
  let values: [Double]
  private let digits: Int

  init(_ range: ClosedRange<Double>, about count: Int) {
    let width = max(range.upperBound - range.lowerBound, .leastNormalMagnitude)
    let wanted = min(max(width / Double(max(1, count)), 1e-12), 1e15)
    let power = pow(10, log10(wanted).rounded(.down))
    let step = power * ([1.0, 2, 5].first { power * $0 >= wanted } ?? 10)
    digits = max(0, min(9, -Int((log10(step) + 1e-9).rounded(.down))))
    let first = (range.lowerBound / step).rounded(.up)
    let last = (range.upperBound / step).rounded(.down)
    values =
      last - first > 100 || !(last - first).isFinite
      ? [] : stride(from: first, through: last, by: 1).map { $0 * step }
  }

  func label(_ value: Double) -> String {
    guard abs(value) < 1e9 else { return "\(value)" }
    let text = fixed(value, digits)
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text
  }
}

extension Chart {
  /// A range in a chart. Values that are nil are not drawn.
  struct RangePoint {
    var peer: String
    /// The time in seconds, or the number of the row.
    var time: Double
    var measured: Double?
    var estimate: Double?
    var sigma: Double?
    var isOutlier = false
  }

  /// Returns a chart of ranges and their estimates over time, or over rows without times.
  static func ranges(_ title: String, hasTime: Bool, _ points: [RangePoint]) -> Chart {
    let start = hasTime ? points.first?.time ?? 0 : 0
    let groups = grouped(points, by: \.peer)
    let series = groups.enumerated().flatMap { index, group -> [Series] in
      // One legend is sufficient for many peers.
      let isNamed = groups.count <= 2 || index == 0
      let (colour, suffix) = (Colour.numbered(index), groups.count > 1 ? " \(group.name)" : "")
      func measured(outliers: Bool) -> [Point] {
        group.members.compactMap { point in
          point.isOutlier == outliers ? point.measured.map { (point.time - start, $0) } : nil
        }
      }
      func name(_ text: String, _ points: [Point]) -> String {
        isNamed && !points.isEmpty ? text + suffix : ""
      }
      let (inliers, outliers) = (measured(outliers: false), measured(outliers: true))
      let estimates = group.members.filter { $0.estimate != nil }
      return [
        Series(name("measured", inliers), .grey, .points, inliers),
        Series(
          isNamed ? "95 %" + suffix : "", colour,
          .band(
            estimates.compactMap { point in
              guard let middle = point.estimate, let sigma = point.sigma else { return nil }
              let half = Self.half95 * sigma
              return (point.time - start, middle - half, middle + half)
            })),
        Series(
          "range" + suffix, colour, .line, estimates.map { ($0.time - start, $0.estimate ?? .nan) }),
        Series(name("outliers", outliers), .red, .points, outliers, fits: false),
      ]
    }
    return Chart(
      title: title, x: hasTime ? "time since the first row (s)" : "row", y: "range (m)",
      series: series)
  }

  /// Returns a chart of azimuths over time, and of the residual phase of each pair.
  static func directions(
    _ pairs: [(name: String, pair: AntennaPair)],
    _ rows: [(time: Double, phases: [Double?], direction: DirectionFinder.Direction)]
  ) -> [Chart] {
    let degrees = 180 / Double.pi
    let start = rows.first?.time ?? 0
    let azimuths = rows.map { (x: $0.time - start, y: $0.direction.azimuth * degrees) }
    let band = zip(azimuths, rows).map { point, row in
      let half = half95 * row.direction.standardDeviation * degrees
      return (x: point.x, low: point.y - half, high: point.y + half)
    }
    let residuals = pairs.enumerated().map { index, pair in
      let points = rows.compactMap { row in
        row.phases[index].map { phase in
          let (azimuth, elevation) = (row.direction.azimuth, row.direction.elevation)
          let rest = phase - pair.pair.phase(azimuth: azimuth, elevation: elevation)
          return (row.time - start, (rest * degrees).remainder(dividingBy: 360))
        }
      }
      return Series(pair.name, .numbered(index), .points, points)
    }
    let time = "time since the first row (s)"
    return [
      Chart(
        title: "Azimuth", x: time, y: "azimuth (°)",
        series: [
          Series("95 %", .blue, .band(band), fits: false),
          Series("azimuth", .blue, .points, azimuths),
        ]),
      Chart(title: "Phase residuals", x: time, y: "residual (°)", series: residuals),
    ]
  }

  /// The factor from a deviation to half of the band that holds 95 of 100 values.
  private static let half95 = 1.96
  /// The factor from deviations to the ellipse that holds 95 of 100 positions in the plane.
  private static let ellipse95 = 2.4477

  /// Returns a chart of horizontal positions, with the ellipses that hold 95 of 100 positions.
  ///
  /// - Parameters:
  ///   - landmarks: the positions of named points, such as anchors.
  ///   - path: the path of the observer.
  static func tracks(
    _ title: String, _ positions: [(peer: String, position: SIMD3<Double>, covariance: Symmetric3)],
    landmarks: [(name: String, position: SIMD3<Double>)] = [], path: [SIMD3<Double>] = []
  ) -> Chart {
    func plane(_ position: SIMD3<Double>) -> Point { (position.x, position.y) }
    var series: [Series] = []
    if !path.isEmpty {
      series.append(Series("path", .grey, .line, path.map(plane)))
    }
    let groups = grouped(positions, by: \.peer)
    for (index, group) in groups.enumerated() {
      let (track, colour) = (group.members, Colour.numbered(index))
      func outlines(_ step: Int) -> Mark {
        var last: SIMD3<Double>?
        return .outlines(
          stride(from: track.count - 1, through: 0, by: -step).compactMap { index in
            let (position, covariance) = (track[index].position, track[index].covariance)
            // Ellipses around almost the same position would hide each other.
            let step = position - (last ?? SIMD3(repeating: .infinity))
            guard step.x * step.x + step.y * step.y > (covariance.xx + covariance.yy) / 2 else {
              return nil
            }
            guard let outline = ellipse(position, covariance) else { return nil }
            last = position
            return outline
          })
      }
      let isFirst = index == 0
      series += [
        // More ellipses than this would cover each other.
        Series(isFirst ? "95 %" : "", colour, outlines(max(1, track.count / 80)), fits: false),
        Series(
          "position" + (groups.count > 1 ? " \(group.name)" : ""), colour, .line,
          track.map { plane($0.position) }),
        Series("", colour, outlines(track.count)),
        Series(
          isFirst ? "last position" : "", colour, .labels([""]),
          track.suffix(1).map { plane($0.position) }),
      ]
    }
    if !landmarks.isEmpty {
      series.append(
        Series(
          "anchors", .red, .labels(landmarks.map(\.name)), landmarks.map { plane($0.position) }))
    }
    return Chart(title: title, x: "x (m)", y: "y (m)", series: series, isMap: true)
  }

  /// Returns the outline that holds 95 of 100 positions in the plane; nil if the covariance is
  /// invalid.
  static func ellipse(_ position: SIMD3<Double>, _ c: Symmetric3) -> [Point]? {
    let middle = (c.xx + c.yy) / 2
    let difference = (c.xx - c.yy) / 2
    let root = (difference * difference + c.xy * c.xy).squareRoot()
    guard middle.isFinite, middle - root >= -1e-12 * middle else { return nil }
    let long = ellipse95 * (middle + root).squareRoot()
    let short = ellipse95 * max(0, middle - root).squareRoot()
    let turn = 0.5 * atan2(c.xy, difference)
    return (0..<36).map { step in
      let angle = Double(step) * .pi / 18
      let (u, v) = (long * cos(angle), short * sin(angle))
      return (
        position.x + u * cos(turn) - v * sin(turn), position.y + u * sin(turn) + v * cos(turn)
      )
    }
  }

  /// Returns the members by name, in the order of their first appearance.
  private static func grouped<T>(
    _ list: [T], by name: (T) -> String
  ) -> [(name: String, members: [T])] {
    var indices: [String: Int] = [:]
    var groups: [(name: String, members: [T])] = []
    for member in list {
      let index = indices[name(member)] ?? groups.count
      if index == groups.count {
        indices[name(member)] = index
        groups.append((name(member), []))
      }
      groups[index].members.append(member)
    }
    return groups
  }
}
