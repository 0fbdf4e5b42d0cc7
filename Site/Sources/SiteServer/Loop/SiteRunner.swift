// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import UWBSite

/// Runs sources, loop and sinks on the calling thread, which it blocks.
package struct SiteRunner {
  /// The seconds between checks for the end of the run and for lost tags.
  private static let tick = 0.1

  private let sources: [Source]
  private let isStopped: @Sendable () -> Bool
  private let start: ContinuousClock.Instant
  private let speed: Double?
  /// Whether times count from the start of the run.
  private let isClocked: Bool
  private let changes: SiteChanges
  private let watch: SiteFileWatch?
  private let state: StateFile?
  private var loop: SiteLoop

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - speed: the multiple of the speed of recordings; nil for as fast as possible. Beside live
  ///     sources, recordings have their own speed.
  ///   - epoch: the present time in seconds since 1970.
  ///   - changes: the changes of the site by pages.
  ///   - watch: the site file, whose changes take effect at once in a live run.
  ///   - state: the file from which the run continues, and to which it writes its state.
  ///   - isStopped: whether the run has to end.
  package init(
    _ site: Site, _ sources: [Source], sinks: [any SiteSink], speed: Double? = nil, epoch: Double,
    changes: SiteChanges = SiteChanges(), watch: SiteFileWatch? = nil, state: StateFile? = nil,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) throws(SinkFailure) {
    let isLive = sources.contains { $0.isLive }
    (self.sources, self.speed, self.isStopped) = (sources, speed, isStopped)
    (self.changes, self.watch, self.state) = (changes, watch, state)
    let hasClock = isLive && !sources.contains { $0.isTimed }
    isClocked = hasClock
    let former = state?.read(site, isLive: hasClock)
    // A continued run counts its time from the start of the earlier run.
    let age = hasClock ? former.map { max($0.header.now, epoch - $0.header.epoch) } ?? 0 : 0
    start = ContinuousClock.now.advanced(by: .seconds(-age))
    var run = SiteRun(
      site, sources: sources.map(\.name), isLive: isLive, epoch: hasClock ? epoch - age : 0)
    run.hasOneClock = sources.contains { $0.isTimed }
    loop = try SiteLoop(run, sinks: sinks, from: former)
  }

  /// Runs until all sources have ended.
  package mutating func run() throws(SinkFailure) {
    try runSources()
    state?.finish(loop.state(now: now))
  }

  private mutating func runSources() throws(SinkFailure) {
    if case .timed(var lines)? = sources.first?.kind { return try follow(&lines) }
    var recordings = RecordingMerge(sources)
    if sources.contains(where: \.isLive) {
      try runLive(&recordings)
    } else {
      try play(&recordings)
    }
  }

  /// Returns the seconds since the start of the run.
  private static func seconds(since start: ContinuousClock.Instant) -> Double {
    let passed = (ContinuousClock.now - start).components
    return Double(passed.seconds) + 1e-18 * Double(passed.attoseconds)
  }

  /// The seconds by the clock of the run; nil if the input gives the times.
  private var now: Double? { isClocked ? Self.seconds(since: start) : nil }

  /// Writes the state if it is due.
  private func keep() {
    state?.offer({ loop.state(now: now) }, at: Self.seconds(since: start))
  }

  // MARK: recordings

  private mutating func play(_ recordings: inout RecordingMerge) throws(SinkFailure) {
    var first: Double?
    while let (source, item) = recordings.next(), !isStopped() {
      if let speed, let time = item.time {
        let from = first ?? time
        first = from
        wait(until: max(0, (time - from) / speed))
      }
      for change in changes.take() { try loop.add(change, now: nil) }
      loop.add(item, from: source)
      try loop.turn(now: nil, isComplete: false)
      keep()
    }
    try loop.finish(now: nil)
  }

  /// Waits until a number of seconds after the start, or until the end of the run.
  private func wait(until time: Double) {
    let semaphore = DispatchSemaphore(value: 0)
    while !isStopped() {
      let rest = time - Self.seconds(since: start)
      guard rest > 0 else { return }
      _ = semaphore.wait(timeout: .now() + .nanoseconds(Int(min(rest, Self.tick) * 1e9)))
    }
  }

  // MARK: lines with the times of the run

  /// Follows lines until their end. A slow reader of the output slows their sender down.
  private mutating func follow(_ lines: inout TimedLines) throws(SinkFailure) {
    let mailbox = Mailbox(sources: sources.count)
    defer { mailbox.close() }
    startWatch(mailbox)
    while !isStopped() {
      let reading = lines.next()
      for change in changes.take() { try loop.add(change, now: nil) }
      switch reading {
      case .items(let items):
        for item in items {
          loop.add(item, from: 0)
          try loop.turn(now: nil, isComplete: false)
        }
      case .nothing: try loop.turn(now: nil, isComplete: true)
      case .end: return try loop.finish(now: nil)
      }
      keep()
    }
    try loop.finish(now: nil)
  }

  // MARK: live

  private mutating func runLive(_ recordings: inout RecordingMerge) throws(SinkFailure) {
    let mailbox = Mailbox(sources: sources.count)
    defer { mailbox.close() }
    startWatch(mailbox)
    var running = startSources(mailbox)
    var next = recordings.next()
    var first: Double?
    while !isStopped() {
      let deliveries = mailbox.take()
      for delivery in deliveries {
        loop.add(delivery.item, from: delivery.source, arrival: delivery.arrival)
        if case .state(.ended) = delivery.item { running -= 1 }
      }
      var now = Self.seconds(since: start)
      for change in changes.take() { try loop.add(change, now: now) }
      // Beside live sources, recordings are replayed in real time.
      var pause = Self.tick
      while let (source, item) = next {
        if let time = item.time {
          let from = first ?? time - now
          first = from
          pause = min(Self.tick, time - from - now)
          guard pause <= 0 else { break }
        }
        loop.add(item, from: source, arrival: now)
        next = recordings.next()
        now = Self.seconds(since: start)
      }
      try loop.turn(now: now, isComplete: deliveries.isEmpty)
      keep()
      guard deliveries.isEmpty else { continue }
      if running == 0, next == nil { break }
      mailbox.wait(pause)
    }
    try loop.finish(now: Self.seconds(since: start))
  }

  /// Starts each live source on a thread of its own; returns their number.
  private func startSources(_ mailbox: Mailbox) -> Int {
    var count = 0
    let start = start
    for (index, source) in sources.enumerated() {
      guard case .live(let live) = source.kind else { continue }
      let port = SourcePort(mailbox, index) { Self.seconds(since: start) }
      DispatchQueue(label: source.name).async { live.run(port) }
      count += 1
    }
    return count
  }
}

