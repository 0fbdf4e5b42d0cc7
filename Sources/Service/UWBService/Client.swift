// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Logging
import UWB
import Varlink

/// A connected client.
@ServiceActor final class Client: VarlinkHandler {
  nonisolated let user: PeerCredentials
  let connection: VarlinkConnection
  /// The sessions that the client owns.
  var held: [SharedSession] = []
  /// The chips that the client has borrowed.
  var borrowed: [SharedChip] = []

  /// The errors of the sessions that the client could not start by UCI.
  var refusals: [UInt32: ServiceError] = [:]

  private let service: Service
  /// The way in which sessions are released when the connection closes.
  private var release = SharedSession.Release.gone

  init(_ connection: VarlinkConnection, _ user: PeerCredentials, _ service: Service) {
    (self.connection, self.user, self.service) = (connection, user, service)
    connection.handler = self
  }

  nonisolated var number: Int { connection.number }
  var isClosed: Bool { connection.isClosed }
  /// Whether the client monitors measurements with the members that are null; nil if it does not
  /// monitor.
  var monitorsNulls: Bool? { monitor?.hasNulls }

  /// Closes the connection, and releases the client's sessions and chips.
  ///
  /// - Parameter release: The way in which sessions are released.
  func close(_ release: SharedSession.Release = .gone) {
    self.release = release
    connection.close()
  }

  /// Starts a session for the client, or adds the client to an equal session.
  func start(
    _ profile: SessionProfile, on chip: SharedChip, _ share: Chips.Share, linger: Duration
  ) async throws(Refusal) -> (session: SharedSession, joined: Bool) {
    let started = try await chip.start(
      profile, share, user, linger: linger, as: number, isWanted: { !isClosed },
      added: { session in if !held.contains(where: { $0 === session }) { held.append(session) } })
    // The client may have disconnected during the start.
    if isClosed { started.session.release(number, .gone) }
    return started
  }

  /// Removes the client's hold on a session; the session ends with its last owner.
  func release(_ session: SharedSession) {
    held.removeAll { $0 === session }
    session.release(number, .asked)
  }

  // MARK: connection

  func perform(
    _ method: String, _ call: VarlinkCall, over _: VarlinkConnection
  ) -> VarlinkConnection.Outcome {
    service.perform(method, call, for: self)
  }

  func rejection(of error: VarlinkMessageError) -> VarlinkReply {
    ServiceError.invalidMessage("\(error)").reply
  }

  func isStuck(_: VarlinkConnection) {
    service.logger.notice(
      "disconnected a client that accepts no data",
      metadata: JournalMessage.clientStuck.metadata(["pid": "\(user.pid)"]))
  }

  func closed(_: VarlinkConnection) { service.closed(self, release) }

  // MARK: events of chips

  func handle(_ event: ChipEvent) {
    switch event {
    case .measured(let measurement):
      if measurement.audience.includes(user) {
        monitor?.offer(measurement, room: service.room(of: user))
      }
    case .notified(let session, let packet, let begins):
      attached?.relay(packet, of: session, begins: begins)
    case .ended(let session, let reason):
      held.removeAll { $0 === session }
      attached?.ended(session)
      monitor?.ended(session, reason)
    case .shareChanged(let session):
      if !session.audience.includes(user) { monitor?.ended(session, session.denial) }
    case .unusable(let chip): if attached?.chip === chip { close(.interrupted) }
    }
  }

  /// Sends the recorded events that the client has not received.
  func sendEvents() {
    (connection.stream as? Watch)?.sendEvents()
    monitor?.sendEvents()
  }

  private var monitor: Monitor? { connection.stream as? Monitor }
  private var attached: VirtualChip? { connection.upgrade as? VirtualChip }
}

/// A program above a limit of connections. The reply to its first call is the error.
@ServiceActor final class RefusedClient: VarlinkHandler {
  private let error: ServiceError
  private let closed: @ServiceActor () -> Void

  init(_ error: ServiceError, closed: @escaping @ServiceActor () -> Void) {
    (self.error, self.closed) = (error, closed)
  }

  var refusal: VarlinkReply? { error.reply }

  func perform(
    _ method: String, _ call: VarlinkCall, over _: VarlinkConnection
  ) -> VarlinkConnection.Outcome { .reply(error.reply.bytes) }

  func rejection(of _: VarlinkMessageError) -> VarlinkReply { error.reply }

  func closed(_: VarlinkConnection) { closed() }
}
