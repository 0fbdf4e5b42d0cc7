// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWB
internal import UWBLink

extension NIError {
  /// Creates the error that an app receives for a failure of the driver.
  init(_ error: DriverError, in dialect: Dialect? = nil) {
    let code: Code =
      switch error.code {
      case .link where error.linkError?.code == .permissionDenied: .userDidNotAllow
      case .link where error.linkError?.code == .invalidEndpoint: .invalidConfiguration
      case .refused where error.status == .maxSessionsExceeded: .activeSessionsLimitExceeded
      case .parametersRefused, .configurationProblems, .invalidConfiguration: .invalidConfiguration
      default: .sessionFailed
      }
    self.init(
      code, reason: error.description(in: dialect), recovery: error.recoverySuggestion(in: dialect),
      underlying: error)
  }
}

extension DriverError {
  /// Whether a device exists, but is in use or does not answer at the moment.
  var isSilence: Bool {
    switch code {
    case .noAnswer, .retriesExhausted, .deviceError, .deviceFailed, .recovering, .closed: true
    default: [.busy, .timeout, .chipSilent].contains(linkError?.code)
    }
  }
}
