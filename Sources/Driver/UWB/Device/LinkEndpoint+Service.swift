// SPDX-License-Identifier: Apache-2.0
package import ChipSharing
package import SystemPackage
package import UWBLink

extension LinkEndpoint {
  /// Returns the endpoint of the service if a service holds the chip, otherwise this endpoint.
  ///
  /// - Throws: `DriverError`, when the task is cancelled or the system has no thread for the query.
  func shared() async throws(DriverError) -> LinkEndpoint {
    do throws(LinkError) {
      return try await runBlocking(
        cancellation: LinkError(.cancelled, endpoint: description)
      ) { shared(at: Self.serviceSocket) }
    } catch { throw .link(error) }
  }

  /// Returns the endpoint of the service at `socket` if it holds the chip, otherwise this endpoint.
  /// Blocks.
  package func shared(at socket: FilePath) -> LinkEndpoint {
    (try? inService(at: socket)) ?? self
  }

  /// Returns the endpoint of the service at `socket`, or nil if it does not hold the chip. Blocks.
  ///
  /// - Throws: `LinkError` if a service does not answer, because it may hold the chip.
  package func inService(
    at socket: FilePath = serviceSocket
  ) throws(LinkError) -> LinkEndpoint? {
    switch self {
    case .service: return self
    case .descriptor: return nil
    default: break
    }
    let place = place
    do throws(ChipService.Failure) {
      return try ChipService.name(of: place, at: socket).map { .service(socket: socket, chip: $0) }
    } catch { throw LinkError(error, .service(socket: socket, chip: place), rejected: .busy) }
  }

  /// Returns the chips of the service at `socket`; empty without a service. Blocks.
  package static func servedChips(
    at socket: FilePath = serviceSocket
  ) throws(LinkError) -> [Chips.Chip] {
    do throws(ChipService.Failure) { return try ChipService.chips(at: socket) } catch {
      throw LinkError(error, .service(socket: socket, chip: nil), rejected: .system)
    }
  }

  /// Makes the service release a chip until the returned connection is closed. Blocks.
  ///
  /// - Parameter reason: The purpose, shown to other programs that want the chip.
  /// - Returns: The connection; nil if no service holds the chip.
  package func borrow(
    for reason: String, at socket: FilePath = serviceSocket
  ) throws(LinkError) -> FileDescriptor? {
    if case .descriptor = self { return nil }
    let place = place
    do throws(ChipService.Failure) {
      return try ChipService.borrow(place, for: reason, at: socket)
    } catch {
      throw LinkError(error, .service(socket: socket, chip: place), rejected: .busy)
    }
  }
}

extension LinkEndpoint {
  /// The group whose members may connect to the service of this endpoint; nil for root's group.
  fileprivate var groupOfSocket: String? {
    guard case .service(let socket, _, _) = self else { return nil }
    return DeviceAccess(of: socket)?.joinableGroup
  }
}

extension LinkEndpoint {
  /// Returns an error of SESSION_START with the reason of the service, if the service refused it.
  func explained(_ error: DriverError, ofSession id: UInt32) async -> DriverError {
    guard error.code == .refused, case .service(let socket, let chip, _) = self else {
      return error
    }
    let reason = try? await runBlocking { ChipService.refusal(of: id, on: chip, at: socket) }
    return (reason ?? nil).map(error.refused) ?? error
  }
}

extension DriverError {
  /// Returns the error with the reason of the service that refused the session.
  fileprivate func refused(_ reason: ServiceError) -> DriverError {
    guard case .conflict(_, let id, let owners, let differences) = reason else {
      return refusedByService("The service refused the session. \(reason.reason)", reason.advice)
    }
    let holders = owners.map {
      "\(DeviceAccess.userName($0.uid) ?? "user \($0.uid)") (process \($0.pid))"
    }
    let parameters = differences.map {
      "\($0.parameter) is \($0.present ?? "not given"), not \($0.wanted ?? "left out")"
    }
    return refusedByService(
      "The service refused session \(id), which "
        + (holders.isEmpty ? "waits for its program" : "\(holders.joined(separator: ", ")) holds")
        + " with other parameters: \(parameters.joined(separator: "; ")).", nil)
  }
}

extension Link {
  /// Opens a connection to the chip of a service. The connection carries UCI packets, like a
  /// connection to the chip itself.
  package static let serviceConnector: Connector = { endpoint throws(LinkError) in
    guard case .service(let socket, let chip, let linger) = endpoint else {
      throw LinkError(.invalidEndpoint, endpoint: endpoint.description)
    }
    do throws(ChipService.Failure) {
      return try ChipService.attach(chip, linger: linger, at: socket)
    } catch { throw LinkError(error, endpoint, rejected: .system) }
  }
}

extension LinkError {
  /// - Parameter code: the code for errors that are not about permissions or the chip.
  package init(_ failure: ChipService.Failure, _ endpoint: LinkEndpoint, rejected code: Code) {
    switch failure {
    case .unreachable(let errno): self.init(unreachable: errno, endpoint)
    case .silent(let errno):
      self.init(
        [.wouldBlock, .timedOut].contains(errno) ? .timeout : .system,
        endpoint: endpoint.description, errno: errno, detail: "the service does not answer",
        recoverySuggestion: "Read its log, and start it again: systemctl restart uwbd.")
    case .rejected(let error):
      let code: Code =
        switch error {
        case .denied: .permissionDenied
        case .limitReached: .busy
        case .noChip, .chipUnavailable: code == .busy ? .busy : .notFound
        default: code
        }
      var reason = error.reason
      if reason.hasSuffix(".") { reason.removeLast() }
      self.init(
        code, endpoint: endpoint.description, detail: reason, recoverySuggestion: error.advice)
    }
  }

  private init(unreachable errno: Errno, _ endpoint: LinkEndpoint) {
    let (code, detail, suggestion): (Code, String, String) =
      switch errno {
      case .permissionDenied:
        (
          .permissionDenied, "the service admits the group of its socket",
          endpoint.groupOfSocket.map {
            "Join the group, and log in again: sudo usermod -aG \($0) $USER."
          }
            ?? "Ask the administrator for access: the socket's mode and group decide who may connect."
        )
      case .wouldBlock:
        (
          .timeout, "the service accepts no connection",
          "End programs that are connected, or try again later."
        )
      default:
        (
          errno == .noSuchFileOrDirectory || errno == .notDirectory
            ? .notFound : errno == .connectionRefused ? .connectionRefused : .system,
          "no service listens there", "Start uwbd, or name the device itself."
        )
      }
    self.init(
      code, endpoint: endpoint.description, errno: errno, detail: detail,
      recoverySuggestion: suggestion)
  }
}
