// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBTestSupport
import UCI
import UWB

@Suite(.computes) struct CapturedEstimateTests {
  private static func packet(_ sequence: UInt32, session: UInt32, _ time: UInt64?) -> CapturedPacket
  {
    let message = SessionInfo(
      sequenceNumber: sequence, sessionToken: session, intervalMilliseconds: 200,
      twoWay: [TwoWayMeasurement(peer: MACAddress(1), status: .ok, rawDistance: 400)])
    let packets = Segmentation.packets(
      type: .notification, opcode: .sessionInfo, payload: message.encoded())
    return CapturedPacket(time: time, direction: .inbound, bytes: packets[0])
  }

  private static func diagnostics(_ sequence: UInt8, session: UInt8) -> CapturedPacket {
    // A frame with a known carrier offset: 671 units are 10 ppm.
    let payload =
      bytes("\(session < 16 ? "0" : "")\(String(session, radix: 16)) 000000")
      + [sequence, 0, 0, 0] + bytes("01 01 00 00 01 04 0400 9f020000")
    let opcode = RangeDiagnosticsNotification.qorvoOpcode
    let header = PacketHeader(.notification, opcode, payloadLength: payload.count)
    return CapturedPacket(time: nil, direction: .inbound, bytes: header.encoded() + payload)
  }

  @Test func packetsThatAreNotWholeAreCounted() {
    var reader = CapturedMeasurements()
    var packet = Self.packet(0, session: 1, nil)
    packet.bytes.removeLast()
    for count in 1...2 {
      #expect(reader.measurements(packet).isEmpty)
      #expect(reader.unreadable == count)
    }
    packet.direction = .outbound
    _ = reader.measurements(packet)
    #expect(reader.unreadable == 2, "the host's own are nobody's measurements")
  }

  @Test func estimatesOfARecordingAreThoseOfItsSessions() {
    var capture = Capture(format: .pcapng)
    capture.packets = [
      Self.packet(0, session: 1, 1_000), Self.diagnostics(0, session: 2),
      Self.diagnostics(1, session: 1), Self.packet(0, session: 2, nil),
      Self.packet(1, session: 1, 500), Self.packet(2, session: 1, nil),
    ]
    let estimates = capture.estimates()
    #expect(estimates.map(\.measurement.sessionToken) == [1, 2, 1, 1])
    #expect(estimates.map(\.measurement.sequenceNumber) == [0, 0, 1, 2])
    // The time never decreases. Where the source has no time, it increases by one interval.
    #expect(
      estimates.map(\.measurement.receivedAt) == [1_000, 200_001_000, 200_001_000, 400_001_000])
    // Diagnostics of a session that has not ranged yet belong to no round; the last round waits
    // until the end.
    #expect(estimates.map(\.diagnostics) == [.none, .none, .used(1), .missing])
    #expect(estimates.allSatisfy { $0.distance == 4 })
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
