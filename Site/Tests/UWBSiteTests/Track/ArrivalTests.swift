// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

/// Rounds of arrivals with one unknown time, in a track.
@Suite struct ArrivalTests {
  private static let places = UplinkScenario.anchors

  /// Returns the arrivals of a moment, with noise. The arrival at a late anchor is 4 m too long.
  private func arrivals(
    _ place: SIMD3<Double>, _ errors: [Double], _ noise: inout ScenarioNoise, late: Int? = nil
  ) -> Arrivals {
    let time = noise.uniform(-500, 500)
    return Arrivals(
      Self.places.indices.map { index in
        let length = (place - Self.places[index]).length
        let more = index == late ? 4.0 : 0
        return Arrivals.Entry(
          anchor: index, metres: time + length + errors[index] + more + 0.05 * noise.normal(),
          deviation: 0.05)
      })
  }

  @Test("The place of a walk has the stated deviation, with anchors off by centimetres")
  func coverage() {
    var noise = ScenarioNoise(seed: 11)
    var (one, two, all) = (0, 0, 0)
    var square = 0.0
    for _ in 0..<72 {
      let anchors = Self.places.map { TagTrack.Anchor($0) }
      // The places and the delays of anchors, and a constant error of each pair.
      let errors = Self.places.map { _ in 0.07 * noise.normal() }
      var slow = Self.places.map { _ in 0.075 * noise.normal() }
      var track = TagTrack(.person, .fixed(1.2))
      var place = SIMD3(noise.uniform(6, 14), noise.uniform(5, 10), 1.2)
      let step = SIMD3(noise.uniform(-0.05, 0.05), noise.uniform(-0.05, 0.05), 0)
      for number in 0..<60 {
        place += step
        for index in slow.indices {
          slow[index] += -slow[index] * 0.05 + 0.075 * 0.312 * noise.normal()
        }
        let own = zip(errors, slow).map { $0 + $1 }
        let late = noise.uniform() < 0.3 ? Int(noise.uniform(0, 8)) : nil
        _ = track.add(
          arrivals(place, own, &noise, late: late), at: Double(number) / 10, anchors)
        guard number % 20 == 19, let found = track.answer().place else { continue }
        let error = found.position - place
        for (off, variance) in [(error.x, found.spread.xx), (error.y, found.spread.yy)] {
          all += 1
          one += off * off < variance ? 1 : 0
          two += off * off < 4 * variance ? 1 : 0
          square += off * off
        }
      }
    }
    let rms = (square / Double(max(1, all))).squareRoot()
    #expect(all > 400 && rms < 0.12, "\(all) \(rms)")
    #expect(0.60...0.80 ~= Double(one) / Double(all), "\(one) of \(all)")
    #expect(0.90...0.99 ~= Double(two) / Double(all), "\(two) of \(all)")
  }

  @Test("A round that arrives twice is repeated, a single arrival is unusable, and an old one late")
  func refusals() {
    var noise = ScenarioNoise(seed: 1)
    let anchors = Self.places.map { TagTrack.Anchor($0) }
    var track = TagTrack(.person, .fixed(1.2))
    let none = Self.places.map { _ in 0.0 }
    let first = arrivals([8, 6, 1.2], none, &noise)
    func kinds(_ arrivals: Arrivals, _ time: Double) -> Set<TagTrack.Reception.Kind> {
      Set(track.add(arrivals, at: time, anchors).map(\.kind))
    }
    #expect(kinds(first, 0) == [.waiting])
    #expect(kinds(first, 0) == [.repeated])
    #expect(kinds(Arrivals([first.entries[0]]), 0.1) == [.unusable])
    #expect(
      kinds(Arrivals(first.entries + [.init(anchor: 99, metres: 0, deviation: 1)]), 1)
        == [.unusable])
    for number in 1..<20 {
      _ = track.add(arrivals([8, 6, 1.2], none, &noise), at: Double(number) / 10, anchors)
    }
    #expect(kinds(first, 0) == [.late])
    #expect(track.isTracking)
  }

  @Test(
    "An arrival that is late by metres is rejected, whichever anchor it is of", arguments: 0..<8)
  func lateArrival(_ late: Int) throws {
    var noise = ScenarioNoise(seed: UInt64(late))
    let anchors = Self.places.map { TagTrack.Anchor($0) }
    var track = TagTrack(.person, .fixed(1.2))
    let none = Self.places.map { _ in 0.0 }
    for number in 0..<30 {
      _ = track.add(arrivals([8, 6, 1.2], none, &noise), at: Double(number) / 10, anchors)
    }
    let found = track.add(arrivals([8, 6, 1.2], none, &noise, late: late), at: 3, anchors)
    #expect(found.map(\.kind) == (0..<8).map { $0 == late ? .rejected : .used })
    let error = try track.place().position - [8, 6, 1.2]
    #expect(found[late].residual > 3 && error.length < 0.1)
  }

  @Test("The error of an anchor is learned, so that the place of a walk keeps within centimetres")
  func learnedError() throws {
    var noise = ScenarioNoise(seed: 21)
    let anchors = Self.places.map { TagTrack.Anchor($0) }
    var track = TagTrack(.person, .fixed(1.2))
    let errors = Self.places.indices.map { $0 == 3 ? 0.2 : 0 }
    var (first, last, off) = ([Double](), [Double](), [Double]())
    for number in 0..<600 {
      let time = Double(number) / 10
      let place = SIMD3(10 + 5 * Math.cos(time / 6), 7.5 + 4 * Math.sin(time / 6), 1.2)
      let found = track.add(arrivals(place, errors, &noise), at: time, anchors)
      guard track.isTracking else { continue }
      let normalised = found[3].normalised
      if first.count < 50 { first.append(normalised) }
      guard time >= 40 else { continue }
      last.append(normalised)
      off.append((try track.place().position - place).length)
    }
    func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
    #expect(last.count == 200 && first.count == 50)
    #expect(mean(off) < 0.05, "\(mean(off))")
    #expect(mean(last) < mean(first), "\(mean(first)), then \(mean(last))")
  }
}
