// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import UCI
import UCIReference
import UWB
import UWBLab

/// A session on a chip, and the programs that hold it. It ends with the last of them.
@ServiceActor final class SharedSession {
  /// Who may join it and see its measurements.
  enum Share: String {
    case user, everyone
  }

  /// What it tells the service.
  struct Reports {
    /// Whether anybody wants to know what is measured.
    var isHeard: @ServiceActor () -> Bool
    var measured: @ServiceActor (SharedSession, PublishedMeasurement) -> Void
    /// It is no longer on the chip; the reason for those who watch it.
    var ended: @ServiceActor (SharedSession, Refusal) -> Void
  }

  private typealias Started = (session: UWBSession, rounds: RangingStream<EstimatedRound>)

  nonisolated let chip: String
  nonisolated let profile: SessionProfile
  nonisolated let share: Share
  /// The user who started it.
  private let uid: UInt32
  private let device: UWBDevice
  private let reports: Reports
  private let started: Task<Started, any Error>

  /// The programs that hold it, by the numbers of their connections.
  private(set) var owners: [Int: PeerCredentials] = [:]
  /// How long it stays after the last of them has gone.
  private var linger: Duration = .zero
  private var lingering: Task<Void, Never>?
  /// Whether the last of them was disconnected because the chip was lost.
  private var isInterrupted = false
  private var ending: Task<Void, Never>?
  private var isRanging = false
  /// What the chip calls it; nil: it is not there yet.
  private(set) var token: UInt32?
  /// Why it has ended by itself.
  private(set) var cause: DriverError?

  /// Starts it on the chip.
  init(
    chip: String, _ device: UWBDevice, _ profile: SessionProfile, share: Share, uid: UInt32,
    _ reports: Reports
  ) {
    (self.chip, self.device, self.profile) = (chip, device, profile)
    (self.share, self.uid, self.reports) = (share, uid, reports)
    started = Task {
      let configuration = try SessionConfiguration(
        sessionID: profile.sessionID, profile.parameters(for: device.dialect))
      let session = try await device.makeSession(configuration, awaitsRecovery: false)
      let rounds = session.estimatedRounds(EstimationSettings(), capacity: 1_024)
      do { try await session.start(awaitsRecovery: false) } catch {
        try? await session.close()
        throw error
      }
      return (session, rounds)
    }
    Task { await measure() }
  }

  nonisolated var id: UInt32 { profile.sessionID }
  var isEnding: Bool { ending != nil }

  /// In the interface.
  var state: String {
    if isEnding { return "ending" }
    guard isRanging else { return "starting" }
    return owners.isEmpty ? "waiting" : "ranging"
  }

  func isVisible(to user: PeerCredentials) -> Bool {
    share == .everyone || user.uid == uid || user.uid == 0
  }

  /// In what another profile differs; the values of keys are not told. A parameter that is not given has
  /// its default.
  func differences(from other: SessionProfile) -> [JSONLine] {
    func text(_ profile: SessionProfile, _ id: AppConfigID) -> String? {
      profile.parameters.first { $0.id == id.rawValue }.map {
        id.isSecret ? "(hidden)" : id.form().text($0.value)
      }
    }
    let types = [profile.type, other.type].map { "\($0.rawValue)" }
    let sides = [profile, other].map { $0.parameters(for: device.dialect) }
    let ids = Set((profile.parameters + other.parameters).map(\.id)).sorted()
    let parameters = ids.compactMap { number -> JSONLine? in
      let id = AppConfigID(rawValue: number)
      let values = sides.map { $0[id] }
      if values[0] == values[1] { return nil }
      if values.contains(nil), let numbers = sides[0].number(id), numbers == sides[1].number(id) {
        return nil
      }
      return ["parameter": id.name, "present": text(profile, id), "wanted": text(other, id)]
    }
    guard types[0] != types[1] else { return parameters }
    return [["parameter": "SESSION_TYPE", "present": types[0], "wanted": types[1]]] + parameters
  }

  func isEqual(to other: SessionProfile) -> Bool {
    profile == other || (id == other.sessionID && differences(from: other).isEmpty)
  }

  // MARK: owners

  /// The service itself as an owner; connections have other numbers.
  static let service = 0

  func add(_ owner: Int, _ user: PeerCredentials, linger: Duration) {
    lingering?.cancel()
    (lingering, isInterrupted) = (nil, false)
    owners[owner] = user
    self.linger = max(self.linger, linger)
  }

  /// Why a program no longer holds a session.
  enum Release {
    /// It has asked for that.
    case asked
    /// Its connection has ended.
    case gone
    /// The service has disconnected it because the chip was lost, and expects it again.
    case interrupted
  }

  func release(_ owner: Int, _ why: Release) {
    guard owners.removeValue(forKey: owner) != nil, owners.isEmpty else { return }
    switch why {
    case .interrupted: isInterrupted = true
    case .gone where linger > .zero: endLater(after: linger)
    case .asked, .gone: end("Nobody holds it any more.")
    }
  }

  /// Begins to wait for programs that were disconnected, as the chip is back.
  func awaitOwners(for time: Duration) {
    if isInterrupted, owners.isEmpty { endLater(after: max(time, linger)) }
  }

  private func endLater(after time: Duration) {
    lingering = Task {
      try? await Task.sleep(for: time)
      if !Task.isCancelled { end("Nobody holds it any more.") }
    }
  }

  /// - Throws: what the chip says against it.
  func waitUntilStarted() async throws { token = try await started.value.session.token }

  func waitUntilEnded() async { await ending?.value }

  /// Ends it on the chip.
  func end(_ reason: String, advice: String? = nil) {
    guard ending == nil else { return }
    lingering?.cancel()
    ending = Task {
      if let session = try? await started.value.session { try? await session.close() }
      reports.ended(self, .sessionEnded(chip, id, reason, advice))
    }
  }

  // MARK: measurements

  private func measure() async {
    guard let (session, rounds) = try? await started.value else {
      return end("It could not be started.")
    }
    token = session.token
    isRanging = true
    // Its functions that are not the actor's run on the thread that reads from the chip, as long as there
    // is one.
    cause = await Task(executorPreference: device.executor) {
      await self.take(rounds, of: session)
    }.value
    end(cause?.description ?? "It was stopped.", advice: cause?.recoverySuggestion)
  }

  /// - Returns: why it has ended by itself.
  private nonisolated func take(
    _ rounds: RangingStream<EstimatedRound>, of session: UWBSession
  ) async -> DriverError? {
    var summary = RangeSummary()
    do throws(DriverError) {
      for try await round in rounds { take(round, &summary) }
      return session.unexpectedEnd
    } catch { return error }
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
        if reports.isHeard() { publish(row, of: estimate) }
      }
    }
  }

  private func publish(_ row: RangeRow, of estimate: EstimatedMeasurement) {
    let time = estimate.measurement.receivedAt
    let now = nanoseconds(of: CLOCK_MONOTONIC)
    let members: JSONLine = [
      "chip": chip, "session_id": id, "monotonic_us": time / 1_000,
      "utc_us": (nanoseconds(of: CLOCK_REALTIME) - (now - min(time, now))) / 1_000,
      "measurement": RangeRow.json.object(row),
    ]
    reports.measured(
      self,
      PublishedMeasurement(
        chip: chip, sessionID: id, peer: estimate.peer,
        members: String(members.json.dropFirst().dropLast())))
  }
}
