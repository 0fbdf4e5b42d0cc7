// SPDX-License-Identifier: Apache-2.0

import CUWB
import LineSimulation
import Testing

/// Traps of the transport that other hosts have fallen into, where frames are cut out.
@Suite("Pitfalls of the line")
struct PitfallTests {
  private let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]

  @Test("Pitfall 9: one read can hold many packets, or half of one")
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

  @Test("Pitfall 11: whoever opens a port in the middle of a stream finds the next frame")
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

  @Test("Pitfall 11: a packet that is never completed is given up, as firmware does after 100 ms")
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
    "Pitfall 12: the words that end UCI mode on Qorvo's line mean nothing in what is received",
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
