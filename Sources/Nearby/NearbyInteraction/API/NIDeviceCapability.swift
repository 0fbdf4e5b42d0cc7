// SPDX-License-Identifier: Apache-2.0

/// The capabilities of a device.
public protocol NIDeviceCapability {
  /// Whether the device measures distances.
  var supportsPreciseDistanceMeasurement: Bool { get }
  /// Whether the device measures the direction of a peer with its antennas.
  var supportsDirectionMeasurement: Bool { get }
  /// Whether the device finds directions from its own movement. On Linux: whether
  /// `NISession.poseSource` is set.
  var supportsCameraAssistance: Bool { get }
  /// Whether the device measures extended distances with peers that do. Always false on Linux.
  var supportsExtendedDistanceMeasurement: Bool { get }
  /// Whether the device receives the messages of downlink TDoA anchors.
  var supportsDLTDOAMeasurement: Bool { get }
  /// Whether the device measures distances by Bluetooth. Always false on Linux.
  var supportsBluetoothChannelSounding: Bool { get }
}
