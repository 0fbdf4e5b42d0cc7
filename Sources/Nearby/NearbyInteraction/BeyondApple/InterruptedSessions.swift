// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Foundation

extension NINearbyAccessoryConfiguration {
  /// Returns configurations that resume the sessions of killed programs of this user. Not part of
  /// Apple's API.
  ///
  /// The name of the device, such as `uwbd:?linger=60`, has the time for which sessions wait. `run`
  /// records such a session in the runtime folder of the user (`XDG_RUNTIME_DIR`, or
  /// `RUNTIME_DIRECTORY` of a service) until it ends. The folder is in memory, and the record has
  /// key material. `run` with one of the configurations continues the session, or begins it again
  /// with the same data if it no longer waits.
  ///
  /// - Parameter device: as for `NISession.device`; nil for the device of all sessions.
  public static func interrupted(on device: String? = nil) -> [NINearbyAccessoryConfiguration] {
    guard case .success(let endpoint) = DeviceChoice.endpoint(named: device ?? NISession.device),
      let name = RunRecord.name(of: endpoint, lingers: false)
    else { return [] }
    return RunRecord.ofEndedPrograms().compactMap { record in
      guard record.device == name else { return nil }
      let data = Data(record.accessory)
      let configuration =
        if let bluetooth = record.bluetooth {
          try? NINearbyAccessoryConfiguration(
            accessoryData: data, bluetoothPeerIdentifier: bluetooth)
        } else {
          try? NINearbyAccessoryConfiguration(data: data)
        }
      configuration?.shareableConfigurationData = Data(record.shareable)
      return configuration
    }
  }
}
