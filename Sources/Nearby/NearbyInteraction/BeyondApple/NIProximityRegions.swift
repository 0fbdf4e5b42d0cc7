// SPDX-License-Identifier: Apache-2.0
internal import Ranging

/// Regions around this device that objects enter and leave. Not part of Apple's API.
///
/// ```swift
/// var regions = NIProximityRegions([1.5, 3])  // inside, near, beyond
/// for change in regions.update(object) {      // in session(_:didUpdate:)
///   print(change.object, change.event, change.radius)
/// }
/// ```
///
/// Objects at a boundary do not toggle. The distances of `NINearbyObject` are smoothed, a
/// hysteresis covers noise and steps, and several consecutive distances have to agree.
public struct NIProximityRegions: Sendable {
  /// A crossing of a boundary.
  public enum Event: Sendable, Hashable {
    /// The object entered.
    case entered
    /// The object left.
    case left
  }

  /// An object has entered or left a region.
  public struct Change: Sendable, Hashable {
    /// The token of the object.
    public let object: NIDiscoveryToken
    /// The radius of the region in metres.
    public let radius: Float
    /// The crossing: whether the object entered or left.
    public let event: Event
  }

  /// The radii in metres, ascending.
  public let radii: [Float]
  private let confirmations: Int
  private var zones: [NIDiscoveryToken: [ProximityZone]] = [:]

  /// Creates regions with radii in metres.
  ///
  /// - Parameters:
  ///   - radii: the radii in metres, in any order.
  ///   - confirmations: the number of consecutive distances that have to agree, at least 1.
  public init(_ radii: [Float], confirmations: Int = 3) {
    self.radii = radii.sorted()
    self.confirmations = confirmations
  }

  /// Processes a measurement.
  ///
  /// - Returns: the changes. Inner regions are first if the object leaves, and last if it enters.
  public mutating func update(_ object: NINearbyObject) -> [Change] {
    guard let distance = object.distance else { return [] }
    var list =
      zones[object.token]
      ?? radii.map { ProximityZone(around: Double($0), confirmations: confirmations) }
    var changes: [Change] = []
    for index in list.indices {
      guard let event = list[index].update(distance: Double(distance)) else { continue }
      let change = Change(
        object: object.token, radius: radii[index], event: event == .entered ? .entered : .left)
      // An object that was never inside has not left.
      if event == .entered || zones[object.token]?[index].isInside == true {
        changes.append(change)
      }
    }
    zones[object.token] = list
    return changes.first?.event == .entered ? changes.reversed() : changes
  }

  /// Removes an object, and returns the regions that it leaves.
  public mutating func remove(_ object: NINearbyObject) -> [Change] {
    let list = zones.removeValue(forKey: object.token) ?? []
    return zip(radii, list).filter { $0.1.isInside == true }.map {
      Change(object: object.token, radius: $0.0, event: .left)
    }
  }

  /// Returns the radius of the smallest region that contains an object; nil if there is none.
  public func smallest(around token: NIDiscoveryToken) -> Float? {
    zip(radii, zones[token] ?? []).first { $0.1.isInside == true }?.0
  }
}
