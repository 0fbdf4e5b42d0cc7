// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A session that only receives messages of anchors, from which an app computes its own position.
open class NIDLTDOAConfiguration: NIConfiguration, @unchecked Sendable {
  // Sendable: safe as long as no thread changes a configuration while another thread uses it; `run`
  // makes a copy.

  /// The way in which anchors are found. Linux hosts do not search for them: the session has the
  /// parameters of `NIDLTDOAConfiguration.radio`, by default FiRa's.
  public enum DiscoveryMethod: Int, Sendable, BitwiseCopyable {
    /// Announced by Wi-Fi.
    case wiFi = 0
    /// Announced by Bluetooth Low Energy.
    case bluetoothLowEnergy = 1
  }

  /// The session id of the anchors.
  open var networkIdentifier: Int
  /// The discovery method, which is stored but not used; see `DiscoveryMethod`.
  open var discoveryMethod: DiscoveryMethod

  /// The radio parameters of the anchors. Not part of Apple's API.
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
    guard let radio = coder.decode(json: Radio.self, forKey: "radio") else { return nil }
    self.radio = radio
  }

  /// Encodes the instance.
  open override func encode(with coder: NSCoder) {
    coder.encode(networkIdentifier, forKey: "network")
    coder.encode(discoveryMethod.rawValue, forKey: "method")
    coder.encode(json: radio, forKey: "radio")
  }

  /// Returns an independent copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NIDLTDOAConfiguration(
      networkIdentifier: networkIdentifier, discoveryMethod: discoveryMethod)
    copy.radio = radio
    return copy
  }
}
