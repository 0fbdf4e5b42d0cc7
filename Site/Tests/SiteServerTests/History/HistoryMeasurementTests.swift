// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UWBSite

@testable import SiteServer

@Suite struct HistoryMeasurementTests {
  private let scene: HistoryScene
  private static let epoch = Double(HistoryScene.start) / 1000

  init() throws { scene = try HistoryScene() }

  private func records(_ count: Int, from start: Double = 0) -> [HistoryMeasurement] {
    (0..<count).flatMap { number -> [HistoryMeasurement] in
      let time = start + Double(number) / 10
      let line = SiteScene.range(at: time, "T", "A\(number % 4)", [3, 4, 0])
      return HistoryMeasurement.records(
        SiteMeasurement(source: 0, line: line, time: time), epoch: Self.epoch)
    }
  }

  @discardableResult
  private func write(_ measurements: [HistoryMeasurement]) -> [HistoryWriter.Note] {
    var (writer, batch) = (HistoryWriter(scene.folder), HistoryBatch())
    batch.measurements = measurements
    let notes = writer.write(batch, now: 0)
    writer.close()
    return notes
  }

  private func read(_ query: History.Query = .init()) throws -> [HistoryMeasurement] {
    let history = try History(scene.folder)
    var found: [HistoryMeasurement] = []
    for day in history.days(query) {
      try history.measurements(query, day) {
        found.append($0)
        return true
      }
    }
    return found
  }

  @Test("A replay of the measurements has the places of the run")
  func replay() throws {
    let (live, again) = (Collector(), Collector())
    let site = try SiteScene().site
    let sink = try HistorySink(scene.folder, isRaw: true) { Issue.record("\($0)") }
    var loop = try SiteLoop(
      SiteRun(site, sources: ["a"], isLive: true, epoch: Self.epoch), sinks: [sink, live])
    for number in 0..<60 {
      let time = Double(number) / 10
      for item in SiteScene.round(at: time, [2 + time, 4, 1]) {
        loop.add(item, from: 0, arrival: time)
      }
      try loop.turn(now: time, isComplete: true)
    }
    try loop.finish(now: 6)
    let source = try Source(argument: "history:\(scene.folder.path)", SiteNames(site))
    var runner = try SiteRunner(site, [source], sinks: [again], epoch: 0)
    try runner.run()
    #expect(again.counters?.measurements == 240)
    try #require(again.places.count == live.places.count && again.places.count > 50)
    for (one, other) in zip(again.places, live.places) {
      #expect(abs(one.time - Self.epoch - other.time) < 1e-5)
      let arm = one.position - other.position
      #expect((arm * arm).sum() < 1e-6)
    }
    #expect(again.zones.map(\.zone) == live.zones.map(\.zone) && again.zones.count == 1)
  }

  @Test("Lines of all quantities come back as input of a run, with deviations that are not less")
  func lines() throws {
    let quantities: [RangeLine.Quantity] = [
      .distance(4.123456), .difference(-1.5), .azimuth(0.25), .elevation(-0.5),
    ]
    let records = quantities.enumerated().flatMap { number, quantity -> [HistoryMeasurement] in
      var reference: String?
      if case .difference = quantity { reference = "A, \"1\"" }
      let line = RangeLine(
        time: 1, tag: "T", anchor: "A0", reference: reference, [quantity],
        deviation: number == 0 ? 0.1000004 : nil, blocked: number == 0 ? 0.25 : 0)
      return HistoryMeasurement.records(
        SiteMeasurement(source: 0, line: line, time: Double(number)), epoch: Self.epoch)
    }
    write(records)
    let found = try read()
    #expect(found.map(\.time) == records.map(\.time) && found.count == 4)
    #expect(found[0].line.deviation == 0.100001 && found[0].line.blocked == 0.25)
    var parser = LineParser(.json)
    for record in found {
      let text = HistoryText.json(record).description
      guard case .measurement(let line)? = parser.parse(Array(text.utf8)) else {
        Issue.record("\(text)")
        continue
      }
      #expect(line.quantities.count == 1 && line.reference == record.line.reference)
      #expect(abs(line.time - record.line.time) < 1e-6 && line.tag == "T" && line.anchor == "A0")
    }
    #expect(HistoryText.csv(found[1]).hasSuffix(#","A, ""1""",A0,,-1.5,,,,,"#))
  }

  @Test("A file of places gets measurements, and the parts of a replay join")
  func added() throws {
    scene.write([HistoryScene.place("T", HistoryScene.start)])
    #expect(try read().isEmpty)
    #expect(try History(scene.folder).summary(HistoryScene.day).measurements == 0)
    #expect(write(records(5000)).isEmpty)
    write(records(10, from: 600))
    #expect(try read().count == 5010)
    #expect(try scene.places().count == 1)
    #expect(try History(scene.folder).summary(HistoryScene.day).measurements == 5010)
    var query = History.Query()
    (query.from, query.to) = (HistoryScene.start + 1000, HistoryScene.start + 2000)
    #expect(try read(query).count == 10)
    query.tags = ["U"]
    #expect(try read(query).isEmpty)
    var (recording, count) = (try RecordedMeasurements(scene.folder), 0)
    while let item = recording.next() {
      guard case .measurement = item else { throw SinkFailure("\(item)") }
      count += 1
    }
    #expect(count == 5010)
  }

  @Test("Days after a week lose their measurements, and strange values are left out")
  func thinned() throws {
    write(records(100))
    try scene.change(
      HistoryScene.day, "UPDATE measurement SET kind = 9 WHERE number = 1",
      "UPDATE measurement SET board = 77 WHERE number = 2",
      "UPDATE measurement SET deviation = -1, tag = x'00' WHERE number = 3",
      "UPDATE measurement SET value = NULL WHERE number = 4",
      "UPDATE measurement SET value = 'far' WHERE number = 5")
    #expect(try read().count == 96)
    scene.write([HistoryScene.place("T", HistoryScene.start + 8 * UTCDay.milliseconds)])
    let copy = try #require(try History(scene.folder).thinned(HistoryScene.day))
    try copy.replace()
    #expect(try read().isEmpty)
    write(records(1))
    #expect(try read().count == 1)
  }

  @Test("Late measurements and times that no calendar has are not recorded; a slow disk counts")
  func unusable() {
    let line = SiteScene.range(at: 0, "T", "A0", [1, 0, 0])
    for time in [nil, Double.nan, 1e300] {
      let measurement = SiteMeasurement(source: 0, line: line, time: time)
      #expect(HistoryMeasurement.records(measurement, epoch: 0).isEmpty)
    }
    var batch = HistoryBatch()
    batch.measurements = records(100)
    batch.shorten(to: 5)
    #expect(batch.measurements.count == 40 && batch.lost == 60)
    #expect(batch.measurements.last?.time == records(100).last?.time)
    batch.shorten(to: .max)
    #expect(batch.count == 40)
  }
}
