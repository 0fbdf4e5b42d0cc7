// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

/// Lines as boards print them, with their meaning.
@Suite struct PANSLineTests {
  private func parse(_ text: String) throws(PANSLine.Problem) -> PANSLine {
    try PANSLine(Array(text.utf8))
  }

  @Test("lec: the ranges with their anchors, and the tag's own place apart")
  func lec() throws {
    let line = try parse(
      "DIST,4,AN0,022E,7.94,8.03,0.00,3.44,AN1,9280,7.95,0.00,0.00,5.68,AN2,DCAE,0.00,8.03,0.00,"
        + "7.76,AN3,5431,0.00,0.00,0.00,8.73,POS,6.95,5.37,-1.97,52\r")
    let ranges = [("0x022e", 3.44), ("0x9280", 5.68), ("0xdcae", 7.76), ("0x5431", 8.73)]
    #expect(
      line
        == .round(
          ranges.map { PANSLine.Range(anchor: $0.0, distance: $0.1) },
          PANSLine.Position(x: 6.95, y: 5.37, z: -1.97, quality: 52)))
  }

  @Test("lec: a prompt and an echo before it, no anchors, no place")
  func variants() throws {
    let one = PANSLine.Range(anchor: "0x2f2f", distance: 2.21)
    #expect(try parse("dwm> DIST,1,AN0,2F2F,3.05,2.68,0.00,2.21") == .round([one], nil))
    #expect(try parse("DIST,0") == .round([], nil))
    #expect(
      try parse("DIST,1,AN0,2F2F,-3.05,2.68,0.00,2.21,POS,nan,nan,nan,0") == .round([one], nil))
  }

  @Test("les: ranges, the time of the computation, and a place in brackets")
  func les() throws {
    let line = try parse(
      "1151[5.00,8.00,2.25]=6.48 0CA8[0.00,8.00,2.25]=6.51 le_us=2576 est[2.57,1.98,1.68,100]")
    #expect(
      line
        == .round(
          [
            PANSLine.Range(anchor: "0x1151", distance: 6.48),
            PANSLine.Range(anchor: "0x0ca8", distance: 6.51),
          ], PANSLine.Position(x: 2.57, y: 1.98, z: 1.68, quality: 100)))
    #expect(
      try parse("1151[5.00,8.00,2.25]=6.48")
        == .round([PANSLine.Range(anchor: "0x1151", distance: 6.48)], nil))
  }

  @Test("si: the address and the label; the address of Bluetooth is another")
  func identity() throws {
    #expect(
      try parse("[000351.430 INF] uwb0: panid=x1234 addr=xDECAB3C1C3B25506")
        == .address(0xDECA_B3C1_C3B2_5506))
    #expect(
      try parse("[000351.450 INF] cfg: sync=0 upd_rate_stat=100 label=DW5506") == .label("DW5506"))
    #expect(try parse("[000351.460 INF] ble: addr=DD:92:94:CB:02:BB") == .other)
    #expect(try parse("[000351.440 INF] mode: tn (act,twr,np,le)") == .other)
  }

  @Test("A place alone is not a range, and listeners print places of others")
  func positions() throws {
    let place = PANSLine.Position(x: 2.57, y: 2, z: 1.67, quality: 97)
    #expect(try parse("POS,2.57,2.00,1.67,97") == .position(place))
    #expect(try parse("POS,0,4CAD,2.57,2.00,1.67,97,x0F") == .position(nil))
    #expect(try parse("dwm>") == .prompt)
    #expect(try parse(" DWM1001 TWR Real Time Location System") == .other)
    #expect(try parse("\u{0}\u{FF}") == .other)
  }

  @Test(
    "Lines with missing characters are problems with their field",
    arguments: [
      // A board prints such a line at a high rate.
      (
        "DIST,4,AN0,0090,0.00,0.00,0.00,3.25,AN1,D91E,0.00,0.00,0.00,3.33,AN2,0487,0.00,0.00,0.00,"
          + "0.18,AN3,15BA,0.00,0,AN3,15BA,0.00,0.00,0.00,0.00",
        "AN3: 0 is not a length with two decimals"
      ),
      ("DIST,2,AN0,0090,0.00,0.00,0.00,3.25", "AN1: is missing, and 2 anchors belong here"),
      ("DIST,x", "DIST: x is not a number of anchors"),
      ("DIST,", "DIST: nothing is not a number of anchors"),
      ("DIST,1,AN0,090,0.00,0.00,0.00,3.25", "AN0: 090 is not an address of four digits"),
      ("DIST,1,AN0,0090,0.00,0.00,0.00,3.2", "AN0: 3.2 is not a length with two decimals"),
      ("DIST,1,AN0,0090,0.00,0.00,0.00,3.255", "AN0: 3.255 is not a length with two decimals"),
      ("DIST,0,AN0", "DIST: AN0 follows 0 anchors"),
      ("DIST,0,POS,1.00,2.00,3.00", "POS: x, y, z and a quality in percent belong here"),
      ("DIST,0,POS,1.00,2.00,3.00,101", "POS: x, y, z and a quality in percent belong here"),
      ("POS,1.00,2.00,3.0,97", "POS: 3.0 is not a length with two decimals"),
      ("1151[5.00,8.00]=6.48", "1151: x, y and z belong here"),
      ("1151[5.00,8.00,2.25]=", "1151: nothing is not a length with two decimals"),
      ("11[5.00,8.00,2.25]=6.48", "11[5: 11 is not an address of four digits"),
      ("1151[5.00,8.00,2.25]=6.48 est[1.00,1.00,1.00,9", "est: the bracket is not closed"),
    ])
  func problems(_ text: String, _ sentence: String) {
    let problem = #expect(throws: PANSLine.Problem.self) { try parse(text) }
    #expect(problem?.description == sentence)
  }

  @Test("Any bytes are a line or a problem with a field, and a mutated range never passes unseen")
  func fuzz() {
    var generator = SplitMix64(seed: 7)
    let line = "DIST,1,AN0,2F2F,3.05,2.68,0.00,2.21,POS,1.59,1.65,1.27,44"
    var problems = 0
    for _ in 0..<20_000 {
      var bytes = Array(line.utf8)
      let index = Int(generator.next() % UInt64(bytes.count))
      if generator.next() % 2 == 0 {
        bytes.remove(at: index)
      } else {
        bytes[index] = UInt8(truncatingIfNeeded: generator.next())
      }
      do throws(PANSLine.Problem) {
        guard case .round(let ranges, _) = try PANSLine(bytes), let one = ranges.first else {
          continue
        }
        #expect(one.distance >= 0 && one.distance < 1e6)
      } catch {
        #expect(!error.field.isEmpty)
        problems += 1
      }
    }
    #expect(problems > 10_000)
  }
}
