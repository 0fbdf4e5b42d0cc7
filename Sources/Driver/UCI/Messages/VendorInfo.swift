// SPDX-License-Identifier: Apache-2.0

/// The contents of the vendor's own bytes of CORE_GET_DEVICE_INFO_RSP.
package enum VendorInfo: Hashable, Sendable {
  /// Qorvo's record.
  case qorvo(QorvoDeviceInfo)
  /// NXP's list of parameters.
  case nxp(NXPDeviceInfo)
}

/// Qorvo's record of 52 bytes in CORE_GET_DEVICE_INFO_RSP; 51 in older firmware.
package struct QorvoDeviceInfo: Hashable, Sendable {
  /// The version of the firmware, such as `1.1.0`, or `1.1.0-rc2` for a release candidate.
  package let firmware: String
  /// Number of the job that built the firmware.
  package let build: UInt64
  /// The version of the manufacturer of the device, such as `0.0.0`.
  package let oemVersion: String
  /// The identifier of the chip, without padding.
  package let socID: [UInt8]
  /// The type of the chip, such as 0xDECA0302 for the DW3000 family.
  package let deviceID: UInt32
  /// The packaging: 0 a chip, 1 a module.
  package let packaging: UInt8

  /// Reads the vendor's bytes; nil when they are not this record.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 51 || bytes.count == 52 else { return nil }
    let version = bytes.count - 48
    let base = version + 8
    deviceID = UInt32(littleEndianBytes: bytes[(base + 35)...])
    guard deviceID >> 16 == 0xDECA else { return nil }
    let plain = bytes[0..<3].map(String.init).joined(separator: ".")
    firmware = version == 4 && bytes[3] != 0 ? "\(plain)-rc\(bytes[3])" : plain
    build = UInt64(littleEndianBytes: bytes[version...])
    oemVersion = bytes[base..<base + 3].map(String.init).joined(separator: ".")
    let id = bytes[base + 3..<base + 35]
    socID = Array(id[..<(id.lastIndex { $0 != 0 }.map { $0 + 1 } ?? id.startIndex)])
    packaging = bytes[base + 39]
  }
}

/// NXP's list of parameters in CORE_GET_DEVICE_INFO_RSP.
package struct NXPDeviceInfo: Hashable, Sendable {
  /// All parameters, in the order of the message.
  package let parameters: [TLV]

  /// Reads the vendor's bytes; nil when they are not a list that begins with a device name.
  package init?(_ bytes: [UInt8]) {
    var list: [TLV] = []
    var rest = bytes[...]
    while let id = rest.popFirst() {
      guard let length = rest.popFirst(), rest.count >= length else { return nil }
      list.append(TLV(id, Array(rest.prefix(Int(length)))))
      rest = rest.dropFirst(Int(length))
    }
    guard let first = list.first, first.id == 0, !first.value.isEmpty,
      first.value.allSatisfy({ (0x20..<0x7F).contains($0) })
    else { return nil }
    parameters = list
  }

  private func bytes(_ id: UInt8) -> [UInt8]? { parameters.first { $0.id == id }?.value }

  /// The name of the device, such as `SR250_A1V2_PROD`.
  package var deviceName: String { String(decoding: bytes(0) ?? [], as: UTF8.self) }
  /// The version of the firmware: three bytes in hexadecimal, such as `01.31.FF`.
  package var firmware: String? { bytes(1).map(Self.dotted) }
  /// NXP's version of UCI, like `firmware`.
  package var uciVersion: String? { bytes(2).map(Self.dotted) }
  /// The identifier of the chip, 16 bytes.
  package var chipID: [UInt8]? { bytes(3) }
  /// The largest clock error of the chip in ppm.
  package var maxPPM: UInt8? { bytes(4)?.first }

  private static func dotted(_ bytes: [UInt8]) -> String {
    bytes.map { String(hex($0).dropFirst(2)) }.joined(separator: ".")
  }
}

extension DeviceInfo {
  /// The vendor's bytes, parsed; nil when they have no known form.
  package var vendorDetails: VendorInfo? {
    if let qorvo = QorvoDeviceInfo(vendorInfo) { return .qorvo(qorvo) }
    if let nxp = NXPDeviceInfo(vendorInfo) { return .nxp(nxp) }
    return nil
  }

  /// The vendor of the chip, guessed from the form of the vendor's bytes.
  public var vendor: Dialect.Vendor {
    switch vendorDetails {
    case .qorvo: .qorvo
    case .nxp: .nxp
    case nil: .unknown
    }
  }
}
