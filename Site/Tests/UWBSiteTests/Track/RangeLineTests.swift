// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite struct RangeLineTests {
  private func line(
    _ fields: [String: RangeLine.Field], device: String? = nil
  ) throws(RangeLine.Problem) -> RangeLine? {
    try RangeLine(device: device) { fields[$0] }
  }

  @Test("The short form names tag, anchor, distance and deviation")
  func short() throws {
    let one = try #require(
      try line([
        "t": .number(2), "tag": .text("T"), "anchor": .text("A"), "distance_m": .number(3.5),
        "sd_m": .number(0.2),
      ]))
    #expect((one.time, one.tag, one.anchor) == (2, "T", "A"))
    #expect(one.quantities == [.distance(3.5)])
    #expect(one.deviation == 0.2)
  }

  @Test("A line of uwbctl has its peer, and the source the other end")
  func uwbctl() throws {
    let fields: [String: RangeLine.Field] = [
      "time_s": .number(2), "peer": .text("0x0a01"), "status": .text("OK"),
      "distance_cm": .number(412), "azimuth_deg": .number(10), "nlos_probability": .number(0.5),
    ]
    let one = try #require(try line(fields, device: "T"))
    #expect((one.tag, one.anchor) == ("T", "0x0a01"))
    #expect(one.quantities == [.distance(4.12)])
    #expect(one.blocked == 0.5)
    #expect(throws: RangeLine.Problem.self) { try line(fields) }
    var calibrated = fields
    calibrated["computed_m"] = .number(4.05)
    #expect(try line(calibrated, device: "T")?.quantities == [.distance(4.05)])
  }

  @Test("The direction of a peer is to the right of a known front, and computed angles come first")
  func seenDirection() throws {
    var fields: [String: RangeLine.Field] = [
      "time_s": .number(2), "peer": .text("T"), "status": .text("OK"), "distance_cm": .number(412),
      "azimuth_deg": .number(30), "azimuth_fom": .number(90), "elevation_deg": .number(-10),
      "elevation_fom": .number(0),
    ]
    let one = try #require(try line(fields, device: "A"))
    #expect(one.quantities == [.distance(4.12)])
    #expect(one.seen == SeenDirection(azimuth: .pi / 6))
    var front = Facing(.zero, facing: .pi / 2)
    front.angleDeviation = 3
    let turned = one.turned(by: front)
    #expect(turned.seen == nil && turned.angleDeviation == 3 && turned.quantities.count == 2)
    guard case .azimuth(let azimuth)? = turned.quantities.last else {
      Issue.record("no azimuth")
      return
    }
    #expect(abs(azimuth - .pi / 3) < 1e-9)
    #expect(one.turned(by: nil).quantities == [.distance(4.12)])
    #expect(one.turned(by: Facing(.zero)).quantities == [.distance(4.12)])
    fields["computed_azimuth_deg"] = .number(28)
    fields["computed_azimuth_sd_deg"] = .number(2)
    #expect(
      try line(fields, device: "A")?.seen
        == SeenDirection(azimuth: 28 * .pi / 180, deviation: 2))
  }

  @Test("A failed round is no measurement, and no error")
  func failedRound() throws {
    let found = try line(["time_s": .number(2), "peer": .text("1"), "status": .text("RX_TIMEOUT")])
    #expect(found == nil)
  }

  @Test("Differences and directions have keys of their own")
  func otherQuantities() throws {
    let difference = try #require(
      try line([
        "t": .number(0), "tag": .text("T"), "anchor_a": .text("A"), "anchor_b": .text("B"),
        "difference_m": .text("-1.25"),
      ]))
    #expect(difference.quantities == [.difference(-1.25)])
    #expect((difference.reference, difference.anchor) == ("A", "B"))
    let direction = try #require(
      try line([
        "t": .number(0), "tag": .number(17), "anchor": .text("A"), "azimuth_deg": .number(90),
      ]))
    #expect(direction.quantities == [.azimuth(.pi / 2)])
    #expect(direction.tag == "17")
  }

  @Test(
    "An error names the field",
    arguments: [
      ("t", RangeLine.Field.text("noon")), ("t", .other(kind: "a list")), ("t", .number(.nan)),
      ("distance_m", .number(-2)), ("distance_m", .text("far")), ("sd_m", .number(0)),
      ("tag", .other(kind: "null")), ("anchor", .text("")),
    ])
  func errors(field: String, value: RangeLine.Field) {
    var fields: [String: RangeLine.Field] = [
      "t": .number(0), "tag": .text("T"), "anchor": .text("A"), "distance_m": .number(1),
    ]
    fields[field] = value
    let problem = #expect(throws: RangeLine.Problem.self) { try line(fields) }
    #expect(problem?.field == field)
    #expect(problem?.description.contains(field) == true)
  }

  @Test("Boards may stand in either order; two tags or two anchors are not a measurement")
  func boards() throws {
    var engine = TrackScene().engine
    func add(_ tag: String, _ anchor: String) throws -> Engine.LineEffect {
      let one = try line([
        "t": .number(0), "tag": .text(tag), "anchor": .text(anchor), "distance_m": .number(1),
      ])
      return engine.add(try #require(one))
    }
    #expect(try add("one", "A1") == .added(tag: 0, anchor: 1, time: 0))
    #expect(try add("A2", "01:03") == .added(tag: 1, anchor: 2, time: 0))
    #expect(try add("one", "two") == .withoutTag)
    #expect(try add("A1", "A2") == .withoutTag)
    #expect(try add("one", "nobody") == .unknown)
    #expect(engine.counters.waiting == 2)
  }
}
