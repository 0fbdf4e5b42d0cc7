// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Tables of ranges")
struct RangeTableTests {
  func rows(_ text: String, from: String? = nil) throws -> [RangeRow] {
    try RangeTable.rows(Array(text.utf8), from: from)
  }

  func problem(_ text: String, from: String? = nil) -> String {
    do {
      let rows = try rows(text, from: from)
      return "\(rows.count) rows"
    } catch { return "\(error)" }
  }

  @Test("columns are found by name, in any order and with any separator")
  func csv() throws {
    let rows = try rows(
      """
      # a comment
      To; distance_cm ;from; time_s;sd_m;note

      B;512; A;0.5;0.02;x
      C;;A;0.6;;lost
      """)
    let row = try #require(rows.first)
    #expect(rows.count == 1)
    #expect(row.from == "A" && row.to == "B" && row.time == 0.5 && row.deviation == 0.02)
    #expect(abs(row.distance - 5.12) < 1e-9)
  }

  @Test("the table of one anchor takes its name from outside")
  func oneAnchor() throws {
    let rows = try rows(
      "time_s,peer,computed_m,distance_cm,nlos_probability\r\n0,0x0002,,512,0.1\r\n0,0x0003,4.1,415,\r\n",
      from: "0x0001")
    #expect(rows.map(\.from) == ["0x0001", "0x0001"])
    #expect(rows.map(\.distance) == [5.12, 4.1])
    #expect(rows.map(\.blocked) == [0.1, nil])
  }

  @Test("JSON lines have the same names")
  func json() throws {
    let rows = try rows(
      """
      {"from":"A","to":"B","distance_m":5.25,"more":[1,2]}

      {"from":"A","to":"C","distance_m":null}
      """)
    #expect(rows.count == 1)
    #expect(rows.first?.distance == 5.25)
  }

  @Test("each problem names its line and its field")
  func problems() {
    #expect(problem("") == "line 1: the table has no header")
    #expect(
      problem("to,distance_m\nB,5\n")
        == "line 1, from: the column is missing; give the anchor of the table as NAME=FILE")
    #expect(problem("from,to\nA,B\n") == "line 1, distance_m: the column is missing")
    let header = "from,to,distance_m\n"
    #expect(problem(header + "A,B,x\n") == "line 2, distance_m: “x” is not a number")
    #expect(
      problem(header + "A,B,1\nA,B,-1\n")
        == "line 3, distance_m: -1.0 is not between 0.001 and 10000 m")
    #expect(
      problem(header + "A,B,nan\n")
        == "line 2, distance_m: nan is not between 0.001 and 10000 m")
    #expect(problem(header + "A,B\n") == "line 2: 2 cells stand here, and 3 in the header")
    #expect(problem(header + "A,A,1\n") == "line 2, to: the range is from A to itself")
    #expect(problem(header + ",A,1\n") == "line 2, from: the name is missing")
    #expect(
      problem(#"{"from":"A","to":"B","distance_m":{}}"#)
        == "line 1, distance_m: a number or a name belongs here")
    #expect(
      problem("{\"from\":\"A\",\"to\":\"B\",\"distance_m\":1}\n[1]\n")
        == "line 2: an object belongs here")
    #expect(problem(#"{"from":"A","to":3,"distance_m":1}"#).hasPrefix("line 1, to: a name"))
    #expect(problem("{\"from\" 1}").hasPrefix("line 1: column "))
  }

  @Test("mutated tables are read, or their problem is a sentence with a line")
  func mutations() {
    let seeds = [
      "from,to,distance_m,sd_m,time_s\nA,B,5.2,0.1,0\nB,A,5.3,,1\nA,C,7.1,0.1,2\n",
      "{\"from\":\"A\",\"to\":\"B\",\"distance_m\":5.25}\n{\"from\":\"B\",\"to\":\"C\",\"distance_m\":3}\n",
    ].map { Array($0.utf8) }
    var random = SeededNormal(seed: 5)
    func below(_ limit: Int) -> Int { Int(random.uniform() * Double(limit)) }
    var refused = 0
    for round in 0..<1500 {
      var text = seeds[round % 2]
      for _ in 0...below(4) {
        let place = below(text.count)
        switch below(4) {
        case 0: text[place] = UInt8(below(256))
        case 1: text.remove(at: place)
        case 2: text.insert(Array("{}[],;\"\n-.e9".utf8)[below(12)], at: place)
        default: text.removeSubrange(place..<min(place + below(9), text.count))
        }
        if text.isEmpty { text = [10] }
      }
      do {
        let rows = try RangeTable.rows(text)
        #expect(rows.allSatisfy { $0.distance > 0 && !$0.from.isEmpty && $0.from != $0.to })
      } catch {
        refused += 1
        #expect(error.line >= 1 && !error.reason.isEmpty)
      }
    }
    #expect((150...1450).contains(refused))
  }
}
