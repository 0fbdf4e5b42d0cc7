// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

/// The layouts of messages, compared with the layouts that Android's virtual chip publishes.
///
/// The widths are facts of `src/uci_packets.pdl` in google/pica. A shape lists the octets of each
/// field. A list in `[...]` follows a count of one octet, `*` stands for the octets that a count
/// announces, and `tlv` is a list of parameters.
@Suite("Layouts of messages, as published for Android")
struct PublishedLayoutTests {
  private static let tables = Result { LuaTables(try DissectorTests.lua.get()) }

  private static func shape(
    _ type: MessageType, _ group: UInt8, _ oid: UInt8, choosing choices: [Int: Int] = [:]
  ) throws -> String {
    let key = MessageCatalog.Key(type: type, opcode: Opcode(GroupID(rawValue: group), oid))
    let nodes = try tables.get().layout(of: DissectorTables.number(key), vendor: "android")
    return LuaTables.shape(nodes, choices).joined(separator: " ")
  }

  @Test(
    "Commands",
    arguments: [
      (0, 0x0, "1"),  // CORE_DEVICE_RESET
      (0, 0x2, ""),  // CORE_DEVICE_INFO
      (0, 0x3, ""),  // CORE_GET_CAPS_INFO
      (0, 0x4, "tlv"),  // CORE_SET_CONFIG
      (0, 0x5, "1 [ id ]"),  // CORE_GET_CONFIG
      (0, 0x8, ""),  // CORE_QUERY_UWBS_TIMESTAMP
      (1, 0x0, "4 1"),  // SESSION_INIT
      (1, 0x1, "4"),  // SESSION_DEINIT
      (1, 0x3, "4 tlv"),  // SESSION_SET_APP_CONFIG
      (1, 0x4, "4 1 [ id ]"),  // SESSION_GET_APP_CONFIG
      (1, 0x5, ""),  // SESSION_GET_COUNT
      (1, 0x6, "4"),  // SESSION_GET_STATE
      (1, 0x7, "4 1 1 [ 2 4 ]"),  // SESSION_UPDATE_CONTROLLER_MULTICAST_LIST
      (1, 0x9, "4 1 [ 1 ]"),  // SESSION_UPDATE_ACTIVE_ROUNDS_DT_TAG
      (1, 0xB, "4"),  // QUERY_MAX_DATA_SIZE
      (2, 0x0, "4"),  // SESSION_START
      (2, 0x1, "4"),  // SESSION_STOP
      (2, 0x3, "4"),  // SESSION_GET_RANGING_COUNT
      (12, 0x0, ""),  // ANDROID_GET_POWER_STATS
      (12, 0x1, "2*"),  // ANDROID_SET_COUNTRY_CODE
    ] as [(UInt8, UInt8, String)])
  func commands(group: UInt8, oid: UInt8, shape: String) throws {
    #expect(try Self.shape(.command, group, oid) == shape)
  }

  @Test(
    "Responses",
    arguments: [
      (0, 0x0, "1"),  // CORE_DEVICE_RESET
      (0, 0x2, "1 1 1 1 1 1 1 1 1 1 *"),  // CORE_DEVICE_INFO: four versions of two octets
      (0, 0x3, "1 tlv"),  // CORE_GET_CAPS_INFO
      (0, 0x4, "1 1 [ id 1 ]"),  // CORE_SET_CONFIG
      (0, 0x5, "1 tlv"),  // CORE_GET_CONFIG
      (0, 0x8, "1 8"),  // CORE_QUERY_UWBS_TIMESTAMP
      (1, 0x0, "1 4"),  // SESSION_INIT of version 2; version 1 has the status alone
      (1, 0x1, "1"),  // SESSION_DEINIT
      (1, 0x3, "1 1 [ id 1 ]"),  // SESSION_SET_APP_CONFIG
      (1, 0x4, "1 tlv"),  // SESSION_GET_APP_CONFIG
      (1, 0x5, "1 1"),  // SESSION_GET_COUNT
      (1, 0x6, "1 1"),  // SESSION_GET_STATE
      (1, 0x9, "1 1 [ 1 ]"),  // SESSION_UPDATE_ACTIVE_ROUNDS_DT_TAG
      (1, 0xC, "1"),  // SESSION_SET_HUS_CONFIG
      (2, 0x0, "1"),  // SESSION_START
      (2, 0x1, "1"),  // SESSION_STOP
      (2, 0x3, "1 4"),  // SESSION_GET_RANGING_COUNT
      (12, 0x0, "1 4 4 4 4"),  // ANDROID_GET_POWER_STATS
      (12, 0x1, "1"),  // ANDROID_SET_COUNTRY_CODE
    ] as [(UInt8, UInt8, String)])
  func responses(group: UInt8, oid: UInt8, shape: String) throws {
    #expect(try Self.shape(.response, group, oid) == shape)
  }

