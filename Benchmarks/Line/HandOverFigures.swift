// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc
import Synchronization
import System
import SystemPackage
import UCI
import UWBLink

/// The time from the return of read(2) to the first instruction of the handler, on the reader's
/// thread. It includes finding the frame, copying it and the call. A second part measures the time
/// until the frame is in a ring.
///
/// Two readings of the clock measure an interval. The time of one reading is measured separately
/// and subtracted.
struct HandOverFigures {
  /// The nanoseconds between two frames.
  static let gap: UInt64 = 150_000

  /// The nanoseconds of one reading of the clock.
  static let clock: Double = {
    Percentiles(
      (0..<200).map { _ in
        let start = cuwb_test_now()
        for _ in 0..<1_000 { _ = cuwb_test_now() }
        return Double(cuwb_test_now() - start) / 1_001
      }
    ).p50
  }()

  private final class Times: @unchecked Sendable {
    // Safe because another thread reads only `number`, and reads the rest after the reader has
    // ended.
    let number = Atomic<Int>(0)
    let received: Samples
    let entered: Samples
    let offered: Samples
    init(_ count: Int) {
      received = Samples(count)
      entered = Samples(count)
      offered = Samples(count)
    }
  }

  static func rows(_ settings: Settings) -> [Row] {
    let count = settings.quick ? 2_000 : 6_000
    let slowly = Aim.atMost(p50: 100, p99: nil)
    return rows(
      "socket, one after the other", socketPair, gap: 0, count: count,
      .atMost(p50: 35, p99: 100))
      + rows("socket, every 0.15 ms", socketPair, gap: gap, count: count, slowly)
      + rows("pseudo-terminal, every 0.15 ms", terminal, gap: gap, count: count, slowly)
  }

  /// Measures blocks in turn, with the reader of the package and the reader in C.
  ///
  /// - Parameters:
  ///   - line: creates both ends of a line.
  ///   - gap: the nanoseconds from the end of handling a frame to the next frame.
  private static func rows(
    _ name: String, _ line: () -> (chip: FileDescriptor, host: FileDescriptor), gap: UInt64,
    count samples: Int, _ aim: Aim
  ) -> [Row] {
    let (block, total) = (200, samples + 200)
    let times = Times(total)
    let ring = RingWork(capacity: 128)
    let (chip, host) = line()
    guard let link = try? Link(.descriptor(host)) else { fatalError("no link on a socket") }
    let reader = FrameReader(link, handler: handler(times, ring), ended: { _ in })
    do { try reader.start() } catch { fatalError("\(error)") }
    let (chipInC, hostInC) = line()
    let (received, entered) = (Samples(total), Samples(total))
    let readerInC = cuwb_reference_hand_over_start(
      hostInC.rawValue, received.values.baseAddress!, entered.values.baseAddress!, total)

    for first in stride(from: 0, to: total, by: block) {
      let numbers = first..<min(first + block, total)
      write(to: chip, numbers, gap: gap) { times.number.load(ordering: .acquiring) }
      write(to: chipInC, numbers, gap: gap) { cuwb_reference_reader_count(readerInC) }
    }
    reader.stop()
    reader.stopped.waitBlocking()
    try? chip.close()
    try? chipInC.close()
    cuwb_reference_reader_join(readerInC)
    ring.destroy()

    let measured = block..<total
    let floor = Percentiles(
      measured.map { Double(entered.values[$0] - received.values[$0]) - clock })
    let offered = measured.map {
      Double(times.offered.values[$0] - times.received.values[$0]) - 2 * clock
    }
    return [
      row(
        "read returned to handler, \(name)",
        measured.map { (times.entered.values[$0], times.received.values[$0]) }, floor, aim),
      Row(
        figure: "read returned to frame in the ring, \(name)", unit: "ns, - clock",
        values: Percentiles(offered), floor: ("the same to a handler in C", floor)),
    ]
  }

  private static func handler(_ times: Times, _ ring: RingWork) -> FrameReader.Handler {
    { bytes, info in
      let entered = cuwb_test_now()
      ring.producer.pointer.pointee.offer(bytes, receivedAt: info.receivedAt, mayBeDropped: true)
      let offered = cuwb_test_now()
      ring.consumer.pointer.pointee.take { _, _ in }
      let number = times.number.load(ordering: .relaxed)
      times.received.values[number] = info.receivedAt
      times.entered.values[number] = entered
      times.offered.values[number] = offered
      times.number.store(number + 1, ordering: .releasing)
    }
  }

  /// Writes each frame of `numbers`, and waits until it has been handled.
  private static func write(
    to chip: FileDescriptor, _ numbers: Range<Int>, gap: UInt64, handled: () -> Int
  ) {
    var random = SplitMix(state: 3)
    let frame = Frames.frame(number: 0, measurements: 1, &random)
    for number in numbers {
      if gap > 0 { cuwb_test_sleep_until(cuwb_test_now() + gap) }
      guard (try? chip.writeAll(frame)) == frame.count else { fatalError("the socket is closed") }
      let limit = cuwb_test_now() + 1_000_000_000
      while handled() <= number {
        precondition(cuwb_test_now() < limit, "a frame did not arrive")
        // The reader may need this processor, so it gets a chance to run.
        sched_yield()
      }
    }
  }

  /// Returns the row for pairs of two times: call of the handler, and return of read(2).
  static func row(
    _ figure: String, _ pairs: [(UInt64, UInt64)], _ floor: Percentiles?, _ aim: Aim?
  ) -> Row {
    Row(
      figure: figure, unit: "ns, - clock",
      values: Percentiles(pairs.map { Double($0.0 - $0.1) - clock }),
      floor: floor.map { ("the same in C", $0) }, aim: aim,
      limit: Limit(
        .above(80), reason: "30 ns on an idle machine, for the resynchronisation",
        needsIdleMachine: true))
  }

  private static func terminal() -> (chip: FileDescriptor, host: FileDescriptor) {
    let line = openLine()
    return (FileDescriptor(rawValue: line.chip), FileDescriptor(rawValue: line.host))
  }

  private static func socketPair() -> (chip: FileDescriptor, host: FileDescriptor) {
    var descriptors: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0 else {
      fatalError("no socket pair (error \(errno))")
    }
    return (FileDescriptor(rawValue: descriptors[0]), FileDescriptor(rawValue: descriptors[1]))
  }
}
