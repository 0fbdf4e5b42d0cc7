// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import UCI
internal import UCIReference
internal import UWB

extension UWBConfigurationData {
  /// Creates the data that describes a chip, with a new address.
  ///
  /// - Throws: `AccessoryError` with the code `.unsuitableChip`.
  init(
    for device: UWBDevice, _ options: Accessory.Options, except taken: UInt16?
  ) throws(AccessoryError) {
    if options.leavesDataToChip, device.profile.vendor != .nxp || options.version > .v11 {
      throw AccessoryError(
        .unsuitableChip("only NXP chips decode shareable data, and only up to version 1.1"))
    }
    let maker = Maker(device.info)
    self.init(
      version: options.version,
      role: options.role ?? Self.role(Capabilities(device.capabilities)),
      address: .shortAddress(except: taken))
    manufacturer = options.manufacturer ?? maker.manufacturer
    model = options.model ?? maker.model
    middleware = maker.middleware
    clockDrift = maker.clockDrift
    request = options.request
    let problems = try problems(on: device).errors
    guard problems.isEmpty else {
      throw AccessoryError(.unsuitableChip(problems.map(\.sentence).joined(separator: " ")))
    }
  }

  /// Returns the problems of a sample session with an iPhone on this chip.
  func problems(on device: UWBDevice) throws(AccessoryError) -> [ConfigurationProblem] {
    let sample = ShareableConfigurationData(sessionID: 1, address: .shortAddress(except: address))
    return try sample.session(of: .accessory, with: self)
      .problems(for: device.dialect, capabilities: Capabilities(device.capabilities))
  }

  /// Returns controller, unless the chip lists only the other role.
  private static func role(_ chip: Capabilities) -> SessionConfiguration.Role {
    let types = chip.deviceTypes ?? [.controller, .controlee]
    let roles = chip.roles ?? [.initiator, .responder]
    let canControl = types.contains(.controller) && roles.contains(.initiator)
    return !canControl && types.contains(.controlee) && roles.contains(.responder)
      ? .controlee : .controller
  }
}

/// The numbers of a manufacturer and its chip. Sources: captures of a DWM3001CDK; the public
/// sources of NXP's Zephyr SDK.
private struct Maker {
  var manufacturer: UInt32 = 0
  var model: UInt32 = 0
  var middleware: UInt32 = 0
  /// The greatest clock error in parts per million.
  var clockDrift: UInt16 = 100

  init(_ info: DeviceInfo) {
    switch info.vendorDetails {
    case .qorvo(let chip):
      manufacturer = 0x0003_F53F
      model = 3_000
      clockDrift = 25
      // Version 1.1.0 is 00 00 01 01 on the wire.
      let numbers = chip.firmware.split { $0 == "." || $0 == "-" }.compactMap { UInt8($0) }
      if numbers.count >= 2 {
        middleware = UInt32(littleEndianBytes: [0, 0, numbers[1], numbers[0]])
      }
    case .nxp(let chip):
      manufacturer = 0x0010_1132
      let numbers = (chip.firmware ?? "").split(separator: ".").compactMap { UInt8($0, radix: 16) }
      let kind: UInt32? =
        chip.deviceName.hasPrefix("SR150")
        ? 1 : chip.deviceName.hasPrefix("SR04") ? 2 : chip.deviceName.hasPrefix("SR2") ? 3 : nil
      if let major = numbers.first, let kind { model = UInt32(major) | kind << 8 }
      clockDrift = chip.maxPPM.map(UInt16.init) ?? 100
    case nil: break
    }
  }
}
