// SPDX-License-Identifier: Apache-2.0
internal import Ranging
internal import UCI
internal import UWBLink

/// Computes estimates from the notifications of one session.
///
/// Measurements and the receivers' diagnostics of their frames come in different notifications. The
/// sequence number of the round pairs them. A measurement waits for its diagnostics until the next
/// round at most, and only if diagnostics usually arrive. Without them, the estimate of the round
/// has no phases and levels, but the measurement is kept. Diagnostics may also arrive before their
/// measurement. Diagnostics that arrive too late are counted.
///
/// Notifications of known peers cause no allocation, and there is no lock: only one thread or task
/// may use the pipeline at a time.
package struct EstimationPipeline: Sendable {
  package let settings: EstimationSettings
  /// The number of diagnostics that arrived after their measurement had been emitted.
  package private(set) var late = 0
  /// The number of rounds that were emitted without the expected diagnostics.
  package private(set) var missing = 0

  private var peers: [PeerTrack] = []
  private var start: UInt64?

  /// The round that waits for diagnostics.
  private var waiting = Round()
  /// Diagnostics of a round whose measurements have not arrived.
  private var early = Reports()
  /// The round that was last emitted.
  private var lastEmitted: UInt32?
  private var expects: Bool
  /// Consecutive rounds without diagnostics.
  private var misses = 0

  private struct Round: Sendable {
    var isThere = false
    var sequence: UInt32 = 0
    var measurements: [RangingMeasurement] = []
    /// The diagnostics in the measurements' own notification: one for each measurement, or none.
    var tails: [PeerDiagnostics] = []

    var hasSuccess: Bool {
      // Uses an index: without optimisation iterators allocate.
      for index in 0..<measurements.count where measurements[index].result.status.isSuccess {
        return true
      }
      return false
    }
  }

  /// The contents of one notification of diagnostics, by frame.
  struct Reports: Sendable {
    struct Frame: Sendable {
      /// Whether the frame is a responder's answer. An initiator receives one from each peer.
      var isResponse: Bool
      var seen: PeerDiagnostics
    }
    var isThere = false
    var sequence: UInt32 = 0
    var frames: [Frame] = []
  }

  /// The number of rounds without diagnostics after which measurements no longer wait for them.
  private static var patience: Int { 3 }

  package init(_ settings: EstimationSettings = EstimationSettings()) {
    self.settings = settings
    expects = settings.expectsDiagnostics ?? false
    peers.reserveCapacity(16)
    waiting.measurements.reserveCapacity(64)
    waiting.tails.reserveCapacity(64)
    early.frames.reserveCapacity(64)
  }

  /// Handles a notification of the session's rounds; unreadable diagnostics have no effect.
  ///
  /// - Parameter emit: Called with each completed estimate, and with each round without any
  ///   measurement.
  package mutating func add(
    _ round: borrowing RoundNotification, _ emit: (EstimatedRound) -> Void
  ) {
    switch round.kind {
    case .measurements(let view):
      addMeasurements(round, view, emit)
      if let empty = EmptyRound(round) { emit(.empty(empty)) }
    case .diagnostics(let opcode, let payload): addDiagnostics(opcode, payload, emit)
    case .interrupted:
      flush(emit)
      // The chip has restarted its count of rounds from 0.
      lastEmitted = nil
      early.isThere = false
    case .resumed: break
    }
  }

  private mutating func addMeasurements(
    _ round: borrowing RoundNotification, _ view: SessionInfoView,
    _ emit: (EstimatedRound) -> Void
  ) {
    emitPending(nil, emit)
    guard view.type == .twoWay else { return }
    waiting.isThere = true
    waiting.sequence = view.sequenceNumber
    round.forEachMeasurement { waiting.measurements.append($0) }
    let tail = view.payload.extracting(view.vendorTailOffset..<view.payload.byteCount)
    if let tail = NXPVendorTail(tail, measurements: view.count) {
      for index in 0..<view.count {
        waiting.tails.append(PeerDiagnostics(tail, measurement: index))
      }
    }
    if early.isThere, early.sequence == waiting.sequence {
      emitPending(early, emit)
      early.isThere = false
    } else if !expects {
      emitPending(nil, emit)
    }
  }

  private mutating func addDiagnostics(
    _ opcode: Opcode, _ payload: RawSpan, _ emit: (EstimatedRound) -> Void
  ) {
    // The array is swapped out, because a second reference would cause a copy.
    var reports = Reports()
    swap(&reports, &early)
    reports.isThere = false
    reports.frames.removeAll(keepingCapacity: true)
    Self.read(opcode, payload, &reports)
    guard reports.isThere else {
      early = reports
      return
    }
    expects = true
    misses = 0
    if waiting.isThere, reports.sequence == waiting.sequence {
      emitPending(reports, emit)
      reports.isThere = false
    } else if let lastEmitted, Int32(bitPattern: reports.sequence &- lastEmitted) <= 0 {
      late += 1
      reports.isThere = false
    }
    early = reports
  }

  /// Emits the measurements that still wait for diagnostics, because no notification is available
  /// now.
  package mutating func flush(_ emit: (EstimatedRound) -> Void) { emitPending(nil, emit) }

  // MARK: reading

  /// Returns the phase difference of the pair for azimuth in each frame of a notification of
  /// diagnostics, in radians.
  package static func phases(_ opcode: Opcode, _ payload: RawSpan) -> [Double] {
    var reports = Reports()
    read(opcode, payload, &reports)
    return reports.frames.compactMap(\.seen.azimuth.phase)
  }

  private static func read(_ opcode: Opcode, _ payload: RawSpan, _ reports: inout Reports) {
    switch opcode {
    case RangeDiagnosticsNotification.opcode, RangeDiagnosticsNotification.qorvoOpcode:
      guard let view = try? RangeDiagnosticsView(payload) else { return }
      reports.isThere = true
      reports.sequence = view.sequenceNumber
      read(view, &reports)
    case NXPRFrameLogNotification.opcode:
      guard let view = NXPFrameLogView(payload) else { return }
      reports.isThere = true
      reports.sequence = view.sequenceNumber
      for index in 0..<view.count {
        guard let entry = view.entry(index) else { continue }
        var seen = PeerDiagnostics()
        seen.take(entry)
        // The schedule, not the entry, determines which message is in a slot.
        if seen.frames > 0 { reports.frames.append(.init(isResponse: false, seen: seen)) }
      }
    default: return
    }
  }

  private static func read(_ view: borrowing RangeDiagnosticsView, _ reports: inout Reports) {
    var open = OpenReport()
    view.forEachItem { head, type, item in
      if open.head?.index != head.index { open.close(into: &reports) }
      open.head = head
      open.items.take(type, item)
    }
    open.close(into: &reports)
  }

  /// The report whose items are being read.
  private struct OpenReport {
    var head: RangeDiagnosticsView.Head?
    var items = FrameItems()

    mutating func close(into reports: inout Reports) {
      if let head, head.action == 0, let seen = items.finished() {
        reports.frames.append(.init(isResponse: head.message == 1, seen: seen))
      }
      head = nil
      items = FrameItems()
    }
  }

  // MARK: emitting

  private mutating func emitPending(
    _ reports: Reports?, _ emit: (EstimatedRound) -> Void
  ) {
    guard waiting.isThere else { return }
    waiting.isThere = false
    lastEmitted = waiting.sequence
    // A round without answers has no diagnostics, and does not count as a miss.
    let isMissing = reports == nil && expects && waiting.hasSuccess
    if isMissing {
      missing += 1
      misses += 1
      if misses >= Self.patience { expects = settings.expectsDiagnostics == true && misses < 20 }
    }
    for index in 0..<waiting.measurements.count {
      let measurement = waiting.measurements[index]
      var seen: PeerDiagnostics? = index < waiting.tails.count ? waiting.tails[index] : nil
      var use = isMissing ? DiagnosticsUse.missing : .none
      if let reports {
        if let found = reports.seen(of: measurement.result, index, among: waiting.measurements) {
          seen?.join(found)
          seen = seen ?? found
        } else if !reports.frames.isEmpty {
          use = .ambiguous
        }
      }
      var estimate = self.estimate(measurement, seen)
      if case .none = estimate.diagnostics { estimate.diagnostics = use }
      emit(.estimate(estimate))
    }
    waiting.measurements.removeAll(keepingCapacity: true)
    waiting.tails.removeAll(keepingCapacity: true)
  }

  private mutating func estimate(
    _ measurement: RangingMeasurement, _ seen: PeerDiagnostics?
  ) -> EstimatedMeasurement {
    let beginning = start ?? measurement.receivedAt
    start = beginning
    let time = Double(Int64(bitPattern: measurement.receivedAt &- beginning)) * 1e-9
    var place = 0
    while place < peers.count, peers[place].address != measurement.result.peer { place += 1 }
    if place == peers.count { peers.append(PeerTrack(measurement.result.peer, settings)) }
    return peers[place].estimate(measurement, seen, time: time, settings)
  }
}

