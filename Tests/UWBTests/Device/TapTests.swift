// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import CUWBTestSupport
import Synchronization
import Testing
import UCI
import UWB
import UWBLink

@Suite(.timeLimit(.minutes(10))) struct TapTests {
  struct Packet: Hashable {
    var direction: PacketDirection
    var bytes: [UInt8]
  }

  @Test func theTapSeesAllPackets() async throws {
    let said = Mutex<[[UInt8]]>([])
    let segments = Segmentation.packets(
      type: .notification, opcode: Opcode(GroupID(rawValue: 0xE), 1),
      payload: Array(repeating: 7, count: 300))
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      let answers = DWM3001CDK.answers(packet) + (packet[0] == 0x21 ? segments : [])
      said.withLock { $0 += answers }
      return answers
    }
    let seen = Mutex<[Packet]>([])
    let times = Mutex<[UInt64]>([])
    let before = cuwb_test_now()
    let device = try await UWBDevice.open(
      chip.endpoint,
      options: .init(tap: { direction, packet, time in
        let bytes = packet.withUnsafeBytes { Array($0) }
        seen.withLock { $0.append(Packet(direction: direction, bytes: bytes)) }
        times.withLock { $0.append(time) }
      }).patient)
    _ = try await device.send(GetSessionCount())
    _ = try await device.send(GetSessionCount())
    await device.close()
    let packets = seen.withLock { $0 }
    #expect(packets.filter { $0.direction == .outbound }.map(\.bytes) == chip.packets)
    // Messages after the chip's last answer may arrive too late for the tap.
    let inbound = packets.filter { $0.direction == .inbound }.map(\.bytes)
    let expected = [DWM3001CDK.ready] + said.withLock { $0 }
    #expect(inbound.count >= expected.count - segments.count)
    #expect(inbound[...] == expected.prefix(inbound.count))
    #expect(inbound.contains(segments[0]) && inbound.contains(segments[1]))
    // A command precedes its answer.
    let command = try #require(packets.firstIndex { $0.bytes.starts(with: [0x20, 0x02]) })
    let answer = try #require(packets.firstIndex { $0.bytes.starts(with: [0x40, 0x02]) })
    #expect(command < answer)
    let after = cuwb_test_now()
    #expect(times.withLock { $0.allSatisfy { (before...after).contains($0) } })
  }
}
