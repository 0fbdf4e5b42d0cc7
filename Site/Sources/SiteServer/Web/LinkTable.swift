// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// The last measurements of all tags, and the residuals of each anchor.
struct LinkTable: Sendable {
  /// The residuals of the last used ranges of all tags to an anchor.
  struct Residuals: Sendable {
    /// The weight of a new residual, so that about the last 50 matter.
    private static let weight = 0.02

    var used = 0
    var rejected = 0
    var square = 0.0
    var time: Double?

    mutating func add(_ entry: Entry) {
      time = entry.time
      if entry.result == .rejected { rejected += 1 }
      guard entry.result == .used else { return }
      used += 1
      // The first residuals have equal weights.
      let weight = max(Self.weight, 1 / Double(used))
      square += weight * (Double(entry.residual) * Double(entry.residual) - square)
    }
  }

  struct Entry: Timed {
    enum Kind: Sendable { case distance, difference, azimuth, elevation }

    var time: Double
    var tag: Int32
    var anchor: Int32
    /// The first anchor of a difference; -1 for other measurements.
    var reference: Int32
    var kind: Kind
    var result: TagTrack.Reception.Kind
    /// The value in metres or degrees.
    var value: Float
    var deviation: Float
    var residual: Float
  }

  /// The number of entries: at least two minutes of 100 tags with eight anchors, in 40 MB.
  private static let capacity = 1 << 20
  /// The time in seconds after which a measurement is no longer shown.
  private static let longest = 3.0

  private let anchors: [Site.Anchor]
  private let tags: [String: Int]
  /// The indices of anchors by all of their names.
  private let names: [String: Int]
  private var entries = TimeRing<Entry>(capacity: Self.capacity)
  private var residuals: [Residuals]

  init(_ site: Site) {
    // The indices are the indices in the engine.
    anchors = site.anchors.filter { $0.place != nil }
    tags = Dictionary(site.tags.enumerated().map { ($1.id, $0) }) { first, _ in first }
    names = Dictionary(
      anchors.enumerated().flatMap { index, anchor in
        ([anchor.id] + anchor.addresses.map(\.description)).map { ($0, index) }
      }
    ) { first, _ in first }
    residuals = Array(repeating: Residuals(), count: anchors.count)
  }

  mutating func add(_ measurement: SiteMeasurement) {
    guard let time = measurement.time, let link = measurement.link,
      anchors.indices.contains(link.anchor)
    else { return }
    let line = measurement.line
    var entry = Entry(
      time: time, tag: Int32(link.tag), anchor: Int32(link.anchor), reference: -1, kind: .distance,
      result: link.reception.kind, value: 0,
      deviation: Float(line.deviation ?? RangeLine.usual.distance),
      residual: Float(link.reception.residual))
    for (number, quantity) in line.quantities.enumerated() {
      switch quantity {
      case .distance(let metres): (entry.kind, entry.value) = (.distance, Float(metres))
      case .difference(let metres):
        (entry.kind, entry.value) = (.difference, Float(metres))
        entry.reference = Int32(line.reference.flatMap(index) ?? -1)
      case .azimuth(let radians):
        (entry.kind, entry.value) = (.azimuth, Float(radians * 180 / .pi))
      case .elevation(let radians):
        (entry.kind, entry.value) = (.elevation, Float(radians * 180 / .pi))
      }
      // The effect belongs to the first quantity of a line only.
      if number > 0 { entry.residual = .nan }
      entries.add(entry)
      if entry.kind == .distance { residuals[link.anchor].add(entry) }
    }
  }

  private func index(_ name: String) -> Int? {
    names[name] ?? Address(name).flatMap { names[$0.description] }
  }

  // MARK: output

  /// Returns the residuals of all anchors, and the last measurements of a tag before a time, as
  /// members of an object of JSON.
  func json(tag: String?, at time: Double?) -> [JSONMember] {
    let rows = zip(anchors, residuals).map { anchor, own in
      JSONValue.object([
        JSONMember("anchor", .string(anchor.id)),
        JSONMember("used", .number(Double(own.used))),
        JSONMember("rejected", .number(Double(own.rejected))),
        JSONMember("rms_m", .number(SiteEvent.rounded(own.square.squareRoot(), 4))),
        JSONMember("t", own.time.map { .number(SiteEvent.rounded($0, 3)) } ?? .null),
      ])
    }
    let ranges = tag.flatMap { tags[$0] }.map { last(of: $0, before: time) } ?? []
    return [
      JSONMember("anchors", .array(rows)), JSONMember("ranges", .array(ranges.map(json))),
    ]
  }

  /// Returns the newest measurement of each kind to each anchor, in the order of the anchors.
  private func last(of tag: Int, before time: Double?) -> [Entry] {
    guard entries.count > 0 else { return [] }
    let end = time.map { entries.index(from: $0 + 1e-6) } ?? entries.count
    let start = (time ?? entries[entries.count - 1].time) - Self.longest
    var found: [Entry] = []
    var index = end - 1
    while index >= 0, entries[index].time >= start {
      let entry = entries[index]
      index -= 1
      guard entry.tag == Int32(tag) else { continue }
      let isKnown = found.contains {
        $0.anchor == entry.anchor && $0.kind == entry.kind && $0.reference == entry.reference
      }
      if !isKnown { found.append(entry) }
    }
    return found.sorted { ($0.anchor, $0.reference) < ($1.anchor, $1.reference) }
  }

  private func json(_ entry: Entry) -> JSONValue {
    let name =
      switch entry.kind {
      case .distance: "distance_m"
      case .difference: "difference_m"
      case .azimuth: "azimuth_deg"
      case .elevation: "elevation_deg"
      }
    var members = [
      JSONMember("anchor", .string(anchors[Int(entry.anchor)].id)),
      JSONMember("t", .number(SiteEvent.rounded(entry.time, 3))),
      JSONMember("result", .string(entry.result.word)),
      JSONMember("residual_m", .number(SiteEvent.rounded(Double(entry.residual), 4))),
      JSONMember("sd_m", .number(SiteEvent.rounded(Double(entry.deviation), 4))),
      JSONMember(name, .number(SiteEvent.rounded(Double(entry.value), 4))),
    ]
    if entry.reference >= 0 {
      members.append(JSONMember("reference", .string(anchors[Int(entry.reference)].id)))
    }
    return .object(members)
  }
}

extension TagTrack.Reception.Kind {
  /// The effect as a word.
  fileprivate var word: String {
    switch self {
    case .used: "used"
    case .rejected: "rejected"
    case .waiting: "waiting"
    case .late: "late"
    case .repeated: "repeated"
    case .unusable: "unusable"
    }
  }
}
