// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Formats
import Glibc
import JSON
import Logging
import System
import UWB
import UWBLink
import Varlink

/// The service: the shared chips, the connected clients and the calls between them.
@ServiceActor final class Service {
  nonisolated let varlink: VarlinkService
  nonisolated let logger: Logger
  private let permissions: Permissions
  private var chips: [SharedChip] = []
  private let ports: PortStore?
  private var clients: [Int: Client] = [:]
  private var nextNumber = 0
  /// The sockets of all clients.
  private(set) lazy var watch = DescriptorWatch(in: ServiceQueue.shared.queue) { [weak self] in
    ServiceQueue.shared.handle { self?.serve() }
  }
  private var listening: (any DispatchSourceRead)?
  private var isPaused = false
  private var idle: (time: Duration, body: @Sendable () -> Void)?
  private var idleTimer: Task<Void, Never>?

  init(
    _ chips: [(name: String, endpoint: LinkEndpoint)], _ permissions: Permissions, version: String,
    ports: PortStore? = nil, logger: Logger
  ) throws(VarlinkInterfaceError) {
    varlink = try VarlinkService(
      vendor: "swift-uwb", product: "uwbd", version: version,
      url: "https://github.com/swift-uwb/swift-uwb",
      interfaces: [String(decoding: PackageResources.org_swift_uwb_Chips_varlink, as: UTF8.self)],
      upgrading: ["\(Refusal.interface).Attach"])
    self.permissions = permissions
    self.logger = logger
    self.ports = ports
    for chip in chips { _ = make(chip.name, chip.endpoint) }
  }

  /// Shares a further chip, and begins to open it.
  ///
  /// - Returns: Whether the chip is new; a chip with the same name stays as it is.
  func add(_ name: String, _ endpoint: LinkEndpoint) -> Bool {
    guard !chips.contains(where: { $0.name == name }) else { return false }
    make(name, endpoint).start()
    return true
  }

  private func make(_ name: String, _ endpoint: LinkEndpoint) -> SharedChip {
    let index = chips.count
    let chip = SharedChip(
      endpoint, name: name, port: ports.map { ($0, "\(PortStore.prefix)\(index)") }, logger: logger)
    chip.startsOwn = { [weak self, weak chip] profile throws(Refusal) in
      if let self, let chip { try await self.startOwn(profile, on: chip) }
    }
    chip.relays = { [weak self] in self?.relay($0, of: $1, begins: $2) }
    chip.disconnects = { [weak self, weak chip] in
      guard let self else { return }
      for client in clients.values where client.chip?.chip === chip { client.close(.interrupted) }
    }
    chips.append(chip)
    return chip
  }

  var names: [String] { chips.map(\.name) }

  /// Opens the chips, and accepts clients.
  ///
  /// - Parameter socket: A non-blocking socket that listens. The service closes it when it stops.
  func start(listeningAt socket: Int32) {
    for chip in chips { chip.start() }
    let source = DispatchSource.makeReadSource(
      fileDescriptor: socket, queue: ServiceQueue.shared.queue)
    // These are called before the queue runs them as jobs of the actor.
    source.setEventHandler { @Sendable [weak self] in
      ServiceQueue.shared.handle {
        if self?.accept(from: socket) == false { self?.pause() }
      }
    }
    source.setCancelHandler { @Sendable in close(socket) }
    listening = source
    source.resume()
  }

  /// Pauses accepting for 100 ms when no descriptor is free. Dispatch would otherwise call the
  /// handler in a busy loop.
  private func pause() {
    isPaused = true
    listening?.suspend()
    ServiceQueue.shared.later(after: .milliseconds(100)) { [weak self] in self?.resume() }
  }

  private func resume() {
    if isPaused { listening?.resume() }
    isPaused = false
  }

  /// Closes all connections, ends all sessions, and closes the chips.
  ///
  /// Connections come first: clients then wait for the next service, as after a crash.
  func stop() async {
    resume()
    listening?.cancel()
    listening = nil
    for client in clients.values { client.close() }
    await withTaskGroup { group in
      for chip in chips { group.addTask { await chip.stop() } }
    }
    watch.cancel()
  }

  // MARK: sessions of its own

  /// Replaces the sessions that the service holds for itself. Releases each held session that is
  /// not among `profiles`.
  func hold(_ profiles: [ProfileFolder.Profile]) {
    for chip in chips {
      chip.hold(profiles.filter { $0.chip == chip.name }.map { ($0.file, $0.text) })
    }
  }

