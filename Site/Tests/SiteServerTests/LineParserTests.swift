// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

@Suite struct LineParserTests {
  private func parse(
    _ lines: String..., format: LineParser.Format = .json, board: String? = nil
  ) -> [SourceItem?] {
    var parser = LineParser(format, board: board)
    return lines.map { parser.parse(Array($0.utf8)) }
  }

  @Test("Lines of JSON become measurements, failed rounds, and sentences with line and field")
  func json() throws {
    let items = parse(
      #"{"t": 1, "tag": "T", "anchor": "A0", "distance_m": 2}"#, "",
      #"{"t": 1, "tag": "T", "anchor": "A0", "status": "RX_TIMEOUT"}"#,
      #"{"t": 1, "tag": "T", "anchor": "A0", "distance_m": true}"#,
      #"{"t": 1,"#, "[1]", "\u{FF}\u{0}")
    guard case .measurement(let line) = items[0] else {
      Issue.record("\(items)")
      return
    }
    #expect(line.quantities == [.distance(2)])
    #expect(items[1] == nil)
    #expect(items[2] == .failed)
    #expect(items[3] == .bad("line 4: distance_m: a number belongs here, not true or false"))
    #expect(
      items[4] == .bad("line 5: column 9: a name in quotation marks belongs here"))
    #expect(items[5] == .bad("line 6: a line is an object of JSON"))
    guard case .bad(let sentence) = items[6] else {
      Issue.record("\(items)")
      return
    }
    #expect(sentence.hasPrefix("line 7: column 1"))
  }

  @Test("Tables have their keys in the first line, with quotation marks and carriage returns")
  func table() {
    let items = parse(
      "\"t\",tag,anchor,distance_m,sd_m\r", "1, T,\"A0\",2.5,\r", "1,T,A0,x,0.1\r", "1\r",
      format: .table)
    #expect(items[0] == nil)
    guard case .measurement(let line) = items[1] else {
      Issue.record("\(items)")
      return
    }
    #expect((line.tag, line.anchor) == ("T", "A0"))
    #expect(line.deviation == nil)
    #expect(items[2] == .bad("line 3: distance_m: x is not a number"))
    #expect(items[3] == .bad("line 4: distance_m: is missing"))
  }

  @Test("The board of the source stands in for a missing one")
  func board() {
    let line = #"{"t": 1, "peer": "0x0a00", "distance_m": 2}"#
    guard case .measurement(let found) = parse(line, board: "T")[0] else {
      Issue.record("no measurement")
      return
    }
    #expect((found.tag, found.anchor) == ("T", "0x0a00"))
    #expect(
      parse(line)[0]
        == .bad("line 1: device: is missing; BOARD=SOURCE names the board at this end"))
  }

  @Test("Lines are joined from any pieces, and long ones are cut")
  func splitting() {
    var splitter = LineSplitter()
    let text = Array("one\ntwo\n\nthree".utf8)
    var lines: [String] = []
    for byte in text {
      splitter.add([byte])
      while let line = splitter.next() { lines.append(String(decoding: line, as: UTF8.self)) }
    }
    #expect(lines == ["one", "two", ""])
    #expect(splitter.rest() == Array("three".utf8))
    #expect(splitter.rest() == nil)
    splitter.add(Array(repeating: 65, count: LineSplitter.longest + 2)[...])
    #expect(splitter.next()?.count == LineSplitter.longest + 2)
    #expect(splitter.next() == nil)
  }

  @Test("A line that is too long is one bad line, and the next one has its own number")
  func tooLong() {
    var (splitter, parser) = (LineSplitter(), LineParser(.json))
    var items: [SourceItem?] = []
    let good = #"{"t": 1, "tag": "T", "anchor": "A0", "distance_m": 2}"#
    let text = Array("\(good)\n\(String(repeating: "y", count: 10_000_000))\n\(good)\n1\n".utf8)
    for start in stride(from: 0, to: text.count, by: 8192) {
      splitter.add(text[start..<min(start + 8192, text.count)])
      while let line = splitter.next() { items.append(parser.parse(line)) }
    }
    #expect(items.count == 4 && items[0] == items[2])
    #expect(items[1] == .bad("line 2: is longer than 65536 octets"))
    #expect(items[3] == .bad("line 4: a line is an object of JSON"))
    splitter.add(Array(repeating: 65, count: LineSplitter.longest + 2)[...])
    #expect(splitter.next() != nil && splitter.rest() == nil)
    splitter.add([65, 65])
    #expect(splitter.next() == nil && splitter.rest() == nil)
  }

  @Test("A byte order mark before the first line is skipped")
  func byteOrderMark() {
    let table = parse("\u{FEFF}t,tag,anchor,distance_m\r", "1,T,A0,2\r", format: .table)
    let line = parse("\u{FEFF}" + #"{"t": 1, "tag": "T", "anchor": "A0", "distance_m": 2}"# + "\r")
    let expected = RangeLine(time: 1, tag: "T", anchor: "A0", [.distance(2)])
    #expect(table == [nil, .measurement(expected)])
    #expect(line == [.measurement(expected)])
  }

  @Test(
    "A board stands before the source; a path may contain the sign",
    arguments: [
      ("-", nil, "-"), ("T=-", "T", "-"), ("0x0001=a/b.csv", "0x0001", "a/b.csv"),
      ("./a=b", nil, "./a=b"), ("=a", nil, "=a"), ("T=pans:/dev/x", "T", "pans:/dev/x"),
    ] as [(String, String?, String)])
  func parts(_ argument: String, _ board: String?, _ place: String) {
    let parts = Source.parts(argument)
    #expect(parts.board == board)
    #expect(parts.place == place)
  }

  @Test("A missing file and a folder are failures with a sentence")
  func missing() throws {
    let names = SiteNames(try SiteScene().site)
    let failure = #expect(throws: SourceFailure.self) {
      try Source(argument: "/nowhere/a.jsonl", names)
    }
    #expect(failure?.description == "/nowhere/a.jsonl: there is no such file")
    #expect(throws: SourceFailure.self) { try Source(argument: "/", names) }
  }
}
