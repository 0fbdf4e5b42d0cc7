// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Formats
import JSON
import Logging
import UCI
import UWB
import Varlink

extension ChipCall {
  /// Whether the call needs the right to start sessions.
  fileprivate var startsSessions: Bool {
    switch self {
    case .start, .attach, .borrow: true
    case .service, .list, .describe, .stop, .setShare, .end, .explain, .monitor, .watch: false
    }
  }

  /// Whether the call fails while its chip is being opened.
  fileprivate var needsDevice: Bool {
    switch self {
    case .describe, .start, .attach: true
    case .service, .list, .stop, .setShare, .end, .explain, .monitor, .watch, .borrow: false
    }
  }
}

extension Service {
  /// Performs a call, at once or after the opening of the chips that the call waits for.
  func perform(_ method: String, _ message: VarlinkCall, for client: Client)
    -> VarlinkConnection.Outcome
  {
    let call: ChipCall
    do throws(ServiceError) { call = try ChipCall(method, message.parameters) } catch {
      return .reply(error.reply.bytes)
    }
    return outcome { () throws(ServiceError) in
      if call.startsSessions { try permissions.checkStart(client.user) }
      if call.startsSessions || call.needsDevice { serveFormerBorrowers() }
      // The client may be a borrower that has just been disconnected.
      guard !client.isClosed else { return .later }
      let opening = chipsToAwait(call)
      guard !opening.isEmpty else { return try perform(call, message, for: client) }
      Task {
        for chip in opening { await chip.waitWhileOpening() }
        // The program may have disconnected meanwhile.
        guard !client.isClosed else { return }
        client.connection.answer(
          outcome { () throws(ServiceError) in try perform(call, message, for: client) })
      }
      return .later
    }
  }

  /// Handles the disconnection of borrowers before a call, so that no call is refused because of a
  /// borrower that has gone.
  private func serveFormerBorrowers() {
    for client in clients.values where !client.borrowed.isEmpty && client.connection.hasHungUp {
      client.connection.isReady()
    }
  }

  private func outcome(_ body: () throws(ServiceError) -> VarlinkConnection.Outcome)
    -> VarlinkConnection.Outcome
  {
    do throws(ServiceError) { return try body() } catch { return .reply(error.reply.bytes) }
  }

  /// Returns the chips that are being opened and that a call needs. Any of them may be at the path
  /// that the call names.
  private func chipsToAwait(_ call: ChipCall) -> [SharedChip] {
    guard let name = call.chip else {
      return call.needsDevice && chips.count == 1 ? chips.filter(\.isOpening) : []
    }
    guard let chip = chip(named: name) else { return chips.filter(\.isOpening) }
    return call.needsDevice && chip.isOpening ? [chip] : []
  }

  private func perform(
    _ call: ChipCall, _ message: VarlinkCall, for client: Client
  ) throws(ServiceError) -> VarlinkConnection.Outcome {
    switch call {
    case .service: return reply(.service(version: version, run: history.run, host: history.host))
    case .list:
      return reply(.chips(chips.map(\.shown), run: history.run, sequence: history.last))
    case .watch(let watch): return try self.watch(watch, isOneway: message.oneway, for: client)
    case .monitor(let monitor):
      return try self.monitor(monitor, message, for: client)
    case .describe(let name):
      let chip = try chip(name)
      let info = UWBDevice.json.object(try chip.openDevice()).json
      return reply(.description(chip: chip.name, info: info))
    case .start(let name, let profile, let share, let linger):
      return try start(profile, on: try chip(name), share, linger: linger, for: client)
    case .stop(let name, let id):
      let chip = try chip(name)
      guard let session = client.held.first(where: { $0.id == id && $0.chip == chip.name }) else {
        throw .noSession(
          "This connection does not hold the session.",
          advice: "Call Stop on the connection of Start.")
      }
      client.release(session)
      return reply(.done)
    case .setShare(let name, let id, let share):
      let session = try session(id, on: try chip(name))
      try permissions.checkShare(client.user, sessionOf: session.uid)
      try session.change(share)
      return reply(.done)
    case .end(let name, let id):
      let session = try session(id, on: try chip(name))
      try permissions.checkEnd(client.user, sessionOf: session.uid)
      return try end(session, for: client)
    case .explain(_, let id): throw explanation(of: id, for: client)
    case .attach(let name, let linger):
      let chip = try chip(name)
      let virtual = VirtualChip(chip, try chip.openDevice(), client, self, linger: linger)
      return .upgrade(virtual, reply: ChipReply.chip(chip.name).bytes)
    case .borrow(let name, let reason): return try borrow(try chip(name), reason, for: client)
    }
  }

