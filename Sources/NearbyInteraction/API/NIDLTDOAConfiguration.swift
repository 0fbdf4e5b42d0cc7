// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A session that only listens to anchors, which send what a receiver needs to find its own place.
open class NIDLTDOAConfiguration: NIConfiguration, @unchecked Sendable {
  // Sound as far as Apple's: an app does not change a configuration that another thread uses; `run`
  // takes a copy.

  /// How the anchors are found. Linux hosts do not look for them: the session's parameters are FiRa's
  /// defaults, or those of `NIDLTDOAConfiguration.radio`.
  public enum DiscoveryMethod: Int, Sendable {
    /// By Wi-Fi.
    case wiFi = 0
    /// By Bluetooth Low Energy.
    case bluetoothLowEnergy = 1
  }

  /// The session id of the anchors.
  open var networkIdentifier: Int
  /// Kept; see `DiscoveryMethod`.
  open var discoveryMethod: DiscoveryMethod

  /// Beyond Apple: what the anchors send with.
  var radioSettings = Radio()

  /// Listens to the anchors of a network.
  public convenience init(networkIdentifier: Int) {
    self.init(networkIdentifier: networkIdentifier, discoveryMethod: .bluetoothLowEnergy)
  }

  /// Listens to the anchors of a network.
  public init(networkIdentifier: Int, discoveryMethod: DiscoveryMethod) {
    self.networkIdentifier = networkIdentifier
    self.discoveryMethod = discoveryMethod
    super.init(kind: ())
  }

  /// Reads what `encode(with:)` wrote.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: "network"),
      let method = DiscoveryMethod(rawValue: coder.decodeInteger(forKey: "method"))
    else { return nil }
    networkIdentifier = coder.decodeInteger(forKey: "network")
    discoveryMethod = method
    super.init(coder: coder)
    guard let data = coder.decodeObject(of: NSData.self, forKey: "radio"),
      let radio = try? JSONDecoder().decode(Radio.self, from: Data(referencing: data))
    else { return nil }
    radioSettings = radio
  }

  /// Writes what `init(coder:)` reads.
  open override func encode(with coder: NSCoder) {
    coder.encode(networkIdentifier, forKey: "network")
    coder.encode(discoveryMethod.rawValue, forKey: "method")
    if let data = try? JSONEncoder().encode(radioSettings) {
      coder.encode(NSData(data: data), forKey: "radio")
    }
  }

  /// A copy that does not change with this one.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NIDLTDOAConfiguration(
      networkIdentifier: networkIdentifier, discoveryMethod: discoveryMethod)
    copy.radioSettings = radioSettings
    return copy
  }
}
