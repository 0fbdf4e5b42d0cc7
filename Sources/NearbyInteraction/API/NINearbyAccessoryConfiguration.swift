// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
public import Foundation

/// A session with an accessory that speaks the accessory protocol: a board with the vendor's Nearby
/// Interaction firmware, or a Linux host in its place.
open class NINearbyAccessoryConfiguration: NIConfiguration, @unchecked Sendable {
  // Sound as far as Apple's: an app does not change a configuration that another thread uses; `run`
  // takes a copy.

  /// What the accessory said of itself.
  enum Accessory: Sendable, Equatable {
    case ranges(AccessoryConfigurationData)
    /// Found by Bluetooth channel sounding, which Linux hosts do not have.
    case channelSounding(UUID)
  }

  let accessory: Accessory
  private let token: NIDiscoveryToken

  /// Names the accessory in callbacks. New with each configuration.
  open var accessoryDiscoveryToken: NIDiscoveryToken { token }

  /// Whether movement of this device, from a `PoseSource`, is to tell where the accessory is.
  open var isCameraAssistanceEnabled = false

  /// The Bluetooth identifier given to `init(accessoryData:bluetoothPeerIdentifier:)`.
  let bluetoothPeerIdentifier: UUID?

  private init(_ accessory: Accessory, bluetooth: UUID?, token: NIDiscoveryToken) {
    self.accessory = accessory
    self.token = token
    bluetoothPeerIdentifier = bluetooth
    super.init(kind: ())
  }

  /// A session with the accessory that sent this data.
  ///
  /// - Parameter data: Accessory Configuration Data, version 1.0, 1.1 or 2.0, without the identifier
  ///   of the message.
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names the field.
  public convenience init(data: Data) throws {
    self.init(.ranges(try Self.parsed(data)), bluetooth: nil, token: .accessory())
  }

  /// The same. On Apple's platforms the identifier of the connected accessory lets a session go on in
  /// the background; a Linux process has no such limit, so here it changes nothing.
  ///
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names the field.
  public convenience init(accessoryData: Data, bluetoothPeerIdentifier identifier: UUID) throws {
    self.init(.ranges(try Self.parsed(accessoryData)), bluetooth: identifier, token: .accessory())
  }

  /// A session by Bluetooth channel sounding. Linux hosts have none: `run` ends with
  /// `NIError.unsupportedPlatform`.
  public convenience init(
    bluetoothChannelSoundingIdentifier bluetoothIdentifier: UUID, previousBluetoothIdentifier: UUID?
  ) {
    self.init(
      .channelSounding(bluetoothIdentifier), bluetooth: bluetoothIdentifier, token: .accessory())
  }

  private static func parsed(_ data: Data) throws(NIError) -> AccessoryConfigurationData {
    do throws(AccessoryProtocolError) {
      return try AccessoryConfigurationData([UInt8](data))
    } catch {
      throw NIError(
        .invalidConfiguration, reason: error.description, recovery: error.suggestion)
    }
  }

  /// Reads what `encode(with:)` wrote.
  public required init?(coder: NSCoder) {
    guard let token = coder.decodeObject(of: NIDiscoveryToken.self, forKey: "token") else {
      return nil
    }
    self.token = token
    // What is not there is not asked for: that would make the archive count as damaged.
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

  /// Writes what `init(coder:)` reads.
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

  /// A copy that does not change with this one.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NINearbyAccessoryConfiguration(
      accessory, bluetooth: bluetoothPeerIdentifier, token: token)
    copy.isCameraAssistanceEnabled = isCameraAssistanceEnabled
    return copy
  }
}