extension SiteRunner {
  /// Watches the site file on a thread of its own, until the mailbox is closed.
  private func startWatch(_ mailbox: Mailbox) {
    guard let watch else { return }
    let changes = changes
    DispatchQueue(label: "site file").async {
      let semaphore = DispatchSemaphore(value: 0)
      var watch = watch
      while !mailbox.isClosed {
        if let change = watch.look() { changes.put(change) }
        _ = semaphore.wait(timeout: .now() + SiteFileWatch.pause)
      }
    }
  }
}

/// The items of all recordings in the order of their times.
struct RecordingMerge {
  private var recordings: [(source: Int, recording: any Recording, head: SourceItem?)]

  init(_ sources: [Source]) {
    recordings = sources.enumerated().compactMap { index, source in
      guard case .recording(var recording) = source.kind else { return nil }
      let head = recording.next()
      return (index, recording, head)
    }
  }

  /// Returns the next item with its source. Items without a time come first.
  mutating func next() -> (source: Int, item: SourceItem)? {
    var best: (index: Int, time: Double)?
    for (index, entry) in recordings.enumerated() {
      guard let head = entry.head else { continue }
      let time = head.time ?? -.infinity
      if time < best?.time ?? .infinity || best == nil { best = (index, time) }
    }
    guard let index = best?.index, let item = recordings[index].head else { return nil }
    recordings[index].head = recordings[index].recording.next()
    return (recordings[index].source, item)
  }
}
