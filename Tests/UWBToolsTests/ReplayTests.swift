// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import UWBTestSupport
import UCI
import UWB
import UWBTools

@Suite(.ownThreads) struct ReplayTests {
  private func packets(
    _ sequence: UInt32, session: UInt32 = 1, peers: Int = 1
  ) -> [[UInt8]] {
    let message = SessionInfo(
      sequenceNumber: sequence, sessionToken: session, intervalMilliseconds: 200,
      twoWay: (1...peers).map {
        TwoWayMeasurement(peer: MACAddress(UInt16($0)), status: .ok, rawDistance: 400)
      })
    return Segmentation.packets(
      type: .notification, opcode: .sessionInfo, payload: message.encoded())
  }

  private func captured(_ bytes: [UInt8], _ time: UInt64? = nil) -> CapturedPacket {
    CapturedPacket(time: time, direction: .inbound, bytes: bytes)
  }

  @Test func segmentsAreJoined() {
    var reader = CapturedMeasurements()
    let two = packets(0, peers: 8)
    #expect(two.count == 2)
    #expect(reader.measurements(captured(two[0], 5)).isEmpty)
    let batch = reader.measurements(captured(two[1], 6))
    #expect(batch.count == 8)
    #expect(batch.allSatisfy { $0.receivedAt == 6 && $0.result.distanceCentimetres == 400 })
    #expect(reader.unreadable == 0)
  }

  @Test func timesAreMonotonic() {
    var reader = CapturedMeasurements()
    let times = [10, 5, nil, UInt64.max, nil].flatMap { time in
      reader.measurements(captured(packets(0)[0], time)).map(\.receivedAt)
    }
    #expect(times == [10, 10, 200_000_010, .max, .max])
  }

  @Test func otherPacketsAreNotMeasurements() {
    var reader = CapturedMeasurements()
    let packet = packets(0)[0]
    #expect(
      reader.measurements(CapturedPacket(time: 0, direction: .outbound, bytes: packet)).isEmpty)
    #expect(reader.measurements(captured(Array(packet.dropLast()))).isEmpty)
    #expect(reader.measurements(captured([0x62, 0, 0, 3, 1, 2, 3])).isEmpty)
    #expect(reader.measurements(captured([])).isEmpty)
    #expect(reader.unreadable == 3)
  }

  @Test func anOlderChipReportsNoRSSI() {
    var reader = CapturedMeasurements()
    _ = reader.measurements(captured([0x40, 2, 0, 10, 0, 1, 0x10, 1, 0x30, 1, 0x30, 1, 0x10, 0]))
    #expect(!reader.hasRSSI)
  }

  @Test func roundsOfTwoSessions() {
    var reader = CapturedMeasurements()
    var summary = RangeSummary()
    for (sequence, session) in [(7, 1), (90, 2), (8, 1), (91, 2), (10, 1)] as [(UInt32, UInt32)] {
      for measurement in reader.measurements(captured(packets(sequence, session: session)[0])) {
        summary.add(
          RangeRow(seconds: 0, measurement: measurement, hasRSSI: true))
      }
    }
    #expect(summary.rounds == 5)
    #expect(summary.missing == 1)
  }

  @Test func decodeReadsCaptures() throws {
    var encoder = PcapngEncoder()
    var file = PcapngEncoder.preamble()
    file += encoder.packet(.inbound, [0x60, 1, 0, 1, 1], time: 0)
    file += encoder.packet(.inbound, [0x60, 1, 0, 9, 1], time: 0)
    var output: [String] = []
    var session = DecodeSession(
      decoder: FrameDecoder(), format: FrameFormat(), isJSON: true,
      write: { output.append($0) }, complain: { _ in })
    try session.take(CaptureReader.read(file + [1, 2, 3]))
    #expect(output.count == 2)
    #expect(output[0].contains(#""state":"READY""#))
    #expect(output[1].hasSuffix(#""packet":2}"#))
    #expect(session.failures == 1)
  }
}

extension CapturedMeasurements {
  /// The measurements that a packet completes.
  fileprivate mutating func measurements(_ packet: CapturedPacket) -> [RangingMeasurement] {
    rounds(packet, EstimationSettings()).compactMap { round in
      if case .estimate(let estimate) = round { estimate.measurement } else { nil }
    }
  }
}
