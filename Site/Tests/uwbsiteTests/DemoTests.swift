// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import SiteServer
import Testing
import UWBSite

@testable import uwbsite

@Suite struct DemoTableTests {
  private let table: DemoTable = {
    var table = DemoTable(rows: (1...20).map { DemoTable.Row(name: "T\($0)") })
    for index in 0..<18 {
      table.rows[index].place = TagPlace(
        time: 0, position: [-1234.567, 0.005, 1], velocity: .zero,
        spread: Spread(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01), motion: .vehicle,
        moving: 1)
      table.rows[index].zone = "a zone with a long name"
    }
    table.rows[3].state = "unsure"
    table.status = String(repeating: "status ", count: 20)
    return table
  }()

  @Test("Lines fit every width and height, and have no spaces at their ends")
  func sizes() {
    for width in 1...250 {
      for height in [1, 2, 3, 5, 24, 60] {
        let lines = table.lines(width: width, height: height)
        #expect((1...height).contains(lines.count))
        #expect(lines.allSatisfy { $0.count <= width && $0.last != " " })
      }
    }
    #expect(table.lines(width: 0, height: 5).isEmpty)
  }

  @Test("A narrow terminal has fewer columns, a wide one several blocks, a low one fewer tags")
  func columns() {
    let narrow = table.lines(width: 20, height: 40)
    #expect(narrow[1] == "tag     x m    y m")
    #expect(narrow.count == 22)
    let wide = table.lines(width: 200, height: 40)
    #expect(wide[1].split(separator: " ").count { $0 == "tag" } == 4)
    #expect(wide.count == 7)
    let low = table.lines(width: 80, height: 10)
    #expect(low.last == "and 13 more tags")
  }

  @Test("Numbers have two decimals, and one that is no number is a dash")
  func numbers() {
    #expect(DemoTable.fixed(-0.001) == "0.00" && DemoTable.fixed(-1.005) == "-1.00")
    #expect(DemoTable.fixed(2.999) == "3.00" && DemoTable.fixed(12.34, 1) == "12.3")
    #expect(DemoTable.fixed(.nan) == "-" && DemoTable.fixed(1e300) == "-")
  }
}

@Suite struct DemoTests {
  /// Runs the demo as fast as possible; returns its output.
  private func run(
    seed: UInt64 = 3, duration: Double = 30, size: (width: Int, height: Int)? = nil
  ) throws -> (output: String, score: DemoScreen.Score) {
    let survey = try DemoSurvey(seed: seed, tags: 20)
    let world = try DemoWorld(seed: seed, tags: 20, duration: duration)
    let truth = DemoTruth(tags: 20)
    var output = ""
    let screen = DemoScreen(world.tags, duration: duration, truth, size: { size }) {
      output += $0
    }
    var runner = try SiteRunner(
      survey.site, [Source("demo", .recording(DemoRecording(world, truth)))], sinks: [screen],
      epoch: 0)
    try runner.run()
    return (output, screen.score)
  }

  @Test("Tags are followed, zones fire, and an anchor is away for a time")
  func lines() throws {
    let (output, score) = try run()
    let lines = output.split(separator: "\n")
    #expect(score.places > 1000 && score.changes > 30)
    #expect(score.rms < 0.3 && score.share > 90)
    #expect(lines.contains { $0.hasSuffix("anchor A3 is unplugged") })
    #expect(lines.contains { $0.hasSuffix("anchor A3 is back") })
    #expect(lines.contains { $0.contains(" entered ") } && lines.contains { $0.contains(" left ") })
    #expect(lines.contains { $0.hasPrefix("20.0 s of 30.0 s, 20 tags, r95 0.") })
    #expect(output.allSatisfy { $0.isASCII } && !output.contains("\u{1B}"))
    // The same number leads to the same demo.
    #expect(try run().output == output)
    #expect(try run(seed: 4).output != output)
  }

  @Test("A terminal has a table, and the summary below it")
  func table() throws {
    let (output, _) = try run(duration: 3, size: (100, 30))
    #expect(output.contains("tag     x m    y m   r95 zone      motion"))
    #expect(output.contains("\u{1B}[J") && output.contains("q ends"))
    #expect(output.split(separator: "\n").suffix(2).first?.hasSuffix("changes of zones") == true)
  }

  @Test("The lines of JSON are the measurements of the demo, for uwbsite run")
  func jsonl() throws {
    let program = ProgramTests()
    let site = try program.run("demo", "--site")
    let lines = try program.run("demo", "--jsonl", "--speed", "10000", "--duration", "5")
    #expect(site.status == 0 && lines.status == 0)
    try program.with(site.output) { site in
      try program.with(lines.output) { lines in
        let run = try program.run("run", site, lines)
        #expect(run.status == 0)
        #expect(run.output.contains("T20  entered kitchen"))
        #expect(run.errors.contains("180 places"))
      }
    }
  }

  @Test("The program ends with a summary, and wrong options are named")
  func program() throws {
    let program = ProgramTests()
    let demo = try program.run("demo", "--speed", "10000", "--duration", "4")
    #expect(demo.status == 0)
    #expect(demo.output.hasPrefix("6 anchors have found their places:\n  A0  0.30, 0.30 m"))
    #expect(demo.output.contains("20 tags range 2.0 times a second in turn: 80 % of the air.\n"))
    #expect(demo.output.hasSuffix("of the places within their stated r95\n"))
    #expect(try program.run("demo", "--speed", "0").status == 64)
    #expect(try program.run("demo", "--duration", "0").status == 64)
    #expect(try program.run("demo", "--site", "--jsonl").status == 64)
  }
}
