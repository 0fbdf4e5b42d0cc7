// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Glibc
package import Logging
package import System
import UCI
package import UWBLink
package import Varlink

/// A profile whose session the service holds for itself.
package struct HeldProfile: Sendable {
  /// The name of the chip, as on the command line.
  package var chip: String
  package var file: String
  package var text: [UInt8]

  package init(chip: String, file: String, text: [UInt8]) {
    (self.chip, self.file, self.text) = (chip, file, text)
  }
}

/// The service: the shared chips and the connected clients.
@ServiceActor package final class Service: ChipObserver {
  nonisolated let logger: Logger
  let permissions: Permissions
  private(set) var chips: [SharedChip] = []
  private let ports: (any PortKeeper)?
  private let clock: AlarmClock
  private let calibrations: [ChipCalibration]
  let history = EventHistory()
  /// Whether recorded events are about to be sent.
  private var eventsAreDue = false
  let version: String
  var clients: [Int: Client] = [:]
  /// The number of connections by user ID.
  private var connectionsOfUser: [UInt32: Int] = [:]
  /// The number of connections above the limits that have not sent their first call.
  private var refused = 0
  private static let mostRefused = 64
  /// The time within which these connections have to send their first call.
  private static let patience = Duration.seconds(5)
  private let server: VarlinkServer
  private var idle: (time: Duration, body: @Sendable () -> Void)?
  private var idleTimer: Task<Void, Never>?

  package init(
    _ chips: [(name: String, endpoint: LinkEndpoint)], _ permissions: Permissions, version: String,
    calibrations: [ChipCalibration] = [], ports: (any PortKeeper)? = nil,
    clock: AlarmClock = .system, logger: Logger
  ) throws {
    server = try VarlinkServer(
      try VarlinkService(
        product: "uwbd", version: version, interfaces: [Chips.description],
        upgrading: Chips.upgrading))
    (self.permissions, self.version) = (permissions, version)
    self.logger = logger
    (self.ports, self.clock, self.calibrations) = (ports, clock, calibrations)
    for chip in chips { _ = make(chip.name, chip.endpoint) }
  }

  /// Shares a further chip, and begins to open it.
  ///
  /// - Returns: Whether the chip is new; a chip with the same name stays as it is.
  package func add(_ name: String, _ endpoint: LinkEndpoint) -> Bool {
    guard !chips.contains(where: { $0.name == name }) else { return false }
    make(name, endpoint).start()
    return true
  }

  private func make(_ name: String, _ endpoint: LinkEndpoint) -> SharedChip {
    let port = ports.map { ($0, "\(type(of: $0).prefix)\(chips.count)") }
    let chip = SharedChip(
      endpoint, name: name, port: port,
      calibration: calibrations.first { [name, lastPart(of: name)].contains($0.chip) }, self,
      clock: clock, logger: logger)
    chips.append(chip)
    record(Chips.Event(.chipAdded, chip: name))
    return chip
  }

  /// The names of the chips.
  package var names: [String] { chips.map(\.name) }

  /// Opens the chips, and accepts clients.
  ///
  /// - Parameter socket: A non-blocking socket that listens. The service closes it when it stops.
  package func start(listeningAt socket: Int32) {
    server.start(listeningAt: socket, permissions.connections) { [weak self] descriptor, user in
      if let self { accept(descriptor, of: user) } else { close(descriptor) }
    }
    for chip in chips { chip.start() }
  }

  /// Closes all connections, ends all sessions, and closes the chips.
  ///
  /// Connections come first: clients then wait for the next service, as after a crash.
  package func stop() async {
    server.stop()
    await withTaskGroup { group in
      for chip in chips { group.addTask { await chip.stop() } }
    }
  }

  /// Replaces the sessions that the service holds for itself. Releases each held session that is
  /// not among `profiles`.
  package func hold(_ profiles: [HeldProfile]) {
    for chip in chips {
      chip.hold(profiles.filter { $0.chip == chip.name }.map { ($0.file, $0.text) })
    }
  }

  /// The names of the chips, by the profile file whose session the service holds.
  package var held: [String: String] {
    let pairs = chips.flatMap { chip in chip.files.map { ($0, chip.name) } }
    return Dictionary(pairs) { first, _ in first }
  }

  // MARK: state

  /// Calls `body` once the service has had no clients for `time` and has no sessions.
  package func whenIdle(for time: Duration, _ body: @escaping @Sendable () -> Void) {
    idle = (time, body)
    noteIdle()
  }

  private func noteIdle() {
    guard let idle, clients.isEmpty else { return }
    idleTimer?.cancel()
    idleTimer = Task {
      await clock.sleep(for: idle.time)
      guard !Task.isCancelled, clients.isEmpty else { return }
      if chips.allSatisfy(\.sessions.isEmpty) { idle.body() } else { noteIdle() }
    }
  }

  /// The status of the service in one line, for systemd.
  package var status: String {
    let open = chips.filter { $0.problemText == nil }.count
    let sessions = chips.reduce(0) { $0 + $1.sessions.count }
    return "\(open) of \(counted(chips.count, "chip")), \(counted(sessions, "session")), "
      + counted(connections, "client")
  }

  var connections: Int { clients.count }
  var listenerCount: Int { clients.values.count { $0.monitorsNulls != nil } }

  /// Returns when the reader thread of each chip has responded.
  package func waitForReaders() async { for chip in chips { await chip.waitForReader() } }

  // MARK: clients

  private func accept(_ descriptor: Int32, of user: PeerCredentials) {
    let user = permissions.user(user)
    if let error = refusal(for: user) { return refuse(descriptor, user, error) }
    let client = Client(server.connect(descriptor, of: user.uid), user, self)
    clients[client.number] = client
    connectionsOfUser[user.uid, default: 0] += 1
  }

  /// Sends an error as the reply to the first call of a connection, and closes the connection.
  private func refuse(_ descriptor: Int32, _ user: PeerCredentials, _ error: ServiceError) {
    guard refused < Self.mostRefused else {
      // Before the first call: without a descriptor that waits for it.
      let bytes = error.reply.bytes
      unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      close(descriptor)
      return
    }
    refused += 1
    let connection = server.connect(descriptor, of: user.uid)
    connection.handler = RefusedClient(error) { [weak self] in self?.refused -= 1 }
    ServiceQueue.shared.later(after: Self.patience) { [weak connection] in connection?.close() }
  }

  /// Returns the error for a user who reaches a limit of connections, or nil if the user may
  /// connect.
  private func refusal(for user: PeerCredentials) -> ServiceError? {
    guard permissions.refusal(of: user, clients.count, connectionsOfUser) != nil else { return nil }
    // Clients that have disconnected count until their disconnection is handled.
    server.takeEvents()
    return permissions.refusal(of: user, clients.count, connectionsOfUser)
  }

  /// Returns the greatest number of bytes of measurements that wait for one connection of a user.
  func room(of user: PeerCredentials) -> Int {
    permissions.room(clients.count, connectionsOfUser[user.uid, default: 1])
  }

  /// Removes a closed connection, releases its sessions and returns its borrowed chips.
  func closed(_ client: Client, _ release: SharedSession.Release) {
    clients[client.number] = nil
    let left = connectionsOfUser[client.user.uid, default: 1] - 1
    connectionsOfUser[client.user.uid] = left > 0 ? left : nil
    for session in client.held { session.release(client.number, release) }
    client.held = []
    for chip in client.borrowed { chip.takeBack() }
    client.borrowed = []
    noteIdle()
  }

  // MARK: events of chips

  var listeners: Listeners {
    var listeners = Listeners()
    for client in clients.values {
      guard let hasNulls = client.monitorsNulls else { continue }
      if hasNulls { listeners.wantNulls = true } else { listeners.wantNone = true }
      if listeners.wantNulls, listeners.wantNone { break }
    }
    return listeners
  }

  func handle(_ event: ChipEvent) {
    for client in clients.values { client.handle(event) }
  }

  func record(_ event: Chips.Event) {
    history.add(event)
    guard !eventsAreDue else { return }
    eventsAreDue = true
    // To send may close connections, in the middle of a change of the chip otherwise.
    ServiceQueue.shared.later { [weak self] in
      guard let self else { return }
      eventsAreDue = false
      for client in clients.values { client.sendEvents() }
    }
  }
}
