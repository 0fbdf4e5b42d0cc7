// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Channels
internal import Ranging
internal import System
internal import UCI
internal import UCIReference
internal import UWB

/// The state of one app at an accessory. One task changes it according to the client's commands.
struct AccessoryAppSession {
  /// A session on the chip, and the tasks that observe it.
  private struct Running {
    var run: Int
    var session: UWBSession
    var request: Request
    var regions: RegionWatch?
    var watches: [Task<Void, Never>]
  }

  /// The data with which an app or an Android phone begins a session.
  enum Request: Hashable {
    case shareable([UInt8])
    case android(AndroidChoice)

    var isAndroid: Bool { if case .android = self { true } else { false } }
  }

  let client: AccessoryClient
  let accessory: Accessory
  private var channel: (any DataChannel)?
  /// The configuration data last sent to the app. The app may begin several sessions with it.
  private var offered: UWBConfigurationData?
  /// The protocol of the last message of the app.
  private var kind = DialogueMessage.Kind.apple
  /// The dialogue with an Android phone on this channel.
  var dialogue = AndroidDialogue()
  /// The capabilities last sent to an Android phone.
  var capability: AndroidCapability?
  private var running: Running?
  /// The timer that ends ranging with an Android phone without a channel.
  private var unlinked: OneShotTimer?
  private var runs = 0
  /// Shareable data that arrived while the device was lost, the error of the device, and the task
  /// that waits for its return.
  private var waiting: (request: Request, error: DriverError, watch: Task<Void, Never>)?
  /// The time of the last command by the accessory's clock, and the timer that closes an idle
  /// channel.
  ///
  /// A cancelled task that sleeps would keep its memory until its deadline; the timer does not.
  private var idle: (since: UInt64, timer: OneShotTimer?)
  private(set) var isClosed = false

  var isRanging: Bool { running != nil }

  init(_ client: AccessoryClient, _ accessory: Accessory) {
    self.client = client
    self.accessory = accessory
    idle = (accessory.clock.now(), nil)
  }

  mutating func handle(_ command: AccessoryClient.Command) async {
    if case .idle = command {
      idle.timer = nil
    } else {
      await execute(command)
      idle.since = accessory.clock.now()
    }
    watchIdleness()
  }

  private mutating func execute(_ command: AccessoryClient.Command) async {
    switch command {
    case .attached(let channel, let acknowledgement):
      attach(channel)
      acknowledgement.resume()
    case .message(let bytes, let sender, let acknowledgement):
      if sender === channel { await handle(bytes) }
      acknowledgement.resume()
    case .detached(let former, let error, let acknowledgement):
      if former === channel {
        channel = nil
        stopWaiting()
        watchLink()
        accessory.report(.disconnected(client.app, error))
      }
      acknowledgement.resume()
    case .inactive(let run) where run == running?.run: await end(.inactivity)
    case .ended(let run, let error) where run == running?.run: await end(.byChip(error))
    case .settled(let run, let isBack) where run == runs: await settle(isBack)
    case .unlinked(let run) where run == running?.run && channel == nil:
      await end(.lostChannel, notifies: false)
    case .close:
      await end(.closed)
      stopWaiting()
      closeChannel("it is shutting down")
      isClosed = true
    case .region(let run, let change) where run == running?.run:
      await send(.regionChanged(RegionNotice(change)))
    case .inactive, .ended, .settled, .idle, .region, .unlinked: break
    }
  }

  private mutating func attach(_ new: any DataChannel) {
    closeChannel("the app has connected again")
    channel = new
    unlinked = nil
    dialogue = AndroidDialogue()
    accessory.report(.connected(client.app))
    if isClosed { closeChannel("it is shutting down") }
  }

  private mutating func closeChannel(_ why: String) {
    guard let channel = channel.take() else { return }
    channel.close()
    accessory.report(.disconnected(client.app, ChannelError(.closedHere(why))))
  }

  /// Limits the time for which ranging with an Android phone continues without a channel.
  private mutating func watchLink() {
    guard let running, running.request.isAndroid else { return }
    unlinked = accessory.clock.timer(accessory.options.linkTimeout) { [client] in
      client.post(.unlinked(run: running.run))
    }
  }

