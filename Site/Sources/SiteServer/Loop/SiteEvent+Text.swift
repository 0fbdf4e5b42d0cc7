// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

extension SiteEvent {
  /// A line for people; nil for changes of sources and for problems, which are reports.
  package var text: String? {
    switch kind {
    case .place(let tag, let place, let floor):
      let here = place.position
      let columns = [
        Self.number(here.x, 8), Self.number(here.y, 8), Self.number(here.z, 6),
        Self.number(place.r95, 6),
      ].joined(separator: " ")
      let words = [columns, place.motion.rawValue, floor].compactMap(\.self)
      return line(place.time, tag, words.joined(separator: "  "))
    case .refused(let tag, let reason, let place):
      return line(place.time, tag, "no place: \(reason.sentence)")
    case .lost(let tag, let since, let zones):
      let place = zones.isEmpty ? "" : ", last in \(zones.joined(separator: ", "))"
      return line(since, tag, "lost: no measurement since\(place)")
    case .found(let tag, let time): return line(time, tag, "found")
    case .zone(let change): return line(change.happened, change.tag, change.text)
    case .floor(let tag, let change): return line(change.happened, tag, "floor \(change.to)")
    case .door(let change): return line(change.happened, change.tag, change.text)
    case .unknownBoard(let address): return "the board \(address) is not in the site file"
    case .anchorMoved(let anchor, let time, let by):
      let length = Self.number((by * by).sum().squareRoot(), 0)
      return line(
        time, "anchor \(anchor)", "is not at its place: it seems to have moved by \(length) m",
        gap: " ")
    case .anchorDoubtful(let anchor, let time):
      return line(time, "anchor \(anchor)", "its ranges do not fit its place", gap: ": ")
    case .anchorRestored(let anchor, let time):
      return line(time, "anchor \(anchor)", "fits its place again", gap: " ")
    case .clockSet(let source, let change):
      return "the clock of \(source) was set by \(Self.number(change, 0)) s"
    case .source, .siteChanged, .bad: return nil
    }
  }

  /// A sentence about a source, for a log; nil for other events.
  package var report: String? {
    switch kind {
    case .bad(let source, let sentence): return "\(source): \(sentence)"
    case .source(let name, .connected(let identity)):
      return "\(name): connected" + (identity.map { ", \($0)" } ?? "")
    case .source(let name, .interrupted(let reason, let seconds)):
      let cause = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
      return "\(name): \(cause); the next attempt follows in \(Self.number(seconds, 0)) s"
    case .siteChanged: return "the site file has changed, and holds from now on"
    case .source(let name, .ended(let reason?)): return "\(name): \(reason)"
    default: return nil
    }
  }

  private func line(_ time: Double, _ name: String, _ words: String, gap: String = "  ") -> String {
    "\(Self.number(time, 10))  \(name)\(gap)\(words)"
  }

  private static func number(_ value: Double, _ width: Int) -> String {
    let text = JSONValue.number(rounded(value, 2)).description
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }

  static func rounded(_ value: Double, _ digits: Int) -> Double {
    let factor = [1.0, 10, 100, 1000, 1e4, 1e5, 1e6][digits]
    return (value * factor).rounded() / factor
  }
}

extension ZoneChange {
  fileprivate var text: String {
    let tags = count == 1 ? "1 tag" : "\(count) tags"
    switch side {
    case .entered: return "entered \(zone) (\(tags))"
    case .left(let dwell):
      return "left \(zone) after \(SiteEvent.rounded(dwell, 1)) s (\(tags))"
    }
  }
}

extension DoorChange {
  fileprivate var text: String {
    switch kind {
    case .inside: "inside of door \(door)"
    case .outside: "outside of door \(door)"
    case .unlocks: "unlocks door \(door)"
    }
  }
}

extension TagTrack.Refusal {
  var word: String {
    switch self {
    case .ambiguous: "ambiguous"
    case .uncertain: "uncertain"
    case .outside: "outside"
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .ambiguous(let other):
      "a second place at \(other.x.rounded()), \(other.y.rounded()) is likely, too"
    case .uncertain: "the anchors do not determine it well enough here"
    case .outside: "it is outside of the anchors, where differences of time do not determine it"
    }
  }
}
