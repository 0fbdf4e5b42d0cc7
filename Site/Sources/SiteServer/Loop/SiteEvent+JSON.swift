// SPDX-License-Identifier: Apache-2.0

package import UWBSite

extension SiteEvent {
  /// The event as one object of JSON. `t` is the time at which it happened.
  package var json: JSONValue {
    var object = Members()
    switch kind {
    case .place(let tag, let place, let floor):
      object.add("t", place.time)
      object.add("tag", tag)
      object.add(place)
      if let floor { object.add("floor", floor) }
    case .refused(let tag, let reason, let place):
      object.add("t", place.time)
      object.add("tag", tag)
      object.add("refused", reason.word)
      object.add("r95_m", place.r95)
    case .lost(let tag, let since, let zones):
      object.add("t", since)
      object.add("decided", decided)
      object.add("tag", tag)
      object.add("event", "lost")
      object.add("zones", zones.map(JSONValue.string))
    case .found(let tag, let time):
      object.add("t", time)
      object.add("tag", tag)
      object.add("event", "found")
    case .zone(let change): object.add(change, decided)
    case .floor(let tag, let change):
      object.add("t", change.happened)
      object.add("decided", change.decided)
      object.add("tag", tag)
      object.add("event", "floor")
      object.add("floor", change.to)
      if let from = change.from { object.add("from", from) }
    case .door(let change): object.add(change, decided)
    case .unknownBoard(let address):
      object.add("event", "unknown_address")
      object.add("address", address)
    case .anchorMoved(let anchor, let time, let by):
      object.add("t", time)
      object.add("anchor", anchor)
      object.add("event", "anchor_moved")
      object.add("by_m", [by.x, by.y, by.z], digits: 1)
    case .anchorDoubtful(let anchor, let time), .anchorRestored(let anchor, let time):
      object.add("t", time)
      object.add("anchor", anchor)
      if case .anchorDoubtful = kind { object.add("event", "anchor_doubtful") }
      if case .anchorRestored = kind { object.add("event", "anchor_restored") }
    case .clockSet(let source, let change):
      object.add("event", "clock_set")
      object.add("source", source)
      object.add("by_s", change)
    case .source(let name, let state): object.add(name, state)
    case .siteChanged:
      object.add("decided", decided)
      object.add("event", "site_changed")
    case .bad(let source, let sentence):
      object.add("event", "bad_input")
      object.add("source", source)
      object.add("reason", sentence)
    }
    return .object(object.members)
  }
}

/// Collects the members of an object of JSON, one after another.
private struct Members {
  var members: [JSONMember] = []

  mutating func add(_ key: String, _ value: Double, digits: Int = 3) {
    members.append(JSONMember(key, .number(SiteEvent.rounded(value, digits))))
  }

  mutating func add(_ key: String, _ text: String) {
    members.append(JSONMember(key, .string(text)))
  }

  mutating func add(_ key: String, _ values: [JSONValue]) {
    members.append(JSONMember(key, .array(values)))
  }

  mutating func add(_ key: String, _ values: [Double], digits: Int = 3) {
    add(key, values.map { JSONValue.number(SiteEvent.rounded($0, digits)) })
  }

  mutating func add(_ place: TagPlace) {
    add("position_m", [place.position.x, place.position.y, place.position.z])
    add("velocity_m_s", [place.velocity.x, place.velocity.y, place.velocity.z])
    let spread = place.spread
    add(
      "covariance_m2", [spread.xx, spread.xy, spread.xz, spread.yy, spread.yz, spread.zz],
      digits: 6)
    add("r95_m", place.r95)
    add("motion", place.motion.rawValue)
  }

  mutating func add(_ change: ZoneChange, _ decided: Double) {
    add("t", change.happened)
    // JSON has no infinity, so a tag that was inside from its first place has null here.
    add("t_sd_s", change.happenedDeviation)
    add("decided", decided)
    add("tag", change.tag)
    switch change.side {
    case .entered: add("event", "entered")
    case .left(let dwell):
      add("event", "left")
      add("dwell_s", dwell)
    }
    add("zone", change.zone)
    add("count", Double(change.count))
  }

  mutating func add(_ change: DoorChange, _ decided: Double) {
    add("t", change.happened)
    add("decided", decided)
    add("tag", change.tag)
    switch change.kind {
    case .inside: add("event", "inside")
    case .outside: add("event", "outside")
    case .unlocks: add("event", "unlocks")
    }
    add("door", change.door)
    add("outside_probability", change.outside, digits: 6)
  }

  mutating func add(_ name: String, _ state: SourceState) {
    switch state {
    case .connected(let identity):
      add("event", "source_connected")
      add("source", name)
      if let identity { add("identity", identity) }
    case .interrupted(let reason, let seconds):
      add("event", "source_interrupted")
      add("source", name)
      add("reason", reason)
      add("retry_after_s", seconds)
    case .ended(let reason):
      add("event", "source_ended")
      add("source", name)
      if let reason { add("reason", reason) }
    }
  }
}
