// SPDX-License-Identifier: Apache-2.0

/// Ranges over time: what was measured, what was made of it, and what was not believed.
struct RangeChart {
  private struct Track {
    var measured: [Chart.Point] = []
    var outliers: [Chart.Point] = []
    var estimates: [Chart.Point] = []
    var band: [(x: Double, low: Double, high: Double)] = []
  }

  private let title: String
  private let hasTime: Bool
  private var start: Double?
  private var peers: [String] = []
  private var tracks: [String: Track] = [:]

  /// - Parameter hasTime: whether x is seconds; otherwise it is the number of the row.
  init(_ title: String, hasTime: Bool) {
    self.title = title
    self.hasTime = hasTime
  }

  /// Adds a row. What is nil is not drawn.
  mutating func add(
    peer: String, time: Double, measured: Double? = nil, estimate: Double?, sigma: Double?,
    isOutlier: Bool = false
  ) {
    let start = start ?? (hasTime ? time : 0)
    self.start = start
    if tracks[peer] == nil { peers.append(peer) }
    var track = tracks[peer] ?? Track()
    // Taken out for a moment, so that its arrays are not copied.
    tracks[peer] = Track()
    let x = time - start
    if let measured {
      if isOutlier {
        track.outliers.append((x, measured))
      } else {
        track.measured.append((x, measured))
      }
    }
    if let estimate {
      track.estimates.append((x, estimate))
      if let sigma { track.band.append((x, estimate - 2 * sigma, estimate + 2 * sigma)) }
    }
    tracks[peer] = track
  }

  var chart: Chart {
    var series: [Chart.Series] = []
    for (index, peer) in peers.enumerated() {
      guard let track = tracks[peer] else { continue }
      let colour = Chart.Colour.numbered(index)
      let suffix = peers.count > 1 ? " \(peer)" : ""
      series.append(
        Chart.Series(
          name: track.measured.isEmpty ? "" : "measured" + suffix, colour: .grey, mark: .points,
          points: track.measured))
      series.append(
        Chart.Series(name: "± 2 σ" + suffix, colour: colour, mark: .band(track.band)))
      series.append(
        Chart.Series(
          name: "range" + suffix, colour: colour, mark: .line, points: track.estimates))
      series.append(
        Chart.Series(
          name: track.outliers.isEmpty ? "" : "outliers" + suffix, colour: .red, mark: .points,
          points: track.outliers, fits: false))
    }
    // With many peers, one legend is enough.
    if peers.count > 2 {
      for index in series.indices where index >= 4 {
        switch series[index].mark {
        case .line: break
        default: series[index].name = ""
        }
      }
    }
    return Chart(
      title: title, x: hasTime ? "time since the first row (s)" : "row", y: "range (m)",
      series: series)
  }
}
