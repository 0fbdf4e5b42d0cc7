// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UWBSite

@testable import SiteServer

@Suite(.timeLimit(.minutes(1))) struct SiteRunnerTests {
  private struct Items: Recording {
    var items: [SourceItem]
    mutating func next() -> SourceItem? { items.isEmpty ? nil : items.removeFirst() }
  }

  /// A source that sends everything at once, and ends.
  private struct Burst: LiveSource {
    let items: [SourceItem]
    func run(_ port: SourcePort) {
      port.send(items)
      port.send(.ended(reason: nil))
    }
  }

  /// A source that runs until its port is closed.
  private struct Endless: LiveSource {
    func run(_ port: SourcePort) { port.keep { AttemptEnd(reason: "away", hasWorked: false) } }
  }

  private func items(_ rounds: Int, anchors: [Int]) -> [SourceItem] {
    (0..<rounds).flatMap { number in
      let round = SiteScene.round(at: Double(number) / 10, [3, 5, 1])
      return anchors.map { round[$0] }
    }
  }

  private func run(_ sources: [Source], isStopped: @escaping @Sendable () -> Bool = { false })
    throws
    -> Collector
  {
    let collector = Collector()
    var runner = try SiteRunner(
      try SiteScene().site, sources, sinks: [collector], epoch: 1000, isStopped: isStopped)
    try runner.run()
    return collector
  }

  @Test("Recordings are merged by their times, with their own clock")
  func recordings() throws {
    let collector = try run([
      Source("a", .recording(Items(items: items(20, anchors: [0, 1])))),
      Source("b", .recording(Items(items: [.failed] + items(20, anchors: [2, 3])))),
    ])
    #expect(collector.run?.isLive == false && collector.run?.epoch == 0)
    let times = collector.measurements.map(\.line.time)
    #expect(times.count == 80 && times == times.sorted())
    #expect(Set(collector.measurements.map(\.source)) == [0, 1])
    #expect(collector.counters?.failed == 1)
    let last = try #require(collector.places.last)
    #expect(abs(last.position.x - 3) < 0.1 && abs(last.time - 1.9) < 1e-6)
  }

  @Test("A live source and a recording run side by side until both have ended")
  func mixed() throws {
    let collector = try run([
      Source("live", .live(Burst(items: items(1, anchors: [0, 1])))),
      Source("file", .recording(Items(items: items(1, anchors: [2, 3])))),
    ])
    #expect(collector.run?.isLive == true && collector.run?.epoch == 1000)
    #expect(collector.measurements.count == 4)
    #expect(collector.events.contains { $0.kind == .source("live", .ended(reason: nil)) })
  }

  @Test(
    """
    Lines with the times of the run keep them beside the late lines of another host, and the last \
    round waits for no other one
    """)
  func timed() throws {
    let start = 1_764_381_600.0
    let pipe = Pipe()
    for number in 0..<20 {
      let moment = start + Double(number) / 10
      let late = number < 10 ? [] : SiteScene.round(at: moment - 10, [3, 5, 1])
      for item in late + SiteScene.round(at: moment, [3, 5, 1]) {
        guard case .measurement(let line) = item,
          case .distance(let metres)? = line.quantities.first
        else { continue }
        let text =
          #"{"t": \#(line.time), "tag": "\#(line.tag)", "anchor": "\#(line.anchor)", "#
          + #""distance_m": \#(metres)}"# + "\n"
        pipe.fileHandleForWriting.write(Data(text.utf8))
      }
    }
    try pipe.fileHandleForWriting.close()
    let path = "/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)"
    let source = try Source(argument: "utc:\(path)", SiteNames(SiteScene().site))
    #expect(source.isLive && source.isTimed)
    let collector = try run([source])
    #expect(collector.run?.isLive == true && collector.run?.epoch == 0)
    let last = try #require(collector.places.last)
    #expect(abs(last.time - (start + 1.9)) < 1e-6 && abs(last.position.x - 3) < 0.1)
    #expect(collector.places.map(\.time) == collector.places.map(\.time).sorted())
    #expect(collector.events.contains { $0.kind == .source("utc:\(path)", .ended(reason: nil)) })
  }

  @Test("Lines are read as they come, and a pause is no end")
  func pause() throws {
    let pipe = Pipe()
    var lines = TimedLines(
      Descriptor(pipe.fileHandleForReading.fileDescriptor, isOwned: false), LineParser(.json))
    #expect(lines.next() == .nothing)
    pipe.fileHandleForWriting.write(
      Data(#"{"t": 1, "tag": "T", "anchor": "A", "distance_m": 2}"#.utf8))
    #expect(lines.next() == .items([]))
    pipe.fileHandleForWriting.write(Data("\n[]\n".utf8))
    guard case .items(let items) = lines.next() else { return #expect(Bool(false)) }
    #expect(items.count == 2 && items[0].time == 1)
    try pipe.fileHandleForWriting.close()
    #expect(lines.next() == .items([.state(.ended(reason: nil))]))
    #expect(lines.next() == .end)
  }

  @Test(
    "A folder and a missing pipe of lines with times are refused", arguments: ["/tmp", "/nowhere"])
  func timedRefused(path: String) throws {
    let names = SiteNames(try SiteScene().site)
    #expect(throws: SourceFailure.self) { try Source(argument: "utc:\(path)", names) }
  }

  @Test("A sink that fails ends the run with its error")
  func failure() throws {
    final class Full: SiteSink {
      func receive(_ batch: SiteBatch) throws(SinkFailure) { throw SinkFailure("the disk is full") }
    }
    var runner = try SiteRunner(
      try SiteScene().site, [Source("a", .recording(Items(items: items(1, anchors: [0]))))],
      sinks: [Full()], epoch: 0)
    let error = #expect(throws: SinkFailure.self) { try runner.run() }
    #expect(error?.description == "the disk is full")
  }

  @Test("Changes of the site arrive during live runs and in recordings", arguments: [true, false])
  func changes(isLive: Bool) throws {
    let (collector, changes) = (Collector(), SiteChanges())
    var site = try SiteScene().site
    site.name = "changed"
    changes.put(.site(site))
    changes.put(.refused(file: "site.json", ["is empty"]))
    let items = items(3, anchors: [0, 1])
    var runner = try SiteRunner(
      try SiteScene().site,
      [Source("a", isLive ? .live(Burst(items: items)) : .recording(Items(items: items)))],
      sinks: [collector], epoch: 0, changes: changes)
    try runner.run()
    #expect(collector.events.filter { $0.kind == .siteChanged }.count == 1)
    #expect(collector.events.contains { if case .bad = $0.kind { true } else { false } })
    #expect(collector.run?.site.name == "changed")
  }

  @Test("A run that is stopped closes the ports of its sources")
  func stopped() throws {
    let collector = try run([Source("a", .live(Endless()))], isStopped: { true })
    #expect(collector.counters?.measurements == 0)
  }
}
