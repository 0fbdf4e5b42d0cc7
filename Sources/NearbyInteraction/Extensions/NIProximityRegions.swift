// SPDX-License-Identifier: Apache-2.0
internal import Ranging

/// Beyond Apple: regions around this device, which objects enter and leave.
///
/// ```swift
/// var regions = NIProximityRegions([1.5, 3])  // inside, near, beyond
/// for change in regions.update(object) {      // in session(_:didUpdate:)
///   print(change.object, change.event, change.radius)
/// }
/// ```
///
/// The distances of `NINearbyObject` are smoothed already; between entering and leaving lies as much
/// as noise and steps need, and three distances in a row have to agree, so that an object at the
/// boundary does not toggle.
public struct NIProximityRegions: Sendable {
  /// What happened.
  public enum Event: Sendable, Hashable {
    /// The object came in.
    case entered
    /// The object went out.
    case left
  }

  /// An object has entered or left a region.
  public struct Change: Sendable, Hashable {
    /// Which object.
    public let object: NIDiscoveryToken
    /// Which region: its radius in metres.
    public let radius: Float
    /// What happened.
    public let event: Event
  }

  /// The radii in metres, ascending.
  public let radii: [Float]
  private let confirmations: Int
  private var zones: [NIDiscoveryToken: [ProximityZone]] = [:]

  /// Regions with these radii in metres.
  ///
  /// - Parameter confirmations: distances in a row that it takes, at least 1.
  public init(_ radii: [Float], confirmations: Int = 3) {
    self.radii = radii.sorted()
    self.confirmations = confirmations
  }

  /// Takes a measurement in.
  ///
  /// - Returns: what happened with it: the inner regions first on the way out, last on the way in.
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
      // An object that has never been inside has not left.
      if event == .entered || zones[object.token]?[index].isInside == true {
        changes.append(change)
      }
    }
    zones[object.token] = list
    return changes.first?.event == .entered ? changes.reversed() : changes
  }

  /// An object is gone: it leaves the regions that it was in.
  public mutating func remove(_ object: NINearbyObject) -> [Change] {
    let list = zones.removeValue(forKey: object.token) ?? []
    return zip(radii, list).filter { $0.1.isInside == true }.map {
      Change(object: object.token, radius: $0.0, event: .left)
    }
  }

  /// The radius of the smallest region that an object is in; nil: in none.
  public func smallest(around token: NIDiscoveryToken) -> Float? {
    zip(radii, zones[token] ?? []).first { $0.1.isInside == true }?.0
  }
}
