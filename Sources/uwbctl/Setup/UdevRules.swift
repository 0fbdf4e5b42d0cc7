// SPDX-License-Identifier: Apache-2.0

/// The rules for udev that `setup` installs.
enum UdevRules {
  /// The name of the file: sorted before 73, where systemd applies the tag uaccess, and after
  /// 60-serial.rules.
  static let name = "60-uwb.rules"
  /// The name of the file for nodes that the user named.
  static let nodesName = "61-uwb-nodes.rules"
  /// The group that has access without a local login.
  static let group = "dialout"

  /// Rules for nodes that cannot be recognised: a spidev, GPIO lines, a UART.
  ///
  /// - Parameter nodes: kernel names, such as `spidev0.0`.
  static func text(forNodes nodes: [String]) -> String {
    let head = """
      # SPDX-License-Identifier: Apache-2.0
      #
      # Written by uwbctl setup --node: nodes on this machine that lead to a UWB chip.

      """
    return nodes.reduce(into: head) { text, node in
      text +=
        "KERNEL==\"\(node)\", MODE=\"0660\", GROUP=\"\(group)\", TAG+=\"uaccess\", "
        + "SYMLINK+=\"uwb/$kernel\"\n"
    }
  }

  /// The contents of udev/60-uwb.rules; a test compares them.
  static let text = #"""
    # SPDX-License-Identifier: Apache-2.0
    #
    # Access to UWB chips and development kits: for the logged-in user (uaccess) and, on machines without
    # a seat, for the group dialout; names under /dev/uwb that stay the same in every socket; and
    # ModemManager is kept away. `uwbctl setup` shows what it would install, `uwbctl setup --install`
    # does it, `uwbctl setup --remove` undoes it. By hand: copy this file to /etc/udev/rules.d, then
    #   udevadm control --reload && udevadm trigger
    #
    # The number has to be below 73, where systemd turns the tag into an access list, and behind
    # 60-serial.rules, which asks USB devices for their serial numbers.

    ACTION=="remove", GOTO="uwb_end"
    SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", GOTO="uwb_usb"
    SUBSYSTEM=="tty", SUBSYSTEMS=="usb", GOTO="uwb_tty"
    ENV{MAJOR}=="?*", GOTO="uwb_node"
    GOTO="uwb_end"

    # USB devices as a whole. ModemManager must not send AT commands to a board whose CDC interface
    # claims to be an AT modem: they misalign its parser.
    LABEL="uwb_usb"
    # Qorvo DWM3001CDK (J20), QM33120WDK1 and Murata Type 2AB: native USB of the nRF52. The ids are
    # Nordic's own, so the product string has to match as well.
    ATTR{idVendor}=="1915", ATTR{idProduct}=="520f", ATTR{product}=="nRF52 USB Product", ENV{ID_MM_DEVICE_IGNORE}="1"
    # SEGGER J-Link on Qorvo's kits, NXP MCU-Link, NXP FRDM-RW612 with SR250.
    ATTR{idVendor}=="1366", ENV{ID_MM_DEVICE_IGNORE}="1"
    ATTR{idVendor}=="1fc9", ATTR{idProduct}=="0095|0143", ENV{ID_MM_DEVICE_IGNORE}="1"
    # Qorvo QM35825DK: an FT4222H, which carries SPI and has no serial port.
    ATTR{idVendor}=="0403", ATTR{idProduct}=="601c", MODE="0660", GROUP="dialout", TAG+="uaccess"
    GOTO="uwb_end"

    # Serial ports of USB devices: /dev/uwb/PRODUCT-SERIAL, of a probe with the number of the interface,
    # as it can have several.
    LABEL="uwb_tty"
    ENV{ID_SERIAL_SHORT}!="?*", IMPORT{builtin}="usb_id"
    ATTRS{idVendor}=="1915", ATTRS{idProduct}=="520f", ATTRS{product}=="nRF52 USB Product", ENV{.UWB}="qorvo-$env{ID_SERIAL_SHORT}"
    ATTRS{idVendor}=="1fc9", ATTRS{idProduct}=="0095", ENV{.UWB}="nxp-$env{ID_SERIAL_SHORT}"
    ATTRS{idVendor}=="1366", ENV{.UWB}="jlink-$env{ID_SERIAL_SHORT}-if$env{ID_USB_INTERFACE_NUM}"
    ATTRS{idVendor}=="1fc9", ATTRS{idProduct}=="0143", ENV{.UWB}="mculink-$env{ID_SERIAL_SHORT}-if$env{ID_USB_INTERFACE_NUM}"
    # Not here on purpose: bare FTDI, CP210x and CH340 converters. Their ids belong to any serial cable;
    # join the group dialout to use one.
    ENV{.UWB}!="?*", GOTO="uwb_end"
    ENV{ID_MM_PORT_IGNORE}="1", MODE="0660", GROUP="dialout", TAG+="uaccess"
    ENV{ID_SERIAL_SHORT}=="?*", SYMLINK+="uwb/$env{.UWB}"
    GOTO="uwb_end"

    LABEL="uwb_node"
    # The vendors' own kernel drivers for NXP SR1xx and SR2xx and for Qorvo QM35.
    KERNEL=="srxxx|sr1xx|sr100|sr200|uci|uci[0-9]*", MODE="0660", GROUP="dialout", TAG+="uaccess", SYMLINK+="uwb/$kernel"
    # The kernel's spidev, bound to a chip that the device tree or a board file names: the driver of the
    # bus knows it as spi:sr150, spi:qm35 and so on. A spidev that names no chip can be anything; `uwbctl
    # setup --node` writes a rule for it, and for the GPIO lines beside it.
    SUBSYSTEM=="spidev", ATTRS{modalias}=="spi:sr1??|spi:sr2??|spi:srxxx|spi:uwb-sr*", MODE="0660", GROUP="dialout", TAG+="uaccess", SYMLINK+="uwb/nxp-$kernel"
    SUBSYSTEM=="spidev", ATTRS{modalias}=="spi:qm35*", MODE="0660", GROUP="dialout", TAG+="uaccess", SYMLINK+="uwb/qorvo-$kernel"

    LABEL="uwb_end"

    """#
}
