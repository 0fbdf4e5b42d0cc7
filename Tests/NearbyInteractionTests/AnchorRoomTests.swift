// SPDX-License-Identifier: Apache-2.0
import Estimators
import Foundation
import Ranging
import SIMDMath
import Testing
import UCI
import UWBTestSupport

@testable import NearbyInteraction

/// A tag in a room with anchors. The anchors stamp with a common clock, the tag with its own. The
/// app computes its position only from the measurements that its delegate receives.
@Suite(.timeLimit(.minutes(10))) struct AnchorRoomTests {
  private struct Room {
    static let anchors: [(address: UInt16, position: SIMD3<Double>)] = [
      (0x11, SIMD3(0, 0, 2.5)), (0x22, SIMD3(8, 0, 2.2)), (0x33, SIMD3(8, 6, 0.5)),
      (0x44, SIMD3(0, 6, 2.4)), (0x55, SIMD3(4, 3, 0.2)),
    ]
    /// The fraction by which the tag's clock is fast.
    static let rate = 17e-6

    /// Returns the notifications of a chip at a position for one block: poll, responses and final,
    /// two milliseconds apart.
    /// - Parameter lost: an anchor whose response was not received.
    static func notification(
      token: UInt32, block: UInt16, at tag: SIMD3<Double>, lost: UInt16? = nil
    ) -> [UInt8] {
      var writer = PayloadWriter()
      writer.u32(UInt32(block))
      writer.u32(token)
      writer.u8(0)
      writer.u32(200)
      writer.u8(2)  // downlink TDoA
      writer.bytes([UInt8](repeating: 0, count: 10))
      let order = [0, 1, 2, 3, 4, 0]
      writer.u8(UInt8(order.count))
      for (slot, index) in order.enumerated() {
        let anchor = anchors[index]
        let sent = Double(block) * 0.2 + Double(slot) * 2e-3
        let flight = (anchor.position - tag).length / SpeedOfLight.inAir
        let received = (sent + flight) * (1 + rate) + 0.123
        writer.u16(anchor.address)
        writer.u8(anchor.address == lost ? 0x21 : 0)
        writer.u8(slot == 0 ? 0 : slot == order.count - 1 ? 2 : 1)
        // The common time base, 64-bit timestamps, a relative location.
        writer.u16(1 | 1 << 1 | 1 << 3 | 2 << 5)
        writer.u16(block)
        writer.bytes([0, 0xFF, 0, 0, 0, 0, 0, 0, 140])
        for time in [sent, received] {
          let ticks = UInt64((time * DownlinkTDoAMessage.ticksPerSecond).rounded())
          writer.u32(UInt32(truncatingIfNeeded: ticks))
          writer.u32(UInt32(ticks >> 32))
        }
        writer.u16(0)
        writer.u16(UInt16(bitPattern: Int16((-rate * 1e6 * 1_024).rounded())))
        writer.bytes([UInt8](repeating: 0, count: 10))
        writer.bytes(location(anchor.position))
      }
      return packets(writer.bytes)
    }

    /// Millimetres of 28, 28 and 24 bits without gaps, low byte first.
    private static func location(_ position: SIMD3<Double>) -> [UInt8] {
      func digits(_ metres: Double, last: Bool) -> [UInt8] {
        let value = Int32(metres * 1_000)
        let bytes = [0, 8, 16].map { UInt8(truncatingIfNeeded: value >> $0) }
        return bytes.flatMap { [$0 >> 4, $0 & 15] }
          + (last ? [] : [UInt8(truncatingIfNeeded: value >> 24) & 15])
      }
      let all =
        digits(position.x, last: false) + digits(position.y, last: false)
        + digits(position.z, last: true)
      return stride(from: 0, to: all.count, by: 2).map { all[$0] << 4 | all[$0 + 1] }
    }

    /// Segments of at most 255 bytes.
    private static func packets(_ payload: [UInt8]) -> [UInt8] {
      stride(from: 0, to: payload.count, by: 255).flatMap { start -> [UInt8] in
        let part = payload[start..<min(start + 255, payload.count)]
        let hasMore: UInt8 = start + 255 < payload.count ? 0x10 : 0
        return [0x62 | hasMore, 0x00, 0x00, UInt8(part.count)] + part
      }
    }
  }

  /// Returns the position that an app computes from delays: each message arrives later than the
  /// poll by the additional distance of its anchor.
  private func position(_ messages: [NIDLTDOAMeasurement]) throws -> SIMD3<Double> {
    let poll = try #require(messages.first { $0.measurementType == .poll })
    let start = SIMD3(poll.coordinates.x, poll.coordinates.y, poll.coordinates.z)
    let observations = messages.filter { $0.measurementType == .response }.map { message in
      // The difference is taken in ticks, because the absolute times are too long for a `Double`.
      let received = Double(message.rawReceiveTime - poll.rawReceiveTime)
      let sent = Double(message.rawTransmitTime - poll.rawTransmitTime)
      let later = received * (1 + message.carrierFrequencyOffset) - sent
      let place = SIMD3(message.coordinates.x, message.coordinates.y, message.coordinates.z)
      return PositionObservation(
        .difference(start, place),
        later / DownlinkTDoAMessage.ticksPerSecond * SpeedOfLight.inAir)
    }
    let solver = PositionSolver(height: HeightPrior(1, standardDeviation: 1))
    return try #require(solver.solve(observations)).position
  }

  @Test func anAppFindsItsOwnPosition() async throws {
    let chip = AnchorTests.TagChip()
    let terminal = try ScriptedTerminal { chip.answer($0) }
    let recorder = Recorder()
    let session = recorder.session(on: terminal.path)
    session.run(NIDLTDOAConfiguration(networkIdentifier: 77))
    #expect(await recorder.wait { $0 == [.started] }, "\(recorder.calls)")
    let walk = [SIMD3(1.0, 1, 1), SIMD3(3.0, 2, 1.2), SIMD3(6.5, 4.5, 0.9), SIMD3(2.0, 5, 1.6)]
    for (step, tag) in walk.enumerated() {
      // One response is lost.
      let lost: UInt16? = step == 2 ? 0x22 : nil
      terminal.say(
        Room.notification(token: 7, block: UInt16(step + 1), at: tag, lost: lost))
      #expect(await recorder.wait { $0.count == step + 2 }, "\(recorder.calls)")
      let block = recorder.anchorMessages.filter { $0.blockIndex == step + 1 }
      #expect(block.count == (lost == nil ? 6 : 5))
      #expect(block.allSatisfy { $0.clusterInitiatorAddress == 0x11 && $0.hasCoordinates })
      let found = try position(block)
      #expect((found - tag).length < 0.1, "\(found) instead of \(tag)")
    }
    #expect(recorder.calls.allSatisfy { $0 == .started || $0 == .anchors(6) || $0 == .anchors(5) })
    await session.close()
    terminal.hangUp()
  }
}
