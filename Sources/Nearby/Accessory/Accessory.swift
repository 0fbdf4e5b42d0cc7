// SPDX-License-Identifier: Apache-2.0
public import AccessoryProtocol
public import Channels
package import System
internal import UCI
package import UCIReference
public import UWB

/// An accessory: a UWB chip that ranges with apps on iPhones (Nearby Interaction), Android phones
/// (the out-of-band protocol of Android's ranging) or other Linux machines.
///
/// ```swift
/// let device = try await UWBDevice.open("/dev/ttyACM0")
/// let accessory = try Accessory(device)
/// let listener = try await SocketListener(ChannelEndpoint("tcp:7000"))
/// Task { for await event in accessory.events { print(event) } }
/// await accessory.serve(listener)
/// ```
///
/// Each app has a channel and, after it has sent its shareable data, a session on the chip. Several
/// apps are served at the same time.
///
/// The loss of a channel does not end ranging. The session continues until the app stops it over
/// another channel of the same name, or until the chip ends it. It also ends when nothing has been
/// measured for `Options.inactivityTimeout`.
///
/// Damaged, late, repeated and foreign messages:
/// - Shareable data that cannot be parsed or that the chip refuses: `Event.refused`. The app
///   receives 0x03 (the accessory does not range), the only refusal in the protocol. So a session
///   that was ranging ends.
/// - The same shareable data again while ranging: the app receives 0x02 again.
/// - Different shareable data: the current session ends and a new one begins. It may answer
///   earlier configuration data, as in a new run with a configuration that the app has kept.
/// - Shareable data while the device is being recovered: ranging begins when the device is back,
///   unless the app has stopped or disconnected.
/// - Shareable data for another accessory: it cannot be recognised. Nothing is measured, and the
///   session ends by inactivity.
public final class Accessory: Sendable {
  package let device: UWBDevice
  package let options: Options
  let clock: AlarmClock
  /// Called with each message of an app and of the accessory, keys included.
  let tap: (@Sendable (App, DialogueMessage) -> Void)?

  private struct State {
    var clients: [String: AccessoryClient] = [:]
    /// The configuration data last sent to each named app, which its phone may read again.
    var offered: [String: AccessoryConfigurationData] = [:]
    var served = 0
    var isClosed = false
  }
  private let state = Locked(State())
  private let broadcast = Broadcast<Event>()

  /// Creates an accessory on a chip.
  ///
  /// - Throws: `AccessoryError` with the code `.unsuitableChip`.
  public init(_ device: UWBDevice, options: Options = Options()) throws(AccessoryError) {
    (self.device, self.options, clock, tap) = (device, options, .system, nil)
    try check()
  }

  /// Creates an accessory with a clock and a tap of messages.
  ///
  /// - Parameters:
  ///   - clock: The clock of idle channels.
  ///   - tap: Called with each message of an app and of the accessory, keys included.
  package init(
    _ device: UWBDevice, options: Options, clock: AlarmClock = .system,
    tap: (@Sendable (App, DialogueMessage) -> Void)? = nil
  ) throws(AccessoryError) {
    (self.device, self.options, self.clock, self.tap) = (device, options, clock, tap)
    try check()
  }

  /// Checks the chip. An accessory for any phone needs the features for iPhones.
  private func check() throws(AccessoryError) {
    guard options.phones == .android else { return _ = try configurationData() }
    guard capability(except: nil).isUsable else {
      throw AccessoryError(.unsuitableChip("no configuration of Android fits its capabilities"))
    }
  }

  /// Requirements that the chip does not list among its capabilities. It may support them
  /// nevertheless.
  package var warnings: [ConfigurationProblem] {
    get throws(AccessoryError) {
      guard options.phones != .android else { return [] }
      return try configurationData().uwb.problems(on: device).warnings
    }
  }

