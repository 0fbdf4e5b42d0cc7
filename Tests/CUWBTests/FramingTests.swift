// SPDX-License-Identifier: Apache-2.0

import CUWB
import LineSimulation
import Testing
import UWBTestSupport

@Suite("Framing: a stream of whole frames", .ownThreads)
struct UndamagedFramingTests {
  @Test("Any chunking gives the same frames once the line has been silent")
  func anyChunking() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var wire = Wire(seed: seed)
      let sent = wire.frames(atLeast: 60)
      let bytes = Array(sent.joined())
      for longest in [1, 9, 64, bytes.count] {
        var line = SimulatedLine()
        line.quiet(milliseconds: 50)
        var rest = bytes[...]
        while !rest.isEmpty {
          let count =
            longest == bytes.count
            ? longest : Int.random(in: 1...longest, using: &wire.generator)
          line.arrive(rest.prefix(count))
          rest = rest.dropFirst(count)
        }
        #expect(line.frames == sent)
        #expect(line.skipped == 0)
        #expect(line.resynchronisations == 0)
      }
    }
  }

  @Test("After a silent open a frame is delivered with its last byte")
  func noDelayWhenLocked() {
    var wire = Wire(seed: 1)
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    for count in 1...5 {
      let frame = wire.sessionInfo()
      line.arrive(frame.dropLast())
      #expect(line.frames.count == count - 1)
      line.arrive(frame.suffix(1))
      #expect(line.frames.last == frame)
    }
  }

  @Test("Without a silence before it the first frame waits for a short one, the next does not")
  func firstFrameIsConfirmedBySilence() {
    var line = SimulatedLine()
    let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]
    let arrival = line.now
    line.arrive(ready)
    #expect(line.frames.isEmpty)
    line.quiet(milliseconds: 30)
    #expect(line.frames == [ready])
    #expect(line.receptions.last?.received_ns == arrival)
    line.arrive(ready)
    #expect(line.frames.count == 2)
  }

  @Test("Without a silence before it the first frame is confirmed by the header after it")
  func firstFrameIsConfirmedByHeader() {
    var line = SimulatedLine()
    let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]
    line.arrive(ready + [0x62, 0x00, 0x00])
    #expect(line.frames.isEmpty)
    line.arrive([0x38])
    #expect(line.frames == [ready])
  }

  @Test("The longest frame passes, a longer one is not a header")
  func longestFrame() {
    var framing = cuwb_framing_default()
    framing.longest_frame = 2_043
    var line = SimulatedLine(framing)
    line.quiet(milliseconds: 50)
    let longest: [UInt8] = [0x02, 0x00, 0xF7, 0x07] + Array(repeating: 0xFF, count: 2_039)
    line.arrive(longest)
    #expect(line.frames == [longest])
    line.arrive([0x02, 0x00, 0xF8, 0x07] + Array(repeating: 0xFF, count: 2_040))
    line.quiet(milliseconds: 200)
    #expect(line.frames.count == 1)
    #expect(line.skipped == 2_044)
  }

  @Test("CUWB_FRAME_MAX fits, twice in a row, a byte at a time")
  func frameOfMaximalLength() {
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    let payload = Int(CUWB_FRAME_MAX) - 4
    let frame =
      [0x0F, 0x00, UInt8(payload & 0xFF), UInt8(payload >> 8)]
      + [UInt8](repeating: 0xFF, count: payload)
    for _ in 0..<5 { line.arrive(frame) }
    #expect(line.frames == Array(repeating: frame, count: 5))
  }

  @Test("A reserved byte in use is tolerated where a frame is expected")
  func reservedByte() {
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    let odd: [UInt8] = [0x41, 0x03, 0x04, 0x04, 0x00, 0x00, 0x00, 0x00]
    line.arrive(odd)
    line.quiet(milliseconds: 30)
    #expect(line.frames == [odd])
    line.arrive(odd + [0x60, 0x01, 0x00, 0x01, 0x01])
    #expect(line.frames.count == 3)
    #expect(line.skipped == 0)
  }

  @Test("An extended length is accepted only where the rules allow it")
  func extendedLength() {
    let frame: [UInt8] = [0x79, 0x8A, 0x00, 0x08] + Array(repeating: 0xFF, count: 2_048)
    var framing = cuwb_framing_default()
    framing.extended_length = true
    var line = SimulatedLine(framing)
    line.quiet(milliseconds: 50)
    line.arrive(frame)
    #expect(line.frames == [frame])

    var plain = SimulatedLine()
    plain.quiet(milliseconds: 50)
    plain.arrive(frame)
    plain.quiet(milliseconds: 200)
    #expect(plain.frames.isEmpty)
  }

  @Test("A data frame may have its length in byte 3")
  func dataLengthInByte3() {
    var framing = cuwb_framing_default()
    framing.data_length_in_byte_3 = true
    var line = SimulatedLine(framing)
    line.quiet(milliseconds: 50)
    let frame: [UInt8] = [0x02, 0x00, 0x00, 0x14] + Array(repeating: 0xFF, count: 20)
    line.arrive(frame)
    #expect(line.frames == [frame])
  }

  @Test("Commands are framed as well")
  func commands() {
    var framing = cuwb_framing_default()
    framing.message_types = 1 << 0 | 1 << 1
    framing.data_formats = 1 << 1
    var line = SimulatedLine(framing)
    line.quiet(milliseconds: 50)
    let commands: [[UInt8]] = [[0x20, 0x02, 0x00, 0x00], [0x20, 0x00, 0x00, 0x01, 0x00]]
    for command in commands { line.arrive(command) }
    #expect(line.frames == commands)
  }

  @Test("Frames that look like frames inside stay whole")
  func framesInsideFrames() {
    let inner: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01, 0x42, 0x00, 0x00, 0x01, 0x00]
    let frame: [UInt8] = [0x02, 0x00, 0x2C, 0x01] + Array(repeating: 0xFF, count: 290) + inner
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    for cut in 1..<frame.count {
      line.arrive(frame.prefix(cut))
      line.arrive(frame.dropFirst(cut))
    }
    #expect(line.frames == Array(repeating: frame, count: frame.count - 1))
  }
}

