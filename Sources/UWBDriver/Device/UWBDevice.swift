// SPDX-License-Identifier: Apache-2.0
public import Logging
internal import Locking
public import UCI
public import UWBLink

/// One UWB chip that speaks UCI, ready for sessions.
///
/// Several devices may be open in one process; each has its own reader thread.
public final class UWBDevice: Sendable {
  /// Where the chip is.
  public let endpoint: LinkEndpoint
  /// What the chip said about itself.
  public let info: DeviceInfo
  /// What the chip can do, as it said it.
  public let capabilities: [TLV]
  /// The oddities of this family of chips.
  public let profile: DeviceProfile
  /// How this chip speaks UCI.
  public let dialect: Dialect

  let engine: Engine
  let router: MessageRouter
  private let link: Link
  private let reader: FrameReader
  private let broadcast: EventBroadcast
  // Tokens, not sessions: a session holds its device.
  private let sessions = Locked<Set<UInt32>>([])
  private let logger: Logger

  /// Sees each packet, header included, before segments are joined: which way it goes, its octets,
  /// and when, as CLOCK_MONOTONIC in nanoseconds.
  ///
  /// A packet from the chip is seen on the reader's thread when it has been read, a packet to the
  /// chip on the writer's thread just before it is written, so that a command comes before its
  /// answer; both can happen at the same time. Nothing else is read meanwhile: a tap must not wait
  /// for anything. The octets are lent for the call only.
  public typealias PacketTap =
    @Sendable (_ direction: PacketDirection, _ packet: RawSpan, _ time: UInt64) -> Void

  /// How a device is opened.
  public struct Options: Sendable {
    /// Taken as given instead of found out, for a chip that says nothing before the vendor's
    /// command.
    public var profile: DeviceProfile?
    /// Where the driver writes what it does. Payloads and keys are never in it.
    public var logger: Logger
    /// Sees every packet, keys included, for captures and diagnosis.
    public var tap: PacketTap?

    /// Everything found out; nothing logged, nothing tapped.
    public init(profile: DeviceProfile? = nil, logger: Logger? = nil, tap: PacketTap? = nil) {
      self.profile = profile
      self.tap = tap
      self.logger = logger ?? Logger(label: "uwb", factory: { _ in SwiftLogNoOpLogHandler() })
    }
  }

  /// Opens a device: finds the boundary between frames, resets the chip, asks who it is and what it
  /// can do.
  ///
  /// - Throws: `DriverError`, with the link closed again.
  public static func open(
    _ endpoint: LinkEndpoint, options: Options = Options()
  ) async throws(DriverError) -> UWBDevice {
    let link: Link
    do { link = try Link(endpoint) } catch { throw .link(error) }
    let parts = Parts(link, options)
    do throws(DriverError) {
      let identity = try await Handshake(
        engine: parts.engine, link: link, router: parts.router, reader: parts.reader,
        logger: options.logger
      ).run(options.profile)
      return UWBDevice(parts, identity, options.logger)
    } catch {
      parts.reader.stop()
      throw error
    }
  }

  /// What has to exist before the chip has been asked anything.
  private struct Parts {
    let link: Link
    let broadcast = EventBroadcast()
    let engine: Engine
    let router: MessageRouter
    let reader: FrameReader

    init(_ link: Link, _ options: Options) {
      self.link = link
      let broadcast = broadcast
      let engine = Engine(link: link, logger: options.logger, tap: options.tap) {
        broadcast.send($0)
      }
      let router = MessageRouter(engine: engine) { broadcast.send($0) }
      self.engine = engine
      self.router = router
      var handler: FrameReader.Handler = { router.receive($0, $1) }
      if let tap = options.tap {
        handler = {
          tap(.inbound, $0, $1.receivedAt)
          router.receive($0, $1)
        }
      }
      reader = FrameReader(
        link, handler: handler,
        ended: { error in
          options.logger.warning("link ended", metadata: ["cause": "\(error)"])
          engine.end(.link(error))
          router.finish(session: nil, .link(error))
          broadcast.send(.disconnected(error))
          broadcast.finish()
        })
      reader.start()
    }
  }

  private init(_ parts: Parts, _ identity: Handshake.Identity, _ logger: Logger) {
    link = parts.link
    endpoint = parts.link.endpoint
    engine = parts.engine
    router = parts.router
    reader = parts.reader
    broadcast = parts.broadcast
    info = identity.info
    capabilities = identity.capabilities
    profile = identity.profile
    dialect = identity.dialect
    self.logger = logger
  }

