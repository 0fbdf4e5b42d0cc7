// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// Compares the fields of a frame in the corpus with the decoded fields, and counts.
struct Comparison {
  var place = ""
  /// The number of compared fields.
  private(set) var compared = 0
  /// Keys of the corpus without a decoded counterpart.
  private(set) var notCompared: Set<String> = []

  // The header is compared with `kind`. The other keys describe internals of the other decoder, or
  // are packed in a way that is not decoded here.
  private static let ignored: Set<String> = [
    "gid", "mt", "oid", "pbf", "dpf", "_class", "_error", "relative_location",
  ]

  /// Group, opcode and type by their names in the corpus.
  mutating func kind(_ kind: String, _ header: PacketHeader) {
    let types = ["DATA": 0, "CMD": 1, "RSP": 2, "NTF": 3]
    let parts = kind.split(separator: "/").map(String.init)
    guard let type = parts.first.flatMap({ types[$0] }) else { return }
    expect(type == Int(header.type.rawValue), "type")
    let name = MessageCatalog.name(type: header.type, opcode: header.opcode)
    if parts.count >= 3, !parts[2].hasPrefix("OID_"), !parts[1].hasPrefix("VENDOR") {
      let suffix = ["", "_CMD", "_RSP", "_NTF"][type]
      expect(parts[2...].contains { $0 + suffix == name }, "name \(name)")
    } else if parts.count == 3, let oid = UInt8(parts[2].dropFirst(6), radix: 16) {
      expect(oid == header.oid, "opcode")
    } else if type == 0 {
      expect(parts[1] == name, "name \(name)")
    }
  }

  private mutating func expect(_ condition: Bool, _ what: String) {
    compared += 1
    #expect(condition, "\(what) of \(place)")
  }

  /// Compares every key of the corpus with the decoded fields.
  mutating func compare(_ theirs: JSON, _ ours: [String: JSON]) {
    for (key, value) in theirs.object where !Self.ignored.contains(key) {
      guard let mine = ours[key] else {
        if value != .null && value != .list([]) { notCompared.insert(key) }
        continue
      }
      compare(key, value, mine)
    }
  }

  private mutating func compare(_ key: String, _ theirs: JSON, _ ours: JSON) {
    switch (theirs, ours) {
    case (.list(let list), .list(let mine)):
      expect(list.count == mine.count, "number of \(key)")
      for (a, b) in zip(list, mine) { compare(key, a, b) }
    case (.object(let object), .object):
      for (inner, value) in object where !Self.ignored.contains(inner) {
        let isIdentifier = ["id", "t", "cfg_id"].contains(inner)
        let mine = isIdentifier ? ours["id"] : inner == "value" ? ours["v"] : ours[inner]
        if mine == .null && value != .null {
          notCompared.insert("\(key).\(inner)")
        } else if isIdentifier {
          expect(Names.identifier(value, in: key) == mine.number, "\(key) \(value)")
        } else {
          compare(key == "controlee_status" ? "\(key).\(inner)" : inner, value, mine)
        }
      }
    case (.list(let list), .text(let text)):
      // Bytes are text; no bytes are an empty list.
      expect(list.isEmpty && text.isEmpty, key)
    case (.text(let name), .number(let number)):
      let theirs =
        ["app_cfg", "parameter_ids"].contains(key)
        ? Names.identifier(theirs, in: key) : Names.code(name, in: key)
      expect(theirs == number, "\(key) \(name) \(number)")
    default: expect(theirs == ours, "\(key) \(theirs) \(ours)")
    }
  }

  /// The ranging output of the host of a capture.
  mutating func compare(hostDecoded theirs: JSON, _ message: Message) {
    guard case .payload(let info as SessionInfo) = message.content,
      case .twoWay(let list) = info.measurements, theirs != .null,
      // One host printed the previous measurement next to the following frame.
      theirs["seq"].number == Int64(info.sequenceNumber)
    else { return }
    expect(theirs["token"].number == Int64(info.sessionToken), "token")
    expect(theirs["interval"].number == Int64(info.intervalMilliseconds), "interval")
    expect(theirs["n"].number == Int64(list.count), "n")
    for (theirs, ours) in zip(theirs["meas"].list, list) {
      expect(theirs["mac"].text == hexadecimal(ours.peer.bytes), "mac")
      expect(theirs["status"].number == Int64(ours.status.rawValue), "status")
      expect(theirs["dist"].number == Int64(ours.rawDistance), "dist")
      expect(theirs["az"].number == Int64(ours.azimuth.raw), "az")
      expect(theirs["az_fom"].number == Int64(ours.azimuth.figureOfMerit), "az_fom")
      expect(theirs["el"].number == Int64(ours.elevation.raw), "el")
      expect(theirs["dst_az"].number == Int64(ours.destinationAzimuth.raw), "dst_az")
      expect(theirs["dst_el"].number == Int64(ours.destinationElevation.raw), "dst_el")
      expect(theirs["slot"].number == Int64(ours.slotIndex), "slot")
      expect(theirs["rssi"].number == Int64(ours.rawRSSI), "rssi")
    }
  }

