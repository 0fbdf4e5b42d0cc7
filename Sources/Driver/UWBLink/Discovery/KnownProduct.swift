// SPDX-License-Identifier: Apache-2.0

/// A USB product that is common among users of UWB chips.
package struct KnownProduct: Sendable, Hashable {
  /// The purpose of the product's serial port.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The port of a board whose firmware uses it for UCI.
    case board
    /// The debug probe of a board. Its port is silent with the stock firmware.
    case debugProbe = "debug_probe"
    /// A bridge from USB to a serial line, with an unknown device at its other end.
    case bridge
    /// A product that cannot be driven through a serial port.
    case other
  }

  package let name: String
  /// The purpose of the port.
  package let kind: Kind
  let vendorID: UInt16
  /// The product ID; nil matches all products of the vendor.
  let productID: UInt16?
  /// The product string that the device must have; nil matches any.
  var product: String?
  /// A hint for users, in one sentence.
  package var note: String?

  /// Returns the first matching row, or nil for an unknown device.
  package static func matching(_ device: USBDevice) -> KnownProduct? {
    all.first { row in
      row.vendorID == device.vendorID
        && (row.productID == nil || row.productID == device.productID)
        && (row.product == nil || row.product == device.product)
    }
  }

  /// The known products; the first match counts.
  package static let all: [KnownProduct] = boards + probes + bridges

  // Source: sdk_config.h of the UCI projects of Qorvo's DW3_QM33_SDK 1.1.0, for all three boards.
  // The IDs come from an example in Nordic's SDK, so the product string must match as well. Source:
  // detect_com.py of nxp-appcodehub/an-sr250-uwb-plug-and-play-demo. Source: UWB Qorvo Tools
  // 13.1.0, which drive the QM35825DK through FTDI's libft4222.
  private static let boards = [
    KnownProduct(
      name: "Qorvo DWM3001CDK, QM33120WDK1 or Murata Type 2AB", kind: .board, vendorID: 0x1915,
      productID: 0x520F,
      product: "nRF52 USB Product",
      note: "USB does not distinguish these boards; the chip reports its type."),
    KnownProduct(
      name: "NXP FRDM-RW612 with SR250 shield", kind: .board, vendorID: 0x1FC9, productID: 0x0095,
      note: "Its plug-and-play firmware expects commands wrapped in its own header; "
        + "open it with ?baud=3000000&rtscts."),
    KnownProduct(
      name: "Qorvo QM35825DK (FT4222H)", kind: .other, vendorID: 0x0403, productID: 0x601C,
      note: "It carries SPI, not a serial line, and needs FTDI's library."),
  ]

  // Source: the vendor ID of SEGGER. The product ID identifies the interfaces of a J-Link, not its
  // board. MCU-Link: the udev rules of pyocd/pyOCD.
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
      note: "A bridge to an unknown device: only the device itself can identify it.")
  }
}
