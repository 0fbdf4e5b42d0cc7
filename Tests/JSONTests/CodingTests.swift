// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@Suite struct CodingTests {
  struct Board: Codable, Hashable {
    enum Kind: String, Codable { case tag, anchor }
    struct Point: Codable, Hashable {
      var x: Double
      var y: Double?
    }

    var name: String
    var kind: Kind?
    var channel: UInt8?
    var serial: UInt64?
    var isOn: Bool?
    var points: [Point]?
    var delays: [String: Float]?
    var axes: [[Double?]]?

    enum CodingKeys: String, CodingKey {
      case name, kind, channel, serial, points, delays, axes
      case isOn = "is_on"
    }
  }

  private func read(_ text: String, ignoresUnknown: Bool = false) throws -> Board {
    try JSONNode(Array(text.utf8), .lenient).decode(ignoresUnknown: ignoresUnknown)
  }

  @Test func valuesComeBack() throws {
    let board = Board(
      name: "a", kind: .anchor, channel: 9, serial: 9_007_199_254_740_993, isOn: true,
      points: [.init(x: 1.5), .init(x: -2, y: 0)], delays: ["5": 0.5], axes: [[1, nil], []])
    let json = try JSON(encoding: board)
    #expect(
      "\(json)"
        == #"{"axes":[[1.0,null],[]],"channel":9,"delays":{"5":0.5},"is_on":true,"kind":"anchor","#
        + #""name":"a","points":[{"x":1.5},{"x":-2.0,"y":0.0}],"serial":9007199254740993}"#)
    #expect(try read("\(json)") == board)
    #expect(try read(JSONNode(json).lines) == board)
    #expect(try JSON(encoding: [Board]()) == .array([]))
    #expect(try JSON(encoding: UInt64.max) == .number(0x1p64))
    for number in [Double.nan, .infinity, -.infinity] {
      #expect(throws: JSONError.self) { try JSON(encoding: [number]) }
    }
  }

  @Test func peopleWriteNumbersInOtherWays() throws {
    let board = try read("{name: 'b', channel: 0x9, serial: 1e3, points: [{x: +.5, y: null}]}")
    #expect(board.channel == 9 && board.serial == 1_000 && board.points == [.init(x: 0.5)])
  }

  @Test(arguments: [
    ("1", "line 1, column 1: an object belongs at the top"),
    ("{}", "line 1, column 1: name is missing at the top"),
    ("{name: 1}", "line 1, column 2: a string belongs in name"),
    ("{name: 'a', is_on: 'yes'}", "line 1, column 13: true or false belongs in is_on"),
    ("{name: 'a', channel: 256}", "line 1, column 13: a whole number belongs in channel"),
    ("{name: 'a', channel: 1.5}", "line 1, column 13: a whole number belongs in channel"),
    ("{name: 'a',\n points: {}}", "line 2, column 2: a list belongs in points"),
    ("{name: 'a',\n points: [\n{x: 2ms}]}", "line 3, column 2: a number belongs in points.0.x"),
    ("{name: 'a', points: [{x: 1e999}]}", "line 1, column 23: a number belongs in points.0.x"),
    ("{name: 'a', points: [{y: 1}]}", "line 1, column 22: x is missing in points.0"),
    ("{name: 'a', delays: {b: null}}", "line 1, column 22: a number belongs in delays.b"),
    ("{name: 'a',\n chanel: 5}", "line 2, column 2: the key chanel is unknown at the top"),
  ])
  func errors(_ text: String, _ description: String) {
    let error = #expect(throws: JSONError.self) { try read(text) }
    #expect(error?.description == description)
  }

  @Test func anUnknownWordIsNamedWithItsPlace() {
    let error = #expect(throws: JSONError.self) { try read("{name: 'a', kind: 'robot'}") }
    #expect(error?.place == JSONPlace(line: 1, column: 13))
    #expect(error?.reason.contains("robot") == true && error?.reason.hasSuffix("in kind") == true)
  }

  @Test func unknownMembersMayBeNullOrIgnored() throws {
    #expect(try read("{name: 'a', chanel: null}") == Board(name: "a"))
    #expect(try read("{name: 'a', more: {x: 1}}", ignoresUnknown: true) == Board(name: "a"))
  }
}
