// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// Passes items through the engine and converts its results to events. Time is an input.
///
/// Items are added with their source. `turn` delivers a batch of events to the sinks.
package struct SiteLoop {
  /// The number of problems of each source that are reported as events. Further problems are only
  /// counted.
  private static let shownProblems = 10
  /// The seconds after which places are reported, even while measurements are waiting.
  private static let longestWait = 0.001

  private var run: SiteRun
  private let sinks: [any SiteSink]
  private var engine: Engine
  private var presence: PresenceWatch
  /// The messages of one-way ranging, from which arrivals are computed.
  private var messages: OneWayRounds
  private var problems: [Int]
  private var batch = SiteBatch()
  private var number = 0
  private var lastComplete = -Double.infinity

  /// - Parameter state: the learned values of an earlier run, with times converted to this run.
  package init(
    _ run: SiteRun, sinks: [any SiteSink], from state: SiteState.Resumed? = nil
  ) throws(SinkFailure) {
    (self.run, self.sinks) = (run, sinks)
    engine = state?.engine ?? Engine(run.site)
    engine.hasOneClock = run.hasOneClock
    presence = state?.presence ?? PresenceWatch(run.site, engine)
    self.run.zones = presence.zones(engine)
    messages = OneWayRounds(run.site.facings, sources: run.sources.count)
    problems = Array(repeating: 0, count: run.sources.count)
    for sink in sinks { try sink.begin(self.run) }
  }

  package var counters: SiteCounters { batch.counters }

  /// Returns the learned values after the items so far.
  ///
  /// - Parameter now: seconds by the clock of the run; nil for recordings.
  package func state(now: Double?) -> SiteState {
    let counters = batch.counters
    return SiteState(
      header: .init(
        site: SiteState.number(of: run.site),
        lines: counters.measurements + counters.failed + counters.bad, now: now ?? 0,
        epoch: run.epoch),
      values: .init(engine: engine.state, presence: presence.state))
  }

  // MARK: input

  /// Adds an item of a source.
  ///
  /// - Parameter arrival: seconds by the clock of the run; nil for recordings.
  package mutating func add(_ item: SourceItem, from source: Int, arrival: Double? = nil) {
    switch item {
    case .measurement(let line):
      batch.counters.measurements += 1
      add(line, source, arrival)
    case .message(let line):
      batch.counters.measurements += 1
      add(line, source, arrival)
    case .failed: batch.counters.failed += 1
    case .lost(let count): batch.counters.lost += count
    case .bad(let sentence):
      batch.counters.bad += 1
      problems[source] += 1
      guard problems[source] <= Self.shownProblems else { return }
      append(.bad(source: run.sources[source], sentence), arrival)
    case .state(let state): append(.source(run.sources[source], state), arrival)
    }
  }

  private mutating func add(_ line: RangeLine, _ source: Int, _ arrival: Double?) {
    let line = turned(line)
    var measurement = SiteMeasurement(source: source, line: line, time: nil)
    switch engine.add(line, source: source, arrival: arrival) {
    case .unknown: batch.counters.unknown += 1
    case .withoutTag: batch.counters.withoutTag += 1
    case .added(let tag, let anchor, let time):
      measurement.time = time
      if time != nil {
        measurement.link = .init(tag: tag, anchor: anchor, reception: engine.reception)
      }
      guard let time, case .distance(let range)? = line.quantities.first else { break }
      let changes = presence.add(
        range, deviation: line.deviation ?? RangeLine.usual.distance, tag, anchor, time, engine)
      for change in changes { append(change, arrival) }
    }
    batch.measurements.append(measurement)
  }

  /// Returns a line with the direction that its board has seen in the frame of the site.
  private func turned(_ line: RangeLine) -> RangeLine {
    guard line.seen != nil, case .anchor(let anchor)? = engine.known(line.tag) else {
      return line.turned(by: nil)
    }
    return line.turned(by: messages.anchors[anchor])
  }

  private mutating func add(_ line: OneWayLine, _ source: Int, _ arrival: Double?) {
    guard let receiver = engine.node(line.device), let sender = sender(of: line) else {
      batch.counters.unknown += 1
      return
    }
    let moment = OneWayRounds.Moment(time: line.time, source: source, arrival: arrival)
    for finding in messages.add(line, from: sender, to: receiver, at: moment) { add(finding) }
  }

  /// Returns the first sender that is in the site. An unknown sender is reported.
  private mutating func sender(of line: OneWayLine) -> Engine.Node? {
    for name in line.senders {
      if let node = engine.known(name) { return node }
    }
    return line.senders.last.flatMap { engine.node($0) }
  }

  private mutating func add(_ finding: OneWayRounds.Finding) {
    switch finding {
    case .restarted(let source): engine.restartClock(of: source)
    case .arrivals(let tag, let arrivals, let moment):
      let taken = engine.add(
        arrivals, at: moment.time, tag: tag, source: moment.source, arrival: moment.arrival)
      note(arrivals, tag, moment, taken)
    case .angles(let tag, let anchor, let azimuth, let elevation, let moment):
      var line = RangeLine(
        time: moment.time, tag: engine.tags[tag].name, anchor: engine.anchors[anchor].name,
        [azimuth.map { .azimuth($0) }, elevation.map { .elevation($0) }].compactMap(\.self))
      line.angleDeviation = messages.anchors[anchor].angleDeviation
      add(line, moment.source, moment.arrival)
    }
  }

  /// Notes the arrivals of a moment as differences to the first arrival, for pages.
  private mutating func note(
    _ arrivals: Arrivals, _ tag: Int, _ moment: OneWayRounds.Moment,
    _ taken: (time: Double, receptions: [TagTrack.Reception])?
  ) {
    guard let first = arrivals.entries.first else { return }
    for (index, entry) in arrivals.entries.enumerated().dropFirst() {
      let variance = first.deviation * first.deviation + entry.deviation * entry.deviation
      let line = RangeLine(
        time: moment.time, tag: engine.tags[tag].name, anchor: engine.anchors[entry.anchor].name,
        reference: engine.anchors[first.anchor].name,
        [.difference(entry.metres - first.metres)], deviation: variance.squareRoot())
      var measurement = SiteMeasurement(source: moment.source, line: line, time: taken?.time)
      if let taken {
        measurement.link = .init(
          tag: tag, anchor: entry.anchor, reception: taken.receptions[index])
      }
      batch.measurements.append(measurement)
    }
  }

  private mutating func append(_ kind: SiteEvent.Kind, _ decided: Double?) {
    number += 1
    let time = decided ?? (engine.newest.isFinite ? engine.newest : 0)
    batch.events.append(SiteEvent(number: number, decided: time, kind: kind))
  }

  /// Replaces the site after a change, or reports the problems of a refused site.
  package mutating func add(_ change: SiteChanges.Change, now: Double?) throws(SinkFailure) {
    switch change {
    case .site(let site): try replace(site, now: now)
    case .refused(let file, let problems):
      for problem in problems.prefix(Self.shownProblems) {
        append(.bad(source: file, "\(problem); the former site holds"), now)
      }
      try turn(now: now, isComplete: false)
    }
  }

  /// Replaces the site. Tags in both sites keep their tracks, and sinks receive an event.
  ///
  /// - Parameter now: seconds by the clock of the run; nil for recordings.
  package mutating func replace(_ site: Site, now: Double?) throws(SinkFailure) {
    guard site != run.site else { return }
    for finding in messages.finish() { add(finding) }
    try turn(now: now, isComplete: true)
    let old = engine
    engine.replace(by: Engine(site))
    run.site = site
    // The clocks of anchors, which are further sources, are compared again from the start.
    messages = OneWayRounds(site.facings, sources: run.sources.count)
    for anchor in old.anchors.indices { engine.restartClock(of: run.sources.count + anchor) }
    let time = now ?? (engine.newest.isFinite ? engine.newest : 0)
    for change in presence.replace(site, (old, engine), at: time) { append(change, now) }
    run.zones = presence.zones(engine)
    for sink in sinks { sink.change(run) }
    append(.siteChanged, now)
    try turn(now: now, isComplete: true)
  }

  // MARK: output

  /// Delivers all events to the sinks.
  ///
  /// - Parameters:
  ///   - now: seconds by the clock of the run; nil for recordings.
  ///   - isComplete: whether no measurement is waiting. Otherwise, the place of a round is reported
  ///     when the next round begins, or a little later.
  package mutating func turn(now: Double?, isComplete: Bool) throws(SinkFailure) {
    var isComplete = isComplete
    if let now {
      for finding in messages.due(at: now, onlyLate: true) { add(finding) }
      isComplete = isComplete || now - lastComplete >= Self.longestWait
      if isComplete { lastComplete = now }
    }
    var events: [Engine.Event] = []
    engine.drain(now: now, isComplete: isComplete) { events.append($0) }
    for event in events { add(event, now) }
    guard !batch.events.isEmpty || !batch.measurements.isEmpty else { return }
    batch.counters.engine = engine.counters
    batch.now = now ?? (engine.newest.isFinite ? engine.newest : 0)
    for sink in sinks { try sink.receive(batch) }
    batch.events.removeAll(keepingCapacity: true)
    batch.measurements.removeAll(keepingCapacity: true)
  }

  /// Delivers the last events to the sinks, and completes their output.
  package mutating func finish(now: Double?) throws(SinkFailure) {
    for finding in messages.finish() { add(finding) }
    try turn(now: now, isComplete: true)
    batch.counters.engine = engine.counters
    for sink in sinks { try sink.finish(batch.counters) }
  }

  private mutating func add(_ event: Engine.Event, _ now: Double?) {
    switch event {
    case .place(let tag, let place):
      batch.counters.places += 1
      let changes = presence.add(place, tag, engine)
      if changes.isFound { append(.found(tag: engine.tags[tag].name, at: place.time), now) }
      append(.place(tag: engine.tags[tag].name, place, floor: changes.floor), now)
      for change in changes.events {
        append(change, now)
        guard case .floor(_, let change) = change,
          let floor = run.site.floors.first(where: { $0.id == change.to })
        else { continue }
        engine.set(surface: floor.height, ofTag: tag)
      }
    case .refused(let tag, let reason, let place):
      append(.refused(tag: engine.tags[tag].name, reason, place), now)
    case .lost(let tag, let since):
      let name = engine.tags[tag].name
      append(.lost(tag: name, since: since, zones: presence.lose(tag)), now)
    case .unknown(let address): append(.unknownBoard(address), now)
    case .anchorMoved(let anchor, let time, let by):
      append(.anchorMoved(anchor: engine.anchors[anchor].name, time: time, by: by), now)
    case .anchorDoubtful(let anchor, let time):
      append(.anchorDoubtful(anchor: engine.anchors[anchor].name, time: time), now)
    case .anchorRestored(let anchor, let time):
      append(.anchorRestored(anchor: engine.anchors[anchor].name, time: time), now)
    case .clockSet(let source, let change):
      // The clock of a reference anchor is also a source. Its restarts are usual, so they are not
      // reported.
      guard run.sources.indices.contains(source) else { break }
      append(.clockSet(source: run.sources[source], by: change), now)
    }
  }
}
