// SPDX-License-Identifier: Apache-2.0

/// The speed of the signal in metres per second.
public enum SpeedOfLight {
  /// The speed in air: 0.03 % less than in vacuum, 3 mm at 10 m. The drivers of DW1000, DW3000 and
  /// QM33 have this value.
  public static let inAir = 299_702_547.0
  /// The speed in vacuum, by definition of the metre.
  package static let inVacuum = 299_792_458.0
}

/// The unit of UWB time stamps: 1/128 of a chip of IEEE 802.15.4 HRP (499.2 MHz), 15.65 ps.
package enum DeviceTick {
  package static let perSecond = 128 * 499.2e6
  package static let seconds = 1 / perSecond
}

/// A time stamp of a chip: ticks of a counter that wraps, with a fraction if the chip reports one.
/// A tick is 1/128 of a chip of IEEE 802.15.4 HRP (499.2 MHz), 15.65 ps.
public struct TickStamp: Sendable, Hashable, ExpressibleByIntegerLiteral {
  /// Whole ticks; bits above the width of the counter are ignored.
  @usableFromInline package var ticks: UInt64
  /// Fraction of a tick, in 0..<1.
  @usableFromInline package var fraction: Double

  /// Creates a stamp of whole ticks.
  @inlinable
  public init(_ ticks: UInt64) { (self.ticks, fraction) = (ticks, 0) }

  /// Creates a stamp of ticks written as a signed number: -1 is the last tick before the wrap.
  @inlinable
  package init(_ ticks: Int64) { self.init(UInt64(bitPattern: ticks)) }

  /// Creates a stamp of whole ticks.
  @inlinable
  public init(integerLiteral value: UInt64) { self.init(value) }

  /// Creates a stamp of ticks with a fraction; nil unless `ticks` is finite and below 2^62 in
  /// magnitude.
  public init?(exactly ticks: Double) {
    guard abs(ticks) < 0x1p62 else { return nil }
    let whole = ticks.rounded(.down)
    self.ticks = UInt64(bitPattern: Int64(whole))
    fraction = ticks - whole
  }
}

/// A counter of ticks that wraps to zero.
public struct TickCounter: Sendable, Hashable {
  /// The width in bits, 8...63.
  package let bits: Int

  /// The counter of DW1000, DW3000 and QM33, which wraps every 17.2 s.
  public static let bits40 = TickCounter(bits: 40)

  /// Creates a counter.
  ///
  /// - Precondition: `bits` is in 8...63.
  public init(bits: Int) {
    precondition(8...63 ~= bits, "a counter has 8 to 63 bits")
    self.bits = bits
  }

  package var modulus: Double { Double(UInt64(1) << UInt64(bits)) }

  /// Returns the ticks from `start` to `end`, which has to be less than one turn of the counter
  /// later. Subtracts integers, so that no precision is lost to rounding.
  package func interval(from start: TickStamp, to end: TickStamp) -> Double {
    let whole = (end.ticks &- start.ticks) & ((1 << UInt64(bits)) - 1)
    return Double(whole) + (end.fraction - start.fraction)
  }
}
