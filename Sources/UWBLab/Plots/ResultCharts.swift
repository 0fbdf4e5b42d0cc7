// SPDX-License-Identifier: Apache-2.0

import Glibc
import Ranging

extension Chart {
  /// A range in a chart; what is nil is not drawn.
  struct RangePoint {
    var peer: String
    /// Seconds, or the number of the row.
    var time: Double
    var measured: Double?
    var estimate: Double?
    var sigma: Double?
    var isOutlier = false
  }

  /// Ranges over time, or over the row where there are no times, with their estimates.
  static func ranges(_ title: String, hasTime: Bool, _ points: [RangePoint]) -> Chart {
    let start = hasTime ? points.first?.time ?? 0 : 0
    let groups = grouped(points, by: \.peer)
    let series = groups.enumerated().flatMap { index, group -> [Series] in
      // With many peers, one legend is enough.
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
        Series(
          name: name("measured", inliers), colour: .grey, mark: .points, points: inliers),
        Series(
          name: isNamed ? "± 2 σ" + suffix : "", colour: colour,
          mark: .band(
            estimates.compactMap { point in
              guard let middle = point.estimate, let sigma = point.sigma else { return nil }
              return (point.time - start, middle - 2 * sigma, middle + 2 * sigma)
            })),
        Series(
          name: "range" + suffix, colour: colour, mark: .line,
          points: estimates.map { ($0.time - start, $0.estimate ?? .nan) }),
        Series(
          name: name("outliers", outliers), colour: .red, mark: .points, points: outliers,
          fits: false),
      ]
    }
    return Chart(
      title: title, x: hasTime ? "time since the first row (s)" : "row", y: "range (m)",
      series: series)
  }

  /// Azimuths over time, and the residual phase of each pair.
  static func directions(
    _ pairs: [(name: String, pair: AntennaPair)],
    _ rows: [(time: Double, phases: [Double?], direction: DirectionFinder.Direction)]
  ) -> [Chart] {
    let degrees = 180 / Double.pi
    let start = rows.first?.time ?? 0
    let azimuths = rows.map { (x: $0.time - start, y: $0.direction.azimuth * degrees) }
    let band = zip(azimuths, rows).map { point, row in
      let sigma = row.direction.standardDeviation * degrees
      return (x: point.x, low: point.y - 2 * sigma, high: point.y + 2 * sigma)
    }
    let residuals = pairs.enumerated().map { index, pair in
      Series(
        name: pair.name, colour: .numbered(index), mark: .points,
        points: rows.compactMap { row in
          row.phases[index].map { phase in
            let (azimuth, elevation) = (row.direction.azimuth, row.direction.elevation)
            let rest = phase - pair.pair.phase(azimuth: azimuth, elevation: elevation)
            return (row.time - start, (rest * degrees).remainder(dividingBy: 360))
          }
        })
    }
    let time = "time since the first row (s)"
    return [
      Chart(
        title: "Azimuth", x: time, y: "azimuth (°)",
        series: [
          Series(name: "± 2 σ", colour: .blue, mark: .band(band), fits: false),
          Series(name: "azimuth", colour: .blue, mark: .points, points: azimuths),
        ]),
      Chart(title: "Phase residuals", x: time, y: "residual (°)", series: residuals),
    ]
  }

  /// Positions seen from above, with ellipses of two standard deviations.
  ///
  /// - Parameters:
  ///   - landmarks: points with names, such as anchors.
  ///   - path: of the observer.
  static func tracks(
    _ title: String, _ positions: [(peer: String, position: SIMD3<Double>, covariance: Symmetric3)],
    landmarks: [(name: String, position: SIMD3<Double>)] = [], path: [SIMD3<Double>] = []
  ) -> Chart {
    func plane(_ position: SIMD3<Double>) -> Point { (position.x, position.y) }
    var series: [Series] = []
    if !path.isEmpty {
      series.append(Series(name: "path", colour: .grey, mark: .line, points: path.map(plane)))
    }
    let groups = grouped(positions, by: \.peer)
    for (index, group) in groups.enumerated() {
      let (track, colour) = (group.members, Colour.numbered(index))
      func outlines(_ step: Int) -> Mark {
        .outlines(
          stride(from: track.count - 1, through: 0, by: -step).compactMap {
            ellipse(track[$0].position, track[$0].covariance)
          })
      }
      let isFirst = index == 0
      series += [
        // More ellipses would hide each other.
        Series(
          name: isFirst ? "2 σ" : "", colour: colour, mark: outlines(max(1, track.count / 80)),
          fits: false),
        Series(
          name: "position" + (groups.count > 1 ? " \(group.name)" : ""), colour: colour,
          mark: .line, points: track.map { plane($0.position) }),
        Series(name: "", colour: colour, mark: outlines(track.count)),
        Series(
          name: isFirst ? "last position" : "", colour: colour, mark: .labels([""]),
          points: track.suffix(1).map { plane($0.position) }),
      ]
    }
    if !landmarks.isEmpty {
      series.append(
        Series(
          name: "anchors", colour: .red, mark: .labels(landmarks.map(\.name)),
          points: landmarks.map { plane($0.position) }))
    }
    return Chart(title: title, x: "x (m)", y: "y (m)", series: series, isMap: true)
  }

  /// The outline of two standard deviations in the plane; nil for an invalid covariance.
  static func ellipse(_ position: SIMD3<Double>, _ c: Symmetric3) -> [Point]? {
    let middle = (c.xx + c.yy) / 2
    let difference = (c.xx - c.yy) / 2
    let root = (difference * difference + c.xy * c.xy).squareRoot()
    guard middle.isFinite, middle - root >= -1e-12 * middle else { return nil }
    let long = 2 * (middle + root).squareRoot()
    let short = 2 * max(0, middle - root).squareRoot()
    let turn = 0.5 * atan2(c.xy, difference)
    return (0..<36).map { step in
      let angle = Double(step) * .pi / 18
      let (u, v) = (long * cos(angle), short * sin(angle))
      return (
        position.x + u * cos(turn) - v * sin(turn), position.y + u * sin(turn) + v * cos(turn)
      )
    }
  }

  /// Members by name, in the order of their first appearance.
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