  /// Runs the idle timer while there is a channel without ranging, and stops it otherwise.
  private mutating func watchIdleness() {
    guard let limit = accessory.options.idleTimeout, channel != nil, running == nil, waiting == nil
    else {
      idle.timer = nil
      return
    }
    guard idle.timer == nil else { return }
    let time = Duration.nanoseconds(accessory.clock.now() - idle.since)
    guard time < limit else { return closeChannel("nothing was received for a long time") }
    idle.timer = accessory.clock.timer(limit - time) { [client] in client.post(.idle) }
  }

  // MARK: messages

  private mutating func handle(_ bytes: [UInt8]) async {
    let phones = accessory.options.phones
    kind = phones == .iPhone ? .apple : DialogueMessage.kind(ofPhone: bytes)
    accessory.tap?(client.app, DialogueMessage(bytes, kind, isFromPhone: true))
    if kind == .android { return await handleAndroid(bytes) }
    if phones == .android, let id = bytes.first {
      return accessory.report(.ignored(client.app, AccessoryError(.unknownMessage(id))))
    }
    let message: AppMessage
    do throws(AccessoryError) { message = try AppMessage(bytes) } catch {
      return accessory.report(.ignored(client.app, error))
    }
    switch message {
    case .initialize: await offer()
    case .configureAndStart(let data): await start(.shareable(data))
    case .stop:
      stopWaiting()
      if running == nil { return await send(.accessoryUwbDidStop) }
      await end(.byApp)
    }
  }

  private func send(_ message: AccessoryMessage) async { await send(message.bytes) }

  func send(_ message: [UInt8]) async {
    guard let channel else { return }
    accessory.tap?(client.app, DialogueMessage(message, kind, isFromPhone: false))
    // A channel that fails ends, and reports its end.
    try? await channel.send(message)
  }

  /// Answers the request for a session.
  private func answer(_ request: Request, isStarted: Bool) async {
    switch request {
    case .shareable: await send(isStarted ? .accessoryUwbDidStart : .accessoryUwbDidStop)
    case .android: await send(dialogue.configured(isStarted).bytes)
    }
  }

  private func refuse(_ error: AccessoryError, _ request: Request = .shareable([])) async {
    accessory.report(.refused(client.app, error))
    await answer(request, isStarted: false)
  }

  /// Sends new configuration data to the app, and ends its session if it has one.
  private mutating func offer() async {
    stopWaiting()
    await end(.replaced, notifies: false)
    do throws(AccessoryError) {
      let data = try accessory.configurationData(except: offered?.address)
      offered = data.uwb
      accessory.keep(data, for: client)
      accessory.report(.offered(client.app, data))
      await send(.accessoryConfigurationData(data.bytes))
    } catch {
      await refuse(error)
    }
  }

  mutating func start(_ request: Request) async {
    if let running, !request.isAndroid, running.request == request {
      return await answer(request, isStarted: true)
    }
    // New data ends the app's session, even if the data is refused.
    await end(.replaced, notifies: false)
    stopWaiting()
    // The subscription precedes the attempt, so that the end of a recovery is not missed.
    let events = accessory.device.events
    do throws(AccessoryError) {
      let plan = try plan(request)
      try accessory.admit(client)
      try await begin(plan, request)
    } catch {
      guard case .device(let cause) = error.reason, cause.isTransient,
        accessory.device.isRecoverable
      else { return await refuse(error, request) }
      wait(for: events, request, cause)
    }
  }

  /// Starts ranging when the device has recovered, because the app does not ask again.
  ///
  /// The app itself starts again if its own device was lost.
  private mutating func wait(
    for events: AsyncStream<DeviceEvent>, _ request: Request, _ error: DriverError
  ) {
    runs += 1
    accessory.report(.waiting(client.app, error))
    waiting = (
      request, error,
      Task { [client, runs] in
        for await case .recovered in events {
          return client.post(.settled(run: runs, isBack: true))
        }
        if !Task.isCancelled { client.post(.settled(run: runs, isBack: false)) }
      }
    )
  }

  mutating func stopWaiting() { waiting.take()?.watch.cancel() }

  private mutating func settle(_ isBack: Bool) async {
    guard let waiting = waiting.take() else { return }
    if isBack {
      await start(waiting.request)
    } else {
      await refuse(AccessoryError(.device(waiting.error)), waiting.request)
    }
  }

