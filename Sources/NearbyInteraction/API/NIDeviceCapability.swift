// SPDX-License-Identifier: Apache-2.0

/// What a device can do.
public protocol NIDeviceCapability {
  /// It measures distances.
  var supportsPreciseDistanceMeasurement: Bool { get }
  /// It measures the direction of a peer with its antennas.
  var supportsDirectionMeasurement: Bool { get }
  /// It finds directions from its own movement. On Linux: `NISession.poseSource` is set.
  var supportsCameraAssistance: Bool { get }
  /// It measures over extended distances with others that do. Never so on Linux.
  var supportsExtendedDistanceMeasurement: Bool { get }
  /// It receives what anchors send for downlink TDoA.
  var supportsDLTDOAMeasurement: Bool { get }
  /// It measures distances by Bluetooth. Never so on Linux.
  var supportsBluetoothChannelSounding: Bool { get }
}
