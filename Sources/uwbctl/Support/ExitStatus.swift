// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import NearbyInteraction
import UWB
import SystemPackage
import UWBLink

/// What the program ends with, after the meanings of sysexits.h where there is one.
///
/// The README lists them; a status never changes its meaning.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  /// The arguments make no sense.
  case usage = 64
  /// Some input could not be decoded.
  case data = 65
  /// An input file cannot be read.
  case noInput = 66
  /// The host of a tcp: device has no address.
  case noHost = 68
  /// There is no such device, or nobody listens there.
  case unavailable = 69
  /// The kernel refused something else.
  case system = 71
  /// A file to be written cannot be created.
  case cannotCreate = 73
  /// The device vanished, or closed the connection.
  case deviceGone = 74
  /// Another program holds the device.
  case busy = 75
  /// The device answers, but not with UCI.
  case protocolError = 76
  /// This user may not open the device.
  case permission = 77
  /// The session is impossible, or the chip refuses it.
  case configuration = 78
  /// The device, or the accessory, does not answer.
  case silent = 80
  /// The device reported a failure of its own, or never took a command.
  case deviceFailure = 81
  /// Ranging worked, but no peer was ever measured.
  case noPeer = 82
  /// The two ends that were compared cannot range with each other.
  case cannotRange = 83
  /// A calibration was ended before it had a result; nothing was written.
  case unfinished = 84

  init(_ error: LinkError) {
    switch error.code {
    case .notFound, .connectionRefused, .lineNotFound: self = .unavailable
    case .permissionDenied: self = .permission
    case .busy, .lineBusy: self = .busy
    case .notASerialDevice, .otherKindOfDevice, .invalidEndpoint, .ambiguous: self = .usage
    case .unresolvedHost: self = .noHost
    case .timeout, .chipSilent: self = .silent
    case .closedByPeer, .deviceGone: self = .deviceGone
    case .system, .packetTooLong: self = .system
    }
  }

  init(_ error: CaptureError) {
    switch error {
    case .empty, .notACapture, .olderFormat: self = .data
    case .unreadable, .tooLong: self = .noInput
    case .notCreated: self = .cannotCreate
    case .notWritten: self = .system
    }
  }

  init(_ error: ProfileError) {
    switch error {
    case .unreadable, .tooLong: self = .noInput
    default: self = .data
    }
  }

  init(_ error: DataChannelError) {
    switch error {
    case .invalidEndpoint, .unfit: self = .usage
    case .unresolvedHost: self = .noHost
    case .system(.addressInUse, _), .system(.fileExists, _): self = .busy
    case .system(.permissionDenied, _): self = .permission
    case .system(.connectionRefused, _), .system(.noSuchFileOrDirectory, _): self = .unavailable
    case .system(.timedOut, _): self = .silent
    case .system: self = .system
    case .closed, .notTaken, .flooded, .stream: self = .deviceGone
    case .notFramed: self = .protocolError
    }
  }

  init(_ error: AccessoryError) {
    switch error {
    case .device(let error): self.init(error)
    case .message: self = .protocolError
    case .notInitialized, .tooManySessions, .unsuitableChip: self = .configuration
    }
  }

  init(_ error: NIError) {
    if let cause = error.userInfo[NSUnderlyingErrorKey] as? DriverError {
      self.init(cause)
      return
    }
    switch error.code {
    case .unsupportedPlatform: self = .unavailable
    case .userDidNotAllow: self = .permission
    case .invalidConfiguration, .invalidARConfiguration, .incompatiblePeerDevice,
      .activeSessionsLimitExceeded, .activeExtendedDistanceSessionsLimitExceeded:
      self = .configuration
    case .accessoryPeerDeviceUnavailable: self = .noPeer
    case .sessionFailed, .resourceUsageTimeout: self = .deviceFailure
    }
  }

  init(_ error: FirmwareError) {
    switch error {
    case .unreadable: self = .noInput
    case .notAnImage: self = .data
    case .notNeeded: self = .usage
    case .link(let error): self.init(error)
    case .noAnswer: self = .silent
    case .wrongAnswer: self = .protocolError
    case .refused, .cancelled, .halfWritten: self = .deviceFailure
    case .givenUp(_, let last): self.init(last)
    }
  }

  init(_ error: DriverError) {
    switch error {
    case .link(let error): self.init(error)
    case .firmware(let error): self.init(error)
    case .noAnswer(_, _, garbage: 0): self = .silent
    case .noAnswer, .malformedAnswer: self = .protocolError
    case .retriesExhausted, .deviceError, .stateNotReached, .closed, .deviceFailed,
      .deviceRestarted, .recovering, .otherDevice, .dataNotSent:
      self = .deviceFailure
    case .refused, .parametersRefused, .sessionEnded, .invalidConfiguration, .dataTooLong,
      .configurationProblems:
      self = .configuration
    }
  }
}

extension ExitStatus {
  /// The command of this program that helps, behind what the library suggests.
  fileprivate var hint: String? {
    switch self {
    case .unavailable: " List the devices with: uwbctl list"
    case .permission: " The rules are installed by: sudo uwbctl setup --install"
    default: nil
    }
  }
}

/// Runs the body of a command; a failure becomes one clear sentence, the next step to try and a
/// status of its own.
func reporting(_ body: () async throws -> Void) async throws {
  func fail(_ status: ExitStatus, _ cause: String, _ suggestion: String?) -> ExitCode {
    standardError.write("uwbctl: \(printable(cause))\n")
    if let next = suggestion.map({ $0 + (status.hint ?? "") }) {
      standardError.write("  try: \(printable(next))\n")
    }
    return ExitCode(status.rawValue)
  }
  do {
    try await body()
  } catch let error as DriverError {
    throw fail(ExitStatus(error), error.description, error.suggestion)
  } catch let error as LinkError {
    throw fail(ExitStatus(error), error.description, error.suggestion)
  } catch let error as FirmwareError {
    throw fail(ExitStatus(error), error.description, error.suggestion)
  } catch let error as ProfileError {
    throw fail(
      ExitStatus(error), error.description,
      error.suggestion.map { _ in
        "uwbctl profile prints a complete one with comments to begin from."
      })
  } catch CaptureError.notACapture {
    throw fail(
      .data, CaptureError.notACapture.description,
      "Record with uwbctl range --capture FILE, or give packets in hexadecimal.")
  } catch let error as CaptureError {
    throw fail(ExitStatus(error), error.description, error.suggestion)
  } catch let error as DataChannelError {
    throw fail(ExitStatus(error), error.description, error.suggestion)
  } catch let error as AccessoryError {
    throw fail(ExitStatus(error), error.description, error.suggestion)
  } catch let error as AccessoryProtocolError {
    throw fail(.protocolError, error.description, error.suggestion)
  } catch let error as NIError {
    let next = error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
    throw fail(ExitStatus(error), error.localizedDescription, next)
  } catch let error as SilentAccessory {
    throw fail(.silent, error.description, error.suggestion)
  } catch let error as ComputeError {
    throw fail(error.status, error.cause, error.suggestion)
  } catch is CancellationError {
    return
  }
}
