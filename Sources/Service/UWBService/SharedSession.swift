// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Formats
import Glibc
import JSON
import System
import UCI
import UCIReference
import UWB
import Varlink

/// A session on a chip with the clients that own it. The session ends with its last owner.
@ServiceActor final class SharedSession {
  private typealias Started = (session: UWBSession, results: Results)
  /// The stream of a session on the chip, by the kind of ranging.
  private enum Results: Sendable {
    case twoWay(RangingStream<EstimatedRound>)
    case oneWay(RangingStream<OneWayMeasurement>)
  }

  nonisolated let chip: String
  nonisolated let profile: SessionProfile
  private(set) var share: Chips.Share
  /// The user who started the session.
  let uid: UInt32
  private let device: UWBDevice
  private weak var owner: SharedChip?
  private let clock: AlarmClock
  private let started: Task<Started, any Error>

  /// The owners by the number of their connection.
  private(set) var owners: [Int: PeerCredentials] = [:]
  /// The time for which the session outlives its last owner, by the user who asked for it.
  private var lingers: [UInt32: Duration] = [:]
  private var linger: Duration { lingers.values.max() ?? .zero }
  private var lingering: Task<Void, Never>?
  /// The user whose program may return after more than `longestOutage`; nil if no program may.
  private(set) var longWaiter: UInt32?
  /// The time of the clock until which programs may return that were disconnected when the chip was
  /// lost.
  private var returnEnd: Duration?
  private var now: Duration { .nanoseconds(clock.now()) }
  private var ending: Task<Void, Never>?
  private var isRanging = false
  private(set) var counters = Chips.Counters()
  /// The peers of the profile, and other peers that were measured, up to a limit.
  private var peers: Set<MACAddress>
  private static let mostPeers = 1_024
  /// The origin of the measurements in JSON; nil until a measurement needs it, and after each
  /// change of the chip's names.
  private var identity: EncodedIdentity?
  /// The token of the session on the chip; nil until the session has started.
  private(set) var token: UInt32?
  /// The error that ended the session.
  private(set) var cause: DriverError?

  /// Creates the session, and begins to start it on the chip.
  init(
    on chip: SharedChip, _ device: UWBDevice, _ profile: SessionProfile, _ share: Chips.Share,
    uid: UInt32
  ) {
    (self.chip, self.device, self.profile) = (chip.name, device, profile)
    (self.share, self.uid, owner, clock) = (share, uid, chip, chip.clock)
    peers = Set(profile.parameters(for: device.dialect).destinations)
    started = Task { [calibration = chip.calibration] in
      let configuration = try SessionConfiguration(profile, for: device.dialect)
      let session = try await device.makeSession(configuration, awaitsRecovery: false)
      let settings = calibration?.settings(of: configuration) ?? EstimationSettings()
      let results: Results =
        configuration.role.isOneWay
        ? .oneWay(session.oneWayMeasurements(capacity: 1_024))
        : .twoWay(session.estimatedRounds(settings, capacity: 1_024))
      do { try await session.start(awaitsRecovery: false) } catch {
        try? await session.close()
        throw error
      }
      return (session, results)
    }
    Task { await measure() }
  }

  nonisolated var id: UInt32 { profile.sessionID }
  var isEnding: Bool { ending != nil }

  /// The state as a value of the varlink interface.
  var state: String {
    if isEnding { return "ending" }
    guard isRanging else { return "starting" }
    return owners.isEmpty ? "waiting" : "ranging"
  }

  /// The users who may join the session and see its measurements.
  var audience: Audience { share == .everyone ? .everyone : .user(uid) }

  /// The session as clients see it.
  var shown: Chips.Session {
    var session = Chips.Session(
      id: id, state: state, share: share.rawValue,
      owners: owners.sorted { $0.key < $1.key }.map(\.value.shown))
    (session.address, session.counters) = (address, counters)
    return session
  }

  /// The chip's own address in the session.
  private var address: String? {
    profile.parameters(for: device.dialect).address?.description
  }

  /// Returns whether the session has a peer: its profile names the peer, or the peer was measured.
  func has(_ peer: MACAddress) -> Bool { peers.contains(peer) }

  /// Returns an event of the session.
  func event(
    _ kind: Chips.Event.Kind, user: Chips.User? = nil, reason: String? = nil,
    counters: Chips.Counters? = nil
  ) -> Chips.Event {
    Chips.Event(
      kind, chip: chip, sessionID: id, user: user, reason: reason, counters: counters)
  }

  /// Changes the users who may join the session and see its measurements.
  ///
  /// - Throws: `ServiceError` if programs of other users hold it, and would lose it.
  func change(_ share: Chips.Share) throws(ServiceError) {
    let others = owners.values.filter { !Audience.user(uid).includes($0) }
    guard share == .everyone || others.isEmpty else {
      throw .busy(
        chip, "Programs of other users hold session \(id).",
        advice: "Wait until they have ended; call List for the sessions.",
        owners: others.map(\.shown))
    }
    self.share = share
    owner?.shareChanged(self)
  }

