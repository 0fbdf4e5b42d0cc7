// SPDX-License-Identifier: Apache-2.0

/// The capabilities of a device.
public protocol NIDeviceCapability {
  /// It measures distances.
  var supportsPreciseDistanceMeasurement: Bool { get }
  /// It measures the direction of a peer with its antennas.
  var supportsDirectionMeasurement: Bool { get }
  /// It finds directions from its own movement. On Linux: `NISession.poseSource` is set.
  var supportsCameraAssistance: Bool { get }
  /// It measures extended distances with peers that do. Always false on Linux.
  var supportsExtendedDistanceMeasurement: Bool { get }
  /// It receives the messages of downlink TDoA anchors.
  var supportsDLTDOAMeasurement: Bool { get }
  /// It measures distances by Bluetooth. Always false on Linux.
  var supportsBluetoothChannelSounding: Bool { get }
}
