// SPDX-License-Identifier: Apache-2.0
import CUWB
import Dispatch
import Formats
import Foundation
import JSON
import NearbyInteraction
import UCI
import UWB
import UWBLink

/// The work whose instructions and allocations `Benchmarks/Instructions/count` counts. Each item
/// has the same work, on one thread if possible, and without reading the clock.
enum CountedWork: String, CaseIterable {
  case decodeOne = "decode-1"
  case decodeEight = "decode-8"
  case framer
  case ring
  case estimator
  case delegate
  case row

  /// Does the work for at least `count` items, and returns their number.
  func run(_ count: Int) -> Int {
    switch self {
    case .decodeOne: Self.decode(measurements: 1, count)
    case .decodeEight: Self.decode(measurements: 8, count)
    case .framer: Self.frame(count)
    case .ring: Self.passThroughRing(count)
    case .estimator: Self.estimate(count)
    case .delegate: Self.deliver(count)
    case .row: Self.encodeRows(count)
    }
  }

  private static func decode(measurements: Int, _ count: Int) -> Int {
    let figures = DecodeFigures(measurements: measurements)
    let batches = (count + DecodeFigures.batch - 1) / DecodeFigures.batch
    var sum: UInt64 = 0
    for _ in 0..<batches { sum &+= figures.swift() }
    precondition(sum != 0)
    return batches * DecodeFigures.batch
  }

  /// Finds frames in bytes as on a busy line, with sixteen frames in each read(2).
  private static func frame(_ count: Int) -> Int {
    let frames = Frames(measurements: 1)
    guard let framer = cuwb_framer_create(cuwb_framing_default(), 0) else {
      fatalError("no memory")
    }
    defer { cuwb_framer_destroy(framer) }
    let piece = 16 * frames.length
    var (taken, now, at) = (0, UInt64(0), 0)
    while taken < count {
      var room = 0
      let memory = cuwb_framer_room(framer, &room)
      precondition(room >= piece)
      memory.update(
        from: frames.bytes.baseAddress!.assumingMemoryBound(to: UInt8.self) + at, count: piece)
      at = (at + piece) % frames.bytes.count
      now += 1_000_000
      cuwb_framer_arrived(framer, piece, now)
      var found = cuwb_found()
      while cuwb_framer_find(framer, &found) {
        cuwb_framer_take(framer)
        taken += 1
      }
    }
    return taken
  }

  private static func passThroughRing(_ count: Int) -> Int {
    let (frames, ring) = (Frames(measurements: 1), RingWork(capacity: 128))
    defer { ring.destroy() }
    let frame = UnsafeRawBufferPointer(rebasing: frames.bytes[..<frames.length])
    precondition(ring.sameThread(frame, count: count) != 0)
    return count
  }

  private static func estimate(_ count: Int) -> Int {
    guard var figures = EstimationFigures() else { fatalError("no antennas") }
    let batches = (count + EstimationFigures.batch - 1) / EstimationFigures.batch
    for _ in 0..<batches { precondition(figures.update() != 0) }
    return batches * EstimationFigures.batch
  }

  /// Delivers frames to the delegate's method on its queue, one after another.
  private static func deliver(_ count: Int) -> Int {
    final class Delegate: NSObject, NISessionDelegate {
      let arrived = DispatchSemaphore(value: 0)
      func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
        arrived.signal()
      }
    }
    let (session, delegate) = (NISession(), Delegate())
    session.delegateQueue = DispatchQueue(label: "delegate")
    session.delegate = delegate
    let (estimator, handle) = (InlineEstimator(), session.rangeWithoutChip())
    var random = SplitMix(state: 7)
    var frame = Frames.frame(number: 0, measurements: 1, &random)
    for number in 0..<count {
      withUnsafeBytes(of: UInt32(number).littleEndian) {
        frame.replaceSubrange(PacketHeader.length..<PacketHeader.length + 4, with: $0)
      }
      guard let view = DecodeSink.view(frame.span.bytes) else { fatalError("no measurement") }
      let info = FrameInfo(receivedAt: UInt64(number) * 200_000_000)
      estimator.add(RoundNotification(.measurements(view), info), handle)
      delegate.arrived.wait()
    }
    session.invalidate()
    return count
  }

  /// Encodes measurements as text, as the service sends them.
  private static func encodeRows(_ count: Int) -> Int {
    let estimator = InlineEstimator()
    var random = SplitMix(state: 7)
    var rows: [RangeRow] = []
    for number in 0..<UInt32(16) {
      let frame = Frames.frame(number: number, measurements: 1, &random)
      guard let view = DecodeSink.view(frame.span.bytes) else { fatalError("no measurement") }
      let info = FrameInfo(receivedAt: UInt64(number) * 100_000_000)
      estimator.add(RoundNotification(.measurements(view), info)) { estimate in
        rows.append(
          RangeRow(
            seconds: Double(number) / 10, measurement: estimate.measurement, computed: estimate,
            hasRSSI: true))
      }
    }
    var length = 0
    for number in 0..<count {
      var text = JSONText(capacity: 1_024)
      rows[number % rows.count].append(to: &text)
      length += text.count
    }
    precondition(length > 500 * count)
    return count
  }
}
