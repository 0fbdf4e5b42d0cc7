// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing
import UWBSimulator

@testable import NearbyInteraction

/// Places by messages of anchors whose clocks and noise are drawn from a seed.
@Suite struct AnchorPlacesTests {
  /// A cluster of anchors with clocks of their own, and a tag.
  private struct Cluster {
    static let room: [SIMD3<Double>] = [
      SIMD3(0, 0, 2.5), SIMD3(8, 0, 2.2), SIMD3(8, 6, 0.5), SIMD3(0, 6, 2.4), SIMD3(4, 3, 0.2),
    ]
    let anchors: [SIMD3<Double>]
    var isCommonTimeBase = false
    var hasFinal = true
    var hasFlight = true
    /// Anchors whose response is late by metres.
    var late: (index: Int, metres: Double)?
    /// One standard deviation of a stamp in seconds.
    var noise = 100e-12
    /// One standard deviation of each coordinate of an anchor in metres.
    var wrong = 0.0
    /// Converts metres to the coordinates in the messages.
    var coordinates: (SIMD3<Double>) -> (NIDLTDOACoordinatesType, SIMD3<Double>)? = {
      (.relative, $0)
    }
    var random: RandomSource
    private var rates: [Double] = []
    private var origins: [Double] = []

    init(seed: UInt64, anchors: [SIMD3<Double>] = Cluster.room) {
      (self.anchors, random) = (anchors, RandomSource(seed: seed))
      // The last rate is the rate of the tag.
      rates = (0...anchors.count).map { _ in 10e-6 * random.normal() }
      origins = (0...anchors.count).map { _ in 17 * random.uniform() }
    }

    private func ticks(_ clock: Int, _ time: Double) -> Double {
      (time * (1 + rates[clock]) + origins[clock]) * DeviceTick.perSecond
    }

    private func flight(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
      (a - b).length / SpeedOfLight.inAir
    }

    /// Returns the messages of a block.
    mutating func messages(_ block: Int, at tag: SIMD3<Double>) -> [NIDLTDOAMeasurement] {
      let start = 0.2 * Double(block)
      let places = anchors.map { place in
        place + wrong * SIMD3(random.normal(), random.normal(), random.normal())
      }
      var order = Array(anchors.indices)
      if hasFinal { order.append(0) }
      return order.enumerated().map { slot, index in
        let sent = start + 2e-3 * Double(slot)
        let isPoll = slot == 0
        let kind: NIDLTDOAMeasurementType =
          isPoll ? .poll : slot == anchors.count ? .final : .response
        let excess = late.map { $0.index == index && kind == .response ? $0.metres : 0 } ?? 0
        let arrival =
          sent + flight(places[index], tag) + noise * random.normal()
          + excess / SpeedOfLight.inAir
        let clock = isCommonTimeBase ? 0 : index
        var values = NIDLTDOAMeasurement.Values(
          address: index, clusterInitiatorAddress: 0, type: kind.rawValue,
          rawTransmitTime: Int64(ticks(clock, sent).rounded()),
          rawReceiveTime: Int64(ticks(anchors.count, arrival).rounded()), signalStrength: -80,
          carrierFrequencyOffset: rates[index] - rates[anchors.count] + 0.05e-6 * random.normal(),
          block: block, round: 0)
        if let place = coordinates(anchors[index]) {
          (values.coordinatesType, values.coordinates) = (place.0.rawValue, place.1)
        }
        values.isCommonTimeBase = isCommonTimeBase
        if kind == .response {
          let polled = start + flight(places[0], places[index]) + noise * random.normal()
          values.responderReply = UInt32((ticks(index, sent) - ticks(index, polled)).rounded())
          if hasFinal {
            let back = sent + flight(places[0], places[index]) + noise * random.normal()
            let last = start + 2e-3 * Double(anchors.count)
            values.initiatorReply = UInt32((ticks(0, last) - ticks(0, back)).rounded())
          }
          let flight = flight(anchors[0], anchors[index])
          values.anchorFlight = hasFlight ? UInt16(flight * DeviceTick.perSecond) : 0
        }
        return NIDLTDOAMeasurement(values)
      }
    }
  }