extension EstimationPipeline.Reports {
  /// Returns the diagnostics of one peer of a round; nil where they cannot be assigned to a peer.
  func seen(
    of result: TwoWayMeasurement, _ index: Int, among all: [RangingMeasurement]
  ) -> PeerDiagnostics? {
    guard result.status.isSuccess else { return nil }
    // Uses an index: without optimisation iterators allocate.
    var sum = PeerDiagnostics()
    if all.count == 1 {
      for index in 0..<frames.count { sum.join(frames[index].seen) }
      return sum.frames > 0 ? sum : nil
    }
    let address = UInt16(truncatingIfNeeded: result.peer.value)
    var responses = 0
    for index in 0..<frames.count {
      if frames[index].seen.emitter == address { sum.join(frames[index].seen) }
      if frames[index].isResponse { responses += 1 }
    }
    if sum.frames > 0 { return sum }
    // If no answer is missing, the order of the answers is the order of the peers.
    var place = 0
    var successes = 0
    for other in 0..<all.count where all[other].result.status.isSuccess {
      if other < index { place += 1 }
      successes += 1
    }
    guard responses == successes else { return nil }
    for index in 0..<frames.count where frames[index].isResponse {
      if frames[index].seen.emitter != nil { return nil }
      if place == 0 { return frames[index].seen }
      place -= 1
    }
    return nil
  }
}
