// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UCI
internal import UCIReference
public import UWB

/// A Nearby Interaction accessory: a UWB chip that apps on phones, or on other Linux machines, range
/// with.
///
/// ```swift
/// let device = try await UWBDevice.open("/dev/ttyACM0")
/// let accessory = try Accessory(device)
/// let listener = try SocketListener(ChannelEndpoint("tcp:7000"))
/// Task { for await event in accessory.events { print(event) } }
/// await accessory.serve(listener)
/// ```
///
/// Each app has a channel and, from its shareable data on, a session on the chip. Several apps are
/// served at the same time. A channel that is lost does not end ranging: the session goes on until
/// the app says stop over another channel of the same name, until nothing has been measured for
/// `Options.silence`, or until the chip ends it.
///
/// What happens to damaged, late, doubled and foreign messages:
/// - Shareable data that cannot be read or that the chip refuses: `Event.refused`, and the app is
///   told that the accessory does not range (0x03). The protocol has no other way to say no, so a
///   session that there was before ends.
/// - The same shareable data again, while it is ranged with: answered again (0x02), nothing more.
/// - Other shareable data: the session before ends, a new one begins. It may use the configuration
///   data that was sent before, as after a re-run with a configuration that the app has kept.
/// - Shareable data meant for another accessory cannot be told apart; nothing is measured, and the
///   session ends by silence.
public final class Accessory: Sendable {
  /// The chip.
  public let device: UWBDevice
  /// How it presents itself.
  public let options: Options

  private struct State {
    var clients: [String: AccessoryClient] = [:]
    var served = 0
    var isClosed = false
  }
  private let state = Locked(State())
  private let broadcast = Broadcast<Event>()

  /// An accessory on a chip.
  ///
  /// - Throws: `AccessoryError.unsuitableChip`.
  public init(_ device: UWBDevice, options: Options = Options()) throws(AccessoryError) {
    self.device = device
    self.options = options
    _ = try configurationData()
  }

  /// Configuration data as an app would get it now; the address is another one each time.
  ///
  /// - Throws: `AccessoryError.unsuitableChip`.
  public func configurationData() throws(AccessoryError) -> AccessoryConfigurationData {
    AccessoryConfigurationData(
      preferredUpdateRate: options.updateRate, uwb: try UWBConfigurationData(for: device, options))
  }

  /// What happens from now on. There may be any number of subscribers; for one that is too slow the
  /// oldest events are dropped.
  public var events: AsyncStream<Event> { broadcast.subscribe(.bufferingNewest(256)) }

  func report(_ event: Event) { broadcast.send(event) }

  /// Serves one app until its channel ends or the task is cancelled.
  ///
  /// - Parameters:
  ///   - channel: taken over, and closed in the end.
  ///   - name: who the app is, where that is known, so that it finds its session again after it has
  ///     lost a channel; nil: it is somebody new. The newest channel of a name counts.
  public func serve(_ channel: some DataChannel, as name: String? = nil) async {
    guard let client = client(name) else { return channel.close() }
    await withTaskCancellationHandler {
      await client.serve(channel)
    } onCancel: {
      channel.close()
    }
  }

  /// Serves every app that connects until the listener ends or the task is cancelled.
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

  /// Apps with which the chip ranges now.
  public var rangingApps: [App] {
    state.withLock { Array($0.clients.values) }.filter(\.isRanging).map(\.app)
  }

  /// Ends ranging with every app, tells them, and closes their channels. The device stays open.
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
      let name = name ?? "app \(state.served)"
      if let known = state.clients[name], known.attach() { return known }
      let client = AccessoryClient(App(name: name), of: self)
      state.clients[name] = client
      return client
    }
  }

  /// A client without a channel and without a session.
  func forget(_ client: AccessoryClient) {
    state.withLock { state in
      if state.clients[client.app.name] === client { state.clients[client.app.name] = nil }
    }
  }

  /// Counts one more as ranging, if there may be one more.
  func admit(_ client: AccessoryClient) throws(AccessoryError) {
    let limit = options.maximumSessions ?? Capabilities(device.capabilities).maxSessions
    let isAdmitted = state.withLock { state in
      let others = state.clients.values.filter { $0 !== client && $0.isRanging }
      if let limit, others.count >= limit { return false }
      client.setRanging(true)
      return true
    }
    if !isAdmitted { throw .tooManySessions(limit: limit ?? 0) }
  }
}
