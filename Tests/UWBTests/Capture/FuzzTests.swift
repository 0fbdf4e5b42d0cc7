// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBTestSupport
import UCI
import UWB

/// The numbers depend on the seed only, on every machine.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

@Suite(.computes) struct FuzzTests {
  private static let seeds: [[UInt8]] = {
    var blocks = Blocks(bigEndian: true)
    blocks.section()
    blocks.interface(
      options: blocks.option(9, [0x80 | 20]) + blocks.option(14, [0, 0, 0, 0, 0, 0, 0, 1]))
    blocks.packet(Samples.ready, ticks: 1 << 40, flags: 1)
    blocks.block(3, blocks.number(UInt32(5)) + Samples.ready)
    let log = "05-05 00:00:00.001 D NxpUciX: len = 5 > 2000000100\nNXPUCIR <= 60 01 00 01 01\n"
    return [Samples.file().bytes, blocks.bytes, Array(log.utf8), Array("20 00 00 01 00\n".utf8)]
  }()

  /// No file crashes the reader, and no more packets are read than were written.
  @Test(arguments: 0..<5) func mutatedFiles(_ seed: Int) {
    var random = SplitMix(state: UInt64(seed) + 1)
    for round in 0..<10_000 {
      var file = Self.seeds[round % Self.seeds.count]
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        guard !file.isEmpty else { break }
        let index = Int.random(in: 0..<file.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: file[index] = .random(in: 0...255, using: &random)
        case 1: file[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: file.remove(at: index)
        case 3: file.insert(.random(in: 0...255, using: &random), at: index)
        case 4: file.removeSubrange(index...)
        default: for i in index..<min(index + 4, file.count) { file[i] = 0xFF }
        }
      }
      guard let capture = try? CaptureReader.read(file) else { continue }
      #expect(capture.packets.reduce(0) { $0 + $1.bytes.count } <= file.count)
      #expect(capture.problems.count <= 100)
    }
  }

  /// The redaction keeps the length of packets of any bytes.
  @Test func anyPacket() throws {
    var random = SplitMix(state: 99)
    var encoder = PcapngEncoder()
    let heads: [[UInt8]] = [
      [0x21, 3], [0x31, 3], [0x21, 7], [0x31, 7], [0x41, 4], [0x51, 4], [],
    ]
    for round in 0..<20_000 {
      let tail = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        UInt8.random(in: 0...4, using: &random)
      }
      let packet = heads[round % heads.count] + tail
      let file = PcapngEncoder.preamble() + encoder.packet(.outbound, packet, time: 0)
      let capture = try CaptureReader.read(file)
      #expect(packet.count < 4 || capture.packets.first?.bytes.count == packet.count)
    }
  }
}
