// SPDX-License-Identifier: Apache-2.0

/// A message of an anchor of downlink TDoA, as a tag receives it.
package struct AnchorStamp: Sendable, Hashable {
  package enum Kind: Sendable, Hashable { case poll, response, final }

  /// The index of the anchor.
  package var anchor: Int
  package var kind: Kind
  package var block: Int
  package var round: Int
  /// The time of sending by the anchor's clock, in ticks.
  package var sent: UInt64
  /// The time of reception by the tag's clock, in ticks.
  package var received: UInt64
  /// Whether the time of sending is by a clock that all anchors share.
  package var isCommonTimeBase = false
  /// The widths of both counters.
  package var bits = (sent: 40, received: 40)
  /// The ticks of the responder from the poll to its response.
  package var reply = 0.0
  /// The responder's clock rate relative to the initiator's, minus 1, from its message.
  package var anchorOffset: Double?
  /// The sender's clock rate relative to the tag's, minus 1, from the carrier.
  package var carrier: Double?
  /// The ticks of a signal's flight from the initiator to the responder; nil to compute them from
  /// the places.
  package var flight: Double?
  /// The time at which the message was read, in seconds.
  package var time = 0.0

  package init(
    anchor: Int, _ kind: Kind, block: Int, round: Int = 0, sent: UInt64, received: UInt64
  ) {
    (self.anchor, self.kind, self.block, self.round) = (anchor, kind, block, round)
    (self.sent, self.received) = (sent, received)
  }

  package static func == (a: Self, b: Self) -> Bool {
    a.anchor == b.anchor && a.kind == b.kind && a.block == b.block && a.round == b.round
      && a.sent == b.sent && a.received == b.received && a.bits == b.bits && a.reply == b.reply
      && a.isCommonTimeBase == b.isCommonTimeBase && a.anchorOffset == b.anchorOffset
      && a.carrier == b.carrier && a.flight == b.flight
      && a.time == b.time
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(anchor)
    hasher.combine(kind)
    hasher.combine(block)
    hasher.combine(round)
    hasher.combine(sent)
    hasher.combine(received)
  }
}

/// Times at which the signals of one moment arrive from or at anchors, in metres, with a common
/// unknown time. Their errors are independent, unlike the errors of differences.
package struct Arrivals: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    /// The index of the anchor.
    package var anchor: Int
    /// The time of arrival in metres, up to the unknown time.
    package var metres: Double
    /// One standard deviation in metres.
    package var deviation: Double
    /// The probability that the direct path is blocked.
    package var blocked: Double
    /// The variance in m² that consecutive moments share: the error of a predicted clock.
    package var shared: Double

    package init(
      anchor: Int, metres: Double, deviation: Double, blocked: Double = 0, shared: Double = 0
    ) {
      (self.anchor, self.metres) = (anchor, metres)
      (self.deviation, self.blocked, self.shared) = (deviation, blocked, shared)
    }

    /// The variance of all errors in m².
    var variance: Double { deviation * deviation + shared }
  }

  package var entries: [Entry]
  /// The time in seconds: the time of the poll, or the time by the clock of the reference.
  package var time = 0.0
  /// The reference anchor of uplink TDoA; -1 for downlink.
  package var reference = -1

  package init(_ entries: [Entry]) { self.entries = entries }

  /// Returns the distance to an anchor minus the distance to another; nil unless both have an
  /// arrival.
  package func difference(_ first: Int, _ second: Int) -> Double? {
    guard let a = entries.first(where: { $0.anchor == first }),
      let b = entries.first(where: { $0.anchor == second })
    else { return nil }
    return b.metres - a.metres
  }
}

