// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWB
internal import UWBLink

extension NIError {
  /// The error that an app gets for a failure of the driver.
  init(_ error: DriverError, in dialect: Dialect? = nil) {
    let code: Code =
      switch error.kind {
      case .link(let link) where link.code == .permissionDenied: .userDidNotAllow
      case .link(let link) where link.code == .invalidEndpoint: .invalidConfiguration
      case .refused(_, .maxSessionsExceeded): .activeSessionsLimitExceeded
      case .parametersRefused, .configurationProblems, .invalidConfiguration: .invalidConfiguration
      default: .sessionFailed
      }
    self.init(
      code, reason: error.description(in: dialect), recovery: error.recoverySuggestion(in: dialect),
      underlying: error)
  }
}

extension DriverError {
  /// The device is absent at the moment, or another program has it: waiting may help.
  var isTransient: Bool {
    switch kind {
    case .recovering, .otherDevice, .deviceRestarted, .deviceFailed, .deviceError: true
    case .link(let error):
      switch error.code {
      case .notFound, .busy, .deviceGone, .closedByPeer, .connectionRefused: true
      default: false
      }
    default: false
    }
  }
}
