// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Varlink
import Formats
import Glibc
import Logging
import UWB

/// Assigns sessions on the chip to clients.
extension SharedChip {
  /// The chip as clients see it.
  var shown: Chips.Chip {
    var chip = Chips.Chip(
      name: name, problem: problemText,
      sessions: sessions.sorted { $0.key < $1.key }.map(\.value.shown), borrower: borrower?.shown)
    (chip.device, chip.serial, chip.model) = (identity?.device, identity?.serial, model)
    return chip
  }

  /// Returns the device for a call.
  ///
  /// - Throws: `ServiceError` if the chip is lent, or cannot be used now.
  func openDevice() throws(ServiceError) -> UWBDevice {
    try checkLent()
    guard case .open(let device) = phase else {
      throw .chipUnavailable(
        name, problemText ?? "It is closed.",
        advice: problem?.recoverySuggestion ?? "Try again in a second.")
    }
    return device
  }

  private func checkLent() throws(ServiceError) {
    guard let borrower else { return }
    throw .busy(
      name, "A program has borrowed the chip: \(borrower.reason)",
      advice: "Wait until process \(borrower.user.pid) has ended.", borrower: borrower.shown)
  }

  /// Checks that a client may borrow the chip: no other client has borrowed it or has a session on
  /// it.
  func checkLending(to number: Int) throws(ServiceError) {
    try checkLent()
    let owners = sessions.values.flatMap(\.owners).filter {
      $0.key != SharedSession.service && $0.key != number
    }
    guard owners.isEmpty else {
      throw .busy(
        name, "Other programs hold sessions of the chip.",
        advice: "Wait until they have ended; call List for the sessions.",
        owners: owners.map(\.value.shown))
    }
  }

  /// Returns the existing session if the user may join it, or a new session without owners. Waits
  /// until a session with the same ID that is ending has ended.
  ///
  /// - Parameter isWanted: Whether the client is still connected after a wait.
  private func session(
    with profile: SessionProfile, _ share: Chips.Share, _ user: PeerCredentials,
    isWanted: () -> Bool
  ) async throws(ServiceError) -> (session: SharedSession, joined: Bool) {
    while true {
      await waitWhileOpening()
      let device = try openDevice()
      guard isWanted() else {
        throw .sessionEnded(
          name, sessionID: profile.sessionID, "The program has disconnected.",
          advice: nil)
      }
      guard let there = sessions[profile.sessionID] else {
        return (make(profile, device, share, user), false)
      }
      if there.isEnding {
        await there.waitUntilEnded()
        continue
      }
      try checkJoining(there, profile, share, user)
      return (there, true)
    }
  }

  private func checkJoining(
    _ session: SharedSession, _ profile: SessionProfile, _ share: Chips.Share,
    _ user: PeerCredentials
  ) throws(ServiceError) {
    guard session.audience.includes(user) else { throw session.denial }
    var differences = session.isEqual(to: profile) ? [] : session.differences(from: profile)
    // A session that was to be private must not become visible by joining a visible session.
    if share == .user, session.share == .everyone {
      differences.append(.init("share", present: "everyone", wanted: "user"))
    }
    guard !differences.isEmpty else { return }
    throw .conflict(
      name, sessionID: session.id, owners: session.shown.owners, differences: differences)
  }

  /// Returns whether a session may wait for longer than a minute for a program of the user. A chip
  /// has few sessions, so that each user has a limit.
  func mayWaitLong(_ session: SharedSession, for user: UInt32) -> Bool {
    let others = sessions.values.filter {
      $0 !== session && $0.longWaiter == user && !$0.isEnding
    }
    return others.count < Self.mostLongWaits
  }

  /// The number of sessions of a user that may wait for longer than a minute.
  private static let mostLongWaits = 2

  private func make(
    _ profile: SessionProfile, _ device: UWBDevice, _ share: Chips.Share, _ user: PeerCredentials
  ) -> SharedSession {
    let session = SharedSession(on: self, device, profile, share, uid: user.uid)
    sessions[profile.sessionID] = session
    logger.info(
      "session started",
      metadata: JournalMessage.sessionStarted.metadata([
        "session": "\(session.id)", "uid": "\(user.uid)", "pid": "\(user.pid)",
      ]))
    return session
  }

  // MARK: sessions that the service holds for itself

  /// Replaces the sessions that the service holds for itself. Releases each held session that is
  /// not among `profiles`.
  func hold(_ profiles: [(file: String, text: [UInt8])]) {
    own = profiles
    problems = [:]
    keepOwn()
  }

  /// Starts the missing sessions of the service, now and every 500 ms while one of them fails.
  func keepOwn() {
    needsOwn = true
    guard starting == nil else { return }
    starting = Task {
      while needsOwn, !Task.isCancelled {
        needsOwn = false
        guard await startOwn() else { continue }
        try? await Task.sleep(for: Self.pauses[2])
        needsOwn = true
      }
      starting = nil
    }
  }

  /// Starts the missing sessions once.
  ///
  /// - Returns: Whether one of them failed.
  private func startOwn() async -> Bool {
    guard case .open(let device) = phase else { return false }
    var wanted: [(file: String, profile: SessionProfile)] = []
    for (file, text) in own {
      do throws(ProfileError) {
        let profile = try SessionProfile(text, for: device.dialect.generation)
        if let other = wanted.first(where: { $0.profile.sessionID == profile.sessionID }) {
          note("\(other.file) has a session with the same id.", of: file)
        } else {
          wanted.append((file, profile))
        }
      } catch { note("\(error)", of: file) }
    }
    for session in sessions.values
    where !wanted.contains(where: { session.isEqual(to: $0.profile) }) {
      session.release(SharedSession.service, .asked)
    }
    var isRefused = false
    for (file, profile) in wanted {
      do throws(Refusal) {
        try await startOwn(profile)
        problems[file] = nil
      } catch {
        note(error.error.reason, of: file)
        isRefused = true
      }
    }
    return isRefused
  }

  /// Logs a problem with a file, unless it is the last one logged for the file.
  private func note(_ text: String, of file: String) {
    if problems[file] != text {
      logger.error("\(printable(text))", metadata: ["file": "\(printable(file))"])
    }
    problems[file] = text
  }

  private func startOwn(_ profile: SessionProfile) async throws(Refusal) {
    if sessions[profile.sessionID]?.owners[SharedSession.service] != nil { return }
    let user = PeerCredentials(uid: geteuid(), pid: getpid(), groups: [])
    try await start(profile, .everyone, user, linger: .zero, as: SharedSession.service)
  }

  /// Starts a session for an owner, or adds the owner to an equal session. Returns when the session
  /// ranges.
  ///
  /// - Parameters:
  ///   - linger: The time for which the session outlives its last owner.
  ///   - isWanted: Whether the client is still connected after a wait.
  ///   - added: called when the session has the owner, before it ranges.
  @discardableResult func start(
    _ profile: SessionProfile, _ share: Chips.Share, _ user: PeerCredentials, linger: Duration,
    as owner: Int, isWanted: () -> Bool = { true },
    added: (SharedSession) -> Void = { _ in }
  ) async throws(Refusal) -> (session: SharedSession, joined: Bool) {
    let found: (session: SharedSession, joined: Bool)
    do throws(ServiceError) {
      found = try await session(with: profile, share, user, isWanted: isWanted)
    } catch { throw .service(error) }
    found.session.add(owner, user, linger: linger)
    if found.joined { record(found.session.event(.sessionJoined, user: user.shown)) }
    added(found.session)
    do { try await found.session.waitUntilStarted() } catch { throw .chip(name, error) }
    return found
  }
}