  /// The names of the chips, by the profile file whose session the service holds.
  var held: [String: String] {
    let pairs = chips.flatMap { chip in chip.files.map { ($0, chip.name) } }
    return Dictionary(pairs) { first, _ in first }
  }

  private func startOwn(_ profile: SessionProfile, on chip: SharedChip) async throws(Refusal) {
    let user = PeerCredentials(uid: geteuid(), pid: getpid(), groups: [])
    let (session, _) = try await session(with: profile, on: chip, .everyone, user)
    guard session.owners[SharedSession.service] == nil else { return }
    session.add(SharedSession.service, user, linger: .zero)
    do { try await session.waitUntilStarted() } catch { throw .chip(chip.name, error) }
  }

  /// Calls `body` once the service has had no clients for `time` and has no sessions.
  func whenIdle(for time: Duration, _ body: @escaping @Sendable () -> Void) {
    idle = (time, body)
    noteIdle()
  }

  private func noteIdle() {
    guard let idle, clients.isEmpty else { return }
    idleTimer?.cancel()
    idleTimer = Task {
      guard (try? await Task.sleep(for: idle.time)) != nil, clients.isEmpty else { return }
      if chips.allSatisfy(\.sessions.isEmpty) { idle.body() } else { noteIdle() }
    }
  }

  /// The status of the service in one line, for systemd.
  var status: String {
    let open = chips.filter { $0.problemText == nil }.count
    let sessions = chips.reduce(0) { $0 + $1.sessions.count }
    return "\(open) of \(chips.count) chips, \(sessions) sessions, \(connections) clients"
  }

  var connections: Int { clients.count }
  var listeners: Int { clients.values.count { $0.monitor != nil } }

  /// Returns when the reader thread of each chip has responded.
  func waitForReaders() async { for chip in chips { await chip.waitForReader() } }

  /// Reads from clients that have sent data, and removes clients that have disconnected.
  ///
  /// - Returns: The number of clients served.
  @discardableResult private func serve() -> Int {
    let numbers = watch.next()
    for number in numbers { clients[number]?.isReady() }
    return numbers.count
  }

