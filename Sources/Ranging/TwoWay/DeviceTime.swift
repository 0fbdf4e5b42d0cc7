// SPDX-License-Identifier: Apache-2.0

/// How fast the signal is, in metres per second.
public enum SpeedOfLight {
  /// In air: 0.03 % less than in vacuum, 3 mm at 10 m. What the drivers of DW1000, DW3000 and QM33
  /// calculate with.
  public static let inAir = 299_702_547.0
  /// In vacuum, by definition of the metre.
  public static let inVacuum = 299_792_458.0
}

/// The unit of UWB time stamps: 1/128 of a chip of IEEE 802.15.4 HRP (499.2 MHz), 15.65 ps.
public enum DeviceTick {
  /// Ticks in a second.
  public static let perSecond = 128 * 499.2e6
  /// Seconds in a tick.
  public static let seconds = 1 / perSecond
}

/// A time stamp as a chip gives it: ticks of a counter that wraps, and a part of a tick where the
/// source has one.
public struct TickStamp: Sendable, Hashable, ExpressibleByIntegerLiteral {
  /// Whole ticks; only as many low bits count as the counter has.
  public var ticks: UInt64
  /// Part of a tick, 0 or more and less than 1.
  public var fraction: Double

  /// From whole ticks.
  @inlinable
  public init(_ ticks: UInt64) { (self.ticks, fraction) = (ticks, 0) }

  /// From ticks that were written as a signed number: -1 is the last tick before the wrap.
  @inlinable
  public init(_ ticks: Int64) { self.init(UInt64(bitPattern: ticks)) }

  /// From a literal.
  @inlinable
  public init(integerLiteral value: UInt64) { self.init(value) }

  /// From ticks with a fraction; nil unless finite and of a magnitude below 2^62.
  public init?(exactly ticks: Double) {
    guard abs(ticks) < 0x1p62 else { return nil }
    let whole = ticks.rounded(.down)
    self.ticks = UInt64(bitPattern: Int64(whole))
    fraction = ticks - whole
  }
}

/// A counter of ticks that begins again at zero.
public struct TickCounter: Sendable, Hashable {
  /// How many bits it has, 8...63.
  public let bits: Int

  /// The whole counter of DW1000, DW3000 and QM33: wraps every 17.2 s.
  public static let bits40 = TickCounter(bits: 40)
  /// Its low word: wraps every 67.2 ms.
  public static let bits32 = TickCounter(bits: 32)

  /// - Precondition: `bits` is in 8...63.
  public init(bits: Int) {
    precondition(8...63 ~= bits, "a counter has 8 to 63 bits")
    self.bits = bits
  }

  /// Ticks until the counter is where it was.
  @inlinable public var modulus: Double { Double(UInt64(1) << UInt64(bits)) }

  /// Ticks from `start` to `end`, which is less than one turn of the counter later. Subtracted as
  /// integers, so that nothing is lost to rounding whatever the stamps are.
  @inlinable
  public func interval(from start: TickStamp, to end: TickStamp) -> Double {
    let whole = (end.ticks &- start.ticks) & ((1 << UInt64(bits)) - 1)
    return Double(whole) + (end.fraction - start.fraction)
  }
}
