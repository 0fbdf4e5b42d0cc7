// SPDX-License-Identifier: Apache-2.0
internal import Peers
internal import UCI
internal import UCIReference

/// The capabilities of a host, from its chip or from its token.
struct ChipCapabilities: NIDeviceCapability, Sendable, Hashable {
  var known: PeerToken.Capabilities = []

  var supportsPreciseDistanceMeasurement: Bool { known.contains(.preciseDistance) }
  /// A direction needs azimuth and elevation.
  var supportsDirectionMeasurement: Bool { known.isSuperset(of: [.direction, .elevation]) }
  var supportsCameraAssistance: Bool { known.contains(.cameraAssistance) }
  var supportsExtendedDistanceMeasurement: Bool { false }
  var supportsDLTDOAMeasurement: Bool { known.contains(.downlinkTDoA) }
  var supportsBluetoothChannelSounding: Bool { false }

  /// The capabilities of every accessory.
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
  /// Returns the capabilities of a host, as far as its chip has reported them; see
  /// `DeviceRegistry`.
  static func ofDevice(named name: String?, hasPoses: Bool) -> ChipCapabilities {
    guard let capabilities = DeviceRegistry.shared.capabilities(ofDeviceNamed: name) else {
      return .init()
    }
    return .init(capabilities, hasPoses: hasPoses)
  }
}