@Suite("Framing: a damaged stream", .ownThreads)
struct DamagedFramingTests {
  @Test("Cutting into a stream finds the first whole frame", arguments: Arrival.allCases)
  func cutIn(arrival: Arrival) {
    let cuts = 400
    var missed = 0
    var bogus = 0
    var received = 0
    for cut in 0..<cuts {
      var wire = Wire(seed: UInt64(cut) + 1_000)
      var pieces = wire.frames(atLeast: 14)
      // A random position in one of the first frames, weighted by bytes.
      var offset = Int.random(in: 0..<pieces.prefix(4).joined().count, using: &wire.generator)
      while offset >= pieces[0].count {
        offset -= pieces[0].count
        pieces.removeFirst()
      }
      let sent = offset == 0 ? pieces : Array(pieces.dropFirst())
      pieces[0].removeFirst(offset)
      var line = SimulatedLine()
      line.play(chunks(of: pieces, arrival, using: &wire.generator))
      let comparison = Comparison(sent: sent, received: line.frames)
      if comparison.lost.contains(0) { missed += 1 }
      bogus += comparison.bogus
      received += line.frames.count
      #expect(comparison.lost.allSatisfy { $0 < 2 }, "cut \(cut)")
    }
    #expect(missed * 100 <= cuts)
    #expect(bogus * 100 <= received)
  }

  @Test("Damage in one place costs one or two frames", arguments: Damage.allCases, Arrival.allCases)
  func damage(damage: Damage, arrival: Arrival) {
    let runs = 200
    var lost = 0
    var worst = 0
    for run in 0..<runs {
      var wire = Wire(seed: UInt64(run) + 5_000)
      let sent = wire.frames(atLeast: 24)
      var pieces = sent
      let victim = Int.random(in: 2..<12, using: &wire.generator)
      pieces[victim] = damage.done(to: pieces[victim], using: &wire.generator)
      var line = SimulatedLine()
      line.quiet(milliseconds: 50)
      line.play(chunks(of: pieces, arrival, using: &wire.generator))
      let comparison = Comparison(sent: sent, received: line.frames)
      lost += comparison.lost.count
      worst = max(worst, comparison.lost.count)
    }
    #expect(lost * 100 <= runs * 115)
    #expect(worst <= 2)
  }