/// Computes the arrivals of a round from the messages that a tag receives.
///
/// Two messages of one anchor compare its clock with the tag's a hundred times more exactly than
/// the carrier of a frame. The carrier is used only without such messages.
package struct DownlinkRounds: Sendable {
  /// One standard deviation of a stamp of reception in ticks; 7.7 ticks are 120 ps.
  package var stampDeviation = 7.7
  /// One standard deviation of a carrier offset, as a fraction.
  package var carrierDeviation = 0.05e-6
  /// The time in seconds within which rates of clocks are compared.
  private static let memory = 1.0
  /// The greatest number of messages of a round: FiRa's rounds have at most 255 slots.
  private static let mostMessages = 255
  /// The greatest relative difference of two clocks: crystals of ± 20 ppm with a margin.
  private static let greatestOffset = 100e-6

  private struct Key: Hashable {
    var block: Int
    var round: Int
  }

  /// The last stamps of an anchor's messages of one kind in one round of the block.
  private struct History: Sendable {
    var stamps: [AnchorStamp] = []

    /// Adds a stamp. Removes stamps that are too old, or from before a restart of the anchor.
    mutating func add(_ stamp: AnchorStamp) {
      if let last = stamps.last {
        let own = Double(
          Ticks.between(last.received, stamp.received, bits: stamp.bits.received))
        let theirs = Double(Ticks.between(last.sent, stamp.sent, bits: stamp.bits.sent))
        if own <= 0 || abs(theirs / own - 1) > DownlinkRounds.greatestOffset { stamps = [] }
      }
      stamps.append(stamp)
      while let first = stamps.first, stamps.count > 2,
        Double(Ticks.between(first.received, stamp.received, bits: stamp.bits.received))
          > DownlinkRounds.memory * 1.05 * Ticks.perSecond
      { stamps.removeFirst() }
    }

    /// The anchor's ticks in a tick of the tag, minus 1, and the number of ticks that were
    /// compared; nil for a single stamp.
    var rate: (value: Double, span: Double)? {
      guard let first = stamps.first, let last = stamps.last, stamps.count > 1 else { return nil }
      let own = Ticks.between(first.received, last.received, bits: last.bits.received)
      let theirs = Ticks.between(first.sent, last.sent, bits: last.bits.sent)
      return (Double(theirs &- own) / Double(own), Double(own))
    }
  }

  private struct Source: Hashable {
    var anchor: Int
    var round: Int
  }

  private let places: [SIMD3<Double>]
  private var open: [Key: [AnchorStamp]] = [:]
  private var polls: [Source: History] = [:]
  private var responses: [Source: History] = [:]

  /// - Parameter places: the places of the anchors in metres, for messages without a time of
  /// flight.
  package init(places: [SIMD3<Double>] = []) { self.places = places }

  /// Adds a message.
  ///
  /// - Returns: the arrivals of a round that this message completes. Its final message completes a
  ///   round, and so does the first message of the next round.
  package mutating func add(_ message: AnchorStamp) -> [Arrivals] {
    let key = Key(block: message.block, round: message.round)
    let source = Source(anchor: message.anchor, round: message.round)
    switch message.kind {
    case .poll: polls[source, default: History()].add(message)
    case .response: responses[source, default: History()].add(message)
    case .final: break
    }
    // Earlier rounds are complete: a poll is never paired with messages of another block.
    var found: [Arrivals] = []
    for other in Array(open.keys) where other != key {
      if let messages = open.removeValue(forKey: other) { found += arrivals(messages) }
    }
    // A faulty source might repeat messages without end.
    if open[key]?.count ?? 0 < Self.mostMessages { open[key, default: []].append(message) }
    if message.kind == .final, let messages = open.removeValue(forKey: key) {
      found += arrivals(messages)
    }
    return found
  }

  /// Returns the arrivals of rounds whose final message is missing.
  package mutating func finish() -> [Arrivals] {
    defer { open = [:] }
    return open.values.flatMap { arrivals($0) }
  }

  private func arrivals(_ messages: [AnchorStamp]) -> [Arrivals] {
    let final = messages.first { $0.kind == .final }
    guard let poll = messages.first(where: { $0.kind == .poll }),
      let clock = initiatorRate(poll, final)
    else { return [] }
    var entries = [initiatorEntry(poll, final, clock)]
    entries += messages.filter { $0.kind == .response }.compactMap { entry($0, poll, clock) }
    guard entries.count > 1 else { return [] }
    var found = Arrivals(entries)
    found.time = poll.time
    return [found]
  }

  /// Returns the arrival of a responder's signal, later than the poll's.
  private func entry(
    _ response: AnchorStamp, _ poll: AnchorStamp, _ clock: (value: Double, deviation: Double)
  ) -> Arrivals.Entry? {
    let interval = Ticks.between(poll.received, response.received, bits: response.bits.received)
    // The stamp of the response is noisy as well.
    var variance = stampDeviation * stampDeviation
    // Whole ticks are subtracted first, because the intervals are long and their difference is
    // short.
    let later: Double
    let drift: Double
    if response.isCommonTimeBase {
      // The reply time is not by the common clock, so the times of sending are used.
      let bits = min(poll.bits.sent, response.bits.sent)
      let sent = Ticks.between(poll.sent, response.sent, bits: bits)
      later = Double(interval - sent) + Double(interval) * clock.value
      drift = Double(interval) * clock.deviation
    } else {
      guard let offset = responderRate(response, clock),
        let flight = flight(from: poll.anchor, response)
      else { return nil }
      later =
        Double(interval) - response.reply + Double(interval) * clock.value
        + response.reply * offset.value / (1 + offset.value) - flight
      // The responder's stamp of the poll is noisy as well.
      variance += stampDeviation * stampDeviation
      drift = response.reply * (clock.deviation + offset.deviation)
    }
    return Arrivals.Entry(
      anchor: response.anchor, metres: later * Ticks.metres,
      deviation: (variance + drift * drift).squareRoot() * Ticks.metres)
  }

  /// Returns the ticks from the initiator to a responder: from the message, or from the places.
  private func flight(from initiator: Int, _ response: AnchorStamp) -> Double? {
    if let flight = response.flight, flight > 0 { return flight }
    guard places.indices.contains(initiator), places.indices.contains(response.anchor) else {
      return nil
    }
    return (places[response.anchor] - places[initiator]).length / Ticks.metres
  }

  /// Returns the arrival of the initiator's signal.
  ///
  /// Uses the mean of poll and final message if earlier rounds have compared the clocks, or else
  /// the poll alone.
  private func initiatorEntry(
    _ poll: AnchorStamp, _ final: AnchorStamp?, _ clock: (value: Double, deviation: Double)
  ) -> Arrivals.Entry {
    var entry = Arrivals.Entry(
      anchor: poll.anchor, metres: 0, deviation: stampDeviation * Ticks.metres)
    guard let final, polls[Source(anchor: poll.anchor, round: poll.round)]?.rate != nil else {
      return entry
    }
    let own = Ticks.between(poll.received, final.received, bits: final.bits.received)
    let theirs = Ticks.between(poll.sent, final.sent, bits: final.bits.sent)
    guard abs(Double(theirs &- own)) < Self.greatestOffset * Double(own) else { return entry }
    let later = Double(own - theirs) + Double(own) * clock.value
    entry.metres = later / 2 * Ticks.metres
    let drift = Double(own) * clock.deviation / 2
    entry.deviation =
      (stampDeviation * stampDeviation / 2 + drift * drift).squareRoot() * Ticks.metres
    return entry
  }

  /// Returns the initiator's ticks in a tick of the tag, minus 1.
  private func initiatorRate(
    _ poll: AnchorStamp, _ final: AnchorStamp?
  ) -> (value: Double, deviation: Double)? {
    var best: (value: Double, span: Double)?
    if let final {
      let own = Ticks.between(poll.received, final.received, bits: final.bits.received)
      let theirs = Ticks.between(poll.sent, final.sent, bits: final.bits.sent)
      let rate = Double(theirs &- own) / Double(own)
      if own > 0, abs(rate) < Self.greatestOffset { best = (rate, Double(own)) }
    }
    if let long = polls[Source(anchor: poll.anchor, round: poll.round)]?.rate,
      long.span > best?.span ?? 0
    {
      best = long
    }
    if let best {
      return (best.value, 2.0.squareRoot() * stampDeviation / best.span)
    }
    return poll.carrier.map { ($0, carrierDeviation) }
  }

  /// Returns the responder's clock rate relative to the initiator's, minus 1. A tag that moves at 1
  /// m/s adds up to 2 m/s to the rates that it compares: 2 cm after a reply of 12 ms.
  private func responderRate(
    _ response: AnchorStamp, _ clock: (value: Double, deviation: Double)
  ) -> (value: Double, deviation: Double)? {
    let source = Source(anchor: response.anchor, round: response.round)
    if let rate = responses[source]?.rate {
      let deviation = 2.0.squareRoot() * stampDeviation / rate.span
      return ((1 + rate.value) / (1 + clock.value) - 1, deviation)
    }
    return response.anchorOffset.map { ($0, carrierDeviation) }
  }
}
