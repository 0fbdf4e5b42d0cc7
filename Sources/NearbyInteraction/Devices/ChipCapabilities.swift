// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Locking
internal import UCI
internal import UCIReference
internal import UWB
internal import UWBLink

/// What this host can do, from what its chip says.
struct ChipCapabilities: NIDeviceCapability, Sendable, Hashable {
  var supportsPreciseDistanceMeasurement = false
  var supportsDirectionMeasurement = false
  var supportsCameraAssistance = false
  var supportsExtendedDistanceMeasurement: Bool { false }
  var supportsDLTDOAMeasurement = false
  var supportsBluetoothChannelSounding: Bool { false }

  /// A chip is there, and said this.
  init(_ capabilities: Capabilities, hasPoses: Bool) {
    let roles = capabilities.roles ?? [.initiator, .responder]
    supportsPreciseDistanceMeasurement = !roles.isDisjoint(with: [.initiator, .responder])
    supportsDirectionMeasurement =
      !(capabilities.angles ?? []).isDisjoint(with: [.azimuth90, .azimuth180])
    supportsCameraAssistance = supportsPreciseDistanceMeasurement && hasPoses
    supportsDLTDOAMeasurement = roles.contains(.dtTag)
  }

  /// No chip.
  init() {}

  /// What is known of an accessory.
  static let distanceOnly: Self = {
    var capabilities = Self()
    capabilities.supportsPreciseDistanceMeasurement = true
    return capabilities
  }()
}

extension ChipCapabilities {
  private static let known = Locked<[String: Capabilities]>([:])

  /// Asks the chip, once in the life of the process; waits for it. A chip that is not used by this
  /// process yet is opened for that, which resets it.
  static func ofDevice(named name: String?, hasPoses: Bool) -> ChipCapabilities {
    guard case .success(let endpoint) = DeviceChoice.endpoint(named: name) else { return .init() }
    let key = DeviceRegistry.Place(endpoint).name
    let capabilities =
      known.withLock { $0[key] } ?? DeviceRegistry.ask(name) { Capabilities($0.capabilities) }
    guard let capabilities else { return .init() }
    known.withLock { $0[key] = capabilities }
    return .init(capabilities, hasPoses: hasPoses)
  }
}

extension DeviceRegistry {
  /// Asks a chip something, and waits for the answer; nil where there is none. A chip that this
  /// process has not open is opened for that, which resets it.
  static func ask<Answer: Sendable>(
    _ name: String?, _ question: @escaping @Sendable (UWBDevice) -> Answer
  ) -> Answer? {
    guard case .success(let endpoint) = DeviceChoice.endpoint(named: name) else { return nil }
    let place = Place(endpoint)
    let answer = Locked<Answer?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task(executorPreference: SessionExecutor.shared) {
      if case .success(let device) = await shared.acquire(place) {
        answer.withLock { $0 = question(device) }
        shared.release(place)
      }
      done.signal()
    }
    done.wait()
    return answer.withLock { $0 }
  }
}