  private func places(
    _ cluster: inout Cluster, _ places: inout NIAnchorPlaces, at tag: SIMD3<Double>, blocks: Int
  ) -> [NIAnchorPlaces.Result] {
    (1...blocks).flatMap { places.update(cluster.messages($0, at: tag)) }
  }

  private static let tag = SIMD3(3.0, 2, 1.1)

  private func place(_ result: NIAnchorPlaces.Result?) throws -> NIAnchorPlaces.Place {
    guard case .place(let place)? = result else {
      Issue.record("\(String(describing: result))")
      throw CancellationError()
    }
    return place
  }

  @Test(
    "Clocks of their own or a common one, with or without finals and times of flight",
    arguments: [false, true], [(true, true), (true, false), (false, true), (false, false)])
  func timeBases(isCommon: Bool, form: (Bool, Bool)) throws {
    var cluster = Cluster(seed: 1)
    (cluster.isCommonTimeBase, cluster.hasFinal, cluster.hasFlight) = (isCommon, form.0, form.1)
    var follower = NIAnchorPlaces(height: 1.2)
    let results = places(&cluster, &follower, at: Self.tag, blocks: 6)
    // Without a final message, a round is complete when the next round begins.
    #expect(results.count == (form.0 ? 6 : 5))
    let last = try place(results.last)
    let error = last.position - Self.tag
    #expect(SIMD2(error.x, error.y).flatLength < 0.12, "\(last)")
    #expect(last.coordinatesType == .relative && last.anchorCount == 5 && last.roundIndex == 0)
    #expect(last.blockIndex == results.count)
    #expect(last.radius95 > 0.05 && last.radius95 < 0.6 && last.heightDeviation < 0.5)
  }

  @Test("Errors are within the circle of 95 % in 90 to 99.5 % of all rounds")
  func radius() throws {
    var (inside, count) = (0, 0)
    for seed in UInt64(1)...100 {
      var cluster = Cluster(seed: seed)
      cluster.wrong = 0.075
      let tag = SIMD3(
        0.5 + 7 * cluster.random.uniform(), 0.5 + 5 * cluster.random.uniform(), 1.1)
      var follower = NIAnchorPlaces(height: 1.2, heightDeviation: 0.3)
      for result in places(&cluster, &follower, at: tag, blocks: 4) {
        guard case .place(let place) = result else { continue }
        let error = place.position - tag
        inside += SIMD2(error.x, error.y).flatLength <= place.radius95 ? 1 : 0
        count += 1
      }
    }
    #expect(count > 380)
    #expect(Double(inside) / Double(count) > 0.9 && Double(inside) / Double(count) < 0.995)
  }

  @Test("Geodetic anchors lead to geodetic places")
  func geodetic() throws {
    var cluster = Cluster(seed: 2)
    let frame = AnchorFrame(.geodetic, at: SIMD3(52.5, 179.99999, 34))
    cluster.coordinates = { (.geodetic, frame.coordinates($0)) }
    var follower = NIAnchorPlaces(height: 35.2)
    let last = try place(places(&cluster, &follower, at: Self.tag, blocks: 5).last)
    #expect(last.coordinatesType == .geodetic)
    let error = frame.metres(last.position) - Self.tag
    #expect(SIMD2(error.x, error.y).flatLength < 0.12, "\(last)")
  }

  @Test("Degrees have the published lengths on the ellipsoid")
  func lengthsOfDegrees() {
    // The lengths in metres of a degree of latitude and longitude on WGS-84, from tables of
    // geodesy.
    for (latitude, north, east) in [
      (0.0, 110_574.0, 111_320.0), (45, 111_132, 78_847), (60, 111_412, 55_800),
    ] {
      let frame = AnchorFrame(.geodetic, at: SIMD3(latitude, 10, 0))
      let metres = frame.metres(SIMD3(latitude + 1, 11, 7))
      #expect(abs(metres.y - north) < 1 && abs(metres.x - east) < 1 && metres.z == 7)
      #expect(abs(frame.coordinates(metres).x - latitude - 1) < 1e-9)
    }
  }

