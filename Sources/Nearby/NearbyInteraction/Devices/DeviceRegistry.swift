// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import SystemPackage
internal import UCIReference
internal import UWB
internal import UWBLink

/// The devices that sessions of this process use.
///
/// A device can be opened only once, so its sessions share it. It is closed soon after
/// its last session has ended.
final class DeviceRegistry: Sendable {
  static let shared = DeviceRegistry()

  /// The identity of a device. It is created while the device is plugged in, because its serial
  /// number is looked up.
  struct Key: Sendable {
    let endpoint: LinkEndpoint
    /// The name, which is the same for all endpoints of one device.
    let name: String

    init(_ endpoint: LinkEndpoint) {
      self.endpoint = endpoint
      if case .serial = endpoint {
        name = ReconnectTarget(endpoint).endpoint.description
      } else {
        name = endpoint.description
      }
    }
  }

  private struct Entry {
    /// A number that changes each time the device is opened.
    var id: Int
    var opening: Task<Result<UWBDevice, DriverError>, Never>
    var users = 0
    /// Whether the device was unplugged, failed or restarted, and has not recovered yet.
    var isLost = false
    /// The task that closes the device unless it is used again.
    var closing: Task<Void, Never>?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The tasks that close devices. A port is free only after its task has ended.
    var closing: [String: Task<Void, Never>] = [:]
    var opened = 0
    /// The capabilities that devices reported when last opened, or the errors of devices never
    /// opened.
    var answers: [String: Result<Capabilities, DriverError>] = [:]
    var questions: [String: Task<Void, Never>] = [:]
  }

  private let state = Locked(State())
  private let linger: Duration
  // The policy of the driver, which recovers a lost device but not its sessions. The app has to run
  // the sessions again.
  private let recovery: RecoveryPolicy
  private let clock: AlarmClock

  /// Creates a registry without open devices.
  ///
  /// - Parameters:
  ///   - linger: the time for which an unused device stays open. A session that is soon run again
  ///     does not reset the chip then.
  ///   - recovery: the policy by which lost devices are recovered.
  ///   - clock: the clock of the devices and of `linger`.
  init(
    linger: Duration = .seconds(1), recovery: RecoveryPolicy = RecoveryPolicy(),
    clock: AlarmClock = .system
  ) {
    (self.linger, self.recovery, self.clock) = (linger, recovery, clock)
  }

  /// Opens a device, or shares an open device. Call `release` after a success.
  func acquire(_ key: Key) async -> Result<UWBDevice, DriverError> {
    let name = key.name
    let opening = state.withLock { state in
      var entry = state.entries[name] ?? open(key, &state)
      entry.users += 1
      entry.closing?.cancel()
      entry.closing = nil
      state.entries[name] = entry
      return entry.opening
    }
    let result = await opening.value
    if case .failure = result {
      state.withLock { if $0.entries[name]?.opening == opening { $0.entries[name] = nil } }
    }
    return result
  }

  /// Releases an acquired device.
  func release(_ key: Key) {
    let name = key.name
    state.withLock { state in
      guard var entry = state.entries[name], entry.users > 0 else { return }
      entry.users -= 1
      if entry.users == 0 {
        // Do not wait for a lost device without users: the next device at its path may belong to
        // another program.
        let linger = entry.isLost ? Duration.zero : linger
        entry.closing = Task(executorPreference: SessionExecutor.shared) {
          await self.clock.sleep(for: linger)
          if !Task.isCancelled { await self.close(name) }
        }
      }
      state.entries[name] = entry
    }
  }

  /// Closes all unused devices, and waits until every device being closed is closed.
  func closeIdle() async {
    let (idle, closing) = state.withLock { state in
      (state.entries.filter { $0.value.users == 0 }.map(\.key), Array(state.closing.values))
    }
    for name in idle { await close(name) }
    for task in closing { await task.value }
  }