  /// The reply to users who may not see the session.
  nonisolated var denial: ServiceError {
    .denied(
      "Session \(id) belongs to another user.",
      advice: "Take another session_id, or ask its owner to share it with everyone.")
  }

  /// Returns the parameters in which two profiles differ. Key values are omitted, and a missing
  /// parameter counts with its default.
  func differences(from other: SessionProfile) -> [Chips.Difference] {
    func text(_ profile: SessionProfile, _ id: AppConfigID) -> String? {
      profile.parameters.first { $0.id == id.rawValue }.map {
        id.isSecret ? "(hidden)" : id.form().text($0.value)
      }
    }
    let types = [profile.type, other.type].map { "\($0.rawValue)" }
    let sides = [profile, other].map { $0.parameters(for: device.dialect) }
    let ids = Set((profile.parameters + other.parameters).map(\.id)).sorted()
    let parameters = ids.compactMap { number -> Chips.Difference? in
      let id = AppConfigID(rawValue: number)
      let values = sides.map { $0[id] }
      if values[0] == values[1] { return nil }
      if values.contains(nil), let numbers = sides[0].number(id), numbers == sides[1].number(id) {
        return nil
      }
      return Chips.Difference(id.name, present: text(profile, id), wanted: text(other, id))
    }
    let rounds = [self.profile, other].map { "\($0.rounds)" }
    if self.profile.rounds != other.rounds {
      return [Chips.Difference("ROUNDS", present: rounds[0], wanted: rounds[1])] + parameters
    }
    guard types[0] != types[1] else { return parameters }
    return [Chips.Difference("SESSION_TYPE", present: types[0], wanted: types[1])] + parameters
  }

  func isEqual(to other: SessionProfile) -> Bool {
    profile == other || (id == other.sessionID && differences(from: other).isEmpty)
  }

  // MARK: owners

  /// The owner number of the service itself; connections have greater numbers.
  static let service = 0

  func add(_ owner: Int, _ user: PeerCredentials, linger: Duration) {
    lingering?.cancel()
    (lingering, returnEnd, longWaiter) = (nil, nil, nil)
    owners[owner] = user
    lingers[user.uid] = max(lingers[user.uid] ?? .zero, linger)
  }

  /// The ways in which an owner releases a session.
  enum Release {
    /// The owner called `Stop`.
    case asked
    /// The connection closed.
    case gone
    /// The service disconnected the client because the chip was lost. The client may return.
    case interrupted
  }

  /// Releases the session for an owner. The session ends with its last owner, or later if a program
  /// may return.
  func release(_ owner: Int, _ why: Release) {
    guard let user = owners.removeValue(forKey: owner) else { return }
    self.owner?.record(event(.sessionLeft, user: user.shown))
    if why == .interrupted { returnEnd = now + Self.longestOutage }
    if why == .asked, !owners.values.contains(where: { $0.uid == user.uid }) {
      lingers[user.uid] = nil
    }
    guard owners.isEmpty else { return }
    let left = returnEnd.map { $0 - now } ?? .zero
    endLater(after: max(left, why == .asked ? .zero : linger))
  }

  /// The time for which a session waits for disconnected programs while the chip is lost. Only
  /// `longWait` is longer.
  static let longestOutage = Duration.seconds(60)

  /// Sets the time for which the session waits for programs that were disconnected, if there are
  /// any.
  func awaitOwners(for time: Duration) {
    guard returnEnd != nil else { return }
    returnEnd = now + time
    if owners.isEmpty { endLater(after: max(time, linger)) }
  }

  /// The longest wait above `longestOutage` that a user has asked for and has not used up; nil for
  /// none.
  private var longWait: (user: UInt32, time: Duration)? {
    lingers.map { (user: $0.key, time: $0.value) }
      .filter { $0.time > Self.longestOutage && owner?.mayWaitLong(self, for: $0.user) == true }
      .max { ($0.time, $1.user) < ($1.time, $0.user) }
  }

  private func endLater(after time: Duration) {
    lingering?.cancel()
    guard time > .zero else { return end("Its last owner has released it.") }
    let long = time > Self.longestOutage ? longWait : nil
    longWaiter = long?.user
    let time = long?.time ?? min(time, Self.longestOutage)
    let isOver = Latch()
    let timer = clock.timer(time) { isOver.open() }
    lingering = Task {
      await withTaskCancellationHandler {
        await isOver.wait()
      } onCancel: {
        isOver.open()
      }
      timer.cancel()
      if !Task.isCancelled, owners.isEmpty { end("Its last owner has released it.") }
    }
  }

  /// Waits until the session ranges.
  ///
  /// - Throws: The error of the chip.
  func waitUntilStarted() async throws { token = try await started.value.session.token }

  func waitUntilEnded() async { await ending?.value }

