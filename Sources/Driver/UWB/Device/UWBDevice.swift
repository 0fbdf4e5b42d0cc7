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

  /// Receives each packet, header included, before segments are joined: its direction, its bytes,
  /// and its time as CLOCK_MONOTONIC in nanoseconds.
  ///
  /// A packet from the chip is passed on the reader thread when it has been read. A packet to the
  /// chip is passed on the writing thread just before it is written, so a command comes before its
  /// answer; both can happen at the same time. Nothing else is read meanwhile: a tap must not
  /// block. The bytes are lent for the call only.
  public typealias PacketTap =
    @Sendable (_ direction: PacketDirection, _ packet: RawSpan, _ time: UInt64) -> Void

  /// The effect of opening on the sessions that are on the chip.
  public enum ResetPolicy: Sendable {
    /// They end: the chip is reset.
    case reset
    /// They continue. The chip is identified, and reset only if it does not answer (chips that need
    /// a vendor's command first have no sessions to lose). For examining a chip while another
    /// program's session runs on it.
    case keepState
  }

  /// The options for opening a device.
  public struct Options: Sendable {
    /// The treatment of sessions that are on the chip.
    public var resetPolicy = ResetPolicy.reset
    /// Whether a service that holds the chip (`uwbd`) is used in place of the chip. False: the chip
    /// itself is opened, which fails while a service holds it.
    public var usesService = true
    /// A fixed profile instead of a detected one, for a chip that sends nothing before the vendor's
    /// command.
    public var profile: DeviceProfile?
    /// The logger for the driver's actions. Payloads and keys are never logged.
    public var logger: Logger
    /// Receives every packet, keys included, for captures and diagnosis.
    public var tap: PacketTap?
    /// The policy for a device that is unplugged, fails or restarts by itself. Nil: streams and
    /// commands fail with the cause.
    public var recovery: RecoveryPolicy?
    /// Receives the progress of loading the firmware named by `fw=` in the device's name, on its
    /// own thread.
    package var firmwareProgress: (@Sendable (FirmwareProgress) -> Void)?
    /// Real-time priority (SCHED_FIFO) of the reader thread, 1...99; nil: ordinary scheduling.
    /// Opening fails where the system refuses it: see `ulimit -r`, LimitRTPRIO= of systemd,
    /// CAP_SYS_NICE.
    public var readerPriority: Int32?
    /// The board around an NXP chip; nil: the board named by `board=` in the device's name, or
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
    // A running chip keeps its sessions; a stopped one has no firmware yet.
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
      // Commands wait for their answers in cancelled tasks, too: sessions have to end there.
      core.abandon(.link(LinkError(.cancelled, endpoint: endpoint.description)))
    }
    guard case .failure(let error) = opened else { return try opened.get() }
    core.shutDown()
    await core.waitUntilClosed()
    throw error.at(endpoint)
  }

  /// Starts a device, in a function of its own so that afterwards only the core refers to the link.
  private static func start(
    _ endpoint: LinkEndpoint, _ options: Options, loadsFirmware: Bool
  ) async throws(DriverError) -> DeviceCore {
    // This comes first: an unknown board has no effect on the chip.
    let named = try endpoint.namedBoard()
    let link = try await endpoint.openLink(
      loadsFirmware: loadsFirmware, progress: options.firmwareProgress)
    do { return try DeviceCore(link, options, options.board ?? named) } catch { throw .link(error) }
  }

  /// The reason why the chip may still have a session that was closed, or not made in time; nil for
  /// none.
  package var remainingSession: DriverError? { core.remaining }

  /// Whether the device is recovered after a loss: see `Options.recovery`.
  package var isRecoverable: Bool { core.recovery != nil }

  /// The cause of the loss while the device is lost and may return; nil while it works.
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

  /// Stops and removes every session, then closes the link. Does nothing the second time.
  ///
  /// - Parameter limit: The time that the chip may take to end its sessions. Then the link is
  ///   closed anyway, and everything that waits for the chip fails with `closed`.
  public func close(within limit: Duration = .seconds(10)) async {
    let timer = core.clock.timer(limit) { [core] in core.shutDown() }
    await core.endAll()
    timer.cancel()
    core.shutDown()
    await core.waitUntilClosed()
  }

  /// The events of the device beside measurements, from now on. Any number of subscribers.
  public var events: AsyncStream<DeviceEvent> { core.broadcast.subscribe(.bufferingNewest(256)) }

  /// Runs tasks on the reader thread, between frames: a `for await` over measurements in
  /// `Task(executorPreference: device.executor)` costs no wake of another thread. Such a task must
  /// not block.
  public var executor: any TaskExecutor { core.reader }

  /// The statistics of the link since it was opened.
  public var statistics: LinkStatistics { core.engine.statistics }

  /// The state the chip last reported.
  public var state: DeviceState? { core.engine.chip.device }

  /// Sends any command and returns its answer, for any status in it.
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

  /// Creates a session and configures it; the chip reports IDLE when it could start. Waits for a
  /// device that is lost meanwhile and recovered (`Options.recovery`). Cancellation ends this as
  /// soon as the chip has created the session, with the code `cancelled` of `linkError`.
  ///
  /// - Parameters:
  ///   - configuration: One end of the session.
  ///   - checked: Whether the configuration is checked first, against the rules of the protocol and
  ///     the chip's capabilities; false: it is sent unchanged. A parameter outside the capabilities
  ///     is logged as a warning and sent.
  /// - Throws: `DriverError`, with the session removed from the chip again;
  ///   `.configurationProblems` with everything that was found before anything was sent.
  public func makeSession(
    _ configuration: SessionConfiguration, checked: Bool = true
  ) async throws(DriverError) -> UWBSession {
    try await makeSession(configuration, checked: checked, awaitsRecovery: true)
  }

  /// - Parameter awaitsRecovery: whether to wait for a device that is lost meanwhile; false: the
  ///   loss is thrown at once.
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

  /// Makes a session on an NXP chip from an app's data (SET_PROFILE); the chip decodes it itself
  /// and reports IDLE when it could start.
  ///
  /// - Parameters:
  ///   - profile: the data, sent to the chip unchanged.
  ///   - configuration: a description of the session; nothing of it is sent.
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

  /// Creates a session, lends it to `body`, and stops and removes it in any case: after a return,
  /// an error or cancellation.
  ///
  /// - Parameters:
  ///   - configuration: One end of the session.
  ///   - checked: As in `makeSession`.
  ///   - body: Uses the session.
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

  /// Ranges in a session of its own. Creates and starts it, lends a stream of its estimates to
  /// `body`, and stops and removes it in any case.
  ///
  /// - Parameters:
  ///   - configuration: One end of the session.
  ///   - settings: The assumptions of the estimates, from a calibration for example.
  ///   - body: Uses the estimates.
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
