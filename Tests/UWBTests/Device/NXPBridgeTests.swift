// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import System
import Testing
import UWBLink
import UWBTestSupport

@testable import UWB

@Suite("NXP boards on USB", .timeLimit(.minutes(10)))
struct NXPBridgeTests {
  /// The board's framing: packets to it begin with a type and a length, packets from it do not.
  private final class Unwrapped: Sendable {
    private let state = Locked((pending: [UInt8](), packets: [[UInt8]]()))

    /// The packets of the host, each of which begins with its type.
    var packets: [[UInt8]] { state.withLock { $0.packets } }

    /// Returns the packets that these bytes complete.
    func take(_ bytes: [UInt8]) -> [[UInt8]] {
      state.withLock { state in
        state.pending += bytes
        var whole: [[UInt8]] = []
        while state.pending.count >= 3 {
          let end = 3 + (Int(state.pending[1]) << 8 | Int(state.pending[2]))
          guard state.pending.count >= end else { break }
          whole.append([state.pending[0]] + state.pending[3..<end])
          state.pending.removeFirst(end)
        }
        state.packets += whole
        return whole
      }
    }
  }

  @Test("It is reset, told to leave its loader, told of itself, and used")
  func opens() async throws {
    let unwrapped = Unwrapped()
    let board = try ScriptedTerminal { bytes in
      unwrapped.take(bytes).flatMap { wrapped -> [UInt8] in
        let packet = Array(wrapped.dropFirst())
        switch (wrapped[0], packet.first) {
        case (0x04, _): return [0x01, 0x02, 0x03, 0x04]
        case (0x12, _): return [0x60, 0x01, 0x00, 0x01, 0x00]
        case (0x01, 0x2E):
          return [0x4E, 0x00, 0x00, 0x01, 0x00, 0x60, 0x01, 0x00, 0x01, 0x01]
        case (0x01, _): return DWM3001CDK.answers(packet).flatMap { $0 }
        default: return []
        }
      }
    }
    defer { board.hangUp() }
    let endpoint = try LinkEndpoint("nxp-usb:\(board.path)?board=rhodes-v4")
    let device = try await UWBDevice.open(endpoint, options: .patient)
    #expect(device.profile == .nxp)
    await device.close()
    var packets = unwrapped.packets
    // On a busy machine, the driver repeats the reset.
    if packets.starts(with: [[0x04], [0x04]]) { packets.removeFirst() }
    #expect(packets.prefix(2) == [[0x04], [0x12]])
    #expect(packets.dropFirst(2).first == [0x01, 0x2E, 0x00, 0x00, 0x02, 0x73, 0x04])
    #expect(
      packets.dropFirst(2).map { Array($0[1...2]) } == [
        [0x2E, 0x00], [0x20, 0x00], [0x20, 0x02], [0x20, 0x03],
      ])
  }
}
