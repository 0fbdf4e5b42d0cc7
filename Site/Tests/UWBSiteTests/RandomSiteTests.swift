// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

/// Random sites without problems.
struct RandomSites {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func number(_ range: ClosedRange<Double>) -> Double {
    .random(in: range, using: &random)
  }

  mutating func isChosen() -> Bool { Bool.random(using: &random) }

  mutating func text(_ prefix: String, _ index: Int) -> String {
    let marks = ["", " & co", " \"x\"", "\\", "é", "😀", "\n", "<b>"]
    return "\(prefix)\(index)\(marks.randomElement(using: &random) ?? "")"
  }

  mutating func place() -> Site.Place {
    var place = Site.Place(
      position: SIMD3(number(-100...100), number(-100...100), number(0...10)),
      deviation: SIMD3(number(0...1), number(0...1), number(0...1)))
    if isChosen() { place.correlationXY = number(-1...1) }
    return place
  }

  mutating func anchor(_ index: Int, floors: [String]) -> Site.Anchor {
    var anchor = Site.Anchor(id: text("A", index))
    anchor.addresses = [Address(UInt16(index))]
    if isChosen() { anchor.place = place() } else { anchor.height = number(0...5) }
    anchor.floor = floors.randomElement(using: &random)
    anchor.delay = number(-1...1)
    anchor.delayDeviation = number(0...1)
    if isChosen() { anchor.heightDeviation = number(0...1) }
    if isChosen() { anchor.service = "/run/uwbd" }
    if isChosen() { anchor.chip = "chip" } else { anchor.profile = "profile.json" }
    return anchor
  }

  mutating func tag(_ index: Int) -> Site.Tag {
    var tag = Site.Tag(id: text("t", index))
    if isChosen() { tag.label = text("Tag ", index) }
    tag.addresses = [Address(extended: UInt64(index) << 40)]
    tag.carrier = Site.Tag.Carrier.allCases.randomElement(using: &random) ?? .person
    let least = number(0...2)
    tag.height =
      [.free, .known(least), .range(least...least + 1)].randomElement(using: &random) ?? .free
    return tag
  }

  mutating func zone(_ index: Int, floors: [String]) -> Site.Zone {
    let center = SIMD2(number(-50...50), number(-50...50))
    let radius = number(0.1...20)
    let corners = (0..<5).map { number in
      let angle = Double(number) * 2 * .pi / 5
      return center + radius * SIMD2(Math.cos(angle), Math.sin(angle))
    }
    var zone = Site.Zone(
      id: text("z", index),
      shape: isChosen() ? .polygon(corners) : .circle(center: center, radius: radius))
    zone.floor = floors.randomElement(using: &random)
    if isChosen() { zone.margin = number(0...1) }
    if floors.count > 1 && isChosen() { zone.connectedFloors = floors }
    return zone
  }

  mutating func gauge(_ anchors: [String]) -> Site.Gauge {
    var gauge = Site.Gauge()
    gauge.kind = Site.Gauge.Kind.allCases.randomElement(using: &random) ?? .shape
    gauge.anchors = Array(anchors.prefix(2))
    gauge.isMirrored = isChosen()
    if gauge.kind == .wgs84 || isChosen() {
      gauge.origin = .init(
        latitude: number(-90...90), longitude: number(-180...180), height: number(0...100),
        heading: number(0...360))
    }
    return gauge
  }

  mutating func site() -> Site {
    var site = Site(name: text("Site ", 0))
    let floors = (0..<Int.random(in: 0...3, using: &random)).map { text("floor ", $0) }
    site.floors = floors.enumerated().map {
      Site.Floor(id: $1, label: isChosen() ? "F" : nil, height: 3.5 * Double($0))
    }
    site.anchors = (0..<5).map { anchor($0, floors: floors) }
    site.gauge = gauge(site.anchors.map(\.id))
    site.tags = (0..<4).map { tag($0) }
    site.zones = (0..<3).map { zone($0, floors: floors) }
    site.doors = [
      Site.Door(
        id: "door", floor: floors.first, ends: [SIMD2(0, 0), SIMD2(number(1...2), 0)],
        insideAnchor: site.anchors[0].id, outsideAnchor: site.anchors[1].id)
    ]
    site.plans = [
      Site.FloorPlan(
        image: "plan.png", floor: floors.last, origin: SIMD2(number(-9...9), number(-9...9)),
        metresPerPixel: number(0.001...1), rotation: number(-180...180))
    ]
    return site
  }
}

@Suite("Random sites")
struct RandomSiteTests {
  @Test("each is written and read as the same value")
  func roundTrip() throws {
    var sites = RandomSites(seed: 1)
    for _ in 0..<60 {
      let site = sites.site()
      #expect(try Site(json: Array(site.json.utf8)) == site)
    }
  }

  @Test("each has a drawing with finite numbers and closed elements")
  func drawing() {
    var sites = RandomSites(seed: 2)
    for _ in 0..<20 {
      let site = sites.site()
      let svg = SitePlot(site).svg
      #expect(!svg.contains("nan") && !svg.contains("inf"))
      let opened = svg.split(separator: "<").count { !$0.hasPrefix("/") }
      let closed = svg.split(separator: "</").count - 1 + svg.split(separator: "/>").count - 1
      #expect(opened == closed)
      #expect(svg.split(separator: ">x (m)<").count - 1 == max(1, site.floors.count))
    }
  }

  @Test("a wrong member in any object is named with its whole path")
  func wrongMember() throws {
    var sites = RandomSites(seed: 3)
    for _ in 0..<20 {
      let site = sites.site()
      let lists = ["anchors", "tags", "zones", "doors"]
      for list in lists {
        let marked = site.json.replacing(
          "\"\(list)\": [\n    {", with: "\"\(list)\": [\n {\"x\": 1, ")
        let error = #expect(throws: SiteFileError.self) { try Site(json: Array(marked.utf8)) }
        #expect(error?.problems.map(\.field) == ["\(list)[0].x"])
      }
    }
  }
}
