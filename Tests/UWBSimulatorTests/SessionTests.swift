// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

@testable import UWBSimulator

/// The state machine of a chip, with errors and ends.
@Suite struct SimulatedSessionTests {
  private static let one = TestSession(isController: true, address: 0, destinations: [1])
  private static let other = TestSession(isController: false, address: 1, destinations: [0])

  @Test("Answers unknown and impossible commands with an error status")
  func refusals() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    let expected: [(String, String)] = [
      ("24050000", "07"), ("20060000", "08"), ("213f0000", "08"), ("2b3f0000", "08"),
      ("20000000", "03"), ("20000002 0000", "03"), ("20000001 01", "04"),
      ("21000004 07000000", "03"), ("22000004 01000000", "11"), ("22010004 01000000", "11"),
      ("21010004 01000000", "11"), ("21060004 01000000", "11"), ("22030004 01000000", "11"),
      ("21030005 01000000 00", "11"), ("20050002 0155", "04015500"),
      ("20040007 02 00 01 01 55 01 01", "040200095504"), ("20040004 01 01 01 00", "0000"),
      ("20050003 02 00 01", "000200010101010 0"),
    ]
    for (command, answer) in expected {
      stage.send(command, to: id)
      #expect(stage.response(from: id) == hex(bytes(answer)), "after \(command)")
    }
  }

  @Test("start, stop and count in states that do not allow them")
  func wrongStates() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    stage.send("21000005 07 00 00 00 00", to: id)
    _ = stage.heard(from: id)
    for command in ["2200", "2201", "2203"] {
      stage.send(command + "0004 01000000", to: id)
      #expect(stage.response(from: id) == "15")
    }
    stage.send(SetAppConfig(sessionToken: 1, parameters: Self.one.parameters), to: id)
    _ = stage.heard(from: id)
    stage.send("22010004 01000000", to: id)
    #expect(stage.response(from: id) == "01")
    stage.send("22000004 01000000", to: id)
    #expect(stage.response(from: id) == "00")
    stage.send("22000004 01000000", to: id)
    #expect(stage.response(from: id) == "13")
    stage.send("21030008 01000000 01 04 01 05", to: id)
    #expect(stage.response(from: id) == "13010413")
    stage.send("21030008 01000000 01 0e 01 00", to: id)
    #expect(stage.response(from: id) == "0000")
    // Directly from ACTIVE.
    stage.send("21010004 01000000", to: id)
    #expect(stage.heard(from: id) == ["4101000100", "61020006010000000100", "6001000101"])
  }

  @Test("Refused parameters refuse the whole command")
  func refusedParameters() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    stage.send("21000005 07 00 00 00 00", to: id)
    _ = stage.heard(from: id)
    let expected: [(String, String)] = [
      ("02 04 01 09 1c 01 00", "04011c04"), ("01 04 02 09 00", "04010404"),
      ("01 04 01 03", "04010404"), ("01 2b 04 00000000", "04012b04"), ("01 7f 01 00", "04017f04"),
      ("01 06 08 0000000000000000", "04010604"), ("02 26 01 02 06 08 0102030405060708", "0000"),
    ]
    for (parameters, answer) in expected {
      let payload = bytes("01000000" + parameters)
      stage.simulation.receive([0x21, 0x03, 0, UInt8(payload.count)] + payload, by: id)
      #expect(stage.response(from: id) == answer, "after \(parameters)")
    }
    // The chip did not apply the other parameters of the refused command.
    stage.send("21040006 01000000 01 04", to: id)
    #expect(stage.response(from: id) == "0001040109")
    stage.send("21040006 01000000 01 26", to: id)
    #expect(stage.response(from: id) == "0001260102")
  }

  @Test("At most five sessions; a session ID can be used again after its DEINIT")
  func limits() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    for session in 0..<5 {
      stage.send(SessionInit(sessionID: UInt32(session)), to: id)
      #expect(stage.response(from: id)?.hasPrefix("00") == true)
    }
    stage.send(SessionInit(sessionID: 9), to: id)
    #expect(stage.response(from: id) == "14")
    stage.send(SessionInit(sessionID: 3), to: id)
    #expect(stage.response(from: id) == "12")
    stage.send("21010004 04000000", to: id)
    stage.send(SessionInit(sessionID: 3), to: id)
    #expect(stage.heard(from: id).contains("410000050006000000"))
  }

  // Slots that do not fit the block; more controlees than slots; no key; preamble, SFD, usage.
  static let unusableValues: [(TLV, UInt8)] = [
    (TLV(0x09, [20, 0, 0, 0]), 0x23), (TLV(0x1B, [4]), 0x21), (TLV(0x02, [3]), 0x2A),
    (TLV(0x14, [25]), 0x2C), (TLV(0x15, [1]), 0x2D), (TLV(0x01, [6]), 0x39),
  ]

  @Test("accepted, then unusable: IDLE with a reason", arguments: unusableValues)
  func unusable(_ change: TLV, _ reason: UInt8) {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    var session = Self.one
    session.changes = [change.id: change.value]
    session.prepare(on: id, &stage)
    _ = stage.heard(from: id)
    stage.send("22000004 01000000", to: id)
    #expect(stage.heard(from: id) == ["4200000100", "610200060100000003" + hex([reason])])
  }

  @Test("A session ends by itself after the given number of measurements or failures")
  func endings() {
    for (change, reason) in [(TLV(0x32, [3, 0]), "02"), (TLV(0x2A, [3, 0]), "01")] {
      var stage = Stage()
      let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
      var session = Self.one
      session.changes = [change.id: change.value]
      session.start(on: id, &stage)
      _ = stage.heard(from: id)
      stage.pass(milliseconds: 2_000)
      let heard = stage.heard(from: id)
      #expect(heard.count == 5)
      #expect(heard.suffix(2) == ["610200060100000003" + reason, "6001000101"])
      stage.send("22030004 01000000", to: id)
      #expect(stage.response(from: id) == "0003000000")
    }
  }

  @Test("A controlee is told that the controller stops, unless in-band termination is off")
  func inBandTermination() {
    for attempts in [UInt8(1), 0] {
      var stage = Stage()
      let a = stage.add(.qm33, at: SIMD3(0, 0, 0))
      let b = stage.add(.qm33, at: SIMD3(3, 0, 0))
      var controller = Self.one
      controller.changes = [0x2F: [attempts]]
      Self.other.start(on: b, &stage)
      controller.start(on: a, &stage)
      stage.pass(milliseconds: 500)
      stage.send("22010004 01000000", to: a)
      _ = stage.heard(from: b)
      stage.pass(milliseconds: 1_000)
      if attempts == 1 {
        #expect(stage.heard(from: b) == ["61020006010000000305", "6001000101"])
      } else {
        let statuses = stage.infos(from: b).flatMap(\.entries).map(\.status)
        #expect(statuses.count >= 4)
        #expect(statuses.allSatisfy { $0 == .rangingRxTimeout })
      }
    }
  }

  @Test("a controlee whose controller loses power waits, and ranges again when it is back")
  func controllerLosesPower() {
    var stage = Stage()
    let a = stage.add(.qm33, at: SIMD3(0, 0, 0))
    let b = stage.add(.qm33, at: SIMD3(3, 0, 0))
    Self.other.start(on: b, &stage)
    Self.one.start(on: a, &stage)
    stage.pass(milliseconds: 500)
    stage.simulation.powerDown(a)
    _ = stage.heard(from: b)
    stage.pass(milliseconds: 1_000)
    let waiting = stage.infos(from: b).flatMap(\.entries)
    #expect(waiting.count >= 4)
    #expect(waiting.allSatisfy { $0.status == .rangingRxTimeout })
    stage.simulation.powerUp(a)
    Self.one.start(on: a, &stage)
    stage.pass(milliseconds: 250)
    #expect(stage.infos(from: b).last?.entries.first?.status == .ok)
  }

  @Test("Notifications follow RANGE_DATA_NTF_CONFIG")
  func notificationConfig() {
    func count(_ changes: [UInt8: [UInt8]], metres: Double) -> Int {
      var stage = Stage(Scene(distanceNoise: 0))
      let a = stage.add(.qm33, at: SIMD3(0, 0, 0))
      let b = stage.add(.qm33, at: SIMD3(metres, 0, 0))
      var controller = Self.one
      controller.changes = changes
      Self.other.start(on: b, &stage)
      controller.start(on: a, &stage)
      stage.pass(milliseconds: 1_000)
      return stage.infos(from: a).count
    }
    let near: [UInt8: [UInt8]] = [0x0F: [0, 0], 0x10: [200, 0]]
    #expect(count([0x0E: [0]], metres: 1) == 0)
    #expect(count([0x0E: [1]], metres: 1) == 5)
    #expect(count(near.merging([0x0E: [2]]) { $1 }, metres: 1) == 5)
    #expect(count(near.merging([0x0E: [2]]) { $1 }, metres: 3) == 0)
    #expect(count(near.merging([0x0E: [5]]) { $1 }, metres: 1) == 1)
  }

  @Test("FiRa 1.x: sessions by their id, multicast list of the first form")
  func firstGeneration() {
    var stage = Stage()
    let id = stage.add(.fira1, at: SIMD3(0, 0, 0))
    stage.send("21000005 44332211 00", to: id)
    #expect(stage.heard(from: id) == ["4100000100", "61020006443322110000"])
    stage.send("21000005 44332211 00", to: id)
    #expect(stage.response(from: id) == "12")
    var session = Self.one
    session.changes = [0x03: [1]]
    stage.send(SetAppConfig(sessionToken: 0x1122_3344, parameters: session.parameters), to: id)
    _ = stage.heard(from: id)
    stage.send("22000004 44332211", to: id)
    #expect(stage.heard(from: id) == ["4200000100", "61020006443322110200", "6001000102"])
    stage.send("2107000c 44332211 00 01 0200 00000000", to: id)
    #expect(stage.heard(from: id) == ["4107000100", "6107000d44332211060102000000000000"])
    stage.send("22010004 44332211", to: id)
    #expect(stage.heard(from: id) == ["4201000100", "61020006443322110300", "6001000101"])
  }

  @Test("the multicast list since FiRa 2.0")
  func multicast() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    var session = Self.one
    session.changes = [0x03: [1]]
    session.start(on: id, &stage)
    _ = stage.heard(from: id)
    func update(_ action: UInt8, _ address: UInt8) -> [String] {
      stage.send("2107000c 01000000 \(hex([action])) 01 \(hex([address]))c0 00000000", to: id)
      return stage.heard(from: id)
    }
    for address in 0..<UInt8(7) { #expect(update(0, address) == ["410700020000"]) }
    #expect(update(0, 9) == ["41070005170109c001"])
    #expect(update(0, 3) == ["41070005020103c008"])
    #expect(update(1, 9) == ["41070005020109c007"])
    #expect(update(1, 3) == ["410700020000", "61070008010000000103c000"])
    stage.send("2107001c 01000000 02 01 21c0 00000000 000102030405060708090a0b0c0d0e0f", to: id)
    #expect(stage.heard(from: id) == ["410700020200"])
    for address in [UInt8(0), 1, 2, 4, 5, 6] { _ = update(1, address) }
    stage.send("2107000c 01000000 01 01 0100 00000000", to: id)
    #expect(
      stage.heard(from: id) == [
        "410700020000", "610700080100000001010000", "61020006010000000333", "6001000101",
      ])
  }

  @Test("A command in segments gets one response, after the last")
  func segmentedCommand() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    stage.send("21000005 07000000 00", to: id)
    _ = stage.heard(from: id)
    stage.send("31030008 01000000 02 04 01 09", to: id)
    #expect(stage.heard(from: id) == [])
    stage.send("21030003 14 01 0a", to: id)
    #expect(stage.heard(from: id) == ["410300020000"])
  }

  @Test(
    "the serial firmware: lengths from the fourth byte, late garbage dropped, late ends accepted")
  func reception() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    // One byte at a time.
    for byte in bytes("21050000") { stage.simulation.receive([byte], by: id) }
    #expect(stage.heard(from: id) == ["410500020000"])
    // A stray byte makes the chip ignore the next header until the time limit of a packet has
    // passed.
    stage.send("55", to: id)
    stage.pass(milliseconds: 101)
    stage.send("2105", to: id)
    stage.send("21050000", to: id)
    #expect(stage.heard(from: id) == ["410500020000"])
    // A late chunk that completes a packet is accepted, however late.
    stage.send("2105", to: id)
    stage.pass(milliseconds: 5_000)
    stage.send("0000", to: id)
    #expect(stage.heard(from: id) == ["410500020000"])
  }

  @Test("an SR250 asks again for every second stop, and after it has slept")
  func retries() {
    var stage = Stage()
    let id = stage.add(.sr250, at: SIMD3(0, 0, 0))
    Self.one.start(on: id, &stage)
    for expected in [["4201000100"], ["600700010a", "4201000100"]] {
      for answer in expected {
        _ = stage.heard(from: id)
        stage.send("22010004 01000000", to: id)
        #expect(stage.heard(from: id).first == answer)
      }
      stage.send("22000004 01000000", to: id)
    }
    stage.send("21010004 01000000", to: id)
    stage.send("20040006 01 e4 04 02 f4 01", to: id)
    stage.pass(milliseconds: 501)
    _ = stage.heard(from: id)
    stage.send("21050000", to: id)
    stage.send("21050000", to: id)
    #expect(stage.heard(from: id) == ["600700010a", "410500020000"])
  }

  @Test("Faults: damage by position, garbage, silence, only retries")
  func faults() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    func ask(_ faults: ChipFaults) -> [String] {
      stage.simulation[id].chip.faults = faults
      stage.send("21050000", to: id)
      stage.send("21050000", to: id)
      return stage.heard(from: id)
    }
    #expect(ask(.none) == ["410500020000", "410500020000"])
    #expect(ask(ChipFaults(damage: [1: .drop])) == ["4100020000", "410500020000"])
    #expect(
      ask(ChipFaults(damage: [6: .insert([1, 2]), 11: .flip(0x81)]))
        == ["410500020000", "0102410500020081"])
    #expect(ask(ChipFaults(mute: true)) == [])
    #expect(ask(ChipFaults(onlyRetries: true)) == ["600700010a", "600700010a"])
    let garbage = ask(ChipFaults(garbage: true))
    #expect(garbage.map(\.count) == [12, 12] && !garbage.contains("410500020000"))
  }

  @Test("the chip's own time runs with its crystal; a start in the past is refused")
  func timestamp() {
    var stage = Stage()
    let id = stage.add(.qm33, Placement(at: SIMD3(0, 0, 0), clockOffset: 10))
    stage.pass(milliseconds: 1_000_000)
    stage.send("20080000", to: id)
    // 1000 s, and 10 ppm of it.
    #expect(stage.response(from: id) == "00" + hex(bytes("10f19a3b00000000")))
    var session = Self.one
    session.changes = [0x2B: bytes("0100000000000000")]
    session.prepare(on: id, &stage)
    _ = stage.heard(from: id)
    stage.send("22000004 01000000", to: id)
    #expect(stage.response(from: id) == "1a")
  }
}