  @Test(
    "Notifications",
    arguments: [
      (0, 0x1, "1"),  // CORE_DEVICE_STATUS
      (0, 0x7, "1"),  // CORE_GENERIC_ERROR
      (1, 0x2, "4 1 1"),  // SESSION_STATUS
      (1, 0x7, "4 1 1 [ 2 4 1 ]"),  // SESSION_UPDATE_CONTROLLER_MULTICAST_LIST
      (2, 0x4, "4 1"),  // SESSION_DATA_CREDIT
      (12, 0x2, "4 4 1 [ 1 1 1 1 [ 1 2* ] ]"),  // FIRA_RANGE_DIAGNOSTICS
    ] as [(UInt8, UInt8, String)])
  func notifications(group: UInt8, oid: UInt8, shape: String) throws {
    #expect(try Self.shape(.notification, group, oid) == shape)
  }

  /// The lengths in octets of a report's fields up to its count: sequence, session, indicator,
  /// interval, type, one reserved octet, kind of address, eight reserved octets, and the count.
  private static let head = "4 4 1 4 1 1 1 4 4 1"

  @Test(
    "Reports of each kind of measurement",
    arguments: [
      // Two-way ranging. The octets after the RSSI are reserved.
      (1, "2 1 1 2 2 1 2 1 2 1 2 1 1 1"),
      // One-way ranging with an angle of arrival.
      (3, "2 1 1 1 2 2 1 2 1"),
    ])
  func reports(type: Int, measurement: String) throws {
    // Step 4 is the type of the measurement, and step 6 the kind of address, here short.
    let shape = try Self.shape(.notification, 2, 0, choosing: [4: type, 6: 0])
    #expect(shape.hasPrefix("\(Self.head) [ \(measurement)"), "\(shape)")
  }

  @Test("The status of a transfer of data has the octets of version 1 or 2 of its sequence")
  func transferStatus() throws {
    let nodes = try Self.tables.get().layout(of: 3205, vendor: "android")
    // The published layout has one octet, and a longer notification has two.
    #expect(LuaTables.shape(nodes, [:]).joined(separator: " ") == "4 2 1 1")
    #expect(LuaTables.shape(nodes, [:], isLong: false).joined(separator: " ") == "4 1 1")
  }

  @Test("A message without a layout has none in any vendor's table")
  func unknown() throws {
    let tables = try Self.tables.get()
    for vendor in Dialect.Vendor.allCases {
      #expect(tables.layout(of: 1024, vendor: vendor.rawValue).count == 1)
      #expect(tables.layout(of: 1025, vendor: vendor.rawValue).isEmpty)
    }
  }
}

/// The tables for Wireshark as values.
private struct LuaTables {
  indirect enum Value {
    case text(String)
    case table([Value], [String: Value])

    var items: [Value] { if case .table(let items, _) = self { items } else { [] } }
    var text: String { if case .text(let text) = self { text } else { "" } }
    func value(_ key: String) -> Value? {
      if case .table(_, let keyed) = self { keyed[key] } else { nil }
    }
    subscript(index: Int) -> Value { index < items.count ? items[index] : .text("") }
  }

