// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Turns replies of `org.swift-uwb.Chips.Monitor` into items.
struct ChipReplies: Sendable {
  /// The name of the board at the service's end, if the argument has one.
  let board: String?
  let names: SiteNames
  private var hasBegun = false

  init(board: String?, _ names: SiteNames) { (self.board, self.names) = (board, names) }

  /// Parses the parameters of a reply.
  mutating func items(_ reply: [UInt8]) -> [SourceItem] {
    let value: JSONValue
    do throws(JSONFault) { value = try JSONValue(reply) } catch {
      return [.bad("a reply of the service: \(error)")]
    }
    var items: [SourceItem] = []
    if !hasBegun {
      hasBegun = true
      items.append(.state(.connected(identity: Self.text(value["identity"]?["host"]))))
    }
    if case .number(let lost)? = value["lost"], lost >= 1, lost < 1e9 {
      items.append(.lost(Int(lost)))
    }
    for key in ["measurement", "one_way"] {
      guard let measurement = value[key], measurement != .null else { continue }
      items.append(item(measurement, of: value))
    }
    return items
  }

  private func item(_ measurement: JSONValue, of reply: JSONValue) -> SourceItem {
    // The time of a measurement is by the monotonic clock of the service's host.
    guard case .number(let microseconds)? = reply["monotonic_us"] else {
      return .bad("a reply of the service: monotonic_us: is missing")
    }
    let name = name(reply)
    func field(_ key: String) -> RangeLine.Field? {
      switch key {
      case "t": .number(microseconds / 1e6)
      // The measurement names only its peer, so that these fields are absent.
      case "device", "tag", "anchor": nil
      default: RangeLine.Field(measurement[key])
      }
    }
    do throws(RangeLine.Problem) { return try SourceItem(device: name, field) } catch {
      return .bad("a reply of the service: \(error)")
    }
  }

  /// Returns the name of the measuring chip: its address in the session, its serial number or its
  /// device.
  ///
  /// The first name that is in the site is used.
  private func name(_ reply: JSONValue) -> String? {
    if let board { return board }
    let identity = reply["identity"]
    let candidates = [
      identity?["address"], identity?["serial"], identity?["device"], reply["chip"],
    ].compactMap(Self.text)
    return names.first(of: candidates) ?? candidates.first
  }

  private static func text(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value, !text.isEmpty { text } else { nil }
  }
}

extension RangeLine.Field {
  /// Creates a field of a value of JSON; nil for a missing value and for null.
  init?(_ value: JSONValue?) {
    switch value {
    case nil, .null: return nil
    case .number(let number): self = .number(number)
    case .whole(let number): self = .whole(number)
    case .string(let text): self = .text(text)
    case .bool(let flag): self = .flag(flag)
    case .array: self = .other(kind: "a list")
    case .object: self = .other(kind: "an object")
    }
  }
}
