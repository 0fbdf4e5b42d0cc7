// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage

extension Discovery {
  /// What a device could be called on this machine, in the forms that `LinkEndpoint(_:)` reads: for
  /// completion. A chip on SPI needs its lines, so its name ends where they begin.
  package func names() -> [String] {
    let ports = ports()
    var names = ports.flatMap { $0.stablePaths.map(\.string) + [$0.path.string] }
    names += ports.compactMap { port in
      if case .usb = port.endpoint { port.endpoint.description } else { nil }
    }
    for port in ports where port.usb?.vendorID == Self.nxpVendor {
      names.append("nxp-usb:\(port.path)")
    }
    for name in FileTree.names(in: dev) {
      let path = dev.appending(name)
      if Self.nxpNodes.contains(name) {
        names.append("sr1xx:\(path)")
      } else if name == "uci" || Self.isNumbered(name, "uci") {
        names.append("uci:\(path)")
      } else if name.hasPrefix("spidev") {
        names += SPIEndpoint.Chip.allCases.map { "spi:\(path)?chip=\($0.rawValue)&irq=" }
      }
    }
    return names
  }

  /// NXP on the USB. Source: 1FC9:0095 of an-sr250-uwb-plug-and-play-demo.
  private static let nxpVendor: UInt16 = 0x1FC9
  /// Nodes of the kernel drivers for NXP's chips.
  private static let nxpNodes: Set<String> = ["srxxx", "sr1xx", "sr200"]

  /// `uci0`, and not `ucix`.
  private static func isNumbered(_ name: String, _ stem: String) -> Bool {
    name.hasPrefix(stem) && UInt16(name.dropFirst(stem.count)) != nil
  }
}
