// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

@testable import UWBSimulator

/// Bytes from hexadecimal digits; everything else is ignored.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] << 4 | digits[$0 + 1])
  }
}

/// Bytes as hexadecimal digits.
func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// A simulation in which a test takes the hosts' part.
struct Stage {
  var simulation: Simulation

  init(_ scene: Scene = Scene()) { simulation = Simulation(scene: scene) }

  /// Adds a chip, powers it up and discards the packets that it sends.
  mutating func add(_ profile: ChipProfile, at position: SIMD3<Double>) -> Simulation.ChipID {
    add(profile, Placement(at: position))
  }

  mutating func add(_ profile: ChipProfile, _ placement: Placement) -> Simulation.ChipID {
    let id = simulation.add(profile, placement: placement)
    simulation.powerUp(id)
    if profile.needsDeviceInit {
      for _ in 0...profile.retriesAfterBoot { send("2e00 0002 0000", to: id) }
      for _ in 0...profile.retriesAfterBoot { send("2000 0001 00", to: id) }
      send("2002 0000", to: id)
    }
    _ = simulation.takeOutput(of: id)
    return id
  }

  mutating func send(_ hexadecimal: String, to id: Simulation.ChipID) {
    simulation.receive(bytes(hexadecimal), by: id)
  }

  mutating func send<C: UCICommand>(_ command: C, to id: Simulation.ChipID) {
    let dialect = simulation[id].chip.profile.dialect
    for packet in Segmentation.packets(command, dialect: dialect) {
      simulation.receive(packet, by: id)
    }
  }

  /// The chip's packets since the last call, as hexadecimal digits.
  mutating func heard(from id: Simulation.ChipID) -> [String] {
    simulation.takeOutput(of: id).map(hex)
  }

  /// The payload of the only response among the chip's packets.
  mutating func response(from id: Simulation.ChipID) -> String? {
    heard(from: id).first { $0.hasPrefix("4") }.map { String($0.dropFirst(8)) }
  }

  mutating func pass(milliseconds: UInt64) {
    simulation.advance(to: simulation.now + milliseconds * 1_000_000)
  }

  /// The ranging results that the chip has sent, in order.
  mutating func infos(from id: Simulation.ChipID) -> [SessionInfo] {
    let dialect = simulation[id].chip.profile.dialect
    var joined: [UInt8] = []
    return simulation.takeOutput(of: id).compactMap { packet in
      guard let header = try? PacketHeader(parsing: packet.span.bytes),
        header.type == .notification, header.opcode == .sessionInfo
      else { return nil }
      joined += packet[4...]
      guard !header.moreFollows else { return nil }
      defer { joined = [] }
      return try? SessionInfo(decoding: joined, dialect: dialect)
    }
  }
}

extension SessionInfo {
  var entries: [TwoWayMeasurement] {
    if case .twoWay(let list) = measurements { list } else { [] }
  }
}

/// The parameters of a session as hosts send them, with room for changes.
struct TestSession {
  var isController: Bool
  var address: UInt16
  var destinations: [UInt16]
  var id: UInt32 = 7
  var changes: [UInt8: [UInt8]] = [:]

  var parameters: [TLV] {
    var all: [UInt8: [UInt8]] = [
      0x00: [isController ? 1 : 0], 0x11: [isController ? 1 : 0],
      0x03: [isController && destinations.count > 1 ? 1 : 0], 0x01: [2], 0x22: [1], 0x26: [0],
      0x05: [UInt8(destinations.count)], 0x06: MACAddress(address).bytes,
      0x07: destinations.flatMap { MACAddress($0).bytes }, 0x04: [9], 0x02: [0], 0x12: [3],
      0x14: [10], 0x15: [2], 0x08: [0x60, 0x09], 0x09: [0xC8, 0, 0, 0], 0x1B: [0x19],
      0x27: [8, 7], 0x28: [1, 2, 3, 4, 5, 6], 0x35: [1],
    ]
    all.merge(changes) { $1 }
    return all.sorted { $0.key < $1.key }.map { TLV($0.key, $0.value) }
  }

  /// Creates, configures and starts the session; returns its token.
  @discardableResult
  func start(on id: Simulation.ChipID, _ stage: inout Stage) -> UInt32 {
    let token = prepare(on: id, &stage)
    stage.send(SessionStart(sessionToken: token), to: id)
    return token
  }

  /// Creates and configures the session; returns its token.
  @discardableResult
  func prepare(on id: Simulation.ChipID, _ stage: inout Stage) -> UInt32 {
    _ = stage.heard(from: id)
    stage.send(SessionInit(sessionID: self.id), to: id)
    let answer = stage.heard(from: id).first { $0.hasPrefix("4100") } ?? ""
    let token = (try? SessionInitResponse(decoding: bytes(String(answer.dropFirst(8)))))?.handle
    stage.send(SetAppConfig(sessionToken: token ?? self.id, parameters: parameters), to: id)
    return token ?? self.id
  }
}
