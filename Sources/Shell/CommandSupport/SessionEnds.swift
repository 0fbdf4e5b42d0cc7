// SPDX-License-Identifier: Apache-2.0

import UCI
package import UWB

extension SessionConfiguration {
  /// Returns FiRa's defaults if they fit into the interval. Otherwise returns as few slots as the
  /// controlees need, as long as possible.
  package static func schedule(
    interval: UInt32, slot: UInt16? = nil, slots: UInt8? = nil, controlees: Int
  ) -> (slots: UInt8, duration: UInt16) {
    let available = Int(interval) * 1_200
    let needed = min(controlees + 5, 255)
    let usual = max(25, needed)
    let wanted = Int(slot ?? 2_400)
    let count = slots.map(Int.init) ?? (usual * wanted <= available ? usual : needed)
    let longest = available / max(count, 1) / 100 * 100
    return (UInt8(count), slot ?? UInt16(clamping: max(1, min(wanted, longest))))
  }

  /// The other end of the session, for each peer.
  package var mirrored: [SessionConfiguration] {
    peers.map { peer in
      var other = self
      other.role = role == .controller ? .controlee : .controller
      other.address = peer
      other.peers = [address]
      other.diagnostics = nil
      // The controller may be the responder.
      other.additional = other.additional.map { tlv in
        tlv.id == AppConfigID.deviceRole.rawValue
          ? TLV(tlv.id, tlv.value.map { $0 <= 1 ? 1 - $0 : $0 }) : tlv
      }
      return other
    }
  }
}
