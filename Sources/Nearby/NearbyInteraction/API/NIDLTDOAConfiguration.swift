// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A session that only receives anchors, whose messages let a receiver compute its own position.
open class NIDLTDOAConfiguration: NIConfiguration, @unchecked Sendable {
  // Sendable: safe as long as no thread changes a configuration while another one uses it; `run` takes
  // a copy.

  /// How the anchors are found. Linux hosts do not search for them: the session's parameters are FiRa's
  /// defaults, or those of `NIDLTDOAConfiguration.radio`.
  public enum DiscoveryMethod: Int, Sendable, BitwiseCopyable {
    /// By Wi-Fi.
    case wiFi = 0
    /// By Bluetooth Low Energy.
    case bluetoothLowEnergy = 1
  }

  /// The session id of the anchors.
  open var networkIdentifier: Int
  /// Stored, but not used; see `DiscoveryMethod`.
  open var discoveryMethod: DiscoveryMethod

  /// Beyond Apple: the radio parameters of the anchors.
  public var radio = Radio()

  /// Creates a configuration for the anchors of a network.
  public convenience init(networkIdentifier: Int) {
    self.init(networkIdentifier: networkIdentifier, discoveryMethod: .bluetoothLowEnergy)
  }

  /// Creates a configuration for the anchors of a network.
  public init(networkIdentifier: Int, discoveryMethod: DiscoveryMethod) {
    self.networkIdentifier = networkIdentifier
    self.discoveryMethod = discoveryMethod
    super.init(kind: ())
  }

  /// Decodes an archived instance.
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
    self.radio = radio
  }

  /// Encodes the instance.
  open override func encode(with coder: NSCoder) {
    coder.encode(networkIdentifier, forKey: "network")
    coder.encode(discoveryMethod.rawValue, forKey: "method")
    if let data = try? JSONEncoder().encode(radio) {
      coder.encode(NSData(data: data), forKey: "radio")
    }
  }

  /// Returns an independent copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NIDLTDOAConfiguration(
      networkIdentifier: networkIdentifier, discoveryMethod: discoveryMethod)
    copy.radio = radio
    return copy
  }
}
