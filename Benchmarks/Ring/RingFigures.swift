// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport

/// The hand-over of frames of 264 bytes, beside two rings in C: one that could not be slept on,
/// and one that, like that of the package, looks after each frame whether somebody sleeps.
struct RingFigures {
  /// As long as a control packet gets, rounded up.
  static let frameLength = 264
  static let capacity = 128
  /// Frames in one batch on one thread.
  static let batch = 1024

  let frame = UnsafeMutableRawBufferPointer.allocate(byteCount: frameLength, alignment: 64)
  let swift = (RingWork(capacity: capacity), RingWork(capacity: capacity))
  let plain = (
    cuwb_reference_ring_create(capacity, false)!, cuwb_reference_ring_create(capacity, false)!
  )
  let waking = (
    cuwb_reference_ring_create(capacity, true)!, cuwb_reference_ring_create(capacity, true)!
  )

  init() {
    for index in frame.indices { frame[index] = UInt8(truncatingIfNeeded: index &* 37) }
  }

  /// Lets go of the rings.
  func destroy() {
    swift.0.destroy()
    swift.1.destroy()
    for ring in [plain.0, plain.1, waking.0, waking.1] { cuwb_reference_ring_destroy(ring) }
    frame.deallocate()
  }

  private var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(frame) }

  /// A batch on one thread in Swift.
  func sameThreadSwift() -> UInt64 { swift.0.sameThread(bytes, count: Self.batch) }

  /// A batch on one thread in C.
  func sameThreadC(_ ring: OpaquePointer) -> UInt64 {
    cuwb_reference_ring_same_thread(ring, bytes.baseAddress!, bytes.count, Self.batch)
  }

  static func rows(_ settings: Settings) -> [Row] {
    let figures = RingFigures()
    defer { figures.destroy() }
    var rows = figures.sameThread(settings)
    guard cuwb_test_processors() >= 2 else { return rows }
    rows += figures.throughput(settings)
    rows += figures.roundTrip(settings)
    return rows
  }

  private func sameThread(_ settings: Settings) -> [Row] {
    var times: [[Double]] = [[], [], []]
    let batches = settings.quick ? 2_000 : 6_000
    for index in times.indices { times[index].reserveCapacity(batches) }
    precondition(sameThreadSwift() == sameThreadC(plain.0), "the rings disagree")
    let before = cuwb_test_thread_allocations()
    var sum: UInt64 = 0
    for _ in 0..<batches {
      let t0 = cuwb_test_now()
      sum &+= sameThreadSwift()
      let t1 = cuwb_test_now()
      sum &-= sameThreadC(waking.0)
      let t2 = cuwb_test_now()
      sum &+= sameThreadC(plain.0)
      let t3 = cuwb_test_now()
      for (index, time) in [t1 - t0, t2 - t1, t3 - t2].enumerated() {
        times[index].append(Double(time) / Double(Self.batch))
      }
    }
    // One list of three times is made for each round of batches.
    let allocated = max(0, Int(cuwb_test_thread_allocations() - before) - batches)
    return rows(
      "ring, in and out on one thread", "ns, of \(Self.batch)", times,
      allocations: Double(allocated) / Double(batches * Self.batch))
  }

  /// Many short runs in turn.
  private func throughput(_ settings: Settings) -> [Row] {
    let (runs, frames) = (settings.quick ? 40 : 120, 50_000)
    var times: [[Double]] = [[], [], []]
    var allocated: UInt64 = 0
    func append(_ index: Int, _ nanoseconds: UInt64) {
      times[index].append(Double(nanoseconds) / Double(frames))
    }
    for _ in 0..<runs {
      let swift = swift.0
      let bytes = bytes
      append(
        0,
        runPair(
          {
            // What a new thread takes for itself is not the ring's.
            swift.produce(bytes, count: 1)
            let before = cuwb_test_thread_allocations()
            swift.produce(bytes, count: frames - 1)
            allocated += cuwb_test_thread_allocations() - before
          }, { _ = swift.consume(count: frames) }))
      for (index, ring) in [(1, waking.0), (2, plain.0)] {
        append(
          index,
          runPair(
            { cuwb_reference_ring_produce(ring, bytes.baseAddress!, bytes.count, frames) },
            { _ = cuwb_reference_ring_consume(ring, frames) }))
      }
    }
    return rows(
      "ring, between two threads", "ns, of \(frames)", times,
      allocations: Double(allocated) / Double(runs * frames))
  }

  private func roundTrip(_ settings: Settings) -> [Row] {
    let (runs, count) = (settings.quick ? 10 : 30, 2_000)
    var times: [[Double]] = [[], [], [], []]
    let bytes = bytes
    for _ in 0..<runs {
      let (there, back) = swift
      times[0] += nanoseconds(count) { samples in
        _ = runPair(
          { there.call(back: back, bytes, samples, count: count) },
          { there.answer(back: back, count: count) })
      }
      for (index, rings) in [(1, waking), (2, plain)] {
        times[index] += nanoseconds(count) { samples in
          _ = runPair(
            {
              cuwb_reference_ring_call(
                rings.0, rings.1, bytes.baseAddress!, bytes.count, samples, count)
            }, { cuwb_reference_ring_answer(rings.0, rings.1, count) })
        }
      }
      times[3] += nanoseconds(count) { cuwb_test_ping_pong($0, count) }
    }
    let control = Percentiles(times[3])
    var rows = rows("ring, round trip over two", "ns", times, allocations: nil)
    rows.append(
      Row(
        figure: "ring, round trip over two", unit: "ns", values: Percentiles(times[0]),
        floor: ("bare cache line, to and fro", control)))
    return rows
  }

  /// Against the ring in C with the same duties, which is the aim, and against the plain one.
  private func rows(
    _ figure: String, _ unit: String, _ times: [[Double]], allocations: Double?
  ) -> [Row] {
    let ours = Percentiles(times[0])
    return [
      Row(
        figure: figure, unit: unit, values: ours, allocations: allocations,
        floor: ("ring in C that can wake", Percentiles(times[1])), aim: .ratio(1)),
      Row(
        figure: figure, unit: unit, values: ours, allocations: allocations,
        floor: ("ring in C, spinning only", Percentiles(times[2]))),
    ]
  }
}
