// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UWB
internal import UWBLink

/// The chips that sessions of this process use. A chip can be opened once only, so its sessions share
/// it; it is closed again some time after the last one has ended.
final class DeviceRegistry: Sendable {
  /// The one that sessions use.
  static let shared = DeviceRegistry()

  /// Where a device is. Looked up while it is there: one that is unplugged has no serial number to be
  /// told by.
  struct Place: Sendable {
    let endpoint: LinkEndpoint
    /// The same for all names of one device.
    let name: String

    init(_ endpoint: LinkEndpoint) {
      self.endpoint = endpoint
      if case .serial = endpoint {
        name = LinkReturn(of: endpoint).endpoint.description
      } else {
        name = endpoint.description
      }
    }
  }

  private struct Entry {
    /// Another one each time that the device is opened.
    var id: Int
    var opening: Task<Result<UWBDevice, DriverError>, Never>
    var users = 0
    /// Unplugged, failed or started anew, and not found again yet.
    var isLost = false
    /// Closes the device unless somebody comes.
    var closing: Task<Void, Never>?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// Devices that are being closed: their ports are not free before that is done.
    var leaving: [String: Task<Void, Never>] = [:]
    var opened = 0
  }

  private let state = Locked(State())
  private let linger: Duration
  // The driver waits for a device that is lost; that its sessions do not go on by themselves is this
  // module's affair.
  private let recovery: RecoveryPolicy

  /// - Parameters:
  ///   - linger: how long a device that nobody uses stays open: a session that is run again at once
  ///     begins without the chip's reset.
  ///   - recovery: how devices that are lost are waited for.
  init(linger: Duration = .seconds(1), recovery: RecoveryPolicy = RecoveryPolicy()) {
    self.linger = linger
    self.recovery = recovery
  }

  /// Opens a device, or joins those who use it. `release` has to follow if this succeeds.
  func acquire(_ place: Place) async -> Result<UWBDevice, DriverError> {
    let name = place.name
    let opening = state.withLock { state in
      var entry = state.entries[name] ?? open(place, &state)
      entry.users += 1
      entry.closing?.cancel()
      entry.closing = nil
      state.entries[name] = entry
      return entry.opening
    }
    let result = await opening.value
    if case .failure = result { forget(name, opening) }
    return result
  }

  /// Says that a device that was acquired is not needed any more.
  func release(_ place: Place) {
    let name = place.name
    state.withLock { state in
      guard var entry = state.entries[name], entry.users > 0 else { return }
      entry.users -= 1
      if entry.users == 0 {
        // One that is gone is not waited for by nobody: whatever appears in its place next may be
        // another program's.
        let linger = entry.isLost ? Duration.zero : linger
        entry.closing = Task(executorPreference: SessionExecutor.shared) {
          do { try await Task.sleep(for: linger) } catch { return }
          await self.close(name)
        }
      }
      state.entries[name] = entry
    }
  }

  /// Closes every device that nobody uses, at once, and waits until all that are being closed are.
  func closeIdle() async {
    let (idle, leaving) = state.withLock { state in
      (state.entries.filter { $0.value.users == 0 }.map(\.key), Array(state.leaving.values))
    }
    for name in idle { await close(name) }
    for closing in leaving { await closing.value }
  }

  /// Closes a device that nobody uses. Whoever comes meanwhile opens it behind that.
  private func close(_ name: String) async {
    let closing = state.withLock { state -> Task<Void, Never>? in
      // Somebody else has begun to close it, or did so with the one before it: that is waited for.
      guard let entry = state.entries[name], entry.users == 0 else { return state.leaving[name] }
      entry.closing?.cancel()
      state.entries[name] = nil
      let closing = Task(executorPreference: SessionExecutor.shared) {
        if case .success(let device) = await entry.opening.value { await device.close() }
      }
      state.leaving[name] = closing
      return closing
    }
    guard let closing else { return }
    await closing.value
    state.withLock { if $0.leaving[name] == closing { $0.leaving[name] = nil } }
  }

  private func forget(_ name: String, _ opening: Task<Result<UWBDevice, DriverError>, Never>) {
    state.withLock { if $0.entries[name]?.opening == opening { $0.entries[name] = nil } }
  }

  private func open(_ place: Place, _ state: inout State) -> Entry {
    state.opened += 1
    let (id, leaving) = (state.opened, state.leaving[place.name])
    return Entry(
      id: id,
      opening: Task(executorPreference: SessionExecutor.shared) {
        await leaving?.value
        let result = await self.open(place.endpoint)
        if case .success(let device) = result { self.watch(place.name, id, device.events) }
        return result
      })
  }

  /// Notes when a device is lost and found again, until it is closed.
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

  private func open(_ endpoint: LinkEndpoint) async -> Result<UWBDevice, DriverError> {
    let options = UWBDevice.Options(recovery: recovery)
    do throws(DriverError) {
      return .success(try await UWBDevice.open(endpoint, options: options))
    } catch {
      return .failure(error)
    }
  }
}
