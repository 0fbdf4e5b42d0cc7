// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A moment of the scene: whole nanoseconds and a part of one, because a tick is 16 ps.
struct Instant: Hashable, Sendable {
  var nanoseconds: UInt64
  /// The part of a nanosecond, at least 0 and less than 1.
  var fraction: Double

  init(_ nanoseconds: UInt64, fraction: Double = 0) {
    self.nanoseconds = nanoseconds
    self.fraction = fraction
  }

  /// Returns the moment the given nanoseconds later; not before the start of the scene.
  func adding(_ more: Double) -> Instant {
    let sum = fraction + more
    let whole = sum.rounded(.down)
    let moved = Int64(clamping: nanoseconds) + Int64(whole)
    return moved < 0 ? Instant(0) : Instant(UInt64(moved), fraction: sum - whole)
  }
}

/// The clock of one chip: a counter of 1/(128·499.2 MHz) on a crystal with an error.
struct SimulatedClock: Hashable, Sendable {
  /// Ticks in a nanosecond of an exact clock: 63.8976.
  static let ticksPerNanosecond = 128 * 0.4992
  /// Stamps are the low 40 bits: they wrap every 17.2 s.
  static let stampMask: UInt64 = 1 << 40 - 1
  /// Transmissions start at multiples of this number of ticks: DW1000 and DW3000 ignore the lowest
  /// 9 bits of the time that a host requests.
  static let transmitGranularity: UInt64 = 512
  /// The period of the offset's oscillation in seconds.
  private static let period = 100.0

  /// The counter at the start of the scene.
  var origin: UInt64
  /// The parts per million by which the clock runs fast.
  var offset: Double
  /// The amplitude of the oscillation of the offset, in parts per million.
  var wander: Double
  /// The additional parts per million that the crystal runs fast when its chip gets power. They
  /// decline as the board warms up.
  var warmUp = 0.0
  /// The time of power-up in nanoseconds.
  private(set) var poweredAt: UInt64 = 0
  /// Seconds in which the warm-up declines to 37 %.
  private static let warmUpTime = 20.0

  /// Starts the counter again at an unrelated value, as a chip does at power-up.
  mutating func restart(at time: UInt64) {
    poweredAt = time
    var source = RandomSource(seed: origin &+ time)
    let wanted = source.next() & Self.stampMask
    origin = origin &+ wanted &- reading(at: Instant(time)).ticks
  }

  /// Returns the number of seconds since power-up.
  private func seconds(withPowerAt instant: Instant) -> Double {
    instant.nanoseconds > poweredAt ? Double(instant.nanoseconds - poweredAt) * 1e-9 : 0
  }

  /// Returns the error of the clock rate, as a fraction.
  func rate(at instant: Instant) -> Double {
    let seconds = Double(instant.nanoseconds) * 1e-9
    let warm = warmUp * exp(-self.seconds(withPowerAt: instant) / Self.warmUpTime)
    return (offset + wander * sin(2 * .pi * seconds / Self.period) + warm) * 1e-6
  }

  /// Returns the counter with all its bits, and the elapsed fraction of the next tick.
  func reading(at instant: Instant) -> (ticks: UInt64, part: Double) {
    // The ratio 63.8976 is 39936/625, so the result is exact, however long the scene has lasted.
    let product = instant.nanoseconds.multipliedFullWidth(by: 39_936)
    let (whole, rest) = UInt64(625).dividingFullWidth(product)
    let seconds = Double(instant.nanoseconds) * 1e-9
    let swung = wander * Self.period / (2 * .pi) * (1 - cos(2 * .pi * seconds / Self.period))
    let warmed =
      warmUp * Self.warmUpTime * (1 - exp(-self.seconds(withPowerAt: instant) / Self.warmUpTime))
    let ahead = (offset * seconds + swung + warmed) * 1e3 * Self.ticksPerNanosecond
    let parts = Double(rest) / 625 + instant.fraction * Self.ticksPerNanosecond + ahead
    let carried = parts.rounded(.down)
    return (origin &+ whole &+ UInt64(bitPattern: Int64(carried)), parts - carried)
  }

  /// Returns the time at which the counter has the value `ticks`, near a moment with about this
  /// value.
  func instant(showing ticks: UInt64, near: Instant) -> Instant {
    var guess = near
    for _ in 0..<3 {
      let now = reading(at: guess)
      let missing = Double(Int64(bitPattern: ticks &- now.ticks)) - now.part
      guess = guess.adding(missing / (Self.ticksPerNanosecond * (1 + rate(at: guess))))
    }
    return guess
  }

  /// Returns the last tick not after `instant` at which a transmission can begin.
  func transmitTick(at instant: Instant) -> UInt64 {
    let ticks = reading(at: instant).ticks
    return ticks - ticks % Self.transmitGranularity
  }
}
