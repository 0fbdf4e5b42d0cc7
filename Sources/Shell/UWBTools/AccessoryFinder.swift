// SPDX-License-Identifier: Apache-2.0

package import AccessoryProtocol
package import Channels
import CommandSupport
import Formats
import UCI
package import UWB
import UWBLink

/// Acts as the app in sessions with an accessory.
///
/// Performs the handshake and ranges. Repeats the handshake when the accessory is silent or the
/// device was lost. Used by one task.
package final class AccessoryFinder {
  package enum Event: Sendable {
    /// Ranging has started.
    case started
    /// The accessory has received the data that it needs to start.
    case shareableData
    case accessoryStarted
    /// The accessory stopped ranging, or declined to start.
    case accessoryStopped
    /// The accessory reports that this device has entered, left or stayed in a region.
    case region(RegionNotice)
    case found(Sight)
    /// No measurement for a second, or for three rounds if these take longer.
    case outOfRange
    /// No measurement for so long that the handshake is repeated.
    case silent
    /// The accessory ended the session.
    case ended
    /// The device is lost and may return.
    case suspended
    case suspensionEnded
    case invalidated(DriverError)
  }

  /// The phone whose protocol this end uses.
  package enum Phone: Sendable {
    case iPhone, android

    var kind: DialogueMessage.Kind { self == .iPhone ? .apple : .android }
  }

  private enum Input: Sendable {
    case message([UInt8])
    case disconnected
    case device(DeviceEvent)
    case measured(run: Int, EstimatedMeasurement)
    case failed(run: Int, DriverError)
    /// The time for the answer to the n-th request has passed.
    case requestTimedOut(Int)
  }

  private struct Running {
    var session: UWBSession
    var measuring: Task<Void, Never>
    var sights: SightWatch
  }

  private let device: UWBDevice
  private let channel: any DataChannel
  private let phone: Phone
  private let tap: (DialogueMessage) -> Void
  /// The version of Android's protocol in the accessory's answer.
  private var version = AndroidProtocol.newest
  private let settings: EstimationSettings
  private let answerTime: Duration
  private let patience: Duration
  private let inputs: AsyncStream<Input>
  private let input: AsyncStream<Input>.Continuation
  private var running: Running?
  private var runs = 0
  private var requests = 0
  /// The number of requests since the last answer. A request can be lost while the accessory
  /// starts.
  private var unanswered = 0
  private static let attempts = 3
  private var clock: Task<Void, Never>?
  private var isSuspended = false

  /// Creates a finder.
  ///
  /// - Parameters:
  ///   - phone: The phone whose protocol is used.
  ///   - settings: The assumptions of the estimates.
  ///   - answerTime: The time-out for each of three requests to the accessory.
  ///   - patience: The longest time without a measurement; twice as long at first.
  ///   - tap: Called with each message of both ends, keys included.
  package init(
    device: UWBDevice, channel: any DataChannel, phone: Phone = .iPhone,
    settings: EstimationSettings = EstimationSettings(), answerTime: Duration = .seconds(3),
    patience: Duration = .seconds(10), tap: @escaping (DialogueMessage) -> Void = { _ in }
  ) {
    var settings = settings
    // The first round would be delayed by waiting for diagnostics, which may be missing.
    settings.expectsDiagnostics = false
    self.settings = settings
    (self.device, self.channel, self.phone) = (device, channel, phone)
    (self.answerTime, self.patience, self.tap) = (answerTime, patience, tap)
    (inputs, input) = AsyncStream.makeStream()
  }

  /// Runs until `body` returns false or the task is cancelled, and ends the session on the chip.
  ///
  /// - Throws: `DriverError` if the device fails, `ChannelError` if the connection is lost,
  ///   `Failure` if the accessory does not answer.
  package nonisolated(nonsending) func run(_ body: (Event) -> Bool) async throws {
    let (messages, events, input) = (channel.messages, device.events, input)
    let sources = [
      Task {
        for await message in messages { input.yield(.message(message)) }
        input.yield(.disconnected)
      },
      Task { for await event in events { input.yield(.device(event)) } },
    ]
    try await lending {
      do { try await handle(body) } catch let error as DriverError {
        _ = body(.invalidated(error))
        throw error
      }
    } end: {
      for source in sources { source.cancel() }
      clock?.cancel()
      try? await send(stopMessage)
      await stop()
      channel.close()
    }
  }

  private func timer(_ delay: Duration, _ event: Input) -> Task<Void, Never> {
    Task { [input] in
      do { try await Task.sleep(for: delay) } catch { return }
      input.yield(event)
    }
  }

  private nonisolated(nonsending) func handle(_ body: (Event) -> Bool) async throws {
    try await ask()
    for await input in inputs {
      switch input {
      case .disconnected: throw channel.failure ?? ChannelError.closed
      case .requestTimedOut(let number):
        guard number == requests else { continue }
        guard unanswered == Self.attempts else {
          try await request()
          continue
        }
        throw Failure(
          .silent, "The accessory does not answer.",
          try: "Check that an accessory listens there, such as uwbctl accessory.")
      case .message(let bytes):
        for event in try await take(bytes) where !body(event) { return }
      case .measured(let run, let estimate):
        guard run == runs, let event = running?.sights.take(estimate) else { continue }
        guard body(event) else { return }
        if case .silent = event { try await ask() }
      case .failed(let run, let error):
        guard run == runs, running != nil else { continue }
        guard let event = try await end(error) else { continue }
        guard body(event) else { return }
        if case .ended = event { try await ask() }
      case .device(let event):
        guard let event = try await take(event) else { continue }
        guard body(event) else { return }
        switch event {
        case .ended, .suspensionEnded: try await ask()
        default: break
        }
      }
    }
  }

  /// Starts or repeats the handshake.
  private nonisolated(nonsending) func ask() async throws {
    await stop()
    unanswered = 0
    try await request()
  }

  private nonisolated(nonsending) func request() async throws {
    requests += 1
    unanswered += 1
    clock?.cancel()
    clock = timer(answerTime, .requestTimedOut(requests))
    try await send(
      phone == .iPhone
        ? AppMessage.initialize.bytes
        : AndroidPhoneMessage(.capabilityRequest(.uwb), version: AndroidProtocol.newest).bytes)
  }

  private nonisolated(nonsending) func send(_ message: [UInt8]) async throws(ChannelError) {
    tap(DialogueMessage(message, phone.kind, isFromPhone: true))
    try await channel.send(message)
  }

  private var stopMessage: [UInt8] {
    phone == .iPhone
      ? AppMessage.stop.bytes : AndroidPhoneMessage(.stop(.uwb), version: version).bytes
  }

  private nonisolated(nonsending) func take(_ bytes: [UInt8]) async throws -> [Event] {
    tap(DialogueMessage(bytes, phone.kind, isFromPhone: false))
    // Ignore vendor messages.
    switch phone {
    case .iPhone:
      guard let message = try? AccessoryMessage(bytes) else { return [] }
      return try await take(message)
    case .android:
      guard let message = try? AndroidAccessoryMessage(bytes) else { return [] }
      return try await take(message)
    }
  }

  private nonisolated(nonsending) func take(_ message: AccessoryMessage) async throws -> [Event] {
    switch message {
    case .accessoryUwbDidStart: return [.accessoryStarted]
    case .accessoryUwbDidStop: return [.accessoryStopped]
    case .regionChanged(let notice): return [.region(notice)]
    case .accessoryConfigurationData(let bytes):
      clock?.cancel()
      let accessory = try AccessoryConfigurationData(bytes)
      let data = ShareableConfigurationData.answering(accessory)
      let angles = Capabilities(device.capabilities).angles ?? []
      let session = try data.session(of: .app, with: accessory.uwb, angles: !angles.isEmpty)
      return try await begin(session, AppMessage.configureAndStart(data.bytes).bytes)
    }
  }

  private nonisolated(nonsending) func take(
    _ message: AndroidAccessoryMessage
  ) async throws -> [Event] {
    switch message.content {
    case .configurationResponse(let set):
      return [set.contains(.uwb) ? .accessoryStarted : .accessoryStopped]
    case .stopResponse: return [.accessoryStopped]
    case .motion: return []
    case .capabilityResponse(nil, _):
      throw Failure(
        .configuration, "The accessory does not range by UWB.",
        try: "Use another accessory, such as uwbctl accessory.")
    case .capabilityResponse(let accessory?, _):
      clock?.cancel()
      version = message.version
      let chip = Capabilities(device.capabilities)
      let own = AndroidCapability(of: chip, address: .shortAddress(except: accessory.address))
      let choice = try AndroidChoice(choosingFor: accessory, by: own)
      let session = try choice.session(
        of: .app, with: accessory, angles: !(chip.angles ?? []).isEmpty)
      // Phones send the first form to accessories of versions 1 and 2.
      let form = version == AndroidProtocol.newest ? version : 1
      let content = AndroidPhoneMessage.Content.configuration(choice, wantsMotion: false)
      return try await begin(session, AndroidPhoneMessage(content, version: form).bytes)
    }
  }

  /// Starts the session on the chip, and sends its data to the accessory.
  private nonisolated(nonsending) func begin(
    _ configuration: SessionConfiguration, _ message: [UInt8]
  ) async throws -> [Event] {
    var session = configuration
    // The levels of frames show whether the direct path is blocked.
    session.diagnostics = DiagnosticsRequest(.levels)
    await stop()
    do throws(DriverError) { try await start(session) } catch {
      return try await end(error).map { [$0] } ?? []
    }
    try await send(message)
    return [.started, .shareableData]
  }

  private nonisolated(nonsending) func start(
    _ configuration: SessionConfiguration
  ) async throws(DriverError) {
    let session: UWBSession
    do throws(DriverError) {
      session = try await device.makeSession(configuration, awaitsRecovery: false)
    } catch {
      guard error.code == .parametersRefused, configuration.diagnostics != nil else { throw error }
      var plain = configuration
      plain.diagnostics = nil
      return try await start(plain)
    }
    runs += 1
    let (estimates, run, input) = (session.estimates(settings), runs, input)
    let measuring = Task {
      do throws(DriverError) {
        for try await estimate in estimates { input.yield(.measured(run: run, estimate)) }
      } catch {
        input.yield(.failed(run: run, error))
      }
    }
    running = Running(
      session: session, measuring: measuring, sights: SightWatch(session, patience: patience))
    try await session.start(awaitsRecovery: false)
  }

  /// Removes the session from the chip, even a failed one.
  private nonisolated(nonsending) func stop() async {
    guard let ended = running.take() else { return }
    ended.measuring.cancel()
    // A chip that was unplugged has already lost the session.
    try? await ended.session.close()
  }

  private nonisolated(nonsending) func take(
    _ event: DeviceEvent
  ) async throws(DriverError) -> Event? {
    switch event {
    case .lost(let error): return try await end(error)
    case .recovered where isSuspended:
      isSuspended = false
      return .suspensionEnded
    case .disconnected(let error): throw .link(error)
    default:
      guard let session = running?.session, let error = event.end(of: session) else { return nil }
      return try await end(error)
    }
  }

  /// Handles the end of a session, or of an attempt to start one.
  private nonisolated(nonsending) func end(_ error: DriverError) async throws(DriverError) -> Event?
  {
    guard !isSuspended else { return nil }
    await stop()
    if error.endReason == .stoppedInBand { return .ended }
    guard error.isTransient, device.isRecoverable else { throw error }
    isSuspended = true
    try? await send(stopMessage)
    return .suspended
  }
}

/// Turns estimates of a peer into events, and counts the time without a measurement.
package struct SightWatch {
  private let interval: Duration
  private let patience: Duration
  private var hasMeasured = false
  /// The time since the last measurement.
  private var silence = Duration.zero

  /// Creates a watch.
  ///
  /// - Parameter patience: The longest time without a measurement; twice as long at first.
  package init(_ session: UWBSession, patience: Duration) {
    interval = .milliseconds(session.configuration.interval)
    self.patience = patience
  }

  package mutating func take(_ estimate: EstimatedMeasurement) -> AccessoryFinder.Event? {
    if let sight = Sight(estimate) {
      (silence, hasMeasured) = (.zero, true)
      return .found(sight)
    }
    let before = silence
    silence += interval
    if silence >= (hasMeasured ? patience : patience * 2) { return .silent }
    let limit = max(.seconds(1), interval * 3)
    guard hasMeasured else { return nil }
    return Int(before / limit) < Int(silence / limit) ? .outOfRange : nil
  }
}
