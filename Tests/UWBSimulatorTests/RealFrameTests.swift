// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

@testable import UWBSimulator

/// Dialogues with real chips, byte by byte.
@Suite struct RealFrameTests {
  /// The packets of the host, and the chip's answers.
  private struct Turn {
    var sent: String
    var heard: [String]
    init(_ sent: String, _ heard: String...) {
      self.sent = sent
      self.heard = heard.map { hex(bytes($0)) }
    }
  }

  private func play(
    _ turns: [Turn], with id: Simulation.ChipID, on stage: inout Stage,
    _ place: SourceLocation = #_sourceLocation
  ) {
    for turn in turns {
      stage.send(turn.sent, to: id)
      #expect(stage.heard(from: id) == turn.heard, "after \(turn.sent)", sourceLocation: place)
    }
  }

  @Test("a DWM3001CDK without a peer, from power-up to the last DEINIT")
  func qorvo() {
    var stage = Stage()
    let id = stage.simulation.add(.qm33, placement: .init(at: SIMD3(0, 0, 0)))
    stage.simulation.powerUp(id)
    #expect(stage.heard(from: id) == ["6001000101"])
    play(
      [
        Turn("20000001 00", "60010001 01", "40000001 00", "60010001 01"),
        Turn(
          "20020000",
          """
          4002003e 00 02 00 02 00 02 00 01 10 34
          01 01 00 00 00 00 00 00 00 00 00 00 00 00
          00 00 00 50 56 34 58 32 30 0e e0 ca 09 00
          00 00 00 00 00 00 00 00 00 00 00 00 00 00
          00 00 00 00 00 02 03 ca de 00
          """),
        Turn(
          "20030000",
          """
          4003005e 00 1a 00 02 03 01 01 02 ff 00
          02 04 02 00 02 00 03 04 02 00 02 00 04 01
          03 05 02 03 00 06 02 1e 00 07 01 19 08 01
          03 09 01 02 0a 01 02 0b 01 01 0c 01 01 0d
          01 01 0e 01 09 0f 01 0a 10 01 01 11 01 3f
          12 05 00 00 00 00 00 13 01 00 14 01 00 15
          01 00 16 01 02 17 01 00 18 01 00 19 01 00
          """),
        Turn("21000005 07 00 00 00 00", "41000005 00 01 00 00 00", "61020006 01 00 00 00 00 00"),
        Turn("21060004 01 00 00 00", "41060002 00 00"),
        Turn("21050000", "41050002 00 01"),
        Turn("22000004 01 00 00 00", "42000001 15"),
        Turn("22010004 01 00 00 00", "42010001 15"),
        Turn(
          """
          21030047 01 00 00 00 12 00 01 01 11 01 01 03 01 00 01 01 02 06 02 00 00 07 02 01 00
          04 01 09 02 01 00 12 01 03 22 01 01 14 01 0a 15 01 02 08 02 60 09 09 04 c8 00 00 00
          1b 01 19 27 02 08 07 28 06 01 02 03 04 05 06 35 01 01
          """, "41030002 00 00", "61020006 01 00 00 00 03 00"),
        Turn("22030004 01 00 00 00", "42030005 00 00 00 00 00"),
        Turn(
          "22000004 01 00 00 00", "42000001 00", "60010001 02", "61020006 01 00 00 00 02 00"),
      ], with: id, on: &stage)
    for sequence in 0..<2 {
      stage.pass(milliseconds: 200)
      let frame = """
        62000038 0\(sequence) 00 00 00 01 00 00 00 00 c8 00 00 00 01 00 00 00 00 00 00 00 00 00 00 01
        01 00 21 ff ff ff 00 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00
        """
      #expect(stage.heard(from: id) == [hex(bytes(frame))])
    }
    play(
      [
        Turn(
          "22010004 01 00 00 00", "42010001 00", "61020006 01 00 00 00 03 00", "60010001 01"),
        Turn("21010004 01 00 00 00", "41010001 00", "61020006 01 00 00 00 01 00"),
        Turn("21050000", "41050002 00 00"),
        Turn("20000000", "40000001 03"),
      ], with: id, on: &stage)
  }

