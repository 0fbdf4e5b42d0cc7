// SPDX-License-Identifier: Apache-2.0

package import AccessoryProtocol
package import Bluetooth
package import Channels
package import CommandSupport
package import Peers
import SystemPackage
import UWB

extension AccessoryError: StatusError {
  package var exitStatus: ExitStatus { ExitStatus(self) }
}

extension ChannelError: StatusError {
  package var exitStatus: ExitStatus { ExitStatus(self) }
  package var concernsBoards: Bool { code != .bluetooth }
}

extension BluetoothError: StatusError {
  package var exitStatus: ExitStatus { ExitStatus(self) }
  package var concernsBoards: Bool { false }
}

extension NIPeerError: StatusError {
  package var exitStatus: ExitStatus { ExitStatus(self) }
}

extension ExitStatus {
  package init(_ error: AccessoryError) {
    switch error.reason {
    case .device(let error): self.init(error)
    case .invalidConfiguration, .unknownMessage, .emptyMessage, .damagedMessage,
      .unsupportedVersion:
      self = .protocolError
    case .notInitialized, .tooManySessions, .unsuitableChip: self = .configuration
    }
  }

  package init(_ error: ChannelError) {
    switch error.reason {
    case .notPaired: self = .configuration
    case .invalidEndpoint, .messageSize: self = .usage
    case .unresolvedHost: self = .noHost
    case .system(.addressInUse, _), .system(.fileExists, _): self = .busy
    case .system(.permissionDenied, _): self = .permission
    case .system(.connectionRefused, _), .system(.noSuchFileOrDirectory, _): self = .unavailable
    case .system(.timedOut, _): self = .silent
    case .system: self = .system
    case .closed, .closedHere, .peerNotReading, .receiveOverflow, .messagesLost, .stream:
      self = .deviceGone
    case .invalidFraming, .messageTooLong, .otherConfiguration: self = .protocolError
    case .bluetooth(let error): self.init(error)
    }
  }

  package init(_ error: BluetoothError) {
    switch error.reason {
    case .noLibrary, .noBus, .noDaemon, .noAdapter, .adapterOff, .adapterBlocked, .noDevice:
      self = .unavailable
    case .noPermission: self = .permission
    case .noRole, .unsupported, .advertisement: self = .configuration
    case .busLost, .notConnected, .linkDropped: self = .deviceGone
    case .timeout: self = .silent
    default: self = .system
    }
  }

  package init(_ error: NIPeerError) {
    switch error.code {
    case .noNetwork, .noCryptography: self = .system
    case .unreachable: self = .noPeer
    case .invalidName: self = .usage
    case .silent: self = .silent
    case .vanished, .closed: self = .deviceGone
    case .refused: self = .notConfirmed
    case .incompatible: self = .configuration
    default: self = .protocolError
    }
  }
}
