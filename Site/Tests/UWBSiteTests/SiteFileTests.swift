// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Site file")
struct SiteFileTests {
  static let hall = """
    {"version": 1, "name": "Hall 2",
     "gauge": {"kind": "anchors", "anchors": ["A1", "A2"], "is_mirrored": true,
       "origin_wgs84": {"latitude_deg": 52.5, "longitude_deg": 13.4}, "note": "by tape"},
     "floors": [{"id": "ground", "height_m": 0}, {"id": "first", "label": "1st", "height_m": 3.5}],
     "anchors": [
       {"id": "A1", "addresses": ["0x0001"], "position_m": [0, 0, 2.5],
        "position_sd_m": [0.02, 0.03, 0.01], "correlation_xy": 0.25, "floor": "ground",
        "delay_m": 0.12, "delay_sd_m": 0.05, "facing_deg": -45, "angle_sd_deg": 3,
        "roles": ["uplink", "sync"], "service": "/run/uwbd/uwbd.socket", "chip": "usb-1"},
       {"id": "A2", "addresses": ["00:02", "0x1122334455667788"], "height_m": 2.5,
        "profile": "a2.json"}],
     "tags": [
       {"id": "t1", "label": "Forklift", "addresses": ["0x0101"], "carrier": "vehicle",
        "height_m": 1.5},
       {"id": "t2", "blink_ids": ["ab01"], "height_range_m": [0.5, 1.9]}, {"id": "t3", "carrier": "drone"}],
     "zones": [
       {"id": "dock", "label": "Dock", "polygon_m": [[0, 0], [4, 0], [4, 3]], "floor": "ground",
        "margin_m": 0.3},
       {"id": "lift", "circle": {"center_m": [5, 5], "radius_m": 1.5},
        "connects_floors": ["ground", "first"]}],
     "doors": [{"id": "gate", "ends_m": [[4, 0], [5, 0]], "inside_anchor": "A1",
       "outside_anchor": "A2", "floor": "ground"}]}
    """

  /// The problems of a file, each as one line.
  func problems(_ text: String) -> [String] {
    do {
      _ = try Site(json: Array(text.utf8))
      return []
    } catch { return error.problems.map(\.description) }
  }

  /// The problems of a file with these members.
  func problems(with members: String) -> [String] {
    problems("{\"version\": 1, \"gauge\": {\"kind\": \"measured\"}, \(members)}")
  }

  @Test("every field is read")
  func fields() throws {
    let site = try Site(json: Array(Self.hall.utf8))
    #expect(site.name == "Hall 2")
    #expect(site.gauge.kind == .anchors && site.gauge.isMirrored)
    #expect(site.gauge.origin?.latitude == 52.5 && site.gauge.origin?.heading == 90)
    #expect(site.floors.map(\.height) == [0, 3.5])
    let anchor = site.anchors[0]
    #expect(anchor.place?.position == SIMD3(0, 0, 2.5))
    #expect(anchor.place?.covariance.xy == 0.25 * 0.02 * 0.03)
    #expect(anchor.delay == 0.12 && anchor.delayDeviation == 0.05)
    #expect(anchor.service == "/run/uwbd/uwbd.socket" && anchor.chip == "usb-1")
    #expect(anchor.facing == -45 && anchor.angleDeviation == 3 && anchor.roles == [.uplink, .sync])
    #expect(site.tags.map(\.blinks) == [[], ["ab01"], []])
    #expect(site.anchors[1].facing == nil && site.anchors[1].roles.isEmpty)
    #expect(site.anchors[1].place == nil && site.anchors[1].height == 2.5)
    #expect(site.anchors[1].addresses == [Address(2), Address(extended: 0x1122_3344_5566_7788)])
    #expect(site.tags.map(\.height) == [.known(1.5), .range(0.5...1.9), .free])
    #expect(site.tags.map(\.carrier) == [.vehicle, .person, .drone])
    #expect(site.zones[1].shape == .circle(center: SIMD2(5, 5), radius: 1.5))
    #expect(site.zones[1].connectedFloors == ["ground", "first"])
    #expect(site.doors[0].ends == [SIMD2(4, 0), SIMD2(5, 0)])
  }