  /// Accepts up to 64 connections; the event source fires again for the rest.
  ///
  /// - Returns: False when no descriptor is free.
  private func accept(from socket: Int32) -> Bool {
    // Closed connections count towards the limit until they are served. The number served is
    // bounded, because an active client may be ready again each time.
    var served = 0
    for _ in 0..<64 {
      let descriptor = Glibc.accept(socket, nil, nil)
      guard descriptor >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return ![EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno)
      }
      ListeningSocket.prepare(descriptor)
      guard let user = permissions.user(descriptor) else {
        close(descriptor)
        continue
      }
      while refusal(for: user) != nil, served <= clients.count {
        let count = serve()
        guard count > 0 else { break }
        served += count
      }
      if let refusal = refusal(for: user) {
        // Sends the error before the first call, as the reply to it.
        let bytes = refusal.bytes
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        close(descriptor)
        continue
      }
      nextNumber += 1
      clients[nextNumber] = Client(descriptor, number: nextNumber, user, self)
    }
    return true
  }

  /// Returns the error for a user who reaches a limit of connections, or nil if the user may
  /// connect.
  private func refusal(for user: PeerCredentials) -> Refusal? {
    let advice = "End idle programs that are connected, or try again later."
    guard clients.count < permissions.mostClients else {
      return .denied(
        "\(permissions.mostClients) programs are connected, which is the limit.", advice)
    }
    let limit = permissions.mostClientsOfUser
    guard user.uid != 0, clients.values.count(where: { $0.user.uid == user.uid }) >= limit else {
      return nil
    }
    return .denied("\(limit) programs of this user are connected, which is the limit.", advice)
  }

  /// Removes a closed connection, releases its sessions and returns its borrowed chips.
  func closed(_ client: Client, _ release: SharedSession.Release) {
    clients[client.number] = nil
    for session in client.held { session.release(client.number, release) }
    client.held = []
    for chip in client.borrowed { chip.takeBack() }
    client.borrowed = []
    noteIdle()
  }

  // MARK: calls

  /// Performs a call whose parameters are valid, and answers it: at once, or after the chips that
  /// it waits for have been opened.
  func perform(_ method: String, _ call: VarlinkCall, for client: Client) {
    do throws(Refusal) {
      if ["Start", "Attach", "Borrow"].contains(method) { try permissions.checkStart(client.user) }
      let opening = chipsToAwait(method, call)
      guard !opening.isEmpty else { return try performNow(method, call, for: client) }
      Task {
        for chip in opening { await chip.waitWhileOpening() }
        // The program may have disconnected meanwhile.
        guard !client.isClosed else { return }
        do throws(Refusal) { try performNow(method, call, for: client) } catch {
          client.answer(error.bytes)
        }
      }
    } catch { client.answer(error.bytes) }
  }

  /// Returns the chips that are being opened, and without which a call fails. One of them may be at
  /// the path that the call names.
  private func chipsToAwait(_ method: String, _ call: VarlinkCall) -> [SharedChip] {
    let needsDevice = ["Describe", "Start", "Attach"].contains(method)
    guard let name = call.parameters["chip"]?.string else {
      return needsDevice && chips.count == 1 ? chips.filter(\.isOpening) : []
    }
    guard let chip = chip(named: name) else { return chips.filter(\.isOpening) }
    return needsDevice && chip.isOpening ? [chip] : []
  }

  private func performNow(
    _ method: String, _ call: VarlinkCall, for client: Client
  ) throws(Refusal) {
    switch method {
    case "List": client.answer(reply(["chips": chips.map(describe)]))
    case "Monitor": try monitor(call, for: client)
    case "Describe":
      let chip = try chip(call)
      let info = UWBDevice.json.object(try device(of: chip))
      client.answer(reply(["chip": chip.name, "info": info]))
    case "Stop":
      try stop(call, on: try chip(call), for: client)
      client.answer(reply([:]))
    case "Attach": try attach(call, to: try chip(call), for: client)
    case "Borrow": try borrow(call, try chip(call), for: client)
    default:
      let chip = try chip(call)
      Task {
        do throws(Refusal) {
          client.answer(reply(try await start(call, on: chip, for: client)))
        } catch { client.answer(error.bytes) }
      }
    }
  }

  private func reply(_ parameters: JSONLine) -> [UInt8] { VarlinkReply.bytes(parameters.json) }

  private func describe(_ chip: SharedChip) -> JSONLine {
    let sessions = chip.sessions.sorted { $0.key < $1.key }.map { id, session -> JSONLine in
      let owners = session.owners.sorted { $0.key < $1.key }.map(\.value.json)
      return [
        "session_id": id, "state": session.state, "share": session.share.rawValue,
        "owners": owners,
      ]
    }
    return [
      "chip": chip.name, "problem": chip.problemText, "sessions": sessions,
      "borrower": chip.borrower?.json,
    ]
  }

  private func chip(named name: String) -> SharedChip? {
    chips.first { $0.name == name || $0.place == name }
  }

  /// Returns the chip that a call names, or the only one.
  private func chip(_ call: VarlinkCall) throws(Refusal) -> SharedChip {
    let known = chips.map { printable($0.name) }.joined(separator: ", ")
    if let name = call.parameters["chip"]?.string {
      if let chip = chip(named: name) { return chip }
      throw .noChip("There is no chip \(printable(name)).", "The chips are: \(known)")
    }
    guard let first = chips.first else {
      throw .noChip("There is no chip yet.", "Plug in a board; uwbctl list shows what is there.")
    }
    guard chips.count == 1 else {
      throw .noChip("There are \(chips.count) chips.", "Name one of them as chip: \(known)")
    }
    return first
  }

  private func device(of chip: SharedChip) throws(Refusal) -> UWBDevice {
    try checkLent(chip)
    guard case .open(let device) = chip.phase else {
      throw .chip(
        "ChipUnavailable", chip.name, chip.problemText ?? "It is closed.",
        chip.problem?.recoverySuggestion ?? "Try again in a second.")
    }
    return device
  }

  private func sessionID(_ call: VarlinkCall) throws(Refusal) -> UInt32? {
    guard let number = call.parameters["session_id"]?.integer else { return nil }
    guard let id = UInt32(exactly: number) else { throw .invalidParameter("session_id") }
    return id
  }

  // MARK: sessions

  private func start(
    _ call: VarlinkCall, on chip: SharedChip, for client: Client
  ) async throws(Refusal) -> JSONLine {
    let linger = try linger(call)
    let share =
      call.parameters["share"]?.string.flatMap(SharedSession.Share.init(rawValue:)) ?? .everyone
    let device = try device(of: chip)
    let (session, joined) = try await start(
      try profile(call, for: device), on: chip, share, linger: linger, for: client)
    return ["chip": chip.name, "session_id": session.id, "joined": joined]
  }

  private func linger(_ call: VarlinkCall) throws(Refusal) -> Duration {
    let milliseconds = call.parameters["linger_ms"]?.integer ?? 0
    guard 0...60_000 ~= milliseconds else { throw .invalidParameter("linger_ms") }
    return .milliseconds(milliseconds)
  }

  /// Starts a session for a client, or adds the client to an equal session.
  func start(
    _ profile: SessionProfile, on chip: SharedChip, _ share: SharedSession.Share,
    linger: Duration, for client: Client
  ) async throws(Refusal) -> (session: SharedSession, joined: Bool) {
    try permissions.checkStart(client.user)
    let (session, joined) = try await session(
      with: profile, on: chip, share, client.user, isWanted: { !client.isClosed })
    session.add(client.number, client.user, linger: linger)
    if !client.held.contains(where: { $0 === session }) { client.held.append(session) }
    do { try await session.waitUntilStarted() } catch { throw .chip(chip.name, error) }
    // The client may have disconnected during the start.
    if client.isClosed { session.release(client.number, .gone) }
    return (session, joined)
  }

  /// Returns the existing session if the user may join it, or a new session without owners. Waits
  /// until a session with the same ID that is ending has ended.
  private func session(
    with profile: SessionProfile, on chip: SharedChip, _ share: SharedSession.Share,
    _ user: PeerCredentials, isWanted: () -> Bool = { true }
  ) async throws(Refusal) -> (session: SharedSession, joined: Bool) {
    while true {
      await chip.waitWhileOpening()
      let device = try device(of: chip)
      guard isWanted() else {
        throw .sessionEnded(chip.name, profile.sessionID, "The program has disconnected.", nil)
      }
      guard let there = chip.sessions[profile.sessionID] else {
        return (make(profile, on: chip, device, share, user), false)
      }
      if there.isEnding {
        await there.waitUntilEnded()
        continue
      }
      try checkJoining(there, profile, user)
      return (there, true)
    }
  }

  private func profile(
    _ call: VarlinkCall, for device: UWBDevice
  ) throws(Refusal) -> SessionProfile {
    let (members, file) = (call.parameters["profile"], call.parameters["profile_text"]?.string)
    let text: String
    switch (members, file) {
    case (.object(let members), nil): text = "\(JSON.object(members))"
    case (_, .some(let file)) where members?.object == nil: text = file
    default: throw .invalidParameter("profile")
    }
    do throws(ProfileError) {
      return try SessionProfile(Array(text.utf8), for: device.dialect.generation)
    } catch {
      // An object is one line, so a line number has no use.
      let reason =
        file == nil
        ? "\(error)".replacing("Line 1: ", with: "", maxReplacements: 1) : "\(error)"
      throw Refusal("InvalidProfile", ["reason": reason, "advice": error.recoverySuggestion])
    }
  }

  private func checkJoining(
    _ session: SharedSession, _ profile: SessionProfile, _ user: PeerCredentials
  ) throws(Refusal) {
    guard session.isVisible(to: user) else {
      throw .denied(
        "Session \(session.id) belongs to another user.",
        "Take another session_id, or ask its owner to share it with everyone.")
    }
    guard !session.isEqual(to: profile) else { return }
    throw Refusal(
      "Conflict",
      [
        "chip": session.chip, "session_id": session.id, "owners": session.owners.values.map(\.json),
        "differences": session.differences(from: profile),
      ], status: .sessionDuplicate)
  }

  /// Sends a measurement to each monitoring client whose user may see it.
  func publish(
    _ measurement: PublishedMeasurement, to isMeant: (PeerCredentials) -> Bool = { _ in true }
  ) {
    for client in clients.values where isMeant(client.user) { client.offer(measurement) }
  }

  private func make(
    _ profile: SessionProfile, on chip: SharedChip, _ device: UWBDevice,
    _ share: SharedSession.Share, _ user: PeerCredentials
  ) -> SharedSession {
    let session = SharedSession(
      chip: chip.name, device, profile, share: share, uid: user.uid,
      SharedSession.Reports { [weak self] in
        self.map { $0.listeners > 0 } ?? false
      } measured: { [weak self] session, measurement in
        self?.publish(measurement) { session.isVisible(to: $0) }
      } ended: { [weak self, weak chip] session, reason in
        if chip?.sessions[session.id] === session { chip?.sessions[session.id] = nil }
        self?.clients.values.forEach { $0.ended(session, reason) }
        chip?.keepOwn()
      })
    chip.sessions[profile.sessionID] = session
    logger.info(
      "session started",
      metadata: JournalMessage.sessionStarted.metadata([
        "session": "\(session.id)", "uid": "\(user.uid)", "pid": "\(user.pid)",
      ]))
    return session
  }

  private func stop(
    _ call: VarlinkCall, on chip: SharedChip, for client: Client
  ) throws(Refusal) {
    let id = try sessionID(call)
    guard let session = client.held.first(where: { $0.id == id && $0.chip == chip.name }) else {
      throw .noSession(
        "This connection does not hold the session.", "Call Stop on the connection of Start.")
    }
    release(session, of: client)
  }

  /// Removes a client's hold on a session; the session ends with its last owner.
  func release(_ session: SharedSession, of client: Client) {
    client.held.removeAll { $0 === session }
    session.release(client.number, .asked)
  }

  /// Switches a client's connection from varlink to UCI.
  private func attach(
    _ call: VarlinkCall, to chip: SharedChip, for client: Client
  ) throws(Refusal) {
    let linger = try linger(call)
    let virtual = VirtualChip(chip, try device(of: chip), client, self, linger: linger)
    client.attach(virtual, reply(["chip": chip.name]))
  }

  /// Forwards a notification about a session to the clients that speak UCI.
  func relay(_ packet: [UInt8], of session: SharedSession, begins: Bool) {
    for client in clients.values { client.chip?.relay(packet, of: session, begins: begins) }
  }

  // MARK: chips that a program has to itself

  private func checkLent(_ chip: SharedChip) throws(Refusal) {
    guard let borrower = chip.borrower else { return }
    throw .busy(
      chip.name, "A program has borrowed the chip: \(borrower.reason)",
      "Wait until process \(borrower.user.pid) has ended.", borrower, [])
  }

  private func borrow(
    _ call: VarlinkCall, _ chip: SharedChip, for client: Client
  ) throws(Refusal) {
    try checkLent(chip)
    let owners = chip.sessions.values.flatMap(\.owners).filter {
      $0.key != SharedSession.service && $0.key != client.number
    }
    guard owners.isEmpty else {
      throw .busy(
        chip.name, "Other programs hold sessions of the chip.",
        "Wait until they have ended; call List for the sessions.", nil, owners.map(\.value))
    }
    let reason = printable(call.parameters["reason"]?.string ?? "")
    guard !reason.isEmpty, reason.utf8.count <= 200 else { throw .invalidParameter("reason") }
    client.borrowed.append(chip)
    chip.lend(to: SharedChip.Borrower(user: client.user, reason: reason))
    Task {
      await chip.waitUntilClosed()
      client.answer(reply(["chip": chip.name]))
    }
  }

  private func monitor(_ call: VarlinkCall, for client: Client) throws(Refusal) {
    let id = try sessionID(call)
    let name = call.parameters["chip"]?.string == nil ? nil : try chip(call).name
    let limit = call.parameters["queue"]?.integer ?? 1_000
    guard 1...10_000 ~= limit else { throw .invalidParameter("queue") }
    let pause = call.parameters["every_ms"]?.integer ?? 0
    guard 0...10_000 ~= pause else { throw .invalidParameter("every_ms") }
    if let id {
      let there = chips.filter { name ?? $0.name == $0.name }.compactMap { $0.sessions[id] }
      guard let session = there.first(where: { $0.isVisible(to: client.user) }) else {
        throw there.isEmpty
          ? .noSession("There is no session \(id).", "Call List for the sessions.")
          : .denied(
            "Session \(id) belongs to another user.", "Ask its owner to share it with everyone.")
      }
      guard !session.isEnding else {
        throw .sessionEnded(session.chip, id, "It is ending.", "Start it again.")
      }
    }
    let rule = call.parameters["keep"]?.string.flatMap(MeasurementQueue.Rule.init(rawValue:))
    guard !call.oneway else { return client.answer([]) }
    client.listen(
      Client.Monitor(
        chip: name, sessionID: id, peer: call.parameters["peer"]?.string,
        queue: MeasurementQueue(rule ?? .all, limit: Int(limit)), pause: .milliseconds(pause)))
  }
}