  /// Returns configuration data for an app. Each call draws another address.
  ///
  /// - Throws: `AccessoryError` with the code `.unsuitableChip`.
  package func configurationData(
    except taken: UInt16? = nil
  ) throws(AccessoryError) -> AccessoryConfigurationData {
    AccessoryConfigurationData(
      preferredUpdateRate: options.updateRate,
      uwb: try UWBConfigurationData(for: device, options, except: taken))
  }

  /// Returns the capabilities for an Android phone. Each call draws another address.
  func capability(except taken: UInt16?) -> AndroidCapability {
    AndroidCapability(
      of: Capabilities(device.capabilities), role: options.role,
      address: .shortAddress(except: taken))
  }

  /// A new stream of the events from now on. A slow subscriber loses the oldest events beyond 256.
  public var events: AsyncStream<Event> { broadcast.subscribe(.bufferingNewest(256)) }

  func report(_ event: Event) { broadcast.send(event) }

  /// Serves one app until its channel ends or the task is cancelled.
  ///
  /// - Parameters:
  ///   - channel: the channel, which is closed at the end.
  ///   - name: the name by which an app resumes its session after the loss of a channel; nil for
  ///     a new app. A new channel replaces an earlier channel of the same name.
  public func serve(_ channel: some DataChannel, as name: String? = nil) async {
    guard let client = client(name) else {
      channel.close()
      let error = ChannelError(.closedHere("it is shutting down"))
      return report(.disconnected(App(name: name ?? "app"), error))
    }
    await withTaskCancellationHandler {
      await client.serve(channel)
    } onCancel: {
      channel.close()
    }
  }

  /// Serves every app that connects, until the listener ends or the task is cancelled.
  public func serve(_ listener: SocketListener) async {
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        for await channel in listener.channels {
          group.addTask { await self.serve(channel) }
        }
        group.cancelAll()
      }
    } onCancel: {
      listener.close()
    }
  }

  /// The apps that the chip ranges with now.
  public var rangingApps: [App] {
    state.withLock { Array($0.clients.values) }.filter(\.isRanging).map(\.app)
  }

  /// Ends ranging with every app, notifies the apps, and closes their channels. The device stays
  /// open.
  public func close() async {
    let clients = state.withLock { state in
      state.isClosed = true
      return Array(state.clients.values)
    }
    for client in clients { await client.close() }
    broadcast.finish()
  }

  // MARK: clients

  private func client(_ name: String?) -> AccessoryClient? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.served += 1
      let isNamed = name != nil
      let name = name ?? "app \(state.served)"
      if let known = state.clients[name], known.attach() { return known }
      let client = AccessoryClient(App(name: name), isNamed: isNamed, of: self)
      state.clients[name] = client
      return client
    }
  }

  /// Keeps configuration data before it is sent to a named app. Data for up to 64 apps stays after
  /// they have disconnected.
  func keep(_ data: AccessoryConfigurationData, for client: AccessoryClient) {
    guard client.isNamed else { return }
    state.withLock { state in
      let name = client.app.name
      if state.offered[name] == nil, state.offered.count >= 64 {
        state.offered = state.offered.filter { [clients = state.clients] in
          clients[$0.key] != nil
        }
      }
      state.offered[name] = data
    }
  }

  /// Returns the configuration data last sent to an app.
  func offered(to name: String) -> AccessoryConfigurationData? {
    state.withLock { $0.offered[name] }
  }

  /// Removes a client that has neither a channel nor a session.
  func forget(_ client: AccessoryClient) {
    state.withLock { state in
      if state.clients[client.app.name] === client { state.clients[client.app.name] = nil }
    }
  }

  /// Counts a client as ranging, or throws if the limit has been reached.
  func admit(_ client: AccessoryClient) throws(AccessoryError) {
    let limit = options.maximumSessions ?? Capabilities(device.capabilities).maxSessions
    let isAdmitted = state.withLock { state in
      let others = state.clients.values.filter { $0 !== client && $0.isRanging }
      if let limit, others.count >= limit { return false }
      client.setRanging(true)
      return true
    }
    if !isAdmitted { throw AccessoryError(.tooManySessions(limit: limit ?? 0)) }
  }
}