  private func reply(_ reply: ChipReply) -> VarlinkConnection.Outcome { .reply(reply.bytes) }

  private func chip(named name: String) -> SharedChip? {
    chips.first { $0.name == name || $0.place == name }
  }

  /// Returns the chip that a call names, or the only one.
  private func chip(_ name: String?) throws(ServiceError) -> SharedChip {
    let known = chips.map { printable($0.name) }.joined(separator: ", ")
    if let name {
      if let chip = chip(named: name) { return chip }
      throw .noChip("There is no chip \(printable(name)).", advice: "The chips are: \(known)")
    }
    guard let first = chips.first else {
      throw .noChip(
        "There is no chip yet.",
        advice: "Plug in a board; uwbctl list shows the boards.")
    }
    guard chips.count == 1 else {
      throw .noChip(
        "There are \(chips.count) chips.",
        advice: "Name one of them as chip (\(known)).")
    }
    return first
  }

  // MARK: sessions

  private func start(
    _ profile: ChipCall.Profile, on chip: SharedChip, _ share: Chips.Share, linger: Duration,
    for client: Client
  ) throws(ServiceError) -> VarlinkConnection.Outcome {
    let profile = try self.profile(profile, on: chip, for: client)
    Task {
      do throws(Refusal) {
        let (session, joined) = try await client.start(profile, on: chip, share, linger: linger)
        client.connection.answer(
          reply(.started(chip: chip.name, sessionID: session.id, joined: joined)))
      } catch { client.connection.answer(.reply(error.error.reply.bytes)) }
    }
    return .later
  }

  /// Ends a session for all its owners.
  private func end(
    _ session: SharedSession, for client: Client
  ) throws(ServiceError) -> VarlinkConnection.Outcome {
    guard session.owners[SharedSession.service] == nil else {
      throw .denied(
        "The service itself holds session \(session.id).",
        advice: "Remove its profile from the folder of --sessions, and reload the service.")
    }
    let user = client.user
    logger.notice(
      "session ended by a user",
      metadata: ["session": "\(session.id)", "uid": "\(user.uid)", "pid": "\(user.pid)"])
    session.end("User \(user.uid) (process \(user.pid)) has ended it.")
    Task {
      await session.waitUntilEnded()
      client.connection.answer(reply(.done))
    }
    return .later
  }

  /// Returns the error with which the last start of a session over UCI was refused in the client's
  /// process.
  private func explanation(of id: UInt32, for client: Client) -> ServiceError {
    let ofProcess = clients.values.filter {
      $0.user.pid == client.user.pid && $0.user.uid == client.user.uid && $0.refusals[id] != nil
    }
    return ofProcess.max { $0.number < $1.number }?.refusals[id]
      ?? .noSession(
        "No start of session \(id) was refused in this process.", advice: "Start it by UCI.")
  }

  private func session(_ id: UInt32, on chip: SharedChip) throws(ServiceError) -> SharedSession {
    if let session = chip.sessions[id] { return session }
    throw .noSession("There is no session \(id).", advice: "Call List for the sessions.")
  }

  /// Returns the profile of a start.
  private func profile(
    _ profile: ChipCall.Profile, on chip: SharedChip, for client: Client
  ) throws(ServiceError) -> SessionProfile {
    let generation = try chip.openDevice().dialect.generation
    do throws(ProfileError) {
      switch profile {
      case .object(let members):
        return try SessionProfile(JSONNode(.object(members)), for: generation)
      case .text(let text): return try SessionProfile(Array(text.utf8), for: generation)
      case .session, .peer: break
      }
    } catch { throw .invalidProfile("\(error)", advice: error.recoverySuggestion) }
    return try present(profile, on: chip, for: client).profile
  }

