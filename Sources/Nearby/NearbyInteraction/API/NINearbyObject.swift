// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import SIMDMath

/// A peer or an accessory, as measured by a session.
open class NINearbyObject: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: immutable.

  /// The reason why an object was removed from a session.
  public enum RemovalReason: Int, Sendable, BitwiseCopyable {
    /// The object was not measured for too long.
    case timeout = 0
    /// The object ended its session.
    case peerEnded = 1
  }

  /// The height of an object relative to this device.
  public enum VerticalDirectionEstimate: Int, Sendable, BitwiseCopyable {
    /// Unknown.
    case unknown = 0
    /// About the same height.
    case same = 1
    /// Higher.
    case above = 2
    /// Lower.
    case below = 3
    /// Higher or lower.
    case aboveOrBelow = 4
  }

  let token: NIDiscoveryToken
  /// The measurement of the chip in this round; nil for objects without one. Not part of Apple's
  /// API.
  public let sample: NISample?

  /// The token of the object, which is the token of the configuration that was run.
  open var discoveryToken: NIDiscoveryToken { token }
  /// The smoothed distance in metres; nil if out of range. `sample` has the chip's own distance.
  public let distance: Float?
  /// The unit vector to the object in the device's frame; nil if unknown. x points to the right, y
  /// up, and the antenna faces -z.
  ///
  /// A chip with antennas for azimuth and elevation measures it. A direction from movement has
  /// priority: see `PoseSource`.
  ///
  /// Antennas that cover ±90° mirror objects behind them to the front. So a direction that
  /// contradicts `horizontalAngle` is omitted. `sample` has the chip's own angles.
  public let direction: simd_float3?
  /// The angle in the horizontal plane in radians, from the direction that the device faces,
  /// positive to the right; nil if unknown. Only movement determines it: see `PoseSource`.
  public let horizontalAngle: Float?
  /// The relative height, which only movement determines: see `PoseSource`. Movement at one height
  /// leaves a mirror image, so the value is then `.aboveOrBelow` or `.same`.
  public let verticalDirectionEstimate: VerticalDirectionEstimate

  init(
    token: NIDiscoveryToken, distance: Float? = nil, direction: simd_float3? = nil,
    horizontalAngle: Float? = nil, vertical: VerticalDirectionEstimate = .unknown,
    sample: NISample? = nil
  ) {
    self.token = token
    self.distance = distance
    self.direction = direction
    self.horizontalAngle = horizontalAngle
    verticalDirectionEstimate = vertical
    self.sample = sample
    super.init()
  }

  /// Always true.
  open class var supportsSecureCoding: Bool { true }

  /// Decodes an archived instance.
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
    sample = nil
    super.init()
  }

  /// Encodes the instance, without `sample`.
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

  /// Returns the instance itself, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Compares the token and the values, without `sample`.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NINearbyObject else { return false }
    return token == other.token && distance == other.distance && direction == other.direction
      && horizontalAngle == other.horizontalAngle
      && verticalDirectionEstimate == other.verticalDirectionEstimate
  }

  /// A hash of the token.
  open override var hash: Int { token.hash }

  /// A description for logs.
  open override var description: String {
    "<NINearbyObject \(token) distance: \(distance.map { "\($0)" } ?? "nil")>"
  }
}
