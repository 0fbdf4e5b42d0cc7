// SPDX-License-Identifier: Apache-2.0

import UCI

// Who takes part.
extension ConfigurationCheck {
  func controlees() -> [ConfigurationProblem] {
    guard parameters.isTwoWay, let bytes = parameters[.dstMACAddress] else { return [] }
    var problems: [ConfigurationProblem] = []
    guard bytes.count > 0, bytes.count % parameters.addressLength == 0 else {
      return [
        .init(
          .refusedByChip,
          "DST_MAC_ADDRESS has \(bytes.count) bytes, which is not a multiple of "
            + "\(parameters.addressLength).", [.dstMACAddress, .macAddressMode])
      ]
    }
    let peers = parameters.destinations
    switch parameters.isController {
    case false?:
      if peers.count != 1 {
        problems.add(
          .preventsRanging,
          "A controlee has one controller, and DST_MAC_ADDRESS names \(peers.count).",
          [.dstMACAddress])
      }
    default:
      let count = number(.numberOfControlees) ?? 1
      if count != UInt64(peers.count) {
        problems.add(
          .preventsRanging,
          "NUMBER_OF_CONTROLEES is \(text(.numberOfControlees)), and DST_MAC_ADDRESS names "
            + "\(peers.count).", [.numberOfControlees, .dstMACAddress],
          try: "Make NUMBER_OF_CONTROLEES \(peers.count).")
      }
      if peers.count > 1, number(.multiNodeMode) == 0 {
        problems.add(
          .preventsRanging, "MULTI_NODE_MODE is unicast, and there are \(peers.count) controlees.",
          [.multiNodeMode], try: "Use one to many (1), at the controlees too.")
      }
    }
    return problems
  }

  func addresses() -> [ConfigurationProblem] {
    var problems: [ConfigurationProblem] = []
    if number(.macAddressMode) == 1 {
      problems.add(
        .refusedByChip,
        "MAC_ADDRESS_MODE 1, extended addresses with short ones in the header, is on no known chip.",
        [.macAddressMode], try: "Use short addresses (0) or extended ones (2).")
    }
    if let own = parameters[.deviceMACAddress], [2, 8].contains(own.count),
      own.count != parameters.addressLength
    {
      problems.add(
        .refusedByChip,
        "DEVICE_MAC_ADDRESS has \(own.count) bytes, and MAC_ADDRESS_MODE is "
          + "\(text(.macAddressMode)).", [.deviceMACAddress, .macAddressMode],
        try: "Use addresses of one length everywhere.")
    }
    let peers = parameters.destinations
    if let own = parameters.address, peers.contains(own) {
      problems.add(
        .preventsRanging, "The device is its own peer: \(own) is in DST_MAC_ADDRESS.",
        [.dstMACAddress, .deviceMACAddress],
        try: "Put the other end's address into DST_MAC_ADDRESS.")
    }
    if Set(peers).count != peers.count {
      problems.add(.preventsRanging, "A peer is named twice in DST_MAC_ADDRESS.", [.dstMACAddress])
    }
    return problems
  }
}
