// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

/// Four anchors in the corners of a hall, and ranges with errors from a seed.
struct TrackScene {
  static let corners: [SIMD3<Double>] = [[0, 0, 2.5], [10, 0, 3], [10, 8, 2.5], [0, 8, 3]]

  var anchors = corners.map { TagTrack.Anchor($0) }
  /// One standard deviation of the noise in metres.
  var noise = 0.03
  private var state: UInt64 = 1

  init() {}

  init(_ places: [SIMD3<Double>]) { anchors = places.map { TagTrack.Anchor($0) } }

  /// A number from -1.7 to 1.7 whose variance is 1.
  mutating func random() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (Double(state >> 11) * 0x1p-53 - 0.5) * 12.0.squareRoot()
  }

  /// Returns the ranges of a round.
  mutating func round(_ time: Double, at place: SIMD3<Double>) -> [TagMeasurement] {
    anchors.indices.map { index in
      let range = (place - anchors[index].position).length + noise * random()
      return TagMeasurement(time: time, .range(anchor: index), range, deviation: 0.1)
    }
  }

  /// Adds rounds at 10 Hz to a track.
  ///
  /// - Returns: the time of the last one.
  @discardableResult
  mutating func follow(
    _ track: inout TagTrack, from start: Double = 0, rounds: Int,
    _ place: (Double) -> SIMD3<Double>
  ) -> Double {
    var time = start
    for number in 0..<rounds {
      time = start + Double(number) / 10
      for one in round(time, at: place(time)) { _ = track.add(one, anchors) }
    }
    return time
  }

  var engine: Engine {
    Engine(
      tags: [
        Engine.Tag("one", addresses: ["0x0102"], height: .fixed(1)),
        Engine.Tag("two", addresses: ["0x0103"], height: .fixed(1)),
      ],
      anchors: anchors.enumerated().map { Engine.Anchor("A\($0)", addresses: ["0x0a0\($0)"], $1) })
  }
}

extension TagTrack.Answer {
  var place: TagPlace? {
    guard case .place(let place) = self else { return nil }
    return place
  }
}

extension TagTrack {
  /// Returns the place; the test fails without one.
  mutating func place() throws -> TagPlace {
    let answer = answer()
    return try #require(answer.place, "\(answer)")
  }
}