  /// Ends the session on the chip.
  func end(_ reason: String, advice: String? = nil) {
    guard ending == nil else { return }
    lingering?.cancel()
    ending = Task {
      if let session = try? await started.value.session { try? await session.close() }
      owner?.sessionEnded(
        self, .sessionEnded(chip, sessionID: id, reason, advice: advice))
    }
  }

  // MARK: measurements

  private func measure() async {
    let (session, results): Started
    do { (session, results) = try await started.value } catch { return end("\(error)") }
    token = session.token
    isRanging = true
    owner?.record(
      event(.sessionStarted, user: owners.min { $0.key < $1.key }?.value.shown))
    // The nonisolated functions run on the reader thread of the chip, as long as that thread
    // exists.
    cause = await Task(executorPreference: device.executor) {
      await self.take(results, of: session)
    }.value
    end(cause?.description ?? "It was stopped.", advice: cause?.recoverySuggestion)
  }

  /// Consumes the rounds until the session ends.
  ///
  /// - Returns: The error that ended the session; nil if it was stopped.
  private nonisolated func take(
    _ results: Results, of session: UWBSession
  ) async -> DriverError? {
    do throws(DriverError) {
      // While the service is full, results wait in the stream, which counts the dropped ones.
      switch results {
      case .twoWay(let rounds):
        var summary = RangeSummary()
        for try await round in rounds {
          if ServiceActor.isFull { await ServiceActor.turn() }
          take(round, &summary)
        }
      case .oneWay(let messages):
        var summary = OneWaySummary()
        for try await message in messages {
          if ServiceActor.isFull { await ServiceActor.turn() }
          take(summary.add(message))
        }
      }
      return session.unexpectedEnd
    } catch { return error }
  }

  private nonisolated func take(_ row: OneWayRow) {
    ServiceActor.atOnceOrLater { [self, row] in
      if row.measurement.status.isSuccess { counters.measured += 1 } else { counters.failed += 1 }
      counters.missing += row.lostBefore
      let peer = row.measurement.peer
      if peers.count < Self.mostPeers { peers.insert(peer) }
      guard let owner, case let listeners = owner.listeners, !listeners.isEmpty else { return }
      owner.publish(
        published(
          peer, at: row.measurement.receivedAt, for: listeners, isOneWay: true
        ) { row.append(to: &$0, hasNulls: $1) })
    }
  }

  private nonisolated func take(_ round: EstimatedRound, _ summary: inout RangeSummary) {
    switch round {
    case .empty(let round): summary.add(round)
    case .estimate(let estimate):
      let measurement = estimate.measurement
      let first = summary.firstTime ?? measurement.receivedAt
      var row = RangeRow(
        seconds: Double(measurement.receivedAt - min(first, measurement.receivedAt)) / 1e9,
        measurement: measurement, computed: estimate,
        hasRSSI: device.dialect.generation >= .fira2)
      row.lostBefore = summary.add(row)
      ServiceActor.atOnceOrLater { [self, row] in
        counters.count(row)
        if peers.count < Self.mostPeers { peers.insert(row.result.peer) }
        guard let owner, case let listeners = owner.listeners, !listeners.isEmpty else { return }
        owner.publish(
          published(estimate.peer, at: measurement.receivedAt, for: listeners) {
            row.append(to: &$0, hasNulls: $1)
          })
      }
    }
  }

  /// Returns a measurement for the clients.
  ///
  /// - Parameters:
  ///   - time: The time of its arrival in nanoseconds of CLOCK_MONOTONIC.
  ///   - append: Appends it as JSON, with members that are null or without.
  private func published(
    _ peer: MACAddress, at time: UInt64, for listeners: Listeners, isOneWay: Bool = false,
    _ append: (inout JSONText, Bool) -> Void
  ) -> PublishedMeasurement {
    let origin = identity ?? owner?.origin(address: address).map { EncodedIdentity($0) }
    identity = origin
    let now = nanoseconds(of: CLOCK_MONOTONIC)
    let utc = nanoseconds(of: CLOCK_REALTIME) - (now - min(time, now))
    func reply(hasNulls: Bool) -> MeasurementReply {
      MeasurementReply(
        chip: chip, sessionID: id, monotonic: time / 1_000, utc: utc / 1_000,
        member: isOneWay ? "one_way" : "measurement"
      ) { append(&$0, hasNulls) }
    }
    return PublishedMeasurement(
      chip: chip, sessionID: id, peer: peer, time: time, audience: audience,
      event: owner?.lastEvent ?? 0, identity: origin, isOneWay: isOneWay,
      reply: reply(hasNulls: listeners.wantNulls),
      withoutNulls: listeners.wantNulls && listeners.wantNone ? reply(hasNulls: false) : nil)
  }

  /// Forgets the encoded origin after the names of the chip changed.
  func identityChanged() { identity = nil }
}

extension Chips.Counters {
  fileprivate mutating func count(_ row: RangeRow) {
    if row.result.status == .ok { measured += 1 } else { failed += 1 }
    missing += row.lostBefore
  }
}
