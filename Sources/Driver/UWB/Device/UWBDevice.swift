// SPDX-License-Identifier: Apache-2.0
public import Logging
package import System
public import UCI
import UCIReference
public import UWBLink

/// One UWB chip with a UCI connection, ready for sessions.
///
/// Several devices may be open in one process; each has its own reader thread.
public final class UWBDevice: Sendable {
  /// The address of the chip.
  public let endpoint: LinkEndpoint
  /// The chip's device information.
  public let info: DeviceInfo
  /// The capabilities that the chip reports.
  public let capabilities: [TLV]
  /// The oddities of this family of chips.
  public let profile: DeviceProfile
  /// The version and vendor of UCI on this chip.
  public let dialect: Dialect
  /// Whether the chip was reset when it was opened.
  public let wasReset: Bool

  let core: DeviceCore

  /// A callback that receives each packet, header included, before segments are joined. It gets the
  /// direction, the bytes, and the time in nanoseconds of CLOCK_MONOTONIC.
  ///
  /// A packet from the chip is passed on the reader thread after it was read. A packet to the chip
  /// is passed on the writing thread just before it is written, so a command comes before its
  /// answer. Both threads may call at the same time. A tap must not block, because nothing else is
  /// read meanwhile. The bytes are valid during the call only.
  public typealias PacketTap =
    @Sendable (_ direction: PacketDirection, _ packet: RawSpan, _ time: UInt64) -> Void

  /// The effect of opening on the sessions that are on the chip.
  public enum ResetPolicy: Sendable {
    /// The sessions end, because the chip is reset.
    case reset
    /// The sessions continue. The chip is identified, and reset only if it does not answer. Chips
    /// that need a vendor's command first have no sessions then. This policy is for examining a
    /// chip while another program ranges with it.
    case keepState
  }

  /// The options for opening a device.
  public struct Options: Sendable {
    /// The effect of opening on the sessions that are on the chip.
    public var resetPolicy = ResetPolicy.reset
    /// Whether the chip is used through a service (`uwbd`) if one holds it. False: the chip itself
    /// is opened, which fails while a service holds it.
    public var usesService = true
    /// The profile to use without detection, for a chip that does not answer before a vendor's
    /// command.
    public var profile: DeviceProfile?
    /// The logger for the driver's actions. Payloads and keys are never logged.
    public var logger: Logger
    /// The callback that receives every packet, keys included, for captures and diagnosis.
    public var tap: PacketTap?
    /// The policy for a device that is unplugged, fails or restarts by itself. Nil: streams and
    /// commands fail with the cause.
    public var recovery: RecoveryPolicy?
    /// The callback that receives the progress of loading the firmware, which `fw=` in the device's
    /// name refers to. Called on its own thread.
    package var firmwareProgress: (@Sendable (FirmwareProgress) -> Void)?
    /// Real-time priority (SCHED_FIFO) of the reader thread, 1...99; nil: ordinary scheduling.
    /// Opening fails where the system refuses it: see `ulimit -r`, LimitRTPRIO= of systemd,
    /// CAP_SYS_NICE.
    public var readerPriority: Int32?
    /// The board of an NXP chip; nil: the board that `board=` in the device's name refers to, or
    /// none.
    public var board: NXPBoard?
    /// The clock of all time-outs and pauses except for waits in the kernel.
    package var clock = AlarmClock.system

    /// Creates options with detection of the chip, and without logging, tap or recovery.
    public init(
      profile: DeviceProfile? = nil, logger: Logger? = nil, tap: PacketTap? = nil,
      recovery: RecoveryPolicy? = nil, resetPolicy: ResetPolicy = .reset
    ) {
      self.resetPolicy = resetPolicy
      self.profile = profile
      self.tap = tap
      self.recovery = recovery
      self.logger = logger ?? Logger(label: "uwb", factory: { _ in SwiftLogNoOpLogHandler() })
    }
  }

  /// Opens a device by its name, in any form that `LinkEndpoint(_:)` reads: `/dev/ttyACM0`,
  /// `usb:SERIAL`, `tcp:host:port`…
  ///
  /// - Throws: `DriverError`, with the link closed again.
  public static func open(
    _ name: String, options: Options = Options()
  ) async throws(DriverError) -> UWBDevice {
    let endpoint: LinkEndpoint
    do { endpoint = try LinkEndpoint(name) } catch { throw .link(error) }
    return try await open(endpoint, options: options)
  }