  @Test("a written file is read as the same value, and written as the same text")
  func roundTrip() throws {
    let site = try Site(json: Array(Self.hall.utf8))
    let again = try Site(json: Array(site.json.utf8))
    #expect(again == site)
    #expect(again.json == site.json)
    #expect(site.json.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test("all problems of a file are reported, in its order")
  func allProblems() {
    let found = problems(
      with: """
        "anchors": [{"id": "A1", "position_m": [0, 1], "position_sd_m": [1, 1, -1]}, {"height_m": 1e9}],
        "tags": [{"id": "t", "heigth_m": 1, "carrier": "horse"}], "zone": []
        """)
    #expect(
      found == [
        "zone: this key is unknown; the nearest one is zones",
        "anchors[0].position_m: 3 numbers [x, y, z] belong here, not 2",
        "anchors[0].position_sd_m[2]: -1 m is not within 0 to 10000 m",
        "anchors[1].id: is missing",
        "anchors[1].height_m: 1000000000 m is not within -100000 to 100000 m",
        "tags[0].heigth_m: this key is unknown; the nearest one is height_m",
        "tags[0].carrier: horse is unknown; one of person, vehicle, drone, fixed belongs here",
      ])
  }

  @Test(
    "a wrong field is named with its reason",
    arguments: [
      ("\"anchors\": 3", "anchors: a list belongs here, not a number"),
      (
        "\"anchors\": [{\"id\": \"a\", \"roles\": [\"sink\"]}]",
        "anchors[0].roles[0]: sink is unknown; one of uplink, sync, initiator, responder belongs here"
      ),
      (
        "\"tags\": [{\"id\": \"a\", \"blink_ids\": [\"xy\"]}]",
        "tags[0].blink_ids[0]: 4, 8 or 16 digits such as \"ab01\" belong here, not \"xy\""
      ),
      ("\"anchors\": [3]", "anchors[0]: an object belongs here, not a number"),
      (
        "\"anchors\": [{\"id\": \"a\", \"position_m\": [1, 2, 1e999], \"position_sd_m\": [1,1,1]}]",
        "anchors[0].position_m[2]: inf m is not within -100000 to 100000 m"
      ),
      (
        "\"anchors\": [{\"id\": \"a\", \"position_m\": [1, 2, 3]}]",
        "anchors[0].position_sd_m: is missing; a place needs its deviation [x, y, z]"
      ),
      (
        "\"anchors\": [{\"id\": \"a\", \"position_sd_m\": [1, 2, 3]}]",
        "anchors[0].position_sd_m: has no meaning without position_m"
      ),
      (
        "\"anchors\": [{\"id\": \"a\", \"addresses\": [\"1:2\"]}]",
        "anchors[0].addresses[0]: an address such as \"0x0001\" belongs here, not \"1:2\""
      ),
      (
        "\"tags\": [{\"id\": \"t\", \"height_range_m\": [2, 1]}]",
        "tags[0].height_range_m: the first number is not less than the second"
      ),
      (
        "\"zones\": [{\"id\": \"z\"}]",
        "zones[0].polygon_m: is missing; a zone has it or a circle"
      ),
      (
        "\"zones\": [{\"id\": \"z\", \"polygon_m\": [[0,0],[1,1],[1,0],[0,1]]}]",
        "zones[0].polygon_m: the edges from corners 0 and 2 meet"
      ),
      (
        "\"zones\": [{\"id\": \"z\", \"circle\": {\"center_m\": [0, 0], \"radius_m\": 0}}]",
        "zones[0].circle.radius_m: 0 m is not within 0.001 to 100000 m"
      ),
      (
        "\"doors\": [{\"id\": \"d\", \"ends_m\": [[0, 0], [0, 0]]}]",
        "doors[0].ends_m: both ends are the same point"
      ),
      (
        "\"doors\": [{\"id\": \"d\", \"ends_m\": [[0,0],[1,0]], \"inside_anchor\": \"x\"}]",
        "doors[0].outside_anchor: is missing; a door with inside_anchor needs it"
      ),
      ("\"name\": true", "name: a string belongs here, not true or false"),
    ])
  func wrongField(_ members: String, _ problem: String) {
    #expect(problems(with: members).first == problem)
  }

