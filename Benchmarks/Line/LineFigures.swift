// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc
import UCI

/// The time of the whole path: from the write(2) of a frame at the chip's end of a pseudo-terminal
/// to the estimate. Every thread sleeps in the pauses between frames.
struct LineFigures {
  /// The nanoseconds between two frames, evenly distributed.
  static let gap: ClosedRange<UInt64> = 150_000...2_000_000
  /// The number of frames that are written to one path before the next path.
  static let block = 50
  private static let warmUp = 100

  private let names: [String]
  private let ways: [any Way]
  private let samples: Int
  private let sent: [Samples]
  private var allocated: [UInt64]
  private var random = SplitMix(state: 7)

  static func rows(_ settings: Settings) -> [Row] {
    var figures = LineFigures(samples: settings.quick ? 500 : 2_000)
    figures.run()
    return figures.rows()
  }

  private init(samples: Int) {
    let capacity = samples + Self.warmUp
    var all: [(String, any Way)] = [
      ("C: blocking read, fields", FloorWay(CUWB_REFERENCE_READ, capacity: capacity)),
      ("handler", HandlerWay(capacity: capacity)),
      ("ring, sleeping thread", ThreadWay(capacity: capacity)),
      ("ring, task on the reader", TaskWay(capacity: capacity, onReader: true)),
      ("ring, task on the global executor", TaskWay(capacity: capacity, onReader: false)),
      ("pipeline, then a queue", QueueWay(capacity: capacity)),
      ("delegate of an NISession on a queue", DelegateWay(capacity: capacity)),
      ("C: poll and read, fields", FloorWay(CUWB_REFERENCE_POLL, capacity: capacity)),
    ]
    if cuwb_reference_has_uring() {
      all.append(("C: io_uring, fields", FloorWay(CUWB_REFERENCE_URING, capacity: capacity)))
    }
    names = all.map(\.0)
    ways = all.map(\.1)
    self.samples = samples
    sent = all.map { _ in Samples(capacity) }
    allocated = all.map { _ in 0 }
  }

  /// Measures blocks of all paths in turn, so that the state of the machine affects them equally.
  private mutating func run() {
    for index in ways.indices { write(to: index, from: 0, count: Self.warmUp) }
    var done = 0
    while done < samples {
      let count = min(Self.block, samples - done)
      for index in ways.indices {
        let before = cuwb_test_allocations()
        write(to: index, from: Self.warmUp + done, count: count)
        allocated[index] += cuwb_test_allocations() - before
      }
      done += count
    }
    for way in ways { way.stop() }
  }

  /// Writes frames with pauses and waits until all have arrived.
  private mutating func write(to index: Int, from first: Int, count: Int) {
    let (way, sent) = (ways[index], sent[index])
    let frames = (0..<count).map {
      Frames.frame(number: UInt32(first + $0), measurements: 1, &random)
    }
    let gaps = (0..<count).map { _ in UInt64.random(in: Self.gap, using: &random) }
    var failed = 0
    cuwb_test_count_allocations(true)
    for number in 0..<count {
      cuwb_test_sleep_until(cuwb_test_now() + gaps[number])
      frames[number].withUnsafeBytes { bytes in
        sent.values[first + number] = cuwb_test_now()
        if Glibc.write(way.chip, bytes.baseAddress!, bytes.count) != bytes.count { failed += 1 }
      }
    }
    let limit = cuwb_test_now() + 2_000_000_000
    while way.count < first + count, cuwb_test_now() < limit {
      cuwb_test_sleep_until(cuwb_test_now() + 50_000)
    }
    cuwb_test_count_allocations(false)
    precondition(
      failed == 0 && way.count >= first + count,
      "\(names[index]): \(first + count - way.count) frames did not arrive")
  }

  private func rows() -> [Row] {
    let measured = Self.warmUp..<Self.warmUp + samples
    let times = ways.indices.map { index in
      Percentiles(
        measured.map {
          Double(ways[index].arrived.values[$0] - sent[index].values[$0]) / 1_000
        })
    }
    func row(_ index: Int, floor: Int, _ aim: Aim?, _ limit: Limit? = nil) -> Row {
      Row(
        figure: "line to estimate: " + names[index], unit: "us", values: times[index],
        allocations: Double(allocated[index]) / Double(samples),
        floor: (names[floor], times[floor]), aim: aim, limit: limit)
    }
    var rows = [
      row(0, floor: 0, nil),
      row(
        1, floor: 0, .ratio(1.2),
        Limit(
          .ratio(1.7),
          reason: "1.36 on the record; poll and read in C are 1.2, the rest is the estimate",
          needsIdleMachine: true)),
      row(
        1, floor: 7, nil,
        Limit(
          .ratio(1.45), reason: "the same system calls: only decoding and the estimate differ",
          needsIdleMachine: true)),
      row(2, floor: 0, .ratio(2.2)),
      row(3, floor: 1, .above(1)), row(3, floor: 0, nil), row(4, floor: 0, nil),
      row(4, floor: 2, nil), row(5, floor: 0, nil), row(5, floor: 1, nil),
      // In addition to the pipeline, the app's queue has to wake. A queue without a pipeline has
      // the same cost.
      row(6, floor: 1, nil), row(6, floor: 5, .above(5)), row(7, floor: 0, nil),
    ]
    if ways.count > 8 { rows.append(row(8, floor: 0, nil)) }
    if let handler = ways[1] as? HandlerWay {
      let entry = measured.map {
        (handler.destination.entered.values[$0], handler.destination.received.values[$0])
      }
      rows.append(
        HandOverFigures.row(
          "read returned to handler, pseudo-terminal, every 0.15 to 2 ms", entry, nil, nil))
    }
    return rows
  }
}
