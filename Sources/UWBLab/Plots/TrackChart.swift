// SPDX-License-Identifier: Apache-2.0

import Glibc
import Ranging

/// Positions seen from above, with their covariances as ellipses of two standard deviations.
struct TrackChart {
  private let title: String
  private var peers: [String] = []
  private var tracks: [String: [(position: Vector3, covariance: Symmetric3)]] = [:]
  /// Points with names, such as anchors.
  var landmarks: [(name: String, position: Vector3)] = []
  /// The path of the observer.
  var path: [Vector3] = []

  init(_ title: String) { self.title = title }

  mutating func add(peer: String, _ position: Vector3, _ covariance: Symmetric3) {
    if tracks[peer] == nil { peers.append(peer) }
    tracks[peer, default: []].append((position, covariance))
  }

  /// More ellipses than this hide each other.
  private static let mostEllipses = 80

  var chart: Chart {
    var series: [Chart.Series] = []
    if !path.isEmpty {
      series.append(
        Chart.Series(name: "path", colour: .grey, mark: .line, points: path.map { ($0.x, $0.y) }))
    }
    for (index, peer) in peers.enumerated() {
      let track = tracks[peer] ?? []
      let colour = Chart.Colour.numbered(index)
      let step = max(1, track.count / Self.mostEllipses)
      let ellipses = stride(from: 0, to: track.count, by: step).compactMap {
        Self.ellipse(track[$0].position, track[$0].covariance)
      }
      let suffix = peers.count > 1 ? " \(peer)" : ""
      let isFirst = index == 0
      series.append(
        Chart.Series(
          name: isFirst ? "2 σ" : "", colour: colour, mark: .outlines(ellipses), fits: false))
      series.append(
        Chart.Series(
          name: "position" + suffix, colour: colour, mark: .line,
          points: track.map { ($0.position.x, $0.position.y) }))
      if let last = track.last {
        let outline = Self.ellipse(last.position, last.covariance).map { [$0] } ?? []
        series.append(Chart.Series(name: "", colour: colour, mark: .outlines(outline)))
        series.append(
          Chart.Series(
            name: isFirst ? "last position" : "", colour: colour, mark: .labels([""]),
            points: [(last.position.x, last.position.y)]))
      }
    }
    if !landmarks.isEmpty {
      series.append(
        Chart.Series(
          name: "anchors", colour: .red, mark: .labels(landmarks.map(\.name)),
          points: landmarks.map { ($0.position.x, $0.position.y) }))
    }
    return Chart(title: title, x: "x (m)", y: "y (m)", series: series, isMap: true)
  }

  /// The outline of two standard deviations in the plane; nil when the covariance is none.
  static func ellipse(_ position: Vector3, _ c: Symmetric3) -> [Chart.Point]? {
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
}
