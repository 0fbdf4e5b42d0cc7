// SPDX-License-Identifier: Apache-2.0
internal import UWB

// Messages in words. The key of a session is left out.

extension AndroidPhoneMessage: CustomStringConvertible {
  package var description: String {
    let text =
      switch content {
      case .capabilityRequest(let set): "capability request: \(set)"
      case .configuration(nil, _): "configuration: nothing"
      case .configuration(let uwb?, let wantsMotion):
        "configuration: \(uwb)" + (wantsMotion ? ", motion wanted" : "")
      case .stop(let set): "stop: \(set)"
      }
    return "phone, version \(version), \(text)"
  }
}

extension AndroidAccessoryMessage: CustomStringConvertible {
  package var description: String {
    let text =
      switch content {
      case .capabilityResponse(nil, _): "capability response: nothing"
      case .capabilityResponse(let uwb?, let type):
        "capability response: \(uwb)" + (version >= 2 ? ", device \(type)" : "")
      case .configurationResponse(let set): "configuration response: \(set)"
      case .stopResponse(let set): "stop response: \(set)"
      case .motion(let motion): "motion: \(motion)"
      }
    return "accessory, version \(version), \(text)"
  }
}

extension AndroidTechnologies: CustomStringConvertible {
  private static let names = [
    "UWB", "Bluetooth channel sounding", "Wi-Fi NAN RTT", "Bluetooth RSSI", "technology 4",
    "Wi-Fi PD",
  ]

  package var description: String {
    let bits = (0..<16).filter { rawValue >> UInt16($0) & 1 != 0 }
    guard !bits.isEmpty else { return "nothing" }
    return bits.map { $0 < Self.names.count ? Self.names[$0] : "technology \($0)" }
      .joined(separator: ", ")
  }
}

extension AndroidCapability: CustomStringConvertible {
  package var description: String {
    func list(_ has: (UInt8) -> Bool) -> String {
      let found = (0...32).filter { has($0) }.map(String.init)
      return found.isEmpty ? "none" : found.joined(separator: " ")
    }
    let ends = [(Roles.initiator, "initiator"), (.responder, "responder")]
      .filter { roles.contains($0.0) }.map(\.1).joined(separator: " ")
    return "address \(MACAddress(address)), channels \(list(hasChannel)), preamble codes "
      + "\(list(hasPreamble)), configurations \(list(hasConfiguration)), from \(interval) ms, "
      + "slots from \(slot) ms, roles \(ends.isEmpty ? "none" : ends)"
  }
}

extension AndroidChoice: CustomStringConvertible {
  package var description: String {
    "address \(MACAddress(address)), session \(sessionID), configuration \(number), channel "
      + "\(channel), preamble code \(preambleCode), \(interval) ms, slots of \(slot) ms, key of "
      + "\(key.bytes.count) bytes, accessory as \(role == .controller ? "initiator" : "responder")"
  }
}
