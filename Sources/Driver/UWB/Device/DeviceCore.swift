// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI
internal import UWBLink

/// The parts of a device and their shared state. Owned by `UWBDevice`; the reader thread and the
/// recovering task refer to it, too.
final class DeviceCore: Sendable {
  /// The phases of a device.
  enum Phase {
    /// The chip has not been identified yet.
    case opening
    case running
    /// The device is lost, and the task recovers it. The error is the first cause.
    case recovering(Task<Void, Never>, DriverError)
    case ended
  }

  struct State {
    var phase = Phase.opening
    var sessions: [SessionRecord] = []
    var identity: Handshake.Identity?
    /// The place at which the same device is expected to return.
    var home: ReconnectTarget?
    var isVerifying = false
    /// The task that queries chips which have become silent.
    var watch: Task<Void, Never>?
    /// The number of losses of the device.
    var losses = 0
    /// Opens when the last link has been closed.
    var linkClosed: Latch?
    /// Sessions that their owners closed while the device was being recovered.
    var closed: [SessionRecord] = []
    /// The error because of which an abandoned session may still be on the chip.
    var remaining: DriverError?
  }

  let engine: CommandEngine
  let router: MessageRouter
  let reader: FrameReader
  let broadcast = Broadcast<DeviceEvent>()
  let logger: Logger
  let clock: AlarmClock
  let recovery: RecoveryPolicy?
  let board: NXPBoard?
  private let isChipStarted: Bool
  let state = Locked(State())

  init(
    _ link: Link, _ options: UWBDevice.Options, _ board: NXPBoard? = nil
  ) throws(LinkError) {
    let broadcast = broadcast
    let report: @Sendable (DeviceEvent) -> Void = { broadcast.send($0) }
    let core = WeakReference<DeviceCore>()
    let engine = CommandEngine(
      link: link, logger: options.logger, clock: options.clock, tap: options.tap,
      callbacks: .init(
        deviceLost: { core.value?.handleLoss($0) },
        stateSuspect: { core.value?.verifySessions() },
        dataReceived: { core.value?.receive($0) }),
      report: report)
    let router = MessageRouter(
      engine: engine, sessionEnded: { core.value?.rangingEnded($0) }, report: report)
    var handler: FrameReader.Handler = { router.receive($0, $1) }
    if let tap = options.tap {
      handler = {
        tap(.inbound, $0, $1.receivedAt)
        router.receive($0, $1)
      }
    }
    self.engine = engine
    self.router = router
    logger = options.logger
    clock = options.clock
    recovery = options.recovery
    self.board = board
    isChipStarted = link.endpoint.startsChip
    reader = FrameReader(
      link, staysForNextLink: options.recovery != nil, handler: handler,
      ended: { core.value?.linkEnded($0) })
    core.value = self
    try reader.start(priority: options.readerPriority)
  }

  /// Returns the place at which the device will return, or nil without recovery. The device has to
  /// be present for this.
  func home(of endpoint: LinkEndpoint) async throws(DriverError) -> ReconnectTarget? {
    guard recovery != nil else { return nil }
    do { return try await ReconnectTarget.find(endpoint, connector: Link.serviceConnector) } catch {
      throw .link(error)
    }
  }

  func run(_ identity: Handshake.Identity, home: ReconnectTarget?) {
    state.withLock { state in
      state.identity = identity
      state.home = home
      guard case .opening = state.phase else { return }
      state.phase = .running
    }
  }

  var handshake: Handshake {
    Handshake(
      engine: engine, router: router, reader: reader, board: board,
      isChipStarted: isChipStarted, logger: logger)
  }

  /// Ends a session and its streams permanently.
  func finish(_ record: SessionRecord, _ error: DriverError?) {
    record.markOver()
    router.finish(record, error)
    record.finishData()
  }

  func shutDown() { end(.closed, streams: nil, link: nil) }

  func abandon(_ error: DriverError) {
    end(error, streams: error, link: error.linkError)
  }

  private func end(_ error: DriverError, streams: DriverError?, link: LinkError?) {
    let phase = state.withLock { state in
      defer { state.phase = .ended }
      return state.phase
    }
    if case .ended = phase { return }
    if case .recovering(let task, _) = phase { task.cancel() }
    state.withLock { $0.watch.take() }?.cancel()
    engine.end(error)
    router.finish(nil, streams)
    for record in sessions { record.finishData() }
    if let link { broadcast.send(.disconnected(link)) }
    broadcast.finish()
    // The port is released now, although callers may keep the device object longer.
    let link = engine.state.withLock { $0.link }
    link?.willClose()
    reader.stop()
    state.withLock { $0.linkClosed = link?.closed }
    engine.attach(nil)
  }

  /// Waits, after the end of the device, until the port can be opened again.
  func waitUntilClosed() async {
    await reader.stopped.wait()
    await state.withLock { $0.linkClosed }?.wait()
  }
}

/// A weak reference that can be set after the holder was passed on.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private struct Reference { weak var object: Object? }
  private let reference = Locked(Reference())

  var value: Object? {
    get { reference.withLock { $0.object } }
    set { reference.withLock { $0.object = newValue } }
  }
}
