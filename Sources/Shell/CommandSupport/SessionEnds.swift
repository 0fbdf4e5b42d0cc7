// SPDX-License-Identifier: Apache-2.0

import UCI
package import UWB

extension SessionConfiguration {
  /// Returns FiRa's defaults if they fit into the interval. Otherwise returns as few slots as the
  /// controlees need, each as long as possible.
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

  /// The simulated other ends of a session: the peers of two-way ranging, or the senders that a
  /// receiver of one-way ranging needs.
  package var counterparts: [SessionConfiguration] {
    func other(_ role: Role, _ address: UInt16) -> SessionConfiguration {
      var other = self
      (other.role, other.address, other.peers) = (role, MACAddress(address), [])
      (other.diagnostics, other.maxMeasurements) = (nil, 0)
      return other
    }
    switch role {
    case .controlee, .controller: return mirrored
    case .downlinkTag(let tag):
      let round = tag.rounds.first ?? 0
      let places = SimulatedPeers.anchorPlaces.prefix(max(2, min(5, Int(slotsPerRound) - 1)))
      let responders = places.indices.dropFirst().map { MACAddress(UInt16($0)) }
      // The initiator comes last: the others wait for its poll.
      return places.enumerated().reversed().map { index, place in
        let millimetres = AnchorLocation.relative(
          x: Int32(place.x * 1_000), y: Int32(place.y * 1_000), z: Int32(place.z * 1_000))
        return other(
          .downlinkAnchor(
            DownlinkAnchor(
              rounds: [
                .init(round, index == 0 ? .initiator(responders: responders) : .responder)
              ], location: millimetres)), UInt16(index))
      }
    case .uplinkAnchor:
      let interval = interval
      return [other(.uplinkSyncAnchor(.bits40), 0x50)]
        + (0..<2).map { index in
          other(
            .uplinkTag(UplinkTag(interval: interval, randomWindow: interval / 10)),
            0x101 + UInt16(index))
        }
    case .observer(let train): return [other(.advertiser(train), 0x101)]
    case .downlinkAnchor, .uplinkTag, .uplinkSyncAnchor, .advertiser: return []
    }
  }

  /// The session of each peer, with the roles exchanged.
  package var mirrored: [SessionConfiguration] {
    peers.map { peer in
      var other = self
      other.role = role == .controller ? .controlee : .controller
      other.address = peer
      other.peers = [address]
      other.diagnostics = nil
      // Additional parameters may contain the device role, which is exchanged as well.
      other.additional = other.additional.map { tlv in
        tlv.id == AppConfigID.deviceRole.rawValue
          ? TLV(tlv.id, tlv.value.map { $0 <= 1 ? 1 - $0 : $0 }) : tlv
      }
      return other
    }
  }
}
