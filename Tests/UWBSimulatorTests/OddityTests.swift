// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

@testable import UWBSimulator

/// Documentation/swift-uwb.docc/DeviceOddities.md, "Unknown messages end a simulator".
@Suite("Device oddities of other simulators")
struct SimulatorOddityTests {
  @Test(
    "Unknown opcodes, short data and wrong inner lengths do not end a simulated chip",
    arguments: [ChipProfile.qm33, .sr250, .fira1])
  func survivesWhatItDoesNotKnow(_ profile: ChipProfile) throws {
    var stage = Stage()
    let id = stage.add(profile, at: SIMD3(0, 0, 0))
    var random = RandomSource(seed: 28)
    for type in 0..<8 as Range<UInt8> {
      for group in 0..<16 as Range<UInt8> {
        for oid in 0..<64 as Range<UInt8> {
          let count = Int(random.next() % 12)
          let payload = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
          let isControl = (1...3).contains(type)
          let isShort = isControl || profile.dialect.dataLengthInByte3
          let header = [
            type << 5 | group, isControl ? oid : 0, isShort ? 0 : UInt8(count),
            isShort ? UInt8(count) : 0,
          ]
          stage.simulation.receive(header + payload, by: id)
        }
      }
      stage.pass(milliseconds: 200)
    }
    _ = stage.simulation.takeOutput(of: id)
    // The rest of a half packet is discarded after a pause; then the chip answers again.
    stage.pass(milliseconds: 500)
    if profile.needsDeviceInit {
      for _ in 0...profile.retriesAfterBoot { stage.send("2e00 0002 0000", to: id) }
    }
    for _ in 0...profile.retriesAfterBoot { stage.send("2000 0001 00", to: id) }
    _ = stage.simulation.takeOutput(of: id)
    stage.send("2002 0000", to: id)
    let answer = stage.heard(from: id)
    #expect(
      answer.contains { $0.hasPrefix("4002") && $0.dropFirst(8).hasPrefix("00") }, "\(answer)")
  }
}
