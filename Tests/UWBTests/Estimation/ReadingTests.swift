// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ranging
import Testing
import UWBTestSupport
import UCI

@testable import UWB

/// Bytes of diagnostics, and the values that their sources state.
@Suite(.computes) struct ReadingTests {
  @Test("the carrier offset that the guide of Qorvo's tools prints")
  func carrierOffset() {
    var rounds = Rounds()
    // The field has 26 bits after the point: -112 units are -1.669 ppm. The guide of UWB Qorvo
    // Tools prints "cfo: -1.669 ppm".
    rounds.feed(
      RangeDiagnosticsNotification.qorvoOpcode,
      bytes("01000000 00000000 01 01 00 00 01 04 0400 90ffffff"))
    rounds.info(0)
    #expect(abs((rounds.given[0].carrierOffset ?? 0) - -1.669) < 0.0005)
  }

  @Test("test vectors of AOSP and pica: a frame that was sent, one that was received")
  func androidVectors() throws {
    // The angle report of the first frame has a phase of 0x0201 / 2048 rad, but the device sent
    // this frame.
    let sent =
      "01010101 02020202 01 00 01 02 03 01 0800 0102010201020101"
      + "02 1500 010102010201020102010201020002040001020304 00 0100 00"
    let received = "2a000000 02020202 01 01 00 00 01 00 0200 7879"
    var settings = EstimationSettings()
    settings.azimuth = PhaseTable(spacing: 0.5)
    for (vector, use) in [(sent, DiagnosticsUse.none), (received, .used(1))] {
      var rounds = Rounds(settings)
      rounds.feed(RangeDiagnosticsNotification.opcode, bytes(vector))
      rounds.info(0x0202_0202)
      #expect(rounds.uses == [use])
      #expect(rounds.given[0].noAzimuth == .noPhases)
    }
    // As a received frame, the same phase of 0.2505 rad is an angle of arcsin(0.2505 / π), 4.574
    // degrees.
    let turned = sent.replacing("01 00 01 02 03 01", with: "01 01 00 02 03 01")
    // The axis of the vector is Y, but this device measures its azimuth along X.
    for (axis, isAzimuth) in [("01", false), ("00", true)] {
      var rounds = Rounds(settings)
      rounds.feed(
        RangeDiagnosticsNotification.opcode,
        bytes(turned.replacing("0102010201020101", with: "01020102010201" + axis)))
      rounds.info(0x0202_0202)
      let degrees = (rounds.given[0].azimuth?.angle ?? 0) * 180 / .pi
      #expect((abs(degrees - 4.574) < 0.01) == isAzimuth)
    }
  }

  @Test("segment metrics with Qorvo's magnitudes and with AOSP's signed levels")
  func levels() {
    // All paths together have -60 dBm, the first path -75 dBm, and the strongest path -62 dBm, 5
    // samples later. The noise is -95 dBm.
    let qorvo = "09 00a1 003c e102 004b 40b8 e602 003e 80b9"
    let aosp = "09 00a1 00c4 e102 00b5 40b8 e602 00c2 80b9"
    for metrics in [qorvo, aosp] {
      var rounds = Rounds()
      rounds.feed(
        RangeDiagnosticsNotification.qorvoOpcode,
        bytes("01000000 00000000 01 01 00 00 01 06 1100 \(metrics)"))
      rounds.info(0)
      let estimate = rounds.given[0]
      #expect(estimate.receivedPower == -60 && estimate.firstPathPower == -75)
      // All paths together are 15 dB above the first path. The strongest path is 13 dB above it and
      // 5 ns later.
      #expect((estimate.nonLineOfSight ?? 0) > 0.95)
      #expect((estimate.distanceNoise ?? 0) > 0.15 && estimate.distance == 4)
    }
  }

  @Test(
    "a level is one only up to -20 dBm",
    arguments: [
      ("8013", nil), ("8014", -20.5), ("007f", -127), ("0080", -128), ("80ff", nil),
      ("80eb", -20.5),
      ("0000", nil),
    ] as [(String, Double?)])
  func levelLimits(_ raw: String, _ level: Double?) {
    var rounds = Rounds()
    let metrics = "09 00a1 \(raw) e102 004b 40b8 e602 003e 80b9"
    rounds.feed(
      RangeDiagnosticsNotification.qorvoOpcode,
      bytes("01000000 00000000 01 01 00 00 01 06 1100 \(metrics)"))
    rounds.info(0)
    #expect(rounds.given[0].receivedPower == level)
  }

  @Test(
    "a frame that was not received well says nothing", arguments: [(0, 0), (1, 1), (2, 0), (3, 1)])
  func frameStatus(_ status: UInt8, _ frames: Int) {
    var items = FrameItems()
    items.take(4, [0, 0, 0, 0].span.bytes)
    items.take(3, [status, 0].span.bytes)
    #expect((items.finished()?.frames ?? 0) == frames)
  }

  @Test("how far the first paths of Ipatov and STS are apart, at the primary receiver")
  func disagreement() {
    // The first paths are at 400 and 401 samples of 1.0016 ns. Neither other receivers nor a second
    // STS count.
    let levels = "00a1 003c e102 004b", peak = "e602 003e 80b9"
    let segments = [
      "00 \(levels) 0000 \(peak)", "08 \(levels) 0064 \(peak)", "09 \(levels) 4064 \(peak)",
      "0a \(levels) 0000 \(peak)",
    ]
    var items = FrameItems()
    for segment in segments { items.take(6, bytes(segment).span.bytes) }
    let value = items.finished()?.segmentDisagreement.value
    #expect(abs((value ?? 0) - 1.0016) < 1e-9)
  }