  /// Returns the session that a start without a profile names. Only its user may join it, because
  /// other users have no profile with its keys.
  private func present(
    _ named: ChipCall.Profile, on chip: SharedChip, for client: Client
  ) throws(ServiceError) -> SharedSession {
    let found: [SharedSession]
    if case .session(let id) = named {
      found = [try session(id, on: chip)]
    } else {
      guard case .peer(let text) = named, let peer = MACAddress(text) else {
        throw .invalidParameter("peer")
      }
      found = chip.sessions.values.filter { $0.has(peer) }.sorted { $0.id < $1.id }
    }
    let own = found.filter { Audience.user($0.uid).includes(client.user) && !$0.isEnding }
    guard own.count != 1 else { return own[0] }
    guard own.isEmpty else {
      throw .noSession(
        "Sessions \(own.map { "\($0.id)" }.joined(separator: ", ")) have this peer.",
        advice: "Name one of them as session_id.")
    }
    if let other = found.first(where: { !$0.isEnding }) {
      guard other.audience.includes(client.user) else { throw other.denial }
      throw .denied(
        "Another user has started session \(other.id).", advice: "Start it with its profile.")
    }
    throw .noSession(
      "No session of this user has the name or peer.", advice: "Start it with its profile.")
  }

  // MARK: chips that a program has to itself

  private func borrow(
    _ chip: SharedChip, _ reason: String, for client: Client
  ) throws(ServiceError) -> VarlinkConnection.Outcome {
    try chip.checkLending(to: client.number)
    let reason = printable(reason)
    guard !reason.isEmpty, reason.utf8.count <= 200 else {
      throw .invalidParameter("reason")
    }
    client.borrowed.append(chip)
    chip.lend(to: SharedChip.Borrower(user: client.user, reason: reason))
    Task {
      await chip.waitUntilClosed()
      client.connection.answer(reply(.chip(chip.name)))
    }
    return .later
  }

  // MARK: measurements

  private func monitor(
    _ wanted: ChipCall.Monitor, _ message: VarlinkCall, for client: Client
  ) throws(ServiceError) -> VarlinkConnection.Outcome {
    var wanted = wanted
    let addresses = wanted.peers?.map { MACAddress($0) }
    guard addresses?.contains(nil) != true else {
      throw .invalidParameter(message.parameters["peers"] == nil ? "peer" : "peers")
    }
    let peers = addresses.map { Set($0.compactMap { $0 }) }
    if wanted.chip != nil { wanted.chip = try chip(wanted.chip).name }
    var eventChip = wanted.chip
    if let id = wanted.sessionID {
      let there = chips.filter { wanted.chip ?? $0.name == $0.name }.compactMap { $0.sessions[id] }
      guard let session = there.first(where: { $0.audience.includes(client.user) }) else {
        throw there.isEmpty
          ? .noSession(
            "There is no session \(id).", advice: "Call List for the sessions.")
          : there[0].denial
      }
      guard !session.isEnding else {
        throw .sessionEnded(
          session.chip, sessionID: id, "It is ending.", advice: "Start it again.")
      }
      eventChip = session.chip
    }
    guard !message.oneway else { return .reply([]) }
    let events =
      wanted.hasEvents
      ? EventCursor(history, note: note(on: peers ?? [], of: wanted, for: client)) : nil
    let monitor = Monitor(
      wanted, of: peers, events: events, of: eventChip, client.connection)
    return .stream(monitor)
  }

  /// Returns a note on the peers that no session of a stream has; nil if there are none.
  private func note(
    on peers: Set<MACAddress>, of wanted: ChipCall.Monitor, for client: Client
  ) -> String? {
    let sessions = chips.filter { wanted.chip ?? $0.name == $0.name }.flatMap(\.sessions.values)
      .filter { wanted.sessionID ?? $0.id == $0.id && $0.audience.includes(client.user) }
    let unknown = peers.filter { peer in !sessions.contains { $0.has(peer) } }
    guard !unknown.isEmpty else { return nil }
    let names = unknown.map(\.description).sorted().joined(separator: ", ")
    return "No session has the peer\(unknown.count == 1 ? "" : "s") \(names) yet."
  }

  // MARK: events

  private func watch(
    _ wanted: ChipCall.Watch, isOneway: Bool, for client: Client
  ) throws(ServiceError) -> VarlinkConnection.Outcome {
    var after = wanted.after
    // Numbers of events of another run mean nothing here, so the stream begins at the start of this
    // run.
    if let run = wanted.run, run != history.run { after = 0 }
    guard after ?? 0 <= history.last else { throw .invalidParameter("after") }
    guard !isOneway else { return .reply([]) }
    let watch = Watch(
      EventCursor(history, after: after), every: wanted.countInterval, client.connection
    ) { [weak self] in
      guard let self else { return [] }
      return chips.flatMap { chip in
        chip.sessions.values.map { $0.event(.counters, counters: $0.counters) }
      }
    }
    return .stream(watch)
  }
}
