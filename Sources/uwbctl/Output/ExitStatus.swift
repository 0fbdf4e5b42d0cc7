// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import NearbyInteraction
import UWB
import UWBLab
import SystemPackage
import UWBLink

/// The exit status of the program, as in sysexits.h where it has a meaning.
///
/// The README lists them; a status never changes its meaning.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  /// The arguments are invalid.
  case usage = 64
  /// Some input could not be decoded.
  case data = 65
  /// An input file cannot be read.
  case noInput = 66
  /// The host of a tcp: device cannot be resolved.
  case noHost = 68
  /// There is no such device, or the connection was refused.
  case unavailable = 69
  /// Another system call failed.
  case system = 71
  /// An output file cannot be created.
  case cannotCreate = 73
  /// The device disappeared, or closed the connection.
  case deviceGone = 74
  /// Another program has the device open.
  case busy = 75
  /// The device answers with something that is not UCI.
  case protocolError = 76
  /// This user may not open the device.
  case permission = 77
  /// The session is impossible, or the chip rejects it.
  case configuration = 78
  /// The device, or the accessory, does not answer.
  case silent = 80
  /// The device reported a failure, or never accepted a command.
  case deviceFailure = 81
  /// Ranging worked, but no peer was measured.
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
    default: self = .system
    }
  }

  init(_ error: LabError) {
    switch error.code {
    case .unreadable: self = .noInput
    case .notCreated: self = .cannotCreate
    case .notWritten: self = .system
    case .noAnswer, .usage: self = .usage
    default: self = .data
    }
  }

  init(_ error: CalibrationError) {
    switch error {
    case .unsupported, .wrongLength, .refused: self = .configuration
    case .unknownName, .unreadable: self = .usage
    case .notKept: self = .deviceFailure
    case .device(let error): self.init(error)
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

  init(_ error: AccessoryError) {
    switch error.reason {
    case .device(let error): self.init(error)
    case .invalidConfiguration, .unknownMessage, .emptyMessage: self = .protocolError
    case .notInitialized, .tooManySessions, .unsuitableChip: self = .configuration
    case .invalidEndpoint, .messageSize: self = .usage
    case .unresolvedHost: self = .noHost
    case .system(.addressInUse, _), .system(.fileExists, _): self = .busy
    case .system(.permissionDenied, _): self = .permission
    case .system(.connectionRefused, _), .system(.noSuchFileOrDirectory, _): self = .unavailable
    case .system(.timedOut, _): self = .silent
    case .system: self = .system
    case .closed, .peerNotReading, .receiveOverflow, .stream: self = .deviceGone
    case .invalidFraming: self = .protocolError
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
    switch error.kind {
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