  /// The output of vendors' hosts about their chips.
  mutating func compare(vendor theirs: JSON, _ message: Message) {
    guard case .payload(let response as BodyResponse<DeviceInfo>) = message.content,
      case .nxp(let nxp)? = response.body?.vendorDetails
    else { return }
    if let name = theirs["device_name"].text { expect(name == nxp.deviceName, "device name") }
    if let firmware = theirs["firmware_version"].text {
      expect(firmware == nxp.firmware, "firmware \(firmware)")
    }
  }
}

/// Names of the corpus as numbers.
private enum Names {
  static let statuses = Dictionary(
    (0...255).map { (Status(rawValue: $0).description, Int64($0)) }, uniquingKeysWith: { a, _ in a }
  ).merging([
    "UCI_MESSAGE_RETRY": 0x0A, "ERROR_DL_TDOA_DEVICE_ADDRESS_NOT_MATCHING_IN_REPLY_TIME_LIST": 0x2A,
  ]) { a, _ in a }

  static let others: [String: Int64] = [
    "DEVICE_STATE_READY": 1, "DEVICE_STATE_ACTIVE": 2, "DEVICE_STATE_ERROR": 0xFF,
    "SESSION_STATE_INIT": 0, "SESSION_STATE_DEINIT": 1, "SESSION_STATE_ACTIVE": 2,
    "SESSION_STATE_IDLE": 3, "FIRA_RANGING_SESSION": 0,
    "FIRA_RANGING_AND_IN_BAND_DATA_SESSION": 1, "UWBS_RESET": 0, "ADD_CONTROLEE": 0,
    "REMOVE_CONTROLEE": 1, "ADD_CONTROLEE_WITH_SHORT_SUB_SESSION_KEY": 2, "SHORT_ADDRESS": 0,
    "EXTENDED_ADDRESS": 1, "TWO_WAY": 1, "DL_TDOA": 2, "OWR_AOA": 3, "CREDIT_AVAILABLE": 1,
  ]

  static func code(_ name: String, in key: String) -> Int64? {
    if let number = others[name] { return number }
    // The same name has another number for data and for controlees.
    if name.hasPrefix("UCI_DATA_TRANSFER_STATUS_") {
      let plain = String(name.dropFirst("UCI_DATA_TRANSFER_STATUS_".count))
      return (0...7).first { DataTransferStatus(rawValue: $0).description == plain }.map(Int64.init)
    }
    if name == "OK_MULTICAST_LIST_UPDATE" { return 0 }
    let multicast = (0...8).first { MulticastStatus(rawValue: $0).description == name }
    return key == "controlee_status.status"
      ? multicast.map(Int64.init)
      : statuses[name] ?? multicast.map(Int64.init)
  }

  static func identifier(_ value: JSON, in key: String) -> Int64? {
    guard let name = value.text else { return value.number }
    let older = [
      "NEAR_PROXIMITY_CONFIG": "NEAR_PROXIMITY", "FAR_PROXIMITY_CONFIG": "FAR_PROXIMITY",
    ]
    if key == "frame_report_tlvs" { return ["RSSI": 0, "AOA": 1, "CIR": 2][name] }
    if key == "parameters" || key == "parameter_ids" {
      return ["DEVICE_STATE": 0, "LOW_POWER_MODE": 1][name]
    }
    if name.hasPrefix("SUPPORTED_") {
      // The other decoder knows only the numbers of FiRa 1.x, and names numbers of 2.0 after them.
      let short = String(name.dropFirst("SUPPORTED_".count))
      let same = [
        "AOA": "AOA_SUPPORT", "MULTI_NODE_MODES": "MULTI_NODE_MODE",
        "SCHEDULED_MODE": "SCHEDULE_MODE",
      ]
      return CapabilityID(rawValue: same[short] ?? short).number(in: .fira1).map(Int64.init)
    }
    return AppConfigParameter.all.first { $0.name == older[name] ?? name }
      .map { Int64($0.id.rawValue) }
  }
}
