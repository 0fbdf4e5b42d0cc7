// SPDX-License-Identifier: Apache-2.0

/// Named regions around this device, each larger one around the smaller ones. The rules also have
/// the times after which a peer counts as staying or as absent.
public struct RegionRules: Sendable, Hashable {
  /// The area within a distance of this device.
  public struct Region: Sendable, Hashable {
    /// 1 to 32 letters, digits, dots, hyphens and underscores of ASCII.
    public let name: String
    /// Metres below which a peer enters.
    public let enter: Double
    /// Metres beyond which a peer leaves.
    public let leave: Double

    /// Creates a region with two boundaries in metres.
    public init(_ name: String, enter: Double, leave: Double) {
      (self.name, self.enter, self.leave) = (name, enter, leave)
    }

    /// Creates a region with a radius in metres. A peer enters 0.1 m before the radius and leaves
    /// 0.1 m beyond it, so that a step of 0.2 m is not a change.
    public init(_ name: String, radius: Double) {
      self.init(name, enter: radius - 0.1, leave: radius + 0.1)
    }

    /// Returns the bytes as a name; nil if they are not valid in a name.
    package static func name(_ bytes: some Collection<UInt8>) -> String? {
      let isPlain = bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
      return isPlain && 1...32 ~= bytes.count ? String(decoding: bytes, as: UTF8.self) : nil
    }
  }

  /// The regions, from the smallest to the largest.
  public let regions: [Region]
  /// Seconds inside a region after which a peer counts as staying.
  public let dwell: Double
  /// Seconds without a distance after which a peer leaves all regions.
  public let absence: Double

  /// Checks regions.
  ///
  /// - Parameters:
  ///   - regions: 1 to 16, in any order.
  ///   - dwell: seconds, greater than 0.
  ///   - absence: seconds, greater than 0.
  /// - Throws: `RegionError` for invalid names and distances, and for regions whose boundaries
  ///   overlap.
  public init(
    _ regions: [Region], dwell: Double = 10, absence: Double = 5
  ) throws(RegionError) {
    guard 1...16 ~= regions.count else {
      throw RegionError("There are \(regions.count) regions, not 1 to 16.")
    }
    self.regions = regions.sorted { ($0.enter, $0.leave) < ($1.enter, $1.leave) }
    (self.dwell, self.absence) = (dwell, absence)
    for region in regions { try Self.check(region) }
    for (what, seconds) in [("staying", dwell), ("silence", absence)]
    where !(seconds > 0 && seconds <= 1e6) {
      throw RegionError("The time of \(what) is \(seconds) s, not above 0 and up to 1000000 s.")
    }
    guard Set(regions.map(\.name)).count == regions.count else {
      throw RegionError("Two regions have the same name.")
    }
    for (inner, outer) in zip(self.regions, self.regions.dropFirst())
    where inner.leave > outer.enter {
      throw RegionError(
        "The boundaries of the regions \(inner.name) and \(outer.name) overlap: a peer leaves the "
          + "first beyond \(Self.metres(inner.leave)) and enters the second below "
          + "\(Self.metres(outer.enter)). Make the second one larger.")
    }
  }

  private static func check(_ region: Region) throws(RegionError) {
    guard Region.name(region.name.utf8) != nil else {
      throw RegionError(
        "The name of a region has 1 to 32 letters, digits, dots, hyphens and underscores.")
    }
    // Noise of a distance is about 0.2 m, as large as a smaller region would be.
    guard 0.2 - 1e-9...1e4 ~= region.enter, region.leave <= 1e4, region.leave >= region.enter else {
      throw RegionError(
        "The region \(region.name) is entered below \(metres(region.enter)) and left beyond "
          + "\(metres(region.leave)). Both are 0.2 to 10000 m, and the second is not the smaller one; "
          + "a single radius is at least 0.3 m.")
    }
  }

  private static func metres(_ value: Double) -> String {
    guard abs(value) < 1e9 else { return "\(value) m" }
    return "\((value * 100).rounded() / 100) m"
  }
}

/// The reason why regions cannot be used.
public struct RegionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cause and the next step, in one or two sentences.
  public let description: String

  init(_ description: String) { self.description = description }
}

/// A peer has entered, left or stayed in a region.
public struct RegionChange: Sendable, Hashable {
  /// The kinds of changes.
  public enum Kind: String, Sendable, Hashable {
    /// The peer came in.
    case entered
    /// The peer has been inside for the `dwell` time of the rules.
    case dwelled
    /// The peer left; `cause` has the reason.
    case left
  }

  /// The causes of changes.
  public enum Cause: String, Sendable, Hashable {
    /// The distance crossed a boundary.
    case distance
    /// The peer was not measured for the `absence` time of the rules.
    case silence
    /// Ranging with the peer has ended.
    case ended
  }

  /// The region.
  public let region: RegionRules.Region
  /// The kind of the change.
  public let kind: Kind
  /// The cause of the change.
  public let cause: Cause
  /// The last accepted distance, with its deviation.
  public let estimate: RangeEstimate
  /// Seconds since the peer entered.
  public let duration: Double
}
