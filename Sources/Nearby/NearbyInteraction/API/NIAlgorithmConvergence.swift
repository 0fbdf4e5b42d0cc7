// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The state of convergence: whether movement has determined the position of an object.
public enum NIAlgorithmConvergenceStatus: Equatable, Sendable {
  /// Nothing has been measured yet.
  case unknown
  /// The position is not determined yet. The user can act on the reasons.
  case notConverged([Reason])
  /// The position is determined.
  case converged

  /// A condition that is missing for convergence.
  public struct Reason: RawRepresentable, Hashable, Sendable {
    /// The name of the reason.
    public let rawValue: String
    /// Creates a reason with any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The device has to be moved.
    public static let insufficientMovement = Reason(rawValue: "insufficientMovement")
    /// The device has to be moved to the left and right, or turned.
    public static let insufficientHorizontalSweep = Reason(rawValue: "insufficientHorizontalSweep")
    /// The device has to be moved up and down; only the height is unknown.
    public static let insufficientVerticalSweep = Reason(rawValue: "insufficientVerticalSweep")
    /// The source of poses has no pose, for example because a camera sees too little.
    public static let insufficientLighting = Reason(rawValue: "insufficientLighting")
    /// The distances contradict the movement.
    public static let insufficientSignalStrength = Reason(rawValue: "insufficientSignalStrength")

    /// The advice to the user; nil for an unknown reason.
    public var localizedDescription: String? {
      switch self {
      case .insufficientMovement: "Move the device."
      case .insufficientHorizontalSweep: "Move the device to the left and right."
      case .insufficientVerticalSweep: "Move the device up and down."
      case .insufficientLighting: "The movement of the device is unknown; try more light."
      case .insufficientSignalStrength: "The signal is weak; move closer."
      default: nil
      }
    }
  }
}

/// The convergence of camera assistance.
open class NIAlgorithmConvergence: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: immutable.

  /// The state of convergence.
  public let status: NIAlgorithmConvergenceStatus

  init(_ status: NIAlgorithmConvergenceStatus) {
    self.status = status
    super.init()
  }

  /// Always true.
  open class var supportsSecureCoding: Bool { true }

  /// Decodes an archived instance.
  public required init?(coder: NSCoder) {
    switch coder.decodeInteger(forKey: "status") {
    case 1:
      let text = coder.decodeObject(of: NSString.self, forKey: "reasons").map { "\($0)" } ?? ""
      status = .notConverged(
        text.split(separator: ",").map { .init(rawValue: String($0)) })
    case 2: status = .converged
    default: status = .unknown
    }
    super.init()
  }

  /// Encodes the instance.
  open func encode(with coder: NSCoder) {
    switch status {
    case .unknown: coder.encode(0, forKey: "status")
    case .notConverged(let reasons):
      coder.encode(1, forKey: "status")
      coder.encode(
        NSString(string: reasons.map(\.rawValue).joined(separator: ",")), forKey: "reasons")
    case .converged: coder.encode(2, forKey: "status")
    }
  }

  /// Returns the instance itself, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Compares the status.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NIAlgorithmConvergence)?.status == status
  }

  /// A hash of the status.
  open override var hash: Int {
    switch status {
    case .unknown: 0
    case .notConverged(let reasons): reasons.hashValue
    case .converged: 2
    }
  }
}
