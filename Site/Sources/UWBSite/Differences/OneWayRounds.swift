// SPDX-License-Identifier: Apache-2.0

/// Converts the messages of one-way ranging of a whole site to arrivals and angles of tags.
///
/// A blink of uplink TDoA waits until each anchor has received a later frame of synchronisation,
/// for at most a quarter of a second. Time is an input.
package struct OneWayRounds: Sendable {
  /// A finding for the track of a tag.
  package enum Finding: Sendable, Hashable {
    /// Arrivals with their time by the clock of a source.
    case arrivals(tag: Int, Arrivals, at: Moment)
    /// The direction of a tag from an anchor in radians, in the frame of the site.
    case angles(tag: Int, anchor: Int, azimuth: Double?, elevation: Double?, at: Moment)
    /// The clock of a reference anchor has restarted. Earlier times of its source are meaningless.
    case restarted(source: Int)
  }

  /// A time by the clock of a source.
  package struct Moment: Sendable, Hashable {
    package var time: Double
    package var source: Int
    /// The time in seconds by the clock of the run; nil for recordings.
    package var arrival: Double?

    package init(time: Double, source: Int, arrival: Double?) {
      (self.time, self.source, self.arrival) = (time, source, arrival)
    }
  }

  private struct Key: Sendable, Hashable {
    var tag: Int
    var frame: UInt32
  }

  /// A blink that not all anchors have reported.
  private struct Blink: Sendable {
    var stamps: [UplinkClocks.Stamp] = []
    /// The time of the first message of the blink.
    var moment: Moment
    /// The time of the engine at the first message.
    var since: Double
  }

  /// The time in seconds for which a blink waits.
  package static let longestWait = 0.25
  /// The seconds without messages after which blinks no longer wait for an anchor.
  private static let silence = 1.0
  private static let mostBlinks = 4096

  package let anchors: [Facing]
  private let places: [SIMD3<Double>]
  private let hasSyncRoles: Bool
  private let hasInitiators: Bool
  /// The index of the first source that is the clock of a reference anchor.
  private let firstSource: Int
  private var clocks: UplinkClocks
  private var downlinks: [Int: DownlinkRounds] = [:]
  private var blinks: [Key: Blink] = [:]
  /// The keys of `blinks` in the order of their first messages.
  private var order: [Key] = []
  /// The time of the last message of each uplink anchor.
  private var seen: [Int: Double] = [:]

  /// - Parameters:
  ///   - anchors: the anchors in the order of the engine.
  ///   - sources: the number of sources of messages.
  package init(_ anchors: [Facing], sources: Int) {
    self.anchors = anchors
    places = anchors.map(\.position)
    hasSyncRoles = anchors.contains { $0.roles.contains(.sync) }
    hasInitiators = anchors.contains { $0.roles.contains(.initiator) }
    firstSource = sources
    clocks = UplinkClocks(places: places)
  }

  // MARK: input

  /// Adds a message.
  ///
  /// - Parameters:
  ///   - sender: the tag or anchor that has sent it.
  ///   - receiver: the tag or anchor that has received it.
  package mutating func add(
    _ line: OneWayLine, from sender: Engine.Node, to receiver: Engine.Node, at moment: Moment
  ) -> [Finding] {
    let now = moment.arrival ?? moment.time
    var found: [Finding] = []
    switch (line.message, sender, receiver) {
    case (.downlink(var stamp), .anchor(let anchor), .tag(let tag)):
      guard !hasInitiators || stamp.kind == .response || anchors[anchor].roles.contains(.initiator)
      else { return [] }
      stamp.anchor = anchor
      stamp.time = moment.time
      found = addDownlink(stamp, tag, moment)
    case (.sync(let sent, let received), .anchor(let reference), .anchor(let anchor)):
      guard !hasSyncRoles || anchors[reference].roles.contains(.sync) else { return [] }
      found = addSync(sent, received, from: reference, at: anchor, now)
    case (.blink(let frame, let received), .tag(let tag), .anchor(let anchor)):
      seen[anchor] = now
      clocks.note(anchor, bits: received.bits)
      addBlink(Key(tag: tag, frame: frame), anchor, received.ticks, line.blocked, moment, now)
      found = angles(line, tag, anchor, moment)
    case (.frame, .tag(let tag), .anchor(let anchor)): found = angles(line, tag, anchor, moment)
    default: return []
    }
    // Only a frame of synchronisation can complete a blink before its time limit.
    if case .sync = line.message { return found + due(at: now) }
    return found + due(at: now, onlyLate: true)
  }

  private mutating func addDownlink(
    _ stamp: AnchorStamp, _ tag: Int, _ moment: Moment
  ) -> [Finding] {
    downlinks[tag, default: DownlinkRounds(places: places)].add(stamp).map { arrivals in
      var own = moment
      own.time = arrivals.time
      return .arrivals(tag: tag, arrivals, at: own)
    }
  }

  private mutating func addSync(
    _ sent: OneWayLine.Stamp, _ received: OneWayLine.Stamp, from reference: Int, at anchor: Int,
    _ now: Double
  ) -> [Finding] {
    seen[anchor] = now
    clocks.note(reference, bits: sent.bits)
    clocks.note(anchor, bits: received.bits)
    let finding = clocks.addSync(
      from: reference, sent: sent.ticks, at: anchor, received: received.ticks)
    // If the anchor has restarted rather than the reference, resetting the source is harmless.
    return finding == .restarted ? [.restarted(source: firstSource + reference)] : []
  }

  private mutating func addBlink(
    _ key: Key, _ anchor: Int, _ ticks: UInt64, _ blocked: Double, _ moment: Moment, _ now: Double
  ) {
    var blink = blinks[key] ?? Blink(moment: moment, since: now)
    if blinks[key] == nil { order.append(key) }
    guard !blink.stamps.contains(where: { $0.anchor == anchor }) else { return }
    blink.stamps.append(.init(anchor: anchor, received: ticks, blocked: blocked))
    blinks[key] = blink
  }

  /// Returns the angles of a message where the anchor's direction is known.
  private func angles(
    _ line: OneWayLine, _ tag: Int, _ anchor: Int, _ moment: Moment
  ) -> [Finding] {
    let front = anchors[anchor]
    guard front.facing != nil, line.azimuth != nil || line.elevation != nil else { return [] }
    let azimuth = line.azimuth.flatMap { front.turned($0) }
    return [
      .angles(tag: tag, anchor: anchor, azimuth: azimuth, elevation: line.elevation, at: moment)
    ]
  }

  // MARK: output

  /// Returns the blinks that are complete, and the blinks whose waiting time has passed.
  package mutating func due(at now: Double, onlyLate: Bool = false) -> [Finding] {
    let late = order.prefix { key in
      now - (blinks[key]?.since ?? now) > Self.longestWait
    }
    let forced = max(late.count, order.count - Self.mostBlinks)
    guard !order.isEmpty, forced > 0 || !onlyLate else { return [] }
    let expected = seen.filter { now - $0.value < Self.silence }.map(\.key)
    var found: [Finding] = []
    var rest: [Key] = []
    for (index, key) in order.enumerated() {
      guard let blink = blinks[key] else { continue }
      let isDone = index < forced || !onlyLate && clocks.isComplete(blink.stamps, expected)
      guard isDone else {
        rest.append(key)
        continue
      }
      blinks[key] = nil
      if let one = finding(key.tag, blink) { found.append(one) }
    }
    order = rest
    return found
  }

  /// Returns all blinks that wait.
  package mutating func finish() -> [Finding] {
    let found = order.compactMap { key in blinks[key].flatMap { finding(key.tag, $0) } }
    (order, blinks) = ([], [:])
    return found
  }

  private mutating func finding(_ tag: Int, _ blink: Blink) -> Finding? {
    guard let arrivals = clocks.arrivals(blink.stamps, waits: true) else { return nil }
    var moment = blink.moment
    moment.arrival = moment.arrival ?? moment.time
    (moment.time, moment.source) = (arrivals.time, firstSource + arrivals.reference)
    return .arrivals(tag: tag, arrivals, at: moment)
  }
}

/// An anchor of one-way ranging.
package struct Facing: Sendable, Hashable {
  package var position: SIMD3<Double>
  /// The direction in which the antennas of the anchor face, in radians from x towards y; nil if
  /// unknown.
  package var facing: Double?
  /// One standard deviation of the angles of the anchor, in degrees.
  package var angleDeviation: Double?
  package var roles: Set<Site.Anchor.Role>

  package init(
    _ position: SIMD3<Double>, facing: Double? = nil, roles: Set<Site.Anchor.Role> = []
  ) {
    (self.position, self.facing, self.roles) = (position, facing, roles)
  }
}
