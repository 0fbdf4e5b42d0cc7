// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Whether movement has told where an object is.
public enum NIAlgorithmConvergenceStatus: Equatable, Sendable {
  /// Nothing has been measured yet.
  case unknown
  /// Not yet, and what is missing: something to ask of the user.
  case notConverged([Reason])
  /// Yes.
  case converged

  /// What is missing.
  public struct Reason: RawRepresentable, Hashable, Sendable {
    /// The name of the reason.
    public let rawValue: String
    /// Any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The device has to be moved.
    public static let insufficientMovement = Reason(rawValue: "insufficientMovement")
    /// It has to be moved to the left and right, or turned.
    public static let insufficientHorizontalSweep = Reason(rawValue: "insufficientHorizontalSweep")
    /// It has to be moved up and down; only the height is unknown.
    public static let insufficientVerticalSweep = Reason(rawValue: "insufficientVerticalSweep")
    /// The source of poses has none: a camera sees too little.
    public static let insufficientLighting = Reason(rawValue: "insufficientLighting")
    /// The ranges are too few, or contradict the movement.
    public static let insufficientSignalStrength = Reason(rawValue: "insufficientSignalStrength")

    /// What to ask of the user; nil for a reason that is not known here.
    public var localizedDescription: String? {
      switch self {
      case .insufficientMovement: "Move the device."
      case .insufficientHorizontalSweep: "Move the device to the left and right."
      case .insufficientVerticalSweep: "Move the device up and down."
      case .insufficientLighting: "The movement of the device is not known; try more light."
      case .insufficientSignalStrength: "The signal is weak; come nearer."
      default: nil
      }
    }
  }
}

/// How far the search for an object has come.
open class NIAlgorithmConvergence: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sound: nothing in it changes.

  /// How far it has come.
  public let status: NIAlgorithmConvergenceStatus

  init(_ status: NIAlgorithmConvergenceStatus) {
    self.status = status
    super.init()
  }

  /// Always so.
  open class var supportsSecureCoding: Bool { true }

  /// Reads what `encode(with:)` wrote.
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

  /// Writes what `init(coder:)` reads.
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

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The same status.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NIAlgorithmConvergence)?.status == status
  }

  /// Equal for equal ones.
  open override var hash: Int {
    switch status {
    case .unknown: 0
    case .notConverged(let reasons): reasons.hashValue
    case .converged: 2
    }
  }
}