  @Test("A late response moves the place little, because the others outvote it")
  func lateResponse() throws {
    var cluster = Cluster(seed: 3, anchors: Cluster.room + [SIMD3(4, 0, 2.4), SIMD3(4, 6, 2.3)])
    cluster.late = (2, 3)
    var follower = NIAnchorPlaces(height: 1.2)
    let last = try place(places(&cluster, &follower, at: Self.tag, blocks: 5).last)
    let error = last.position - Self.tag
    #expect(SIMD2(error.x, error.y).flatLength < 0.3, "\(last)")
  }

  @Test("Too few anchors, and anchors without places, lead to no place")
  func fewAnchors() {
    var cluster = Cluster(seed: 4)
    var follower = NIAnchorPlaces()
    let messages = cluster.messages(1, at: Self.tag)
    let four = follower.update(messages.filter { $0.address != 4 })
    let withoutPoll = follower.update(messages.filter { $0.measurementType != .poll })
    cluster.coordinates = { _ in nil }
    follower = NIAnchorPlaces(height: 1.2)
    let withoutPlaces = follower.update(cluster.messages(2, at: Self.tag))
    for results in [four, withoutPoll, withoutPlaces] {
      #expect(results == [.refused(.fewAnchors)])
    }
    let none = follower.update([])
    #expect(none.isEmpty)
  }

  @Test("Anchors in one plane have two places, unless a height decides")
  func mirrorImage() throws {
    let ceiling = [
      SIMD3(0, 0, 2.5), SIMD3(8, 0, 2.5), SIMD3(8, 6, 2.5), SIMD3(0, 6, 2.5), SIMD3(4, 3, 2.5),
    ]
    var cluster = Cluster(seed: 5, anchors: ceiling)
    var follower = NIAnchorPlaces()
    let results = places(&cluster, &follower, at: Self.tag, blocks: 3)
    #expect(results.last == .refused(.ambiguous))
    follower = NIAnchorPlaces(height: 1.2)
    let last = try place(places(&cluster, &follower, at: Self.tag, blocks: 3).last)
    #expect((last.position - Self.tag).length < 0.5)
  }

  @Test("A place far outside of the anchors is refused")
  func outside() {
    var cluster = Cluster(seed: 6)
    var follower = NIAnchorPlaces(height: 1.2)
    let results = places(&cluster, &follower, at: SIMD3(60, 40, 1.2), blocks: 4)
    #expect(results.count == 4)
    for result in results {
      if case .place(let place) = result { Issue.record("\(place)") }
    }
  }

  @Test("Archives of earlier versions lack reply times, and lead to no difference")
  func earlierArchives() {
    var cluster = Cluster(seed: 7)
    var follower = NIAnchorPlaces(height: 1.2)
    let stripped = cluster.messages(1, at: Self.tag).map { message in
      var values = message.values
      (values.isCommonTimeBase, values.responderReply, values.anchorFlight) = (nil, nil, nil)
      return NIDLTDOAMeasurement(values)
    }
    let results = follower.update(stripped)
    #expect(results == [.refused(.fewAnchors)])
  }

  @Test("Any addresses, types and times end in results of bounded number")
  func anyMessages() {
    var random = RandomSource(seed: 8)
    var follower = NIAnchorPlaces()
    var results = 0
    for _ in 0..<5_000 {
      var values = NIDLTDOAMeasurement.Values(
        address: Int(random.next() >> 48), type: Int(random.next() % 3),
        rawTransmitTime: Int64(bitPattern: random.next()),
        rawReceiveTime: Int64(bitPattern: random.next()), signalStrength: 0,
        carrierFrequencyOffset: 1e-3 * random.normal(), block: Int(random.next() % 2), round: 0)
      let places: [SIMD3<Double>] = [
        SIMD3(1e300, -.infinity, .nan), SIMD3(random.normal(), 1e9, 0), SIMD3(90, 0, 1),
      ]
      values.coordinates = places[Int(random.next() % 3)]
      values.coordinatesType = Int(random.next() % 2)
      values.responderReply = UInt32(truncatingIfNeeded: random.next())
      values.isCommonTimeBase = random.next() % 2 == 0
      results += follower.update([NIDLTDOAMeasurement(values)]).count
    }
    #expect(results > 0 && results <= 10_000)
  }
}

extension SIMD2<Double> {
  fileprivate var flatLength: Double { (x * x + y * y).squareRoot() }
}
