// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Locking
internal import UCI
internal import UCIReference
internal import UWB
internal import UWBLink

/// The capabilities of a host, as its chip reports them or its token holds them.
struct ChipCapabilities: NIDeviceCapability, Sendable, Hashable {
  var known: PeerToken.Capabilities = []

  var supportsPreciseDistanceMeasurement: Bool { known.contains(.preciseDistance) }
  var supportsDirectionMeasurement: Bool { known.contains(.direction) }
  var supportsCameraAssistance: Bool { known.contains(.cameraAssistance) }
  var supportsExtendedDistanceMeasurement: Bool { false }
  var supportsDLTDOAMeasurement: Bool { known.contains(.downlinkTDoA) }
  var supportsBluetoothChannelSounding: Bool { false }

  /// What is known of every accessory.
  static let distanceOnly = ChipCapabilities(known: [.preciseDistance])
}

extension ChipCapabilities {
  init(_ capabilities: Capabilities, hasPoses: Bool) {
    known = PeerToken.Capabilities(capabilities)
    let roles = capabilities.roles ?? [.initiator, .responder]
    if roles.isDisjoint(with: [.initiator, .responder]) {
      known.remove(.preciseDistance)
    } else if hasPoses {
      known.insert(.cameraAssistance)
    }
  }
}

extension ChipCapabilities {
  private static let known = Locked<[String: Capabilities]>([:])

  /// Asks the chip, once in the life of the process, and blocks until it has answered. A chip that this
  /// process does not use yet is opened for that, which resets it.
  static func ofDevice(named name: String?, hasPoses: Bool) -> ChipCapabilities {
    guard case .success(let endpoint) = DeviceChoice.endpoint(named: name) else { return .init() }
    let key = DeviceRegistry.Key(endpoint).name
    let capabilities =
      known.withLock { $0[key] } ?? DeviceRegistry.ask(name) { Capabilities($0.capabilities) }
    guard let capabilities else { return .init() }
    known.withLock { $0[key] = capabilities }
    return .init(capabilities, hasPoses: hasPoses)
  }
}

extension DeviceRegistry {
  /// Asks a chip something, and blocks until it has answered; nil without a chip. A chip that this
  /// process does not use yet is opened for that, which resets it.
  static func ask<Answer: Sendable>(
    _ name: String?, _ question: @escaping @Sendable (UWBDevice) -> Answer
  ) -> Answer? {
    guard case .success(let endpoint) = DeviceChoice.endpoint(named: name) else { return nil }
    let deviceKey = Key(endpoint)
    let answer = Locked<Answer?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task(executorPreference: SessionExecutor.shared) {
      if case .success(let device) = await shared.acquire(deviceKey) {
        answer.withLock { $0 = question(device) }
        shared.release(deviceKey)
      }
      done.signal()
    }
    done.wait()
    return answer.withLock { $0 }
  }
}
