// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

@Suite struct UTCDayTests {
  @Test("Days and their names agree, also in leap years and before 1970")
  func names() {
    for (number, name) in [
      (0, "1970-01-01"), (-1, "1969-12-31"), (59, "1970-03-01"), (11_016, "2000-02-29"),
      (20_784, "2026-11-27"), (-719_528, "0000-01-01"), (2_932_896, "9999-12-31"),
    ] {
      #expect(UTCDay(number: number).description == name)
      #expect(UTCDay(name)?.number == number)
    }
    for number in stride(from: -719_528, through: 2_932_896, by: 9973) {
      #expect(UTCDay(UTCDay(number: number).description)?.number == number)
    }
  }

  @Test(
    "Other names are no days",
    arguments: ["2026-02-30", "2026-13-01", "2026-00-10", "26-11-27", "2026-11-27x", "", "a-b-c"])
  func noDays(name: String) {
    #expect(UTCDay(name) == nil)
  }

  @Test("Times are days, days with a time, or seconds")
  func times() {
    let day = HistoryScene.day.start
    #expect(HistoryTime.read("2026-11-27") == day)
    #expect(HistoryTime.read("2026-11-27T10:00") == HistoryScene.start)
    #expect(HistoryTime.read("2026-11-27T10:00:01.25Z") == HistoryScene.start + 1250)
    #expect(HistoryTime.read("1795773600.5") == HistoryScene.start + 500)
    for text in ["2026-11-27T", "2026-11-27T25:00", "10:00", "nan", "1e300", "2026-11-27T10:-1"] {
      #expect(HistoryTime.read(text) == nil)
    }
    #expect(HistoryTime.text(HistoryScene.start + 1250) == "2026-11-27T10:00:01.250Z")
    #expect(HistoryTime.text(-1) == "1969-12-31T23:59:59.999Z")
  }

  @Test("Records are divided by the days of their times")
  func byDay() {
    let end = HistoryScene.day.start + UTCDay.milliseconds
    let batch = HistoryScene.batch(
      [HistoryScene.place("T", end), HistoryScene.place("T", end - 1)],
      [HistoryScene.event("T", end - 1), HistoryScene.event("T", .max - 1000)])
    let days = batch.byDay()
    #expect(days.map(\.day.description) == ["2026-11-27", "2026-11-28"])
    #expect(days.map(\.batch.count) == [2, 1])
  }
}

@Suite struct HistoryFilterTests {
  private func event(_ kind: SiteEvent.Kind, at time: Double = 5) -> SiteEvent {
    SiteEvent(number: 1, decided: time, kind: kind)
  }

  private func place(_ time: Double, _ x: Double) -> TagPlace {
    var place = HistoryScene.place("T", 0, x).place
    place.time = time
    return place
  }

  @Test("A tag at rest is recorded once a second, and a moving one after 2 cm")
  func deadBand() {
    var band = DeadBand()
    let rest = (0..<100).count {
      band.keeps("T", place(Double($0) / 10, 1 + 0.001 * Double($0 % 9)))
    }
    #expect(rest == 10)
    let walk = (100..<200).count { band.keeps("T", place(Double($0) / 10, Double($0) / 10)) }
    #expect(walk == 100)
    // Another tag has a band of its own. An earlier time is a change, since the clock was set back.
    let others = [band.keeps("U", place(19.9, 19.9)), band.keeps("T", place(-3600, 19.9))]
    #expect(others == [true, true])
  }

  @Test("Places have times since 1970, and unusable ones are counted")
  func collected() throws {
    var collector = HistoryCollector(epoch: 1_795_773_600)
    collector.add(event(.place(tag: "T", place(5, 3), floor: nil)))
    collector.add(event(.place(tag: "T", place(6, .nan), floor: nil)))
    collector.add(event(.place(tag: "T", place(1e15, 1), floor: nil)))
    collector.add(event(.unknownBoard("x")))
    let batch = collector.take()
    #expect(batch.places.map(\.time) == [HistoryScene.start + 5000])
    #expect(batch.events.isEmpty && collector.unusable == 2)
    let next = collector.take()
    #expect(next.isEmpty)
  }

  @Test("Events have both times, and a refused tag has one event until its next place")
  func events() throws {
    var collector = HistoryCollector(epoch: 1000)
    collector.add(
      event(
        .zone(
          ZoneChange(
            tag: "T", zone: "dock", side: .left(dwell: 3), happened: 4.5, happenedDeviation: 0.1,
            count: 0))))
    for _ in 0..<3 { collector.add(event(.refused(tag: "T", .uncertain, place(5, 1)))) }
    collector.add(event(.place(tag: "T", place(5, 1), floor: nil)))
    collector.add(event(.refused(tag: "T", .uncertain, place(6, 1))))
    collector.add(event(.anchorMoved(anchor: "A", time: 7, by: [1, 0, 0])))
    collector.add(event(.lost(tag: "T", since: 8, zones: ["dock"]), at: 9.5))
    let events = collector.take().events
    #expect(events.map(\.kind) == ["left", "refused", "refused", "anchor_moved", "lost"])
    #expect(events[0].time == 1_004_500 && events[0].decided == 1_005_000)
    let body = try JSONValue(Array(events[0].body.utf8))
    #expect(body["t"] == .number(1004.5) && body["decided"] == .number(1005))
    #expect(body["dwell_s"] == .number(3))
    #expect(events[3].tag == nil && events[4].decided == 1_009_500)
  }

  @Test("Old days keep the first place of each interval")
  func thinning() {
    #expect([0, 7, 8, 365, 366].map(Thinning.interval) == [0, 0, 1000, 1000, 60_000])
    var thinning = Thinning(interval: 1000)
    let kept = [0, 400, 999, 1000, 2500, 2600].filter { thinning.keeps(tag: 1, time: $0) }
    #expect(kept == [0, 1000, 2500])
    let other = thinning.keeps(tag: 2, time: 2600)
    #expect(other)
    var none = Thinning(interval: 0)
    let all = (0..<3).map { _ in none.keeps(tag: 1, time: 5) }
    #expect(all == [true, true, true])
  }

  @Test("A stored place is off by half a millimetre at most, and never surer than the measured one")
  func rounding() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<1000 {
      // A thin ellipse: one axis is a thousand times the other.
      let (a, b) = (random.uniform() * 0.1, random.uniform() * 0.1)
      var record = HistoryScene.place("T", 0, 100 * random.uniform(), -random.uniform())
      record.place.spread = Spread(
        xx: a * a + 1e-9, xy: a * b, xz: 0, yy: b * b + 1e-9, yz: 0, zz: 1e-9)
      var values: [Int64] = []
      record.write(to: &values)
      #expect(values.count == HistoryPlace.columnCount)
      let back = HistoryPlace(tag: "T", time: 0) { values[$0] }
      let gap = back.place.position - record.place.position
      #expect(max(abs(gap.x), abs(gap.y)) <= 0.000_501)
      let (old, new) = (record.place.spread, back.place.spread)
      // The difference of the covariances is positive, too.
      let (xx, xy, yy) = (new.xx - old.xx, new.xy - old.xy, new.yy - old.yy)
      #expect(xx >= 0 && yy >= 0 && xx * yy >= xy * xy)
    }
  }
}