  deinit { shutDown() }

  private func shutDown() {
    reader.stop()
    engine.end(.closed)
    router.finish(session: nil, nil)
    broadcast.finish()
  }

  /// Stops and removes every session, then closes the link. Does nothing the second time.
  public func close() async {
    for token in sessions.withLock({ $0 }) {
      do {
        try await end(session: token)
      } catch {
        logger.warning("session not closed", metadata: ["cause": "\(error)"])
      }
    }
    shutDown()
  }

  /// What the device reports beside measurements, from now on. Any number of takers.
  public var events: AsyncStream<DeviceEvent> { broadcast.subscribe() }

  /// Runs tasks on the reader's thread, between frames: a `for await` over measurements in
  /// `Task(executorPreference: device.executor)` costs no wake of another thread. Such a task must
  /// not block.
  public var executor: any TaskExecutor { reader }

  /// What the link has seen since it was opened.
  public var statistics: Link.Statistics { link.statistics }

  /// The state the chip last reported.
  public var state: DeviceState? { engine.chip.device }

  /// Sends any command and returns its answer, whatever the status in it.
  ///
  /// - Throws: `DriverError`.
  public func send<C: UCICommand>(_ command: C) async throws(DriverError) -> C.Response {
    try await engine.send(command)
  }

  // MARK: sessions

  /// Creates a session and configures it; the chip reports IDLE when it could start.
  ///
  /// - Throws: `DriverError`, with the session removed from the chip again.
  public func makeSession(
    _ configuration: SessionConfiguration
  ) async throws(DriverError) -> UWBSession {
    try configuration.validate()
    let response = try await engine.request(SessionInit(sessionID: configuration.sessionID))
    let record = SessionRecord(
      configuration: configuration, token: response.handle ?? configuration.sessionID)
    let session = UWBSession(device: self, record: record)
    _ = sessions.withLock { $0.insert(session.token) }
    do throws(DriverError) {
      try await session.configure(configuration.parameters(for: dialect.generation))
      let token = session.token
      let chip = try await engine.wait(milliseconds: profile.stateTimeout) {
        $0.sessions[token]?.state == .idle
      }
      guard chip != nil else {
        throw .stateNotReached(expected: .idle, last: session.state)
      }
    } catch {
      try? await session.close()
      throw error
    }
    return session
  }

  /// Creates a session, lends it to `body`, and stops and removes it whatever happens in there:
  /// return, error or cancellation.
  ///
  /// - Throws: `DriverError` as `any Error`, or what `body` throws.
  public nonisolated(nonsending) func withSession<R: Sendable>(
    _ configuration: SessionConfiguration,
    _ body: nonisolated(nonsending) (UWBSession) async throws -> R
  ) async throws -> R {
    let session = try await makeSession(configuration)
    let result: R
    do {
      result = try await body(session)
    } catch {
      try? await session.close()
      throw error
    }
    try await session.close()
    return result
  }

  func stop(session token: UInt32) async throws(DriverError) {
    guard engine.chip.sessions[token]?.state == .active else { return }
    let response = try await engine.send(SessionStop(sessionToken: token))
    let chip = try await engine.wait(milliseconds: profile.stateTimeout) {
      $0.sessions[token]?.state != .active
    }
    // It may have ended by itself just before; what counts is that it no longer ranges.
    guard chip != nil else {
      throw response.status == .ok
        ? .stateNotReached(expected: .idle, last: .active)
        : .refused(command: "SESSION_STOP_CMD", response.status)
    }
  }

  func end(session token: UInt32) async throws(DriverError) {
    guard sessions.withLock({ $0.remove(token) != nil }) else { return }
    var failure: DriverError?
    do { try await stop(session: token) } catch { failure = error }
    defer {
      router.finish(session: token, failure)
      engine.forget(token)
    }
    let response = try await engine.send(SessionDeinit(sessionToken: token))
    guard response.status == .ok || response.status == .sessionNotExist else {
      throw .refused(command: "SESSION_DEINIT_CMD", response.status)
    }
    _ = try await engine.wait(milliseconds: profile.stateTimeout) {
      $0.sessions[token]?.state == .deinitialised
    }
  }
}