  private func plan(_ request: Request) throws(AccessoryError) -> SessionConfiguration {
    let angles = Capabilities(accessory.device.capabilities).angles ?? []
    let data: [UInt8]
    switch request {
    case .shareable(let bytes): data = bytes
    case .android(let configuration):
      guard let capability else { throw AccessoryError(.notInitialized) }
      return try configuration.session(
        of: .accessory, with: capability, angles: !angles.isEmpty)
    }
    guard let offered else { throw AccessoryError(.notInitialized) }
    var plan = try ShareableConfigurationData(data).session(
      of: .accessory, with: offered, angles: !angles.isEmpty)
    if accessory.options.isOneToMany { plan.isOneToMany = true }
    return plan
  }

  // MARK: the session

  private mutating func begin(
    _ configuration: SessionConfiguration, _ request: Request
  ) async throws(AccessoryError) {
    do throws(DriverError) {
      let session = try await makeSession(configuration, request)
      runs += 1
      let regions = regions(run: runs, isTold: accessory.options.tellsApps && !request.isAndroid)
      let watches = watch(session, regions, run: runs)
      running = Running(
        run: runs, session: session, request: request, regions: regions, watches: watches)
      try await session.start(awaitsRecovery: false)
    } catch {
      await abandon()
      throw AccessoryError(.device(error))
    }
    accessory.report(.started(client.app, sessionID: configuration.sessionID))
    await answer(request, isStarted: true)
  }

  private func makeSession(
    _ configuration: SessionConfiguration, _ request: Request
  ) async throws(DriverError) -> UWBSession {
    guard accessory.options.leavesDataToChip, case .shareable(let data) = request else {
      return try await accessory.device.makeSession(configuration, awaitsRecovery: false)
    }
    let role = configuration.role.deviceRole
    let profile = NXPSetProfile(
      profile: NXPSetProfile.apple, deviceType: role,
      address: UInt16(truncatingIfNeeded: configuration.address.value), role: role, data: data)
    return try await accessory.device.makeSession(from: profile, as: configuration)
  }

  /// Creates a watch of the accessory's regions; nil if there are none.
  ///
  /// - Parameter isTold: whether the app receives messages about them.
  private func regions(run: Int, isTold: Bool) -> RegionWatch? {
    accessory.options.regions.map { rules in
      RegionWatch(rules) { [client, accessory] change, measurement in
        accessory.report(.regionChanged(client.app, change, measurement))
        if isTold { client.post(.region(run: run, change)) }
      }
    }
  }

  /// Starts tasks that observe a session. The tasks start before the session, so that they miss
  /// nothing.
  private func watch(
    _ session: UWBSession, _ regions: RegionWatch?, run: Int
  ) -> [Task<Void, Never>] {
    let (client, accessory) = (client, accessory)
    let (stream, events) = (session.estimatedRounds(), session.device.events)
    let interval = Duration.milliseconds(session.configuration.interval)
    let timeout = accessory.options.inactivityTimeout
    let measuring = Task {
      var silence = Duration.zero
      do throws(DriverError) {
        for try await round in stream {
          var isMeasured = false
          if case .estimate(let estimate) = round {
            accessory.report(.measured(client.app, estimate.measurement))
            isMeasured = estimate.measurement.result.status.isSuccess
            regions?.update(estimate)
          }
          silence = isMeasured ? .zero : silence + interval
          guard let timeout, silence >= timeout else { continue }
          return client.post(.inactive(run: run))
        }
      } catch {
        client.post(.ended(run: run, error))
      }
    }
    let watching = Task {
      for await event in events {
        guard let error = event.end(of: session) else { continue }
        return client.post(.ended(run: run, error))
      }
    }
    return [measuring, watching]
  }

  mutating func end(_ reason: Accessory.StopReason, notifies: Bool = true) async {
    guard let request = running?.request else { return }
    await abandon()
    accessory.report(.stopped(client.app, reason))
    // Android's protocol has no message for an end that the phone did not request.
    if notifies, !request.isAndroid { await send(.accessoryUwbDidStop) }
  }

  /// Closes the session on the chip, even a session that has failed.
  private mutating func abandon() async {
    unlinked = nil
    if let ended = running.take() {
      for watch in ended.watches { watch.cancel() }
      await ended.regions?.end()
      // A chip that was unplugged has already lost the session.
      try? await ended.session.close()
    }
    client.setRanging(false)
  }
}
