// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import UCI
import UWB

/// The reason why a call fails.
enum Refusal: Error {
  /// The service refuses.
  case service(ServiceError)
  /// A chip, or its driver, refuses.
  case chip(String, any Error)

  /// The error for the client.
  var error: ServiceError {
    switch self {
    case .service(let error): return error
    case .chip(let chip, let error):
      let driver = error as? DriverError
      let (reason, advice) = ("\(error)", driver?.recoverySuggestion)
      return driver?.concernsChip == true
        ? .chipUnavailable(chip, reason, advice: advice)
        : .refused(chip, reason, advice: advice)
    }
  }

  /// The corresponding status in UCI.
  var status: Status {
    switch self {
    case .chip(_, let error): (error as? DriverError)?.status ?? .failed
    case .service(.chipUnavailable): .failed
    case .service(.conflict): .sessionDuplicate
    case .service(.invalidParameter): .invalidParameter
    case .service: .rejected
    }
  }
}

extension DriverError {
  /// Whether the error concerns the whole chip rather than one request.
  var concernsChip: Bool {
    switch code {
    case .link, .firmware, .noAnswer, .retriesExhausted, .malformedAnswer, .deviceError,
      .needsReset, .deviceFailed, .deviceRestarted, .recovering, .otherDevice, .closed:
      true
    default: false
    }
  }
}
