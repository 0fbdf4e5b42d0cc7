// SPDX-License-Identifier: Apache-2.0

/// A USB product that people plug in when they work with UWB chips.
package struct KnownProduct: Sendable, Hashable {
  /// What to expect of its serial port.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The port that firmwares for this board use for UCI.
    case board
    /// A debug probe on the board: its port is silent with the stock firmwares.
    case debugProbe = "debug_probe"
    /// A bridge from USB to a serial line: anything can be at its other end.
    case bridge
    /// Cannot be driven through a serial port.
    case other
  }

  package let name: String
  /// What to expect.
  package let kind: Kind
  let vendorID: UInt16
  /// nil: every product of this vendor.
  let productID: UInt16?
  /// What the product string has to be; nil: anything.
  var product: String?
  /// What a user should know, one sentence; nil where there is nothing.
  package var note: String?

  /// The row that fits a device; nil for a stranger.
  package static func matching(_ device: USBDevice) -> KnownProduct? {
    all.first { row in
      row.vendorID == device.vendorID
        && (row.productID == nil || row.productID == device.productID)
        && (row.product == nil || row.product == device.product)
    }
  }

  /// Every row; the first that fits counts.
  package static let all: [KnownProduct] = boards + probes + bridges

  // Source: sdk_config.h of the UCI projects of Qorvo's DW3_QM33_SDK 1.1.0, for all three boards;
  // the ids are an example's in Nordic's SDK, so the product string has to fit as well.
  // Source: detect_com.py of nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.
  // Source: UWB Qorvo Tools 13.1.0, which drive the QM35825DK through FTDI's libft4222.
  private static let boards = [
    KnownProduct(
      name: "Qorvo DWM3001CDK, QM33120WDK1 or Murata Type 2AB", kind: .board, vendorID: 0x1915,
      productID: 0x520F,
      product: "nRF52 USB Product",
      note: "The boards cannot be told apart by USB; the chip itself can be asked."),
    KnownProduct(
      name: "NXP FRDM-RW612 with SR250 shield", kind: .board, vendorID: 0x1FC9, productID: 0x0095,
      note: "Its plug-and-play firmware wants commands wrapped in a header of its own; "
        + "open it with ?baud=3000000&rtscts."),
    KnownProduct(
      name: "Qorvo QM35825DK (FT4222H)", kind: .other, vendorID: 0x0403, productID: 0x601C,
      note: "It carries SPI, not a serial line, and needs FTDI's library."),
  ]

  // Source: SEGGER's vendor id; the product id says which interfaces a J-Link has, not which board
  // it is on. MCU-Link: the udev rules of pyocd/pyOCD.
  private static let probes = [
    KnownProduct(
      name: "SEGGER J-Link", kind: .debugProbe, vendorID: 0x1366, productID: nil,
      note: "Probably the debug port. Stock UCI firmwares of Qorvo's kits are silent here: use the "
        + "other USB connector (J20 on a DWM3001CDK)."),
    KnownProduct(
      name: "NXP MCU-Link", kind: .debugProbe, vendorID: 0x1FC9, productID: 0x0143,
      note: "Probably the debug port."),
  ]

  // Source: the id tables of the kernel's drivers ftdi_sio, cp210x, ch341, cdc_acm and pl2303.
  private static let bridges = [
    bridge("FTDI FT232R", 0x0403, 0x6001), bridge("FTDI FT2232", 0x0403, 0x6010),
    bridge("FTDI FT4232H", 0x0403, 0x6011), bridge("FTDI FT232H", 0x0403, 0x6014),
    bridge("FTDI FT-X", 0x0403, 0x6015), bridge("Silicon Labs CP210x", 0x10C4, 0xEA60),
    bridge("Silicon Labs CP2105", 0x10C4, 0xEA70), bridge("WCH CH340", 0x1A86, 0x7523),
    bridge("WCH CH9102", 0x1A86, 0x55D4), bridge("Prolific PL2303", 0x067B, 0x2303),
  ]

  private static func bridge(_ name: String, _ vendor: UInt16, _ product: UInt16) -> KnownProduct {
    KnownProduct(
      name: name, kind: .bridge, vendorID: vendor, productID: product,
      note: "A bridge: what is behind it only the chip can say.")
  }
}
