// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UWBDriver
internal import UWBLink

/// The chips that sessions of this process use. A chip can be opened once only, so its sessions share
/// it; it is closed again some time after the last one has ended.
final class DeviceRegistry: Sendable {
  /// The one that sessions use.
  static let shared = DeviceRegistry()

  private struct Entry {
    var opening: Task<Result<UWBDevice, DriverError>, Never>
    var users = 0
    /// Closes the device unless somebody comes.
    var closing: Task<Void, Never>?
  }

  private let entries = Locked<[String: Entry]>([:])
  private let linger: Duration

  /// - Parameter linger: how long a device that nobody uses stays open: a session that is run again
  ///   at once begins without the chip's reset.
  init(linger: Duration = .seconds(1)) { self.linger = linger }

  /// Opens a device, or joins those who use it. `release` has to follow if this succeeds.
  func acquire(_ endpoint: LinkEndpoint) async -> Result<UWBDevice, DriverError> {
    let name = Self.name(of: endpoint)
    let opening = entries.withLock { entries in
      var entry =
        entries[name]
        ?? Entry(
          opening: Task(executorPreference: SessionExecutor.shared) { await Self.open(endpoint) })
      entry.users += 1
      entry.closing?.cancel()
      entry.closing = nil
      entries[name] = entry
      return entry.opening
    }
    let result = await opening.value
    if case .failure = result { forget(name, opening) }
    return result
  }

  /// Says that a device that was acquired is not needed any more.
  func release(_ endpoint: LinkEndpoint) {
    let name = Self.name(of: endpoint)
    entries.withLock { entries in
      guard var entry = entries[name], entry.users > 0 else { return }
      entry.users -= 1
      if entry.users == 0 {
        entry.closing = Task(executorPreference: SessionExecutor.shared) {
          do { try await Task.sleep(for: self.linger) } catch { return }
          await self.close(name)
        }
      }
      entries[name] = entry
    }
  }

  /// Closes every device that nobody uses, at once.
  func closeIdle() async {
    for name in entries.withLock({ $0.filter { $0.value.users == 0 }.map(\.key) }) {
      await close(name)
    }
  }

  private func close(_ name: String) async {
    let opening = entries.withLock { entries -> Task<Result<UWBDevice, DriverError>, Never>? in
      guard let entry = entries[name], entry.users == 0 else { return nil }
      entry.closing?.cancel()
      entries[name] = nil
      return entry.opening
    }
    if case .success(let device)? = await opening?.value { await device.close() }
  }

  private func forget(_ name: String, _ opening: Task<Result<UWBDevice, DriverError>, Never>) {
    entries.withLock { if $0[name]?.opening == opening { $0[name] = nil } }
  }

  private static func open(_ endpoint: LinkEndpoint) async -> Result<UWBDevice, DriverError> {
    // The driver waits for a device that is lost; that its sessions do not go on by themselves is
    // this module's affair.
    let options = UWBDevice.Options(recovery: Recovery())
    do throws(DriverError) {
      return .success(try await UWBDevice.open(endpoint, options: options))
    } catch {
      return .failure(error)
    }
  }

  /// The same for all names of one device.
  private static func name(of endpoint: LinkEndpoint) -> String {
    if case .serial = endpoint {
      return LinkReturn(of: endpoint).endpoint.description
    }
    return endpoint.description
  }
}