  @Test("A byte that was lost costs no more than the damaged frame")
  func neighbourIsRecovered() {
    var wire = Wire(seed: 3)
    let sent = (0..<6).map { _ in wire.sessionInfo() }
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    line.arrive(sent[0])
    line.arrive(sent[1].dropLast())
    // Completes the damaged frame with a byte of another frame.
    line.arrive(sent[2].prefix(1))
    #expect(line.frames.count == 2)
    line.arrive(sent[2].dropFirst())
    for frame in sent[3...] { line.arrive(frame) }
    line.quiet(milliseconds: 200)
    #expect(Array(line.frames.suffix(4)) == Array(sent.suffix(4)))
    #expect(line.resynchronisations == 1)
    #expect(line.skipped == 0)
  }

  @Test("A wrong length is given up when frames pile up after it")
  func wrongLengthDoesNotSwallowTheStream() {
    var wire = Wire(seed: 4)
    let sent = (0..<8).map { _ in wire.sessionInfo() }
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    line.arrive(sent[0])
    line.arrive([0x02, 0x00, 0xF0, 0x1F])
    for frame in sent[1..<4] { line.arrive(frame) }
    #expect(line.frames == Array(sent[..<4]))
    for frame in sent[4...] { line.arrive(frame) }
    #expect(line.frames == sent)
    #expect(line.skipped == 4)
  }

  @Test("A frame that is never completed is given up after a silence")
  func incompleteFrame() {
    var wire = Wire(seed: 5)
    let frame = wire.sessionInfo()
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    line.arrive(frame.prefix(20))
    line.quiet(milliseconds: 99)
    line.arrive(frame.dropFirst(20))
    #expect(line.frames == [frame])
    line.arrive(frame.prefix(20))
    line.quiet(milliseconds: 101)
    line.arrive(frame)
    #expect(line.frames == [frame, frame])
    #expect(line.skipped == 20)
    #expect(line.receptions.last?.skipped == 20)
  }

  @Test("Noise is skipped and counted")
  func noise() {
    var wire = Wire(seed: 6)
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    line.arrive([UInt8](repeating: 0xFF, count: 5_000))
    #expect(line.skipped == 5_000)
    let frames = [wire.sessionInfo(), wire.sessionInfo()]
    line.arrive(Array(frames.joined()))
    line.quiet(milliseconds: 50)
    #expect(line.frames == frames)
    #expect(line.receptions.first?.skipped == 5_000)
    #expect(line.receptions.last?.skipped == 0)
  }

  @Test("Random bytes neither stop the framer nor produce wrong lengths")
  func randomBytes() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<40 {
      var line = SimulatedLine()
      for _ in 0..<60 {
        let count = Int.random(in: 1...700, using: &generator)
        line.arrive(generator.bytes(count))
        if Bool.random(using: &generator) {
          line.quiet(milliseconds: UInt64.random(in: 1...150, using: &generator))
        }
      }
      #expect(line.frames.allSatisfy { $0.count == length(of: $0) })
    }
  }

  /// Another baud rate, or a debug port, delivers bytes that never pause.
  @Test("Random bytes without a silence never use up the room, and are skipped while they come")
  func randomBytesWithoutSilence() {
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<20 {
      var line = SimulatedLine()
      var sent: UInt64 = 0
      var delivered = 0
      for _ in 0..<40 {
        // `arrive` traps where there is no room.
        line.arrive(generator.bytes(4_096))
        sent += 4_096
        delivered = line.frames.reduce(0) { $0 + $1.count }
        #expect(sent - line.skipped - UInt64(delivered) <= 3 * 8_192)
      }
      #expect(line.skipped > sent / 2)
    }
  }

  /// The framer keeps the most bytes in this case: the last frame, a frame of doubtful length, and
  /// a frame after it, whose next bytes decide.
  @Test("The longest frames with doubtful headers leave room")
  func doubtfulFramesLeaveRoom() {
    var line = SimulatedLine()
    line.quiet(milliseconds: 50)
    for _ in 0..<4 {
      for first: UInt8 in [0x0F, 0x0E] {
        line.arrive([first, 0x01, 0xFC, 0x1F] + [UInt8](repeating: 0xFF, count: 8_188))
      }
    }
    line.quiet(milliseconds: 200)
    let framed = line.frames.reduce(0) { $0 + $1.count }
    #expect(framed + Int(line.skipped) == 8 * 8_192)
  }

  private func length(of frame: [UInt8]) -> Int {
    let isControl = (1...3).contains(frame[0] >> 5)
    return 4 + (isControl ? Int(frame[3]) : Int(frame[2]) | Int(frame[3]) << 8)
  }
}
