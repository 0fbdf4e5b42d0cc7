// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The domain of `NIError` as an `NSError`.
public let NIErrorDomain = "com.apple.NearbyInteraction"

/// An error that ended a session, or prevented a configuration.
///
/// Apps can distinguish errors in three ways: `case NIError.userDidNotAllow` matched against any
/// error, `(error as? NIError)?.code`, and `(error as NSError).code`.
public struct NIError: CustomNSError, Hashable, @unchecked Sendable {
  // Sendable: its NSError is immutable.

  /// The codes, with the numbers of Apple's framework.
  public enum Code: Int, Sendable, BitwiseCopyable {
    /// There is no UWB chip, or the chip lacks a required feature.
    case unsupportedPlatform = -5889
    /// The configuration or its token is invalid.
    case invalidConfiguration = -5888
    /// The session failed for good; create a new one.
    case sessionFailed = -5887
    /// The session ran longer than `NISession.Timeouts.activity` allows.
    case resourceUsageTimeout = -5886
    /// The chip cannot run another session.
    case activeSessionsLimitExceeded = -5885
    /// This user may not open the device.
    case userDidNotAllow = -5884
    /// Camera assistance is enabled, but there is no `PoseSource`.
    case invalidARConfiguration = -5883
    /// The accessory with this Bluetooth identifier is not connected.
    case accessoryPeerDeviceUnavailable = -5882
    /// The peer does not support a feature that the configuration requests.
    case incompatiblePeerDevice = -5881
    /// There is more than one session of extended distance.
    case activeExtendedDistanceSessionsLimitExceeded = -5880
  }

  private let stored: NSError

  /// Creates an error with details under the keys of `NSError`.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    stored = NSError(domain: NIErrorDomain, code: code.rawValue, userInfo: userInfo)
  }

  /// Creates an error with a description.
  ///
  /// - Parameters:
  ///   - reason: the cause, as a sentence.
  ///   - recovery: the next step to try, as a sentence.
  ///   - underlying: the error that caused this one.
  init(
    _ code: Code, reason: String, recovery: String? = nil, underlying: (any Error)? = nil
  ) {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: code.words + " " + reason,
      NSLocalizedFailureReasonErrorKey: reason,
    ]
    if let recovery { info[NSLocalizedRecoverySuggestionErrorKey] = recovery }
    if let underlying { info[NSUnderlyingErrorKey] = underlying }
    self.init(code, userInfo: info)
  }

  /// Creates an error with the description of its cause.
  init(_ code: Code, _ cause: some LocalizedError & CustomStringConvertible) {
    self.init(code, reason: cause.description, recovery: cause.recoverySuggestion)
  }

  /// Returns an error with another code that has this error as its cause.
  func with(_ code: Code, _ sentence: String) -> NIError {
    let reason = userInfo[NSLocalizedFailureReasonErrorKey] as? String
    return NIError(
      code, reason: [sentence, reason].compactMap(\.self).joined(separator: " "),
      recovery: userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String,
      underlying: userInfo[NSUnderlyingErrorKey] as? any Error)
  }

  /// The value of `NIErrorDomain`.
  public static var errorDomain: String { NIErrorDomain }
  /// The kind of error.
  public var code: Code { Code(rawValue: stored.code) ?? .sessionFailed }
  /// The raw value of `code`.
  public var errorCode: Int { stored.code }
  /// The details of `userInfo`, with a description even for errors that an app has created without
  /// one.
  ///
  /// The `localizedDescription` of any error uses it.
  public var errorUserInfo: [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: code.words]) { given, _ in given }
  }
  /// Details under the keys of `NSError`.
  ///
  /// `NSLocalizedFailureReasonErrorKey` has the cause, and `NSLocalizedRecoverySuggestionErrorKey`
  /// the next step to try. `NSUnderlyingErrorKey` has the driver's error that caused this one, if
  /// there is one.
  public var userInfo: [String: Any] { stored.userInfo }
  /// The cause.
  public var localizedDescription: String {
    userInfo[NSLocalizedDescriptionKey] as? String ?? code.words
  }

  /// Compares the code and the description.
  public static func == (a: NIError, b: NIError) -> Bool {
    a.stored.code == b.stored.code && a.localizedDescription == b.localizedDescription
  }

  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(stored.code) }
}

extension NIError {
  /// See `Code.unsupportedPlatform`.
  public static var unsupportedPlatform: Code { .unsupportedPlatform }
  /// See `Code.invalidConfiguration`.
  public static var invalidConfiguration: Code { .invalidConfiguration }
  /// See `Code.sessionFailed`.
  public static var sessionFailed: Code { .sessionFailed }
  /// See `Code.resourceUsageTimeout`.
  public static var resourceUsageTimeout: Code { .resourceUsageTimeout }
  /// See `Code.activeSessionsLimitExceeded`.
  public static var activeSessionsLimitExceeded: Code { .activeSessionsLimitExceeded }
  /// See `Code.userDidNotAllow`.
  public static var userDidNotAllow: Code { .userDidNotAllow }
  /// See `Code.invalidARConfiguration`.
  public static var invalidARConfiguration: Code { .invalidARConfiguration }
  /// See `Code.accessoryPeerDeviceUnavailable`.
  public static var accessoryPeerDeviceUnavailable: Code { .accessoryPeerDeviceUnavailable }
  /// See `Code.incompatiblePeerDevice`.
  public static var incompatiblePeerDevice: Code { .incompatiblePeerDevice }
  /// See `Code.activeExtendedDistanceSessionsLimitExceeded`.
  public static var activeExtendedDistanceSessionsLimitExceeded: Code {
    .activeExtendedDistanceSessionsLimitExceeded
  }
}

extension NIError.Code {
  /// Matches any error with this code: an `NIError`, or an `NSError` of its domain.
  public static func ~= (pattern: NIError.Code, error: any Error) -> Bool {
    if let error = error as? NIError { return error.code == pattern }
    let other = error as NSError
    return other.domain == NIErrorDomain && other.code == pattern.rawValue
  }

  /// The kind of error as a sentence.
  var words: String {
    switch self {
    case .unsupportedPlatform: "This machine does not support that."
    case .invalidConfiguration: "The configuration is not valid."
    case .sessionFailed: "The session failed."
    case .resourceUsageTimeout: "The session ran for too long."
    case .activeSessionsLimitExceeded: "There are too many sessions."
    case .userDidNotAllow: "This user may not use the device."
    case .invalidARConfiguration: "There is no source of poses."
    case .accessoryPeerDeviceUnavailable: "The accessory is not connected."
    case .incompatiblePeerDevice: "The peer does not support that."
    case .activeExtendedDistanceSessionsLimitExceeded:
      "There are too many sessions of extended distance."
    }
  }
}

extension NIError: CustomStringConvertible {
  /// The cause, and the next step to try.
  public var description: String {
    let next = userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
    return localizedDescription + (next.map { " " + $0 } ?? "")
  }
}
