// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBTestSupport
import UCI
import UWB

@Suite(.computes) struct TextTests {
  private func read(_ text: String) throws(CaptureError) -> Capture {
    try CaptureReader.read(Array(text.utf8))
  }

  /// Lines in the formats of NXP's host library for microcontrollers, its scripts and Android's
  /// HAL.
  @Test func linesOfNXPsStacks() throws {
    let capture = try read(
      """
      UWBAPI: init
      NXPUCIX => 20 00 00 01 00
      2023-05-04 23:59:59.750 NXPUCIR <= 40 00 00 01 00 \r
      APP     :INFO :NXPUCIR <=  60 01 00 01 01
      05-05 00:00:00.001  1234  1250 D NxpUciX: len =   5 > 2000000100
      05-05 00:00:00.003  1234  1251 D NxpUciR : len =  10 > 40000001006001000101
      05-05 00:00:00.004  1234  1251 D NxpUciX: Failed to deallocate (list empty)
      D/NxpUciR: len = 5 > 600100
      """)
    #expect(capture.format == .log)
    #expect(
      capture.packets.map(\.bytes) == [
        Samples.reset, Samples.resetResponse, Samples.ready, Samples.reset, Samples.resetResponse,
        Samples.ready,
      ])
    #expect(
      capture.packets.map(\.direction) == [
        .outbound, .inbound, .inbound, .outbound, .inbound, .inbound,
      ])
    let day: UInt64 = 86_400_000_000_000
    #expect(
      capture.packets.map(\.time) == [
        nil, day - 250_000_000, nil, day + 1_000_000, day + 3_000_000, day + 3_000_000,
      ])
    #expect(capture.problems == [.unreadableLine(8)])
  }

  @Test func plainHexadecimal() throws {
    let capture = try read(
      """
      # a dialogue
      20000001 00
      0x40 0x00 0x00 0x01 0x00 60:01:00:01:01

      zz
      4000
      01000002 6869
      """)
    #expect(capture.format == .hexText)
    #expect(
      capture.packets.map(\.bytes) == [
        Samples.reset, Samples.resetResponse, Samples.ready, bytes("01000002 6869"),
      ])
    #expect(capture.packets.map(\.direction) == [.outbound, .inbound, .inbound, nil])
    #expect(capture.problems == [.unreadableLine(5), .unreadableLine(6)])
  }

  @Test func whatIsNoCapture() {
    #expect(throws: CaptureError.empty) { try read("") }
    #expect(throws: CaptureError.empty) { try read(" \n\r\n") }
    #expect(throws: CaptureError.notACapture) { try read("Dear reader,\nall is well.\n") }
    #expect(throws: CaptureError.notACapture) { try CaptureReader.read([0x7F, 0x45, 0, 1]) }
    #expect(throws: CaptureError.olderFormat) {
      try CaptureReader.read(bytes("d4c3b2a1 0200 0400"))
    }
    for error in [CaptureError.notACapture, .olderFormat] {
      #expect(error.recoverySuggestion != nil)
    }
  }
}
