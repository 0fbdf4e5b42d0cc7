// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// Formats records as lines.
package enum HistoryText {
  /// The first line of a table of places.
  package static let placeColumns =
    "t,tag,x_m,y_m,z_m,vx_m_s,vy_m_s,vz_m_s,xx_m2,xy_m2,xz_m2,yy_m2,yz_m2,zz_m2,r95_m,motion"
  /// The first line of a table of events.
  package static let eventColumns = "t,decided,tag,event,json"

  /// Returns the place as `uwbsite run` prints it, with seconds since 1970.
  package static func json(_ record: HistoryPlace) -> JSONValue {
    SiteEvent(
      number: 0, decided: record.place.time,
      kind: .place(tag: record.tag, record.place, floor: nil)
    ).json
  }

  package static func csv(_ record: HistoryPlace) -> String {
    let (place, spread) = (record.place, record.place.spread)
    let numbers =
      [0, 1, 2].map { place.position[$0] } + [0, 1, 2].map { place.velocity[$0] }
      + [spread.xx, spread.xy, spread.xz, spread.yy, spread.yz, spread.zz]
      + [(place.r95 * 1000).rounded() / 1000]
    let cells =
      [seconds(record.time), quoted(record.tag)] + numbers.map { "\($0)" }
      + [place.motion.rawValue]
    return cells.joined(separator: ",")
  }

  package static func text(_ record: HistoryPlace) -> String {
    let place = record.place
    let columns = [
      fixed(place.position.x, 8), fixed(place.position.y, 8), fixed(place.position.z, 6),
      fixed(place.r95, 6),
    ]
    return "\(HistoryTime.text(record.time))  \(record.tag)  \(columns.joined(separator: " "))"
      + "  \(place.motion.rawValue)"
  }

  package static func csv(_ event: HistoryEvent) -> String {
    [
      seconds(event.time), seconds(event.decided), quoted(event.tag ?? ""), event.kind,
      quoted(event.body),
    ].joined(separator: ",")
  }

  /// Returns the members of the event that follow its times.
  package static func text(_ event: HistoryEvent) -> String {
    var words: [String] = []
    if case .object(let members)? = try? JSONValue(Array(event.body.utf8)) {
      for member in members where !["t", "decided", "tag", "event"].contains(member.name) {
        if case .string(let text) = member.value {
          words.append("\(member.name) \(text)")
        } else {
          words.append("\(member.name) \(member.value)")
        }
      }
    }
    let line = "\(HistoryTime.text(event.time))  \(event.tag ?? "-")  \(event.kind)"
    return words.isEmpty ? line : "\(line): \(words.joined(separator: ", "))"
  }

  private static func seconds(_ time: Int64) -> String {
    JSONValue.number(Double(time) / 1000).description
  }

  static func quoted(_ text: String) -> String {
    guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
    return
      "\"\(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }

  private static func fixed(_ value: Double, _ width: Int) -> String {
    let cents = Int(max(-1e12, min(1e12, (abs(value) * 100).rounded())))
    let digits = "\(cents % 100)"
    let sign = value < 0 && cents > 0 ? "-" : ""
    let text = "\(sign)\(cents / 100).\(digits.count == 1 ? "0" : "")\(digits)"
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