  /// Closes an unused device. A device that is acquired meanwhile is opened again afterwards.
  private func close(_ name: String) async {
    let closing = state.withLock { state -> Task<Void, Never>? in
      // A second call waits for the task that already closes the device.
      guard let entry = state.entries[name], entry.users == 0 else { return state.closing[name] }
      entry.closing?.cancel()
      state.entries[name] = nil
      let closing = Task(executorPreference: SessionExecutor.shared) {
        if case .success(let device) = await entry.opening.value { await device.close() }
      }
      state.closing[name] = closing
      return closing
    }
    guard let closing else { return }
    await closing.value
    state.withLock { if $0.closing[name] == closing { $0.closing[name] = nil } }
  }

  private func open(_ key: Key, _ state: inout State) -> Entry {
    state.opened += 1
    let (id, previous) = (state.opened, state.closing[key.name])
    return Entry(
      id: id,
      opening: Task(executorPreference: SessionExecutor.shared) {
        await previous?.value
        let opened = await attempt { () async throws(DriverError) in
          var options = UWBDevice.Options(recovery: self.recovery)
          options.clock = self.clock
          return try await UWBDevice.open(key.endpoint, options: options)
        }
        self.state.withLock { state in
          let answer = opened.map { Capabilities($0.capabilities) }
          // A failed attempt does not change the capabilities of a device.
          if case .success = state.answers[key.name], case .failure = answer { return }
          state.answers[key.name] = answer
        }
        if case .success(let device) = opened { self.watch(key.name, id, device.events) }
        return opened
      })
  }

  // MARK: capabilities

  /// Returns the capabilities that a device reported when it was last opened, without waiting.
  ///
  /// A device that has never been opened is opened in the background. Until then, it counts as a
  /// device that reports no capabilities.
  ///
  /// - Returns: nil without a device, or without permission to open it.
  func capabilities(ofDeviceNamed name: String?) -> Capabilities? {
    guard let key = Self.key(ofDeviceNamed: name) else { return nil }
    let answer = state.withLock { $0.answers[key.name] }
    if case .success(let capabilities)? = answer { return capabilities }
    _ = question(to: key)
    if case .failure(let error)? = answer, !error.isSilence { return nil }
    return Capabilities([])
  }

  /// Waits until a device that has never been opened has reported its capabilities or failed.
  func prepare(deviceNamed name: String?) async {
    guard let key = Self.key(ofDeviceNamed: name) else { return }
    if case .success = state.withLock({ $0.answers[key.name] }) { return }
    await question(to: key).value
  }

  /// Returns a task that opens a device to read its capabilities. There is one such task at a time.
  private func question(to key: Key) -> Task<Void, Never> {
    state.withLock { state in
      if let question = state.questions[key.name] { return question }
      let question = Task(executorPreference: SessionExecutor.shared) {
        if case .success = await self.acquire(key) { self.release(key) }
        self.state.withLock { $0.questions[key.name] = nil }
      }
      state.questions[key.name] = question
      return question
    }
  }

  /// Returns the key of a device; nil without a device, or without permission to open it as far as
  /// known in advance.
  private static func key(ofDeviceNamed name: String?) -> Key? {
    guard case .success(let endpoint) = DeviceChoice.endpoint(named: name) else { return nil }
    if case .usb(let serial, let interface, _, _) = endpoint {
      guard (try? Discovery().port(serial: serial, interface: interface)) != nil else { return nil }
    }
    if let path = endpoint.path {
      guard unsafe faccessat(AT_FDCWD, path.string, R_OK | W_OK, AT_EACCESS) == 0 else {
        return nil
      }
    }
    return Key(endpoint)
  }

  // MARK: loss

  /// Tracks whether a device is lost, until it is closed.
  private func watch(_ name: String, _ id: Int, _ events: AsyncStream<DeviceEvent>) {
    Task(executorPreference: SessionExecutor.shared) {
      for await event in events {
        switch event {
        case .lost: await self.note(name, id, isLost: true)
        case .recovered: await self.note(name, id, isLost: false)
        default: break
        }
      }
    }
  }

  private func note(_ name: String, _ id: Int, isLost: Bool) async {
    let isIdle = state.withLock { state in
      guard state.entries[name]?.id == id else { return false }
      state.entries[name]?.isLost = isLost
      return state.entries[name]?.users == 0
    }
    if isLost, isIdle { await close(name) }
  }
}
