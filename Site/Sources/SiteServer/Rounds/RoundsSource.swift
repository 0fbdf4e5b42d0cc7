// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Starts the sessions of a plan at the services of this host, and keeps their rounds apart.
///
/// The measurements arrive separately, from the sources of these services.
package struct RoundsSource: LiveSource {
  private let folder: RoundsFolder
  private let makeChips: @Sendable () -> any RoundChips

  package init(_ folder: RoundsFolder) { self.init(folder) { ServiceChips() } }

  init(_ folder: RoundsFolder, chips: @escaping @Sendable () -> any RoundChips) {
    (self.folder, makeChips) = (folder, chips)
  }

  package func run(_ port: SourcePort) {
    _ = port.wait {
      let chips = makeChips()
      var loop = RoundsLoop(folder, chips)
      while !Task.isCancelled {
        let pause = await loop.turn(now: { port.now }, report: { port.send([$0]) })
        try? await Task.sleep(for: .seconds(pause))
      }
      await chips.close()
      return AttemptEnd(reason: "the run has ended", hasWorked: true)
    }
  }
}

/// Access to the chips of services, for keeping their rounds apart.
protocol RoundChips: Sendable {
  /// Returns the time of a chip in microseconds by its own clock.
  func reading(of end: RoundsFolder.End) async throws -> UInt64
  /// Starts a session: at a reading of the chip's clock, or at once without one.
  func start(_ end: RoundsFolder.End, reading: UInt64?) async throws
  /// Stops a session, if it runs.
  func stop(_ end: RoundsFolder.End) async
  func close() async
}

/// An error of a chip that is present, but has no clock to read. Other chips of its service
/// continue.
struct ChipRefusal: Error, CustomStringConvertible {
  let description: String
}

/// Carries out the orders of a keeper at real chips. The caller provides the time.
struct RoundsLoop {
  private static let (shortest, longest, retry) = (0.005, 1.0, 2.0)

  private let chips: any RoundChips
  private let controllers: [UInt32: RoundsFolder.End]
  private let controlees: [RoundsFolder.End]
  private(set) var keeper: RoundKeeper
  private var waiting: [RoundsFolder.End]
  private var nextAttempt = -Double.infinity
  /// The last problem of each end of a session.
  private var problems: [RoundsFolder.End: String] = [:]
  private var hasReported = false

  init(_ folder: RoundsFolder, _ chips: any RoundChips) {
    self.chips = chips
    keeper = RoundKeeper(folder.schedule)
    let own = folder.ends.filter(\.isController)
    controllers = Dictionary(own.map { ($0.session, $0) }) { one, _ in one }
    controlees = folder.ends.filter { !$0.isController }
    waiting = controlees
  }

  /// Carries out the due orders; returns the seconds until the next turn.
  mutating func turn(
    now: () -> Double, report: (SourceItem) -> Void
  ) async -> Double {
    if !waiting.isEmpty, now() >= nextAttempt { await startControlees(now(), report) }
    let (orders, next) = keeper.orders(at: now())
    for order in orders { await carryOut(order, now, report) }
    if !hasReported, problems.isEmpty, waiting.isEmpty, keeper.hasStartedAll {
      hasReported = true
      let count = (controllers.values + controlees).count { !isAbandoned($0) }
      guard count > 0 else { return Self.longest }
      report(.state(.connected(identity: "\(count) ends of sessions at this host")))
    }
    return min(Self.longest, max(Self.shortest, next - now()))
  }

  private mutating func startControlees(_ now: Double, _ report: (SourceItem) -> Void) async {
    var left: [RoundsFolder.End] = []
    for end in waiting {
      do {
        try await chips.start(end, reading: nil)
        problems[end] = nil
      } catch {
        left.append(end)
        note(error, end, report)
      }
    }
    (waiting, nextAttempt) = (left, now + Self.retry)
  }

  private mutating func carryOut(
    _ order: RoundKeeper.Order, _ now: () -> Double, _ report: (SourceItem) -> Void
  ) async {
    switch order {
    case .ask(let name):
      guard let end = controllers.values.first(where: { $0.node == name }) else { return }
      let asked = now()
      do {
        let reading = try await chips.reading(of: end)
        keeper.answer(name, asked: asked, answered: now(), reading: reading)
        problems[end] = nil
      } catch let refusal as ChipRefusal {
        keeper.refused(name)
        if keeper.isAbandoned(name) { await abandon(end.node, refusal, report) }
      } catch {
        note(error, end, report)
        lose(end, now())
      }
    case .start(let id, _, let reading, _):
      guard let end = controllers[id] else { return }
      await chips.stop(end)
      do {
        try await chips.start(end, reading: reading)
        problems[end] = nil
      } catch {
        note(error, end, report)
        keeper.failed(id, at: now())
      }
    }
  }

  private func isAbandoned(_ end: RoundsFolder.End) -> Bool {
    controllers[end.session].map { keeper.isAbandoned($0.node) } ?? false
  }

  /// Stops the controlees of a controller without a clock, and reports its sessions.
  private mutating func abandon(
    _ node: String, _ refusal: ChipRefusal, _ report: (SourceItem) -> Void
  ) async {
    waiting = waiting.filter { !isAbandoned($0) }
    for end in controlees where isAbandoned(end) { await chips.stop(end) }
    let sessions = controllers.values.filter { $0.node == node }.map(\.session).sorted()
    let list = sessions.map(String.init).joined(separator: ", ")
    report(
      .bad(
        """
        \(node), session \(list): \(refusal). Without it, the rounds cannot be kept apart from \
        others, and do not start. Plan them for another board
        """))
  }

  /// Restarts all sessions at the service of a chip that was away.
  private mutating func lose(_ end: RoundsFolder.End, _ now: Double) {
    let nodes = Set(controllers.values.filter { $0.service == end.service }.map(\.node))
    for node in nodes { keeper.lost(node, at: now) }
    waiting += controlees.filter {
      $0.service == end.service && !waiting.contains($0) && !isAbandoned($0)
    }
    (nextAttempt, hasReported) = (now + Self.retry, false)
  }

  private mutating func note(
    _ error: any Error, _ end: RoundsFolder.End, _ report: (SourceItem) -> Void
  ) {
    let reason = "\(end.node), session \(end.session): \(error)"
    guard problems.updateValue(reason, forKey: end) != reason else { return }
    report(.state(.interrupted(reason: reason, retryAfter: Self.retry)))
  }
}
