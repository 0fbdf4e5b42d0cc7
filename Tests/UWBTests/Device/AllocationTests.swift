// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import CUWBTestSupport
import Glibc
import Ranging
import Synchronization
import System
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink

/// Other tests run at the same time, so each thread counts its own allocations.
@Suite(.serialized, .enabled(if: cuwb_test_allocations_are_counted()), .timeLimit(.minutes(10)))
struct AllocationTests {
  /// The allocations of a thread after the frames for warming up, and at the end.
  final class Count: Sendable {
    let frames = Atomic<Int>(0)
    let before = Atomic<UInt64>(0)
    let after = Atomic<UInt64>(0)

    func frame(warmUp: Int) {
      let now = cuwb_test_thread_allocations()
      let number = frames.load(ordering: .relaxed) + 1
      if number == warmUp { before.store(now, ordering: .relaxed) }
      after.store(now, ordering: .relaxed)
      frames.store(number, ordering: .releasing)
    }

    var allocations: UInt64 {
      after.load(ordering: .relaxed) - before.load(ordering: .relaxed)
    }
  }

  /// A value that may not be copied, for the one thread that owns it.
  final class Box<T: ~Copyable>: @unchecked Sendable {
    var value: T
    init(_ value: consuming T) { self.value = value }
  }

  @Test func theCounterCounts() {
    let before = cuwb_test_thread_allocations()
    free(malloc(100))
    let array = [Int](repeating: 1, count: Int.random(in: 100...200))
    withExtendedLifetime(array) {}
    #expect(cuwb_test_thread_allocations() - before >= 2)
  }

  /// From the descriptor through the reader, its handler, the fields in place and an estimator, and
  /// through a ring to a thread that sleeps while the ring is empty.
  @Test func aFrameIsDeliveredWithoutAllocating() throws {
    let (warmUp, total) = (200, 3_000)
    var descriptors: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
    let ours = FileDescriptor(rawValue: descriptors[0])
    let theirs = FileDescriptor(rawValue: descriptors[1])
    let ends = FrameRing.make(capacity: 128)
    let producer = Box(ends.producer)
    let consumer = Box(ends.consumer)
    let (inHandler, inConsumer) = (Count(), Count())
    let estimator = Box(RangeEstimator())
    let latest = Box(RangeEstimate?.none)
    let reader = FrameReader(
      try Link(.descriptor(ours)),
      handler: { bytes, info in
        if let view = try? SessionInfoView(bytes.extracting(droppingFirst: PacketHeader.length)) {
          view.forEachTwoWayMeasurement { measurement in
            guard let distance = measurement.distanceCentimetres else { return }
            latest.value = estimator.value.update(
              RangeSample(
                time: Double(info.receivedAt) * 1e-9, distance: Double(distance) / 100))
          }
        }
        producer.value.offer(bytes, receivedAt: info.receivedAt, mayBeDropped: true)
        // The counted allocations include all work of the reader since the previous frame.
        inHandler.frame(warmUp: warmUp)
      }, ended: { _ in })
    let done = DoneThread {
      while consumer.value.wait() == .ready {
        while consumer.value.take({ _, _ in }) != nil { inConsumer.frame(warmUp: warmUp) }
      }
    }
    try reader.start()
    let frame = Self.frame()
    for number in 0..<total {
      _ = try theirs.writeAll(frame)
      // Sometimes both threads fall asleep, sometimes frames arrive together.
      let due = number % 10 == 9 ? number + 1 : number - 50
      let limit = cuwb_test_now() + 5_000_000_000
      while inConsumer.frames.load(ordering: .acquiring) < due, cuwb_test_now() < limit {
        usleep(10)
      }
    }
    reader.stop()
    reader.stopped.waitBlocking()
    producer.value.finish()
    done.join()
    try theirs.close()
    #expect(latest.value?.distance == 4)
    #expect(inHandler.frames.load(ordering: .acquiring) == total)
    #expect(inConsumer.frames.load(ordering: .acquiring) == total)
    #expect(inHandler.allocations == 0)
    #expect(inConsumer.allocations == 0)
  }

