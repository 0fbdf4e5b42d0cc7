// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBTestSupport
import UCIReference
import UCITestSupport

@testable import UCI

/// A generator with a seed, so that a failure can be reproduced. (SplitMix64.)
private struct Generator: RandomNumberGenerator {
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
  // Payloads that pass the outer checks, to be damaged.
  private let seeds =
    CoverageVectors.all.flatMap(\.packets) + TwoWayVectors.all + VendorTests.nxp + VendorTests.qorvo
    + TDoAVectors.all
    + LogicalLinkTests.vectors + PhaseTests.vectors
    + RadioTestTests.vectors
    + [
      "21030017 01000000 01 4510" + String(repeating: "6b", count: 16),
      "2107001c 07000000 02 01 c021 00000000" + String(repeating: "6b", count: 16),
      "61070014 07000000 05 02 c000 00000000 00 c100 00000000 00",
      "40020011 00 0200 0200 0200 0110 07 0003 535232 0131",
      "40030011 00 03 02020301 0102ff00 0e0109 0000", "41030006 03 02 0004 0105",
      "21080011 01000000 02 00 01 02 aa01 bb02 01 04 05 03 00",
      "62000026 00000000 01000000 00 c8000000 03 00 00 00000000 00000000 01 "
        + "aabb 00 00 01 0100 0304 60 0506 50",
      "62000042 050000002a0000000064000000020000000000000000000001"
        + "0022000001000201000000055a80fd5082554433221105040302010b0af0ffa0860100400d03004101",
      "6c020011 01010101 02020202 01 00 01 02 01 00 0100 00",
      "20040012 03 e4020100 e40402f401 e43a0500e803e803",
      "01001200 01000000 bb02000000000000 0100 0200 6869", "62050008 05000000 0201 00 03",
    ]

  @Test func damagedPayloads() throws {
    var generator = Generator(state: 0x5EED)
    let payloads = seeds.map { bytes($0) }
    let vendors: [Dialect.Vendor] = [.unknown, .qorvo, .nxp, .android]
    var understood = 0
    for round in 0..<50_000 {
      var packet = payloads[Int.random(in: 0..<payloads.count, using: &generator)]
      if round % 4 == 0 {
        // Arbitrary bytes.
        packet = (0..<Int.random(in: 4...80, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
      } else {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          let at = Int.random(in: 4..<max(5, packet.count), using: &generator)
          switch Int.random(in: 0..<3, using: &generator) {
          case 0 where at < packet.count: packet[at] = UInt8.random(in: 0...255, using: &generator)
          case 1 where at < packet.count: packet.remove(at: at)
          default: packet.insert(UInt8.random(in: 0...255, using: &generator), at: at)
          }
        }
      }
      let dialect = Dialect(
        generation: round % 2 == 0 ? .fira1 : .fira2, vendor: vendors[round % vendors.count])
      let payload = Array(packet.dropFirst(4))
      let header = try PacketHeader(parsing: packet.span.bytes)
      let message = Message(
        type: header.type, opcode: header.opcode, payload: payload.span.bytes, dialect: dialect)
      if case .opaque = message.content {} else { understood += 1 }
      if message.payload(dialect: dialect) != payload {
        Issue.record("round \(round): \(hexadecimal(packet)) is not encoded as it was")
        return
      }
      if round % 8 == 0 { _ = message.fields(dialect: dialect) }
      view(payload, message)
    }
    // Most of the damage changes values, so a large number of payloads still has to decode.
    #expect(understood > 12_500)
  }

  /// The view accepts a payload exactly when the value does, and reads the same measurements from
  /// it.
  private func view(_ payload: [UInt8], _ message: Message) {
    guard let view = try? SessionInfoView(payload.span.bytes) else {
      if case .payload(let info as SessionInfo) = message.content, info.type == .twoWay {
        Issue.record("the view refuses \(hexadecimal(payload))")
      }
      return
    }
    var seen: [TwoWayMeasurement] = []
    view.forEachTwoWayMeasurement { seen.append($0) }
    guard case .payload(let info as SessionInfo) = message.content,
      case .twoWay(let list) = info.measurements
    else { return }
    #expect(seen == list)
  }

  @Test("Counts and lengths that claim more than there is are not believed")
  func claims() {
    for vendor in Dialect.Vendor.allCases {
      let dialect = Dialect(generation: .fira3, vendor: vendor)
      for key in MessageCatalog.keys(in: dialect) {
        for byte in [0xFF, 0x7F, 0x01, 0x00] as [UInt8] {
          for count in stride(from: 0, through: 48, by: 3) {
            let payload = Array(repeating: byte, count: count)
            let message = Message(
              type: key.type, opcode: key.opcode, payload: payload.span.bytes, dialect: dialect)
            if message.payload(dialect: dialect) != payload {
              Issue.record("\(key) of \(count) times \(byte) is not encoded as it was")
            }
            // Descriptions come from the bytes, and no byte may cause a thousand characters.
            if count == 48, message.fields(dialect: dialect).description.utf8.count > 52_000 {
              Issue.record("\(key) of \(count) times \(byte) says more than it holds")
            }
          }
        }
      }
    }
  }
}
