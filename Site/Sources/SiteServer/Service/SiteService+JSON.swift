// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

extension SiteService.Tag {
  /// The last place as an object of JSON; `null` for a silent tag.
  var placeText: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(384)
    switch last {
    case .place(_, let place, let floor):
      append(place, to: &text)
      text.append(key: "position_m")
      text.append([place.position.x, place.position.y, place.position.z], decimals: 3)
      text.append(key: "velocity_m_s")
      text.append([place.velocity.x, place.velocity.y, place.velocity.z], decimals: 3)
      let spread = place.spread
      text.append(key: "covariance_m2")
      text.append(
        [spread.xx, spread.xy, spread.xz, spread.yy, spread.yz, spread.zz], decimals: 6)
      text.append(key: "motion")
      text.append(json: place.motion.rawValue)
      if let floor {
        text.append(key: "floor")
        text.append(json: floor)
      }
    case .refused(_, let reason, let place):
      append(place, to: &text)
      text.append(key: "refused")
      text.append(json: reason.word)
    default: return Array("null".utf8)
    }
    text.append(UInt8(ascii: "}"))
    return text
  }

  /// Appends the members that each place has.
  private func append(_ place: TagPlace, to text: inout [UInt8]) {
    text += #"{"tag":"#.utf8
    text.append(json: name)
    text.append(key: "number")
    text.append(Double(number), decimals: 0)
    text.append(key: "t")
    text.append(place.time, decimals: 3)
    text.append(key: "r95_m")
    text.append(place.r95, decimals: 3)
  }
}

extension SiteService {
  /// The reply to `GetInfo`.
  var info: JSONValue {
    .object([
      JSONMember("protocol", .number(Double(Self.protocolVersion))),
      JSONMember("features", .array(Self.features.map(JSONValue.string))),
      JSONMember("run", .string(run)), JSONMember("site", .string(description.site.name)),
      JSONMember("live", .bool(description.isLive)),
      JSONMember("epoch_s", description.isLive ? .number(description.epoch) : .null),
    ])
  }

  /// The number of tags in one reply to `List` with the flag `more`.
  private static let tagsOfReply = 64

  /// Returns the replies to `List`: several replies if the program accepts them.
  mutating func list(more: Bool) -> [[UInt8]] {
    let size = more ? Self.tagsOfReply : max(1, tags.count)
    return stride(from: 0, to: max(1, tags.count), by: size).map { start in
      let isFirst = start == 0
      var reply = Array(#"{"run":"\#(run)","sequence":\#(sequence),"tags":["#.utf8)
      for tag in tags.indices.dropFirst(start).prefix(size) {
        if tag > start { reply.append(UInt8(ascii: ",")) }
        append(tag, to: &reply)
      }
      reply += "]".utf8
      for (name, values) in [
        ("anchors", anchors.map(\.json)), ("zones", description.site.zones.map(json)),
        ("doors", doors.map(\.json)),
      ] { reply += #","\#(name)":\#(JSONValue.array(isFirst ? values : []))"#.utf8 }
      if isFirst { reply += #","counters":\#(counters.json)"#.utf8 }
      return reply + "}".utf8
    }
  }

  private mutating func append(_ tag: Int, to text: inout [UInt8]) {
    text += #"{"tag":"#.utf8
    text.append(json: tags[tag].name)
    text.append(key: "label")
    text += (tags[tag].label.map(JSONValue.string) ?? .null).description.utf8
    text.append(key: "state")
    text.append(json: tags[tag].presence.rawValue)
    text.append(key: "zones")
    text += JSONValue.array(tags[tag].zones.map(JSONValue.string)).description.utf8
    text.append(key: "place")
    text += self.text(of: tag)
    text += "}".utf8
  }

  /// Returns the number of lost tags that were last in a zone.
  private func lost(in zone: String) -> Int {
    tags.count { $0.presence == .lost && $0.zones.contains(zone) }
  }

  private func json(_ zone: Site.Zone) -> JSONValue {
    .object([
      JSONMember("zone", .string(zone.id)), JSONMember("label", JSONValue(zone.label)),
      JSONMember("floor", JSONValue(zone.floor)),
      JSONMember("count", .number(Double(counts[zone.id] ?? 0))),
      JSONMember("lost", .number(Double(lost(in: zone.id)))),
    ])
  }
}

extension SiteService.Anchor {
  fileprivate var json: JSONValue {
    .object([
      JSONMember("anchor", .string(anchor.id)),
      JSONMember("position_m", JSONValue(anchor.place?.position)),
      JSONMember("position_sd_m", JSONValue(anchor.place?.deviation)),
      JSONMember("floor", JSONValue(anchor.floor)), JSONMember("state", .string(state)),
      JSONMember("by_m", JSONValue(displacement)),
    ])
  }
}

extension SiteService.Door {
  fileprivate var json: JSONValue {
    .object([
      JSONMember("door", .string(door.id)), JSONMember("label", JSONValue(door.label)),
      JSONMember("floor", JSONValue(door.floor)),
      JSONMember("inside", .array(inside.sorted().map(JSONValue.string))),
      JSONMember("outside", .array(outside.sorted().map(JSONValue.string))),
    ])
  }
}

extension SiteCounters {
  /// The type `Counters` of the interface.
  var json: JSONValue {
    let members: [(String, Int)] = [
      ("measurements", measurements), ("used", engine.used), ("outliers", engine.rejected),
      ("waiting", engine.waiting), ("late", engine.late), ("repeated", engine.repeated),
      ("unusable", engine.unusable), ("unknown_boards", unknown), ("without_tag", withoutTag),
      ("failed", failed), ("bad", bad), ("lost", lost), ("places", places),
    ]
    return .object(members.map { JSONMember($0, .number(Double($1))) })
  }
}

extension JSONValue {
  fileprivate init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

  fileprivate init(_ vector: SIMD3<Double>?) {
    self = vector.map { .array([.number($0.x), .number($0.y), .number($0.z)]) } ?? .null
  }
}
