// SPDX-License-Identifier: Apache-2.0
import LineSimulation

/// Figures of the framer on a simulated line with a simulated clock. Bytes arrive in all kinds of
/// pieces. Each trial has its own seed.
enum FramerFigures {
  static func rows(_ settings: Settings) -> [Reliability] {
    let trials = settings.quick ? 500 : 10_000
    return cutIn(trials) + Damage.allCases.map { damaged($0, trials) } + [undamaged(trials / 100)]
  }

  /// Measures reading that begins in the middle of a frame.
  private static func cutIn(_ trials: Int) -> [Reliability] {
    let arrivals = Arrival.allCases
    var (found, foundPlainly) = (0, 0)
    var (delivered, bogus, deliveredPlainly, bogusPlainly) = (0, 0, 0, 0)
    for arrival in arrivals {
      for trial in 0..<trials {
        var wire = Wire(seed: UInt64(trial) + 1_000_000)
        var pieces = wire.frames(atLeast: 14)
        // This is a random position in the first frames.
        var offset = Int.random(in: 1..<pieces.prefix(4).joined().count, using: &wire.generator)
        while offset > pieces[0].count {
          offset -= pieces[0].count
          pieces.removeFirst()
        }
        let sent = Array(pieces.dropFirst())
        pieces[0].removeFirst(offset)
        var line = SimulatedLine()
        line.play(chunks(of: pieces, arrival, using: &wire.generator))
        let comparison = Comparison(sent: sent, received: line.frames)
        if comparison.lost.isEmpty { found += 1 }
        bogus += comparison.bogus
        delivered += line.frames.count

        let plain = NaiveReader.frames(in: Array(pieces.joined()))
        let other = Comparison(sent: sent, received: plain)
        if other.lost.isEmpty { foundPlainly += 1 }
        bogusPlainly += other.bogus
        deliveredPlainly += plain.count
      }
    }
    let all = trials * arrivals.count
    return [
      Reliability(
        figure: "cut in mid-frame: every whole frame from the first on delivered", trials: all,
        good: found, aim: 0.999, compared: ("a plain reader", foundPlainly, all)),
      Reliability(
        figure: "cut in mid-frame: frames delivered that were sent", trials: delivered,
        good: delivered - bogus, aim: 0.999,
        compared: ("a plain reader", deliveredPlainly - bogusPlainly, deliveredPlainly)),
    ]
  }

  /// Measures a stream with one damaged frame. At most this frame and another one may be lost.
  private static func damaged(_ damage: Damage, _ trials: Int) -> Reliability {
    let arrivals = Arrival.allCases
    var (recovered, recoveredPlainly, one) = (0, 0, 0)
    for arrival in arrivals {
      for trial in 0..<trials {
        var wire = Wire(seed: UInt64(trial) + 2_000_000)
        let sent = wire.frames(atLeast: 54)
        var pieces = sent
        let victim = Int.random(in: 30..<40, using: &wire.generator)
        pieces[victim] = damage.done(to: pieces[victim], using: &wire.generator)
        var line = SimulatedLine()
        line.quiet(milliseconds: 50)
        line.play(chunks(of: pieces, arrival, using: &wire.generator))
        let lost = Comparison(sent: sent, received: line.frames).lost.count
        if lost <= 2 { recovered += 1 }
        if lost <= 1 { one += 1 }
        let plain = NaiveReader.frames(in: Array(pieces.joined()))
        if Comparison(sent: sent, received: plain).lost.count <= 2 { recoveredPlainly += 1 }
      }
    }
    let all = trials * arrivals.count
    let name =
      switch damage {
      case .byteDropped: "one byte lost"
      case .byteInserted: "one byte inserted"
      case .headerBitFlipped: "one bit of a header flipped"
      }
    return Reliability(
      figure: name + ": at most two frames lost", trials: all, good: recovered, aim: 1,
      compared: ("a plain reader", recoveredPlainly, all),
      note: "only the frame itself: \(one * 1_000 / all) of 1000")
  }

  /// Measures a stream without damage. The framer's checks must lose no frame of it.
  private static func undamaged(_ trials: Int) -> Reliability {
    var (sent, whole) = (0, 0)
    for arrival in Arrival.allCases {
      for trial in 0..<trials {
        var wire = Wire(seed: UInt64(trial) + 3_000_000)
        let frames = wire.frames(atLeast: 500)
        var line = SimulatedLine()
        line.quiet(milliseconds: 50)
        line.play(chunks(of: frames, arrival, using: &wire.generator))
        let comparison = Comparison(sent: frames, received: line.frames)
        sent += frames.count
        whole += frames.count - comparison.lost.count - comparison.bogus
      }
    }
    return Reliability(
      figure: "an undamaged stream: frames delivered", trials: sent, good: whole, aim: 1)
  }
}
