// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import SIMDMath

/// A peer or an accessory, as a session has measured it.
open class NINearbyObject: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sound: nothing in it changes.

  /// Why an object was removed from a session.
  public enum RemovalReason: Int, Sendable {
    /// It was not heard for too long.
    case timeout = 0
    /// It said that it ended its session.
    case peerEnded = 1
  }

  /// Where an object is in height.
  public enum VerticalDirectionEstimate: Int, Sendable {
    /// Not known.
    case unknown = 0
    /// About as high.
    case same = 1
    /// Higher.
    case above = 2
    /// Lower.
    case below = 3
    /// Not as high, but which way is not known.
    case aboveOrBelow = 4
  }

  let token: NIDiscoveryToken
  /// Beyond Apple: see `NINearbyObject.sample`.
  let values: NISample?

  /// Names the object: the token in the configuration that was run.
  open var discoveryToken: NIDiscoveryToken { token }
  /// Metres, smoothed; nil: not known. `sample` has the chip's own.
  public let distance: Float?
  /// A vector of length 1 in the device's frame: x to the right, y up, and the antenna looks along
  /// -z. nil: not known.
  public let direction: simd_float3?
  /// Radians in the horizontal plane, from where the device looks, positive to the right. Known only
  /// from movement: see `PoseSource`.
  public let horizontalAngle: Float?
  /// Known only from movement: see `PoseSource`.
  public let verticalDirectionEstimate: VerticalDirectionEstimate

  init(
    token: NIDiscoveryToken, distance: Float? = nil, direction: simd_float3? = nil,
    horizontalAngle: Float? = nil, vertical: VerticalDirectionEstimate = .unknown,
    values: NISample? = nil
  ) {
    self.token = token
    self.distance = distance
    self.direction = direction
    self.horizontalAngle = horizontalAngle
    verticalDirectionEstimate = vertical
    self.values = values
    super.init()
  }

  /// Always so.
  open class var supportsSecureCoding: Bool { true }

  /// Reads what `encode(with:)` wrote.
  public required init?(coder: NSCoder) {
    func number(_ key: String) -> Float? {
      coder.containsValue(forKey: key) ? coder.decodeFloat(forKey: key) : nil
    }
    guard let token = coder.decodeObject(of: NIDiscoveryToken.self, forKey: "token") else {
      return nil
    }
    self.token = token
    distance = number("distance")
    horizontalAngle = number("horizontalAngle")
    if let x = number("x"), let y = number("y"), let z = number("z") {
      direction = simd_float3(x, y, z)
    } else {
      direction = nil
    }
    verticalDirectionEstimate =
      VerticalDirectionEstimate(rawValue: coder.decodeInteger(forKey: "vertical")) ?? .unknown
    values = nil
    super.init()
  }

  /// Writes what `init(coder:)` reads; `sample` is not in it.
  open func encode(with coder: NSCoder) {
    coder.encode(token, forKey: "token")
    if let distance { coder.encode(distance, forKey: "distance") }
    if let horizontalAngle { coder.encode(horizontalAngle, forKey: "horizontalAngle") }
    if let direction {
      coder.encode(direction.x, forKey: "x")
      coder.encode(direction.y, forKey: "y")
      coder.encode(direction.z, forKey: "z")
    }
    coder.encode(verticalDirectionEstimate.rawValue, forKey: "vertical")
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The same object with the same values.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NINearbyObject else { return false }
    return token == other.token && distance == other.distance && direction == other.direction
      && horizontalAngle == other.horizontalAngle
      && verticalDirectionEstimate == other.verticalDirectionEstimate
  }

  /// Equal for equal objects.
  open override var hash: Int { token.hash }

  /// For people.
  open override var description: String {
    "<NINearbyObject \(token) distance: \(distance.map { "\($0)" } ?? "nil")>"
  }
}