  @Test("frames of NXP's log: only those decoded count, and only levels that are some")
  func receivedFrames() {
    var frame = NXPReceivedFrame()
    frame.rawClockOffset = 2_048
    frame.rawRSSI = -60 * 256
    (frame.snrFirstPath, frame.snrMainPath) = (20, 23)
    (frame.rawFirstPath, frame.rawMainPath) = (64, 192)
    var seen = PeerDiagnostics()
    seen.take(frame)
    #expect(seen.frames == 0, "not decoded")
    frame.decodeStatus = 4
    seen.take(frame)
    #expect(seen.frames == 1 && seen.carrier.value == 1 && seen.level.value == -60)
    #expect(seen.firstPathSNR.value == 20 && seen.peakOverFirstPath.value == 3)
    #expect(seen.peakDelay.value == 2 && seen.isBlocked == nil)
    frame.rawRSSI = 0
    frame.rawFirstPath = 193
    frame.lineOfSight = .nonLineOfSight
    seen.take(frame)
    #expect(seen.frames == 2 && seen.level.count == 1, "0 is none")
    #expect(seen.peakDelay.count == 1, "the first path is behind the main one")
    #expect(seen.isBlocked == true)
  }

  @Test("a published log of an SR250: nothing measured, nothing said")
  func publishedLog() {
    var rounds = Rounds()
    let tail = bytes("0e00 00 00 00 01 01 00 01 01 000000000000")
    rounds.info(0, [Rounds.entry(0x1111, .rangingRxPhyDecFailed)], tail: tail)
    #expect(rounds.uses == [.none])
    #expect(rounds.given[0].noDistance == .notMeasured(.rangingRxPhyDecFailed))
    #expect(rounds.given[0].nonLineOfSight == nil)
  }

  @Test("NXP's part behind the measurements: phases, paths, millimetres")
  func vendorTail() throws {
    var settings = EstimationSettings()
    settings.azimuth = PhaseTable(spacing: 0.5)
    settings.elevation = PhaseTable(spacing: 0.5)
    // The angles of pairs 1 and 2, from two receivers: 45 degrees of phase to the right, 0 degrees
    // upwards.
    let angles = "0000 8016 4003" + "0000 0000 4003"
    let body = "a1 00000100 00 01 02 01 02 01 02 01 02" + angles + "14 14 4003 4003 16 16 4003 4003"
    let text = body + "d2040000"
    var rounds = Rounds(settings)
    rounds.info(0, tail: [UInt8(bytes(text).count), 0] + bytes(text) + [0])
    let estimate = rounds.given[0]
    #expect(estimate.diagnostics == .used(2))
    #expect(estimate.distance == 1.234)
    let degrees = (estimate.azimuth?.angle ?? 0) * 180 / .pi
    #expect(abs(degrees - asin(0.25) * 180 / .pi) < 0.01)
    #expect(abs(estimate.elevation?.angle ?? 1) < 1e-6)
    #expect((estimate.nonLineOfSight ?? 1) < 0.1)
    // The receivers report no path, so that the frame has angles only.
    let deaf = bytes(text.replacing("14 14", with: "00 00").replacing("16 16", with: "00 00"))
    rounds.info(1, tail: [UInt8(deaf.count), 0] + deaf + [0])
    #expect(rounds.uses == [.used(2), .used(1)] && rounds.given[1].nonLineOfSight == nil)
  }

  @Test func windowsOfSixteenAndOfTwentyFourBits() {
    // At sample 1, the second receiver's phase is a quarter of a turn ahead.
    func window(_ id: String, _ size: String, _ samples: String) -> String {
      "\(id) 01 02 \(size) \(samples)"
    }
    let wide =
      window("09", "06", "000000000000 640000000000")
      + window("11", "06", "000000000000 000000640000")
    let short = window("09", "04", "00000000 64000000") + window("11", "04", "00000000 00006400")
    let parts = window("09", "02", "00000000 64000000") + window("11", "02", "00000000 00006400")
    var settings = EstimationSettings()
    settings.azimuth = PhaseTable(spacing: 0.5)
    // A third receiver has a single sample, which gives no phase. Its window ends with the item.
    let third = short + "21 00 01 04 64000000"
    for text in [wide, short, parts, third] {
      var rounds = Rounds(settings)
      let item = bytes(text)
      rounds.feed(
        RangeDiagnosticsNotification.qorvoOpcode,
        bytes("01000000 00000000 01 01 00 00 01 07") + [UInt8(item.count), 0] + item)
      rounds.info(0)
      let degrees = (rounds.given[0].azimuth?.angle ?? 0) * 180 / .pi
      #expect(abs(degrees - 30) < 0.01, "\(text)")
    }
    // The most negative number gives half a turn at the first receiver.
    let negative = window("09", "04", "00000000 00800000") + window("11", "04", "00000000 0000ff7f")
    for (text, expected) in [(negative, -30.0), (short + "00", nil)] as [(String, Double?)] {
      var rounds = Rounds(settings)
      let item = bytes(text)
      rounds.feed(
        RangeDiagnosticsNotification.qorvoOpcode,
        bytes("01000000 00000000 01 01 00 00 01 07") + [UInt8(item.count), 0] + item)
      rounds.info(0)
      let degrees = rounds.given[0].azimuth.map { ($0.angle * 180 / .pi).rounded() }
      #expect(degrees == expected, "\(text)")
    }
  }
}
