// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference
package import UWB

extension UWBDevice {
  /// The keys of a device. Names and meanings never change.
  package static let json = JSONTable<UWBDevice>("info", each: "device") {
    $0.key("device", "as given to --device") { $0.endpoint.description }
    $0.key("family", "chip family") { $0.profile.name }
    $0.key("uci", "UCI version") { "\($0.info.uciVersion)" }
    $0.key("mac", "MAC version") { "\($0.info.macVersion)" }
    $0.key("phy", "PHY version") { "\($0.info.phyVersion)" }
    $0.key("test", "test version") { "\($0.info.testVersion)" }
    $0.key("vendor_info", "vendor bytes, hexadecimal") { hexDigits($0.info.vendorInfo) }
    $0.key("channels", "UWB channels") { Capabilities($0.capabilities).channels ?? [] }
    $0.list(
      "capabilities", "capabilities of the chip",
      of: { device in
        let numbering = Capabilities(device.capabilities).numbering
        return device.capabilities.map { ($0, numbering) }
      }
    ) {
      $0.key("id", "number") { $0.0.id }
      $0.key("name", "name") { CapabilityID.name(of: $0.0.id, in: $0.1) }
      $0.key("value", "bytes, hexadecimal") { hexDigits($0.0.value) }
    }
  }
}