  /// The path through the driver consists of joined segments, the callback, and a stream that a
  /// thread consumes.
  @Test(arguments: [1, 8])
  func theDriverDeliversWithoutAllocating(_ peers: Int) async throws {
    let (warmUp, total) = (200, 2_000)
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      DWM3001CDK.answers(packet)
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let session = try await device.makeSession(SessionTests.configuration)
    let (inCallback, inThread) = (Count(), Count())
    session.onRounds { round in
      if case .measurements(let view) = round.kind, view.count == peers {
        inCallback.frame(warmUp: warmUp)
      }
    }
    let stream = session.measurements(capacity: 4_096)
    let done = DoneThread {
      while let measurement = try? stream.next() {
        if measurement.result.status == .ok { inThread.frame(warmUp: warmUp * peers) }
      }
    }
    let message = SessionInfo(
      sequenceNumber: 9, sessionToken: 1, intervalMilliseconds: 200,
      twoWay: (1...peers).map {
        TwoWayMeasurement(peer: MACAddress(UInt16($0)), status: .ok, rawDistance: 400)
      })
    let packets = Segmentation.packets(
      type: .notification, opcode: .sessionInfo, payload: message.encoded())
    #expect(packets.count == (peers == 1 ? 1 : 2))
    for _ in 0..<total { for packet in packets { chip.say(packet) } }
    // The answer comes after all earlier messages.
    _ = try await device.send(GetSessionCount())
    await device.close()
    done.join()
    #expect(inCallback.frames.load(ordering: .acquiring) == total)
    #expect(inThread.frames.load(ordering: .acquiring) == total * peers)
    #expect(stream.dropped == 0)
    #expect(inCallback.allocations == 0)
    #expect(inThread.allocations == 0)
  }

  /// An estimation filters a distance from stamps, and an angle from a phase, for three peers.
  @Test func anEstimationDoesNotAllocate() throws {
    let table = try #require(PhaseTable(spacing: 0.45))
    var peers = (0..<3).map { _ in
      (
        ranging: ResponderRanging(), filter: RangeEstimator(), angle: AngleTracker(table),
        zone: ProximityZone(around: 10)
      )
    }
    let events = Array(ExchangeCollector.Event.allCases)
    // Exchanges of 10 m follow one after the other, with replies of 2 ms.
    let stamps: [UInt64] = [
      0, 2132, 127_797_332, 127_799_464, 255_594_664, 255_596_796,
    ]
    var (before, found) = (UInt64(0), 0)
    for round in 0..<300 {
      if round == 100 { before = cuwb_test_thread_allocations() }
      let start = UInt64(round) * 6_389_760_000
      for index in peers.indices {
        var collected = ExchangeCollector()
        for number in events.indices {
          collected.record(
            events[number], at: TickStamp(start + stamps[number]), round: UInt32(round))
        }
        let time = Double(round) / 10
        let distance = try peers[index].ranging.distance(collected, time: time)
        let range = peers[index].filter.update(
          RangeSample(time: time, distance: distance.distance))
        let angle = peers[index].angle.update(phase: 1, time: time)
        if let range, angle != nil {
          _ = peers[index].zone.update(distance: range.distance)
          found += 1
        }
      }
    }
    #expect(cuwb_test_thread_allocations() == before)
    #expect(found == 900)
  }

  /// A SESSION_INFO_NTF of one peer, 4 m away.
  static func frame() -> [UInt8] {
    let message = SessionInfo(
      sequenceNumber: 0, sessionToken: 1, intervalMilliseconds: 200,
      twoWay: [TwoWayMeasurement(peer: MACAddress(1), status: .ok, rawDistance: 400)])
    var writer = PayloadWriter()
    message.encode(into: &writer, dialect: Dialect())
    let header = PacketHeader(
      .notification, .sessionInfo, payloadLength: writer.bytes.count)
    return header.encoded() + writer.bytes
  }

  /// A thread that can be waited for.
  final class DoneThread {
    private let thread: pthread_t
    private final class Body {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    init(_ body: @escaping @Sendable () -> Void) {
      var id = pthread_t()
      let failed = pthread_create(
        &id, nil,
        { context in
          Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().body()
          return nil
        }, Unmanaged.passRetained(Body(body)).toOpaque())
      precondition(failed == 0)
      thread = id
    }

    func join() { pthread_join(thread, nil) }
  }
}
