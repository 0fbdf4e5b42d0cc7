// SPDX-License-Identifier: Apache-2.0
internal import UCI
package import UCIReference
package import UWB

extension AndroidCapability {
  /// Creates the capabilities of a chip.
  ///
  /// Offers preamble codes of BPRF only, because no session of HPRF with a phone has been observed.
  /// A chip that reports no shortest interval is assumed to have all intervals of Android; one that
  /// reports no shortest slot has slots of 2 ms.
  ///
  /// - Parameters:
  ///   - role: the only role to offer; nil for all roles of the chip.
  ///   - address: the short address of this end.
  package init(
    of chip: Capabilities, role: SessionConfiguration.Role? = nil, address: UInt16
  ) {
    self.address = address
    channels = (chip.channels ?? [9]).reduce(0) { $0 | 1 << UInt32($1) }
    interval = UInt16(clamping: chip.minRangingIntervalMilliseconds ?? 96)
    let shortest = chip[.minSlotDuration] ?? chip[.androidMinSlotDuration]
    let duration = shortest.flatMap { TLV(0, $0).integer } ?? 2_400
    slot = UInt8(clamping: max(1, duration / 1_200 + (duration % 1_200 == 0 ? 0 : 1)))
    let modes = chip.stsModes ?? .static
    let possible = AndroidConfiguration.ofPhones.filter {
      modes.contains($0.stsConfig == 0 ? .static : .provisioned)
    }
    configurations = possible.compactMap(\.outOfBandID).reduce(0) { $0 | 1 << UInt32($1) }
    let types = chip.deviceTypes ?? [.controller, .controlee]
    let ends = chip.roles ?? [.initiator, .responder]
    roles = []
    if role != .controlee, types.contains(.controller), ends.contains(.initiator) {
      roles.insert(.initiator)
    }
    if role != .controller, types.contains(.controlee), ends.contains(.responder) {
      roles.insert(.responder)
    }
  }

  /// Whether a phone can choose a session: Android uses channels 5 and 9.
  package var isUsable: Bool {
    configurations != 0 && !roles.isEmpty && (hasChannel(5) || hasChannel(9))
  }
}
