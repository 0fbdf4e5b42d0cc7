// SPDX-License-Identifier: Apache-2.0

import UWBSite

@testable import SiteServer

/// A hall of 10 × 8 m with four anchors, a tag, a zone and a door.
struct SiteScene {
  static let anchors: [SIMD3<Double>] = [[0, 0, 2.5], [10, 0, 3], [10, 8, 2.5], [0, 8, 3]]

  static let text = """
    {"version": 1, "gauge": {"kind": "measured"},
     "anchors": [
       {"id": "A0", "addresses": ["0x0a00"], "position_m": [0, 0, 2.5], "position_sd_m": [0, 0, 0]},
       {"id": "A1", "position_m": [10, 0, 3], "position_sd_m": [0, 0, 0]},
       {"id": "A2", "position_m": [10, 8, 2.5], "position_sd_m": [0, 0, 0]},
       {"id": "A3", "position_m": [0, 8, 3], "position_sd_m": [0, 0, 0]}],
     "tags": [{"id": "T", "addresses": ["0x0b00"], "height_m": 1},
       {"id": "U", "height_m": 1}],
     "zones": [{"id": "dock", "polygon_m": [[5, 1], [9.5, 1], [9.5, 7], [5, 7]]}]}
    """

  let site: Site

  init(_ text: String = Self.text) throws { site = try Site(json: Array(text.utf8)) }

  /// Returns exact ranges of a tag at a place.
  static func round(
    at time: Double, _ place: SIMD3<Double>, tag: String = "T"
  ) -> [SourceItem] {
    anchors.enumerated().map { index, anchor in
      .measurement(range(at: time, tag, "A\(index)", place - anchor))
    }
  }

  static func range(
    at time: Double, _ tag: String, _ anchor: String, _ arm: SIMD3<Double>
  ) -> RangeLine {
    let length = (arm * arm).sum().squareRoot()
    let fields: [String: RangeLine.Field] = [
      "t": .number(time), "tag": .text(tag), "anchor": .text(anchor),
      "distance_m": .number(length), "sd_m": .number(0.05),
    ]
    guard let line = try? RangeLine(device: nil, { fields[$0] }) else { preconditionFailure() }
    return line
  }
}

/// A sink that keeps everything.
final class Collector: SiteSink {
  private(set) var run: SiteRun?
  private(set) var events: [SiteEvent] = []
  private(set) var measurements: [SiteMeasurement] = []
  private(set) var counters: SiteCounters?

  func begin(_ run: SiteRun) { self.run = run }
  func change(_ run: SiteRun) { self.run = run }

  func receive(_ batch: SiteBatch) {
    events += batch.events
    measurements += batch.measurements
  }

  func finish(_ counters: SiteCounters) { self.counters = counters }

  var places: [TagPlace] {
    events.compactMap { if case .place(_, let place, _) = $0.kind { place } else { nil } }
  }

  var zones: [ZoneChange] {
    events.compactMap { if case .zone(let change) = $0.kind { change } else { nil } }
  }
}