  private let layouts: Value
  private let messages: Value

  init(_ lua: String) {
    func table(_ name: String) -> Value {
      let start = lua.firstRange(of: "T.\(name) = ").map(\.upperBound) ?? lua.endIndex
      var reader = Reader(text: lua.utf8[start...])
      return reader.value()
    }
    (layouts, messages) = (table("layouts"), table("messages"))
  }

  /// Returns the fields and steps of a message's layout, in the oldest generation.
  func layout(of message: Int, vendor: String) -> [Value] {
    guard let number = messages.value(vendor)?.value("\(message)") else { return [] }
    let first = number.items.first ?? number
    return layouts.value(first.text)?.items ?? []
  }

  /// Returns the octets of fields, with the parts that may be absent.
  ///
  /// - Parameters:
  ///   - choices: The values of steps that have branches.
  ///   - isLong: Whether there is room for the longer form, where a message has two.
  static func shape(_ nodes: [Value], _ choices: [Int: Int], isLong: Bool = true) -> [String] {
    func width(_ value: Value) -> String {
      guard let step = value.value("sel").flatMap({ Int($0.text) }) else { return value.text }
      let usual = value.value("usual")?.text ?? ""
      return choices[step].map { value.value("\($0)")?.text ?? usual } ?? usual
    }
    func inner(_ value: Value) -> [String] { shape(value.items, choices, isLong: isLong) }
    func counted(_ count: String) -> [String] {
      switch count {
      case "u8": ["1"]
      case "u16": ["2"]
      default: []
      }
    }
    return nodes.flatMap { node -> [String] in
      switch node[0].text {
      case "u", "i", "c": return [width(node[3])]
      case "b":
        let count = node[3].text
        return count == "u16" ? ["2*"] : counted(count) + [count == "u8" ? "*" : "\(count)*"]
      case "l", "v": return counted(node[2].text) + ["["] + inner(node[3]) + ["]"]
      case "p": return ["tlv"]
      case "d": return ["id"]
      case "g", "a": return inner(node[2])
      case "f": return inner(node[1][0])
      case "o": return node[4].text == "1048576" ? [] : inner(node[5])
      case "h": return inner(node[isLong ? 3 : 4])
      case "s":
        let choice = Int(node[1].text).flatMap { choices[$0] }
        let body = choice.flatMap { node[2].value("\($0)") }.flatMap { Int($0.text) } ?? 1
        return inner(node[3][body - 1])
      default: return []
      }
    }
  }

  /// Reads tables, names, numbers and texts.
  private struct Reader {
    var text: Substring.UTF8View

    private mutating func skip(_ byte: UInt8) -> Bool {
      text = text.drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: " ") }
      guard text.first == byte else { return false }
      text = text.dropFirst()
      return true
    }

    mutating func value() -> Value {
      if skip(UInt8(ascii: "{")) { return table() }
      if skip(UInt8(ascii: "\"")) {
        let end = text.firstIndex(of: UInt8(ascii: "\"")) ?? text.endIndex
        defer { text = text[end...].dropFirst() }
        return .text(String(Substring(text[..<end])))
      }
      let end = text.firstIndex { "{},=[]".utf8.contains($0) } ?? text.endIndex
      defer { text = text[end...] }
      return .text(String(Substring(text[..<end])))
    }

    private mutating func table() -> Value {
      var (items, keyed): ([Value], [String: Value]) = ([], [:])
      while !text.isEmpty, !skip(UInt8(ascii: "}")) {
        let isIndexed = skip(UInt8(ascii: "["))
        let first = value()
        if isIndexed { _ = skip(UInt8(ascii: "]")) }
        if skip(UInt8(ascii: "=")) { keyed[first.text] = value() } else { items.append(first) }
        _ = skip(UInt8(ascii: ","))
      }
      return .table(items, keyed)
    }
  }
}