  @Test("the fifteen parameters a DWM3001CDK needs are enough; one less is not")
  func qorvoPracticalSet() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    stage.send("21000005 07 00 00 00 00", to: id)
    stage.send(
      """
      21030035 01000000 0e 000101 110101 030100 010102 06020000 07020100 040109 020100 120103
      220101 14010a 150102 08026009 0904c8000000
      """, to: id)
    _ = stage.heard(from: id)
    stage.send("22000004 01 00 00 00", to: id)
    #expect(stage.heard(from: id) == ["4200000115"])
    stage.send("21030008 01 00 00 00 01 1b 01 19", to: id)
    #expect(stage.heard(from: id) == ["410300020000", "61020006010000000300"])
  }

  @Test("a reset with live sessions reports each of them, then READY, response, READY")
  func qorvoResetWithSessions() {
    var stage = Stage()
    let id = stage.add(.qm33, at: SIMD3(0, 0, 0))
    stage.send("21000005 07 00 00 00 00", to: id)
    stage.send("21000005 08 00 00 00 00", to: id)
    _ = stage.heard(from: id)
    stage.send("20000001 00", to: id)
    #expect(
      stage.heard(from: id) == [
        "61020006010000000100", "61020006020000000100", "6001000101", "4000000100", "6001000101",
      ])
    stage.send("21000005 09 00 00 00 00", to: id)
    #expect(stage.heard(from: id).first == "410000050001000000")
  }

  @Test("an SR250 without a peer, from power-up to DEINIT")
  func nxp() {
    var stage = Stage()
    let id = stage.simulation.add(.sr250, placement: .init(at: SIMD3(0, 0, 0)))
    stage.simulation.powerUp(id)
    #expect(stage.heard(from: id) == ["6001000101"])
    play(
      [
        Turn("20020000"),
        Turn("2e000002 00 00", "60070001 0a"),
        Turn("2e000002 00 00", "4e000001 00", "60010001 01"),
        Turn("20000001 00", "60070001 0a"),
        Turn("20000001 00", "40000001 00", "60010001 01"),
        Turn(
          "20040012 03e4020100e40402f401e43a0500e803e803", "6e060001 02", "40040002 00 00"),
        Turn("20040004 01 01 01 01", "40040002 00 00"),
        Turn("20040006 01 e4 04 02 f4 01", "40040002 00 00"),
        Turn("20040005 01 e4 33 01 01", "40040002 00 00"),
        Turn(
          "20030000",
          """
          40030093 0028 0002f707 0102f707 020401000200 030401000200 04010b 0502af00 06027f06 07011f
          080107 090102 0a0107 0b0101 0c0101 0d0101 0e0109 0f010b 100103 11013f 1205afaaaaaa01
          13010f 140100 150101 160103 17010a 180100 190100 1a0100 1b020d55 1c0101 a0017f
          a104000f0000 a2011f a30103 a4020001 a50400000100 a603001122 a70101 b1020008 b201ae b3010c
          """),
        Turn("21000005 4a b1 d7 bf 00", "41000005 00 01 00 00 00", "61020006 01 00 00 00 00 00"),
        Turn(
          """
          2103002b 01 00 00 00 09 09 04 f0 00 00 00 08 02 60 09 1b 01 06 28 06 01 02 03 04 05 06
          27 02 08 07 14 01 0a 04 01 09 05 01 01 07 02 11 22
          """, "41030002 00 00"),
        Turn(
          """
          2103001b 01 00 00 00 07 11 01 00 03 01 00 26 01 00 22 01 01 06 02 9e 36 01 01 02 00 01 00
          """, "41030002 00 00", "61020006 01 00 00 00 03 00"),
        Turn(
          "22000004 01 00 00 00", "42000001 00", "60010001 02", "61020006 01 00 00 00 02 00"),
      ], with: id, on: &stage)
    for sequence in 0..<4 {
      stage.pass(milliseconds: 240)
      let frame = """
        62000048 0\(sequence) 00 00 00 01 00 00 00 00 f0 00 00 00 01 00 00 00 00 00 00 00 00 00 00 01
        11 22 21 00 ff ff 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
        0e 00 00 00 00 01 01 00 01 01 00 00 00 00 00 00
        """
      #expect(stage.heard(from: id) == [hex(bytes(frame))])
    }
    play(
      [
        Turn("22010004 01 00 00 00", "42010001 00", "61020006 01 00 00 00 03 00"),
        Turn("21010004 01 00 00 00", "60010001 01", "41010001 00", "61020006 01 00 00 00 01 00"),
      ], with: id, on: &stage)
  }
}