  /// Opens a device: finds the boundary between frames, resets the chip (`Options.resetPolicy`),
  /// and reads its identity and capabilities. A chip that a service shares among programs is used
  /// through the service (`Options.usesService`), and has the sessions of this program only.
  /// Cancellation ends this at once, with the code `cancelled` of `linkError`.
  ///
  /// - Throws: `DriverError`, with the link closed again.
  public static func open(
    _ endpoint: LinkEndpoint, options: Options = Options()
  ) async throws(DriverError) -> UWBDevice {
    let endpoint = try await options.usesService ? endpoint.shared() : endpoint
    guard endpoint.firmware != nil, options.resetPolicy == .keepState else {
      return try await open(endpoint, options, loadsFirmware: true)
    }
    // A running chip keeps its sessions. If it does not answer, it is loaded with its firmware
    // first.
    do throws(DriverError) {
      return try await open(endpoint, options, loadsFirmware: false)
    } catch {
      guard error.code == .noAnswer || error.code == .link else { throw error }
      var options = options
      options.resetPolicy = .reset
      return try await open(endpoint, options, loadsFirmware: true)
    }
  }

  private static func open(
    _ endpoint: LinkEndpoint, _ options: Options, loadsFirmware: Bool
  ) async throws(DriverError) -> UWBDevice {
    let core = try await start(endpoint, options, loadsFirmware: loadsFirmware)
    let opened = await withTaskCancellationHandler {
      await attempt { () async throws(DriverError) in
        let profile = options.profile ?? .expected(at: endpoint)
        let home = try await core.home(of: endpoint)
        let identity = try await core.handshake.run(profile, options.resetPolicy)
        core.run(identity, home: home)
        return UWBDevice(endpoint, core, identity)
      }
    } onCancel: {
      // Commands wait for answers even in cancelled tasks, because these tasks have to end
      // sessions. So the core fails the waiting commands.
      core.abandon(.link(LinkError(.cancelled, endpoint: endpoint.description)))
    }
    guard case .failure(let error) = opened else { return try opened.get() }
    core.shutDown()
    await core.waitUntilClosed()
    throw error.at(endpoint)
  }

  /// Starts a device. This is a separate function, so that only the core refers to the link
  /// afterwards.
  private static func start(
    _ endpoint: LinkEndpoint, _ options: Options, loadsFirmware: Bool
  ) async throws(DriverError) -> DeviceCore {
    // An unknown board is an error before the chip is opened.
    let named = try endpoint.namedBoard()
    let link = try await endpoint.openLink(
      loadsFirmware: loadsFirmware, progress: options.firmwareProgress)
    do { return try DeviceCore(link, options, options.board ?? named) } catch { throw .link(error) }
  }

  /// The error because of which a session may still be on the chip: it was closed, or not made in
  /// time. Nil for none.
  package var remainingSession: DriverError? { core.remaining }

  /// Whether the device is recovered after a loss: see `Options.recovery`.
  package var isRecoverable: Bool { core.recovery != nil }

  /// The cause of the loss while the device is being recovered; nil otherwise.
  package var outage: DriverError? { core.outage }

  private init(_ endpoint: LinkEndpoint, _ core: DeviceCore, _ identity: Handshake.Identity) {
    self.endpoint = endpoint
    self.core = core
    info = identity.info
    capabilities = identity.capabilities
    profile = identity.profile
    dialect = identity.dialect
    wasReset = identity.wasReset
  }

  deinit { core.shutDown() }

  /// Stops and removes every session, then closes the link. Does nothing if called again.
  ///
  /// - Parameter limit: The time that the chip may take to end its sessions. After it, the link is
  ///   closed anyway, and all waiting calls fail with `closed`.
  public func close(within limit: Duration = .seconds(10)) async {
    let timer = core.clock.timer(limit) { [core] in core.shutDown() }
    await core.endAll()
    timer.cancel()
    core.shutDown()
    await core.waitUntilClosed()
  }

  /// A stream of the device's events from now on, without measurements. There may be any number of
  /// subscribers.
  public var events: AsyncStream<DeviceEvent> { core.broadcast.subscribe(.bufferingNewest(256)) }

  /// The executor that runs tasks on the reader thread, between frames. A `for await` over
  /// measurements in `Task(executorPreference: device.executor)` wakes no other thread. Such a task
  /// must not block.
  public var executor: any TaskExecutor { core.reader }

  /// The statistics of the link since it was opened.
  public var statistics: LinkStatistics { core.engine.statistics }

  /// The state that the chip last reported.
  public var state: DeviceState? { core.engine.chip.device }

  /// Sends any command and returns its answer with any status.
  package func send<C: UCICommand>(_ command: C) async throws(DriverError) -> C.Response {
    try await core.engine.send(command)
  }

