// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import SystemPackage
import UCI
import UWB

/// Accepts requests to change the controlees of a running `range`. Only its process can use the port,
/// so `multicast` asks it.
final class RangeControl: Sendable {
  /// Where it listens.
  let path: String
  private let source: Source

  /// Safe because the source is only cancelled, which any thread may do.
  private struct Source: @unchecked Sendable { let source: any DispatchSourceRead }

  /// - Parameters:
  ///   - device: as given by the user.
  ///   - folder: see `ControlSocket`.
  /// - Throws: `Errno` when the socket cannot be created.
  init(
    _ session: UWBSession, device: String, folder: String = ControlSocket.folder
  ) throws(Errno) {
    try ControlSocket.makeFolder(folder)
    let path = "\(folder)/range-\(getpid())-\(session.configuration.sessionID).sock"
    let socket = try ControlSocket.listen(at: path)
    let queue = DispatchQueue(label: "control", attributes: .concurrent)
    let source = DispatchSource.makeReadSource(fileDescriptor: socket.rawValue, queue: queue)
    source.setEventHandler {
      let number = accept(socket.rawValue, nil, nil)
      guard number >= 0 else { return }
      let connection = FileDescriptor(rawValue: number)
      ControlSocket.setPatience(connection)
      queue.async { Self.serve(connection, session, device) }
    }
    source.setCancelHandler { try? socket.close() }
    source.resume()
    self.path = path
    self.source = Source(source: source)
  }

  deinit { stop() }

  /// Stops accepting requests; those that were accepted are completed.
  func stop() {
    unlink(path)
    source.source.cancel()
  }

  private static func serve(
    _ connection: FileDescriptor, _ session: UWBSession, _ device: String
  ) {
    guard let request = try? ControlSocket.receive(ControlRequest.self, over: connection) else {
      try? connection.close()
      return
    }
    Task {
      let reply = await answer(request, session, device)
      try? ControlSocket.send(reply, over: connection)
      try? connection.close()
    }
  }

  private static func answer(
    _ request: ControlRequest, _ session: UWBSession, _ device: String
  ) async -> ControlReply {
    var reply = ControlReply(
      pid: getpid(), device: device, session: session.configuration.sessionID, controlees: [])
    let addresses = request.addresses.map { MACAddress($0) }
    do throws(DriverError) {
      let outcomes =
        switch request.action {
        case .list: [ControleeOutcome]()
        case .add: try await session.addControlees(addresses)
        case .remove: try await session.removeControlees(addresses)
        }
      reply.outcomes = outcomes.map {
        .init(
          address: UInt16(truncatingIfNeeded: $0.address.value), status: "\($0.status)",
          code: $0.status.rawValue)
      }
    } catch {
      reply.error = error.description
      reply.suggestion =
        session.configuration.peers.count > 1
        ? error.recoverySuggestion
        : "Start range with two or more peers: a session with one peer is one-to-one and remains so."
    }
    reply.controlees = session.controlees.map { UInt16(truncatingIfNeeded: $0.value) }
    return reply
  }
}
