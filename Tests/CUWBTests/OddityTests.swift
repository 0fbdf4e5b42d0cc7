// SPDX-License-Identifier: Apache-2.0

import CUWB
import LineSimulation
import Testing

/// Documentation/swift-uwb.docc/DeviceOddities.md, "Transport".
@Suite("Device oddities on the line", .timeLimit(.minutes(10)))
struct OddityTests {
  private let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]

  @Test("One read returns several packets, or half of one")
  func manyPacketsInOneRead() throws {
    let (link, peer) = try socketPair()
    var wire = Wire(seed: 9)
    let frames = wire.frames(atLeast: 12)
    let bytes = Array(frames.joined())
    let half = bytes.count - frames[frames.count - 1].count / 2
    peer.send(Array(bytes[..<half]))
    for frame in frames.dropLast() { #expect(link.read(timeout: 0).bytes == frame) }
    #expect(link.read(timeout: 0).result == .timeout)
    peer.send(Array(bytes[half...]))
    #expect(link.read().bytes == frames.last)
  }

  @Test("Opening a port in the middle of a stream finds the next frame")
  func portOpenedInTheMiddle() {
    var wire = Wire(seed: 11)
    let frames = (0..<8).map { _ in wire.sessionInfo() }
    for offset in 1..<frames[0].count {
      var line = SimulatedLine()
      for frame in [Array(frames[0].dropFirst(offset))] + frames.dropFirst() {
        line.arrive(frame)
        line.quiet(milliseconds: 50)
      }
      #expect(line.frames == Array(frames.dropFirst()), "cut at \(offset)")
    }
  }

  @Test("A packet whose rest never comes is dropped, as firmware does after 100 ms")
  func partialPacketIsDropped() {
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    line.arrive(ready.dropLast(2))
    line.quiet(milliseconds: 101)
    line.arrive(ready)
    #expect(line.frames == [ready])
    #expect(line.skipped == 3)
  }

  @Test(
    "STOP and SAVE, which end UCI mode on Qorvo's line, mean nothing in received packets",
    arguments: ["STOP", "save", "StOp"])
  func wordsInsideFrames(_ word: String) {
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    let frame: [UInt8] = [0x6B, 0x03, 0x00, 0x08] + Array(word.utf8) + Array(word.utf8)
    line.arrive(frame + ready)
    line.quiet(milliseconds: 50)
    #expect(line.frames == [frame, ready])
  }
}