  /// Sends a command that this library may not define, and returns the payload of its response,
  /// which begins with a status.
  ///
  /// - Parameters:
  ///   - opcode: The group and the number of the command.
  ///   - payload: At most 255 bytes.
  /// - Throws: `DriverError`.
  public func send(_ opcode: Opcode, payload: [UInt8]) async throws(DriverError) -> [UInt8] {
    let header = PacketHeader(.command, opcode, payloadLength: payload.count)
    return try await core.engine.sendRaw(header.encoded() + payload)
  }

  // MARK: sessions

  /// Creates a session and configures it. Returns when the chip reports IDLE: ready to start. If
  /// the device is lost during the call, waits for its recovery (`Options.recovery`). Cancellation
  /// ends the call as soon as the chip has created the session, with the code `cancelled` of
  /// `linkError`.
  ///
  /// - Parameters:
  ///   - configuration: One end of the session.
  ///   - checked: Whether the configuration is checked first, against the rules of the protocol and
  ///     the chip's capabilities; false: it is sent unchanged. A value that the capabilities
  ///     exclude is only logged as a warning.
  /// - Throws: `DriverError`, with the session removed from the chip again;
  ///   `.configurationProblems` with everything that was found before anything was sent.
  public func makeSession(
    _ configuration: SessionConfiguration, checked: Bool = true
  ) async throws(DriverError) -> UWBSession {
    try await makeSession(configuration, checked: checked, awaitsRecovery: true)
  }

  /// - Parameter awaitsRecovery: whether to wait for the recovery if the device is lost during the
  ///   call; false: throws the loss at once.
  package func makeSession(
    _ configuration: SessionConfiguration, checked: Bool = true, awaitsRecovery: Bool
  ) async throws(DriverError) -> UWBSession {
    if checked {
      let problems = configuration.problems(
        for: dialect, capabilities: Capabilities(capabilities))
      guard problems.errors.isEmpty else { throw .configurationProblems(problems.errors) }
      for warning in problems.warnings { core.logger.warning("\(warning)") }
    }
    return try await makeSession(SessionRecord(configuration: configuration), awaitsRecovery)
  }

  /// Creates a session on an NXP chip from an app's data (SET_PROFILE), which the chip decodes.
  /// Returns when the chip reports IDLE: ready to start.
  ///
  /// - Parameters:
  ///   - profile: the data, sent to the chip unchanged.
  ///   - configuration: the description of the session for this program; it is not sent.
  /// - Throws: `DriverError`, with the session removed from the chip again.
  package func makeSession(
    from profile: NXPSetProfile, as configuration: SessionConfiguration
  ) async throws(DriverError) -> UWBSession {
    try await makeSession(SessionRecord(configuration: configuration, profile: profile), false)
  }

  private func makeSession(
    _ record: SessionRecord, _ awaitsRecovery: Bool
  ) async throws(DriverError) -> UWBSession {
    let session = UWBSession(device: self, record: record)
    do throws(DriverError) { try await core.make(record, awaitsRecovery: awaitsRecovery) } catch {
      try? await session.close()
      throw error
    }
    return session
  }

  /// Creates a session and lends it to `body`. Stops and removes it in any case: after a return, an
  /// error or a cancellation.
  ///
  /// - Parameters:
  ///   - configuration: One end of the session.
  ///   - checked: As in `makeSession`.
  ///   - body: The work with the session.
  /// - Throws: `DriverError` as `any Error`, or the error of `body`.
  public nonisolated(nonsending) func withSession<R: Sendable>(
    _ configuration: SessionConfiguration, checked: Bool = true,
    _ body: nonisolated(nonsending) (UWBSession) async throws -> R
  ) async throws -> R {
    let session = try await makeSession(configuration, checked: checked)
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

  /// Ranges in a new session. Creates and starts it, and lends a stream of its estimates to `body`.
  /// Stops and removes it in any case.
  ///
  /// - Parameters:
  ///   - configuration: One end of the session.
  ///   - settings: The assumptions of the estimates, from a calibration for example.
  ///   - body: The work with the estimates.
  /// - Throws: `DriverError` as `any Error`, or the error of `body`.
  public nonisolated(nonsending) func range<R: Sendable>(
    with configuration: SessionConfiguration, settings: EstimationSettings = EstimationSettings(),
    _ body: nonisolated(nonsending) (RangingStream<EstimatedMeasurement>) async throws -> R
  ) async throws -> R {
    try await withSession(configuration) { session in
      let stream = session.estimates(settings)
      try await session.start()
      return try await body(stream)
    }
  }
}
