// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import RingPeers

/// The time to hand over frames of 264 bytes, compared with two rings in C and with rings of other
/// libraries. In one of the rings in C, the consumer cannot sleep. In the other one, the producer
/// checks after each frame whether the consumer sleeps, as in the package.
struct RingFigures {
  static let frameLength = Int(CUWB_RING_FRAME_LENGTH)
  static let capacity = Int(CUWB_RING_CAPACITY)
  /// The number of frames in one batch on one thread.
  static let batch = 1024

  let frame = UnsafeMutableRawBufferPointer.allocate(byteCount: frameLength, alignment: 64)
  let swift = (RingWork(capacity: capacity), RingWork(capacity: capacity))
  let peers = RingPeer.known.compactMap { RingPeer($0) }

  init() {
    for index in frame.indices { frame[index] = UInt8(truncatingIfNeeded: index &* 37) }
  }

  /// Releases the rings.
  func destroy() {
    swift.0.destroy()
    swift.1.destroy()
    for peer in peers { peer.destroy() }
    frame.deallocate()
  }

  private var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(frame) }

  /// Passes a batch through the ring in Swift on one thread.
  func sameThread() -> UInt64 { swift.0.sameThread(bytes, count: Self.batch) }

  /// Passes a batch through another ring on one thread.
  func sameThread(_ peer: RingPeer) -> UInt64 { peer.sameThread(bytes, count: Self.batch) }

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
    var (ours, theirs) = ([Double](), peers.map { _ in [Double]() })
    let batches = settings.quick ? 2_000 : 6_000
    ours.reserveCapacity(batches)
    for index in theirs.indices { theirs[index].reserveCapacity(batches) }
    var sum: UInt64 = 0
    func time(_ body: () -> UInt64) -> Double {
      let start = cuwb_test_now()
      sum &+= body()
      return Double(cuwb_test_now() - start) / Double(Self.batch)
    }
    let before = cuwb_test_thread_allocations()
    for _ in 0..<batches {
      ours.append(time { sameThread() })
      for (index, peer) in peers.enumerated() { theirs[index].append(time { sameThread(peer) }) }
    }
    let allocated = cuwb_test_thread_allocations() - before
    let one = sameThread()
    precondition(sum == one &* UInt64(batches * (1 + peers.count)), "the rings disagree")
    return rows(
      "ring, in and out on one thread", "ns, of \(Self.batch)", ours, theirs,
      allocations: Double(allocated) / Double(batches * Self.batch), ofPackaged: 0.75,
      most: Limit(.ratio(1.3), reason: "0.91 on an idle machine"))
  }

  /// Measures many short runs of all rings in turn.
  private func throughput(_ settings: Settings) -> [Row] {
    let (runs, frames) = (settings.quick ? 40 : 120, 50_000)
    var (ours, theirs) = ([Double](), peers.map { _ in [Double]() })
    var allocated: UInt64 = 0
    let (swift, bytes) = (swift.0, bytes)
    for _ in 0..<runs {
      let nanoseconds = runPair(
        {
          // The first frame comes before the count, because a new thread allocates memory for
          // itself.
          swift.produce(bytes, count: 1)
          let before = cuwb_test_thread_allocations()
          swift.produce(bytes, count: frames - 1)
          allocated += cuwb_test_thread_allocations() - before
        }, { _ = swift.consume(count: frames) })
      ours.append(Double(nanoseconds) / Double(frames))
      for (index, peer) in peers.enumerated() {
        theirs[index].append(Double(peer.throughput(bytes, count: frames)) / Double(frames))
      }
    }
    return rows(
      "ring, between two threads", "ns, of \(frames)", ours, theirs,
      allocations: Double(allocated) / Double(runs * frames), ofSpinning: 1, ofPackaged: 1,
      most: Limit(.ratio(1.5), reason: "0.81 on an idle machine", needsIdleMachine: true))
  }

  private func roundTrip(_ settings: Settings) -> [Row] {
    let (runs, count) = (settings.quick ? 10 : 30, 2_000)
    var (ours, theirs, control) = ([Double](), peers.map { _ in [Double]() }, [Double]())
    let bytes = bytes
    for _ in 0..<runs {
      let (there, back) = swift
      ours += nanoseconds(count) { samples in
        _ = runPair(
          { there.call(back: back, bytes, samples, count: count) },
          { there.answer(back: back, count: count) })
      }
      for (index, peer) in peers.enumerated() {
        theirs[index] += nanoseconds(count) { peer.roundTrip(bytes, $0, count: count) }
      }
      control += nanoseconds(count) { cuwb_test_ping_pong($0, count) }
    }
    var rows = rows(
      "ring, round trip over two", "ns", ours, theirs, allocations: nil, ofSpinning: 1,
      ofPackaged: 1,
      most: Limit(.ratio(1.5), reason: "0.96 on an idle machine", needsIdleMachine: true))
    rows.append(
      Row(
        figure: "ring, round trip over two", unit: "ns", values: Percentiles(ours),
        floor: ("bare cache line, to and fro", Percentiles(control))))
    return rows
  }

  /// Returns a row for each of the other rings.
  ///
  /// - Parameters:
  ///   - ofSpinning: the aim compared with the ring in C whose consumer cannot sleep.
  ///   - ofPackaged: the aim compared with each ring of another library.
  ///   - most: the limit compared with the ring in C whose consumer can sleep, as the package's
  ///     can.
  private func rows(
    _ figure: String, _ unit: String, _ ours: [Double], _ theirs: [[Double]],
    allocations: Double?, ofSpinning: Double? = nil, ofPackaged: Double, most: Limit
  ) -> [Row] {
    let values = Percentiles(ours)
    return zip(peers, theirs).map { peer, times in
      let isSpinning = peer.functions.name == cuwb_spinning_ring.name
      let isWaking = peer.functions.name == cuwb_waking_ring.name
      let limit = peer.isPackaged ? ofPackaged : isSpinning ? ofSpinning : nil
      return Row(
        figure: figure, unit: unit, values: values, allocations: allocations,
        floor: (peer.name, Percentiles(times)), aim: limit.map { .ratio($0) },
        limit: isWaking ? most : nil)
    }
  }
}
