// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
public import Foundation

/// A session with an accessory that supports the accessory protocol: a board with the vendor's
/// Nearby Interaction firmware, or a Linux host.
open class NINearbyAccessoryConfiguration: NIConfiguration, @unchecked Sendable {
  // Sendable: safe as long as no thread changes a configuration while another thread uses it; `run`
  // makes a copy.

  enum Accessory: Sendable, Equatable {
    case ranges(AccessoryConfigurationData)
    /// An accessory with Bluetooth channel sounding, which Linux hosts do not support.
    case channelSounding(UUID)
  }

  let accessory: Accessory
  private let token: NIDiscoveryToken

  /// The token that identifies the accessory in callbacks. Each configuration has a new one.
  open var accessoryDiscoveryToken: NIDiscoveryToken { token }

  /// Whether movement of this device, from a `PoseSource`, determines the position of the
  /// accessory.
  open var isCameraAssistanceEnabled = false

  /// The data that an earlier run generated for the same accessory; nil for new data in each run.
  /// Not part of Apple's API.
  ///
  /// `run` generates the same data again, even if an earlier program generated it first. It
  /// continues that session if it still ranges at the service (`uwbd`).
  ///
  /// The data contains key material, so a program that stores it should protect it from other
  /// users. An archived configuration does not contain it.
  open var shareableConfigurationData: Data?

  /// The identifier given to `init(accessoryData:bluetoothPeerIdentifier:)`.
  let bluetoothPeerIdentifier: UUID?

  private init(_ accessory: Accessory, bluetooth: UUID?, token: NIDiscoveryToken) {
    self.accessory = accessory
    self.token = token
    bluetoothPeerIdentifier = bluetooth
    super.init(kind: ())
  }

  /// Creates a configuration for the accessory that sent this data.
  ///
  /// - Parameter data: Accessory Configuration Data, version 1.0, 1.1 or 2.0, without the message
  ///   identifier.
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names the field.
  public convenience init(data: Data) throws {
    self.init(.ranges(try Self.parsed(data)), bluetooth: nil, token: .accessory())
  }

  /// Creates a configuration for the accessory that sent this data over Bluetooth LE. The session
  /// continues in the background; see `NISession.isInBackground`.
  ///
  /// `run` ends with `NIError.accessoryPeerDeviceUnavailable` unless the accessory is paired and
  /// connected, and its Nearby Interaction service has the same data.
  ///
  /// - Parameters:
  ///   - accessoryData: the data from the accessory.
  ///   - identifier: the value of `BluetoothAccessory.identifier`.
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names the field.
  public convenience init(accessoryData: Data, bluetoothPeerIdentifier identifier: UUID) throws {
    self.init(.ranges(try Self.parsed(accessoryData)), bluetooth: identifier, token: .accessory())
  }

  /// Creates a configuration for Bluetooth channel sounding, which Linux hosts do not support:
  /// `run` ends with `NIError.unsupportedPlatform`.
  public convenience init(
    bluetoothChannelSoundingIdentifier bluetoothIdentifier: UUID, previousBluetoothIdentifier: UUID?
  ) {
    self.init(
      .channelSounding(bluetoothIdentifier), bluetooth: bluetoothIdentifier, token: .accessory())
  }

  private static func parsed(_ data: Data) throws(NIError) -> AccessoryConfigurationData {
    do throws(AccessoryError) { return try AccessoryConfigurationData([UInt8](data)) } catch {
      throw NIError(.invalidConfiguration, error)
    }
  }

  /// Decodes an archived instance.
  public required init?(coder: NSCoder) {
    guard let token = coder.decodeObject(of: NIDiscoveryToken.self, forKey: "token") else {
      return nil
    }
    self.token = token
    // Decoding a missing key would mark the archive as damaged.
    var bluetooth: UUID?
    if coder.containsValue(forKey: "bluetooth") {
      let identifier = coder.decodeObject(of: NSUUID.self, forKey: "bluetooth")
      bluetooth = identifier.flatMap { UUID(uuidString: $0.uuidString) }
    }
    if coder.containsValue(forKey: "accessory") {
      guard let data = coder.decodeObject(of: NSData.self, forKey: "accessory"),
        let parsed = try? AccessoryConfigurationData([UInt8](Data(referencing: data)))
      else { return nil }
      accessory = .ranges(parsed)
    } else if let bluetooth {
      accessory = .channelSounding(bluetooth)
    } else {
      return nil
    }
    bluetoothPeerIdentifier = bluetooth
    super.init(coder: coder)
    isCameraAssistanceEnabled = coder.decodeBool(forKey: "cameraAssistance")
  }

  /// Encodes the instance.
  open override func encode(with coder: NSCoder) {
    coder.encode(token, forKey: "token")
    if case .ranges(let data) = accessory {
      coder.encode(NSData(data: Data(data.bytes)), forKey: "accessory")
    }
    if let bluetoothPeerIdentifier {
      coder.encode(NSUUID(uuidString: bluetoothPeerIdentifier.uuidString), forKey: "bluetooth")
    }
    coder.encode(isCameraAssistanceEnabled, forKey: "cameraAssistance")
  }

  /// Returns an independent copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NINearbyAccessoryConfiguration(
      accessory, bluetooth: bluetoothPeerIdentifier, token: token)
    copy.isCameraAssistanceEnabled = isCameraAssistanceEnabled
    copy.shareableConfigurationData = shareableConfigurationData
    return copy
  }
}