  @Test("two parts with one name or address, and names of nothing, are refused")
  func duplicates() {
    let found = problems(
      with: """
        "anchors": [{"id": "A", "addresses": ["0x0001"]}, {"id": "A", "floor": "cellar"}],
        "tags": [{"id": "s", "label": "cup", "addresses": ["0x0002"]},
          {"id": "t", "label": "cup", "addresses": ["00:02", "0x0001"]}],
        "zones": [{"id": "z", "polygon_m": [[0, 0], [1, 0], [1, 1]], "connects_floors": ["a", "b"]}]
        """)
    #expect(
      found == [
        "anchors[1].id: anchors[0] has A already",
        "tags[1].label: tags[0] has cup already",
        "tags[1].addresses[0]: tags[0] has 0x0002 already",
        "tags[1].addresses[1]: anchors[0] has 0x0001 already",
        "anchors[1].floor: there is no floor cellar",
        "zones[0].connects_floors[0]: there is no floor a",
        "zones[0].connects_floors[1]: there is no floor b",
      ])
  }

  @Test(
    "another version, no gauge, and text that is not JSON",
    arguments: [
      ("{}", "version: is missing; this program reads version 1"),
      ("{\"version\": 2}", "version: 2 is unknown; this program reads version 1"),
      ("{\"version\": 1}", "gauge: is missing"),
      ("[]", "a site file is an object, not a list"),
      ("{\"version\": 1,\n  \"name\" 3}", "line 2, column 10: a colon belongs here"),
      ("{\"version\": 1, \"version\": 1}", "line 1, column 16: version occurs twice"),
      (
        "{\"version\": 1, \"gauge\": {\"kind\": \"wgs84\"}}",
        "gauge.origin_wgs84: is missing; the kind wgs84 needs it"
      ),
    ])
  func whole(_ text: String, _ problem: String) {
    #expect(problems(text) == [problem])
  }

  @Test("changed bytes never crash, and give a value or a sentence")
  func changedBytes() {
    var random = SplitMix64(seed: 33)
    let bytes = Array(Self.hall.utf8)
    let pieces = ["{", "}", "[", "]", "\"", ",", ":", "-", "1e9", "\\u", "null", "\u{0}", "é"]
    var refused = 0
    for _ in 0..<400 {
      var changed = bytes
      for _ in 0...Int(random.next() % 3) {
        let at = Int(random.next() % UInt64(changed.count))
        let length = min(Int(random.next() % 4), changed.count - at)
        let piece = pieces[Int(random.next() % UInt64(pieces.count))]
        changed.replaceSubrange(at..<at + length, with: piece.utf8)
      }
      do {
        let site = try Site(json: changed)
        #expect((try? Site(json: Array(site.json.utf8))) == site)
      } catch {
        refused += 1
        #expect(!error.description.isEmpty)
      }
    }
    #expect(refused > 300)
  }

  @Test(
    "floors at one height are a problem, whatever its sign",
    arguments: ["0", "-0", "0.0", "1e-400"])
  func equalFloors(_ height: String) {
    let text = """
      {"version": 1, "gauge": {"kind": "measured"},
       "floors": [{"id": "g", "height_m": 0}, {"id": "u", "height_m": \(height)}]}
      """
    #expect(throws: SiteFileError.self) { try Site(json: Array(text.utf8)) }
  }
}
