// SPDX-License-Identifier: Apache-2.0

/// A measurement as a line of JSON or a row of a table names it.
///
/// The keys are the keys of `uwbctl range --format json`, or a shorter form: `t`, `tag`, `anchor`,
/// `distance_m` and, if known, `sd_m`. A difference has `anchor_a`, `anchor_b` and `difference_m`,
/// the distance to b minus the distance to a. Directions have `azimuth_deg` and `elevation_deg`
/// beside `tag` and `anchor`: from x towards y, and upwards; `sd_deg` is their deviation. Beside
/// `peer`, they are a `SeenDirection`.
package struct RangeLine: Sendable, Hashable {
  package enum Quantity: Sendable, Hashable {
    /// A distance between two boards, in metres.
    case distance(Double)
    /// The distance to the second board minus the distance to the first, in metres.
    case difference(Double)
    /// The direction in radians.
    case azimuth(Double)
    case elevation(Double)
  }

  /// A field that cannot be used.
  package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    package var field: String
    package var reason: String
    package var description: String { field.isEmpty ? reason : "\(field): \(reason)" }

    package init(field: String, reason: String) { (self.field, self.reason) = (field, reason) }
  }

  /// The value of a field.
  package enum Field: Sendable, Hashable {
    case number(Double)
    /// A whole number of at least 2⁵³.
    case whole(UInt64)
    case text(String)
    case flag(Bool)
    case other(kind: String)
  }

  /// The standard deviations in metres and radians of measurements that state none.
  package static let usual = (distance: 0.15, angle: 0.1)

  package var time: Double
  /// The board that is located, if the line names one.
  package var tag: String
  /// The other board, or the second anchor for a difference.
  package var anchor: String
  /// The first anchor of a difference; nil for other measurements.
  package var reference: String?
  package var quantities: [Quantity]
  package var deviation: Double?
  /// One standard deviation of angles, in degrees.
  package var angleDeviation: Double?
  package var blocked = 0.0
  /// The direction of `anchor` from the front of `tag`, as the chip of `tag` reports it.
  package var seen: SeenDirection?

  /// Reads the fields of a line.
  ///
  /// - Parameters:
  ///   - device: the board at this end, for lines that name the peer only.
  ///   - field: the value of a key; nil for a missing key.
  /// - Returns: nil for a line without a measurement, such as a failed round.
  package init?(
    device: String?, _ field: (String) -> Field?
  ) throws(Problem) {
    guard let time = try Self.number(["t", "time_s"], field) else {
      throw Problem(field: "t", reason: "is missing; it is the time in seconds")
    }
    self.time = time
    deviation = try Self.number(["sd_m", "computed_noise_m"], field)
    if let deviation, !(deviation > 0) {
      throw Problem(field: "sd_m", reason: "\(deviation) m is not a deviation")
    }
    angleDeviation = try Self.number(["sd_deg"], field)
    if let angleDeviation, !(angleDeviation > 0) {
      throw Problem(field: "sd_deg", reason: "\(angleDeviation) degrees are not a deviation")
    }
    blocked = min(max(try Self.number(["nlos_probability"], field) ?? 0, 0), 1)
    quantities = try Self.quantities(field)
    guard !quantities.isEmpty else {
      // A failed round of `uwbctl range` has a status and no distance.
      if field("status") != nil || field("status_code") != nil { return nil }
      throw Problem(field: "distance_m", reason: "is missing")
    }
    reference = nil
    if case .difference = quantities[0] {
      tag = try Self.name(["tag"], field, or: device)
      reference = try Self.name(["anchor_a"], field, or: nil)
      anchor = try Self.name(["anchor_b"], field, or: nil)
      return
    }
    if field("peer") != nil, field("tag") == nil || field("anchor") == nil {
      seen = try SeenDirection(field)
      tag = try Self.name(["device", "tag", "anchor"], field, or: device)
      anchor = try Self.name(["peer"], field, or: nil)
    } else {
      tag = try Self.name(["tag"], field, or: device)
      anchor = try Self.name(["anchor"], field, or: device)
    }
  }

  /// Creates a line from quantities. `reference` is the first anchor of a difference.
  package init(
    time: Double, tag: String, anchor: String, reference: String? = nil, _ quantities: [Quantity],
    deviation: Double? = nil, blocked: Double = 0
  ) {
    (self.time, self.tag, self.anchor, self.reference) = (time, tag, anchor, reference)
    (self.quantities, self.deviation, self.blocked) = (quantities, deviation, blocked)
  }

  private static func quantities(
    _ field: (String) -> Field?
  ) throws(Problem) -> [Quantity] {
    if let value = try number(["difference_m"], field) { return [.difference(value)] }
    var found: [Quantity] = []
    if let value = try number(["distance_m", "computed_m"], field) {
      found.append(.distance(value))
    } else if let value = try number(["distance_cm"], field) {
      found.append(.distance(value / 100))
    }
    for one in found {
      if case .distance(let value) = one, value < 0 {
        throw Problem(field: "distance_m", reason: "\(value) m is less than 0")
      }
    }
    // The angles of a peer are in the frame of the board.
    guard field("peer") == nil else { return found }
    if let value = try number(["azimuth_deg"], field) { found.append(.azimuth(value * .pi / 180)) }
    if let value = try number(["elevation_deg"], field) {
      found.append(.elevation(value * .pi / 180))
    }
    return found
  }

  static func number(
    _ keys: [String], _ field: (String) -> Field?
  ) throws(Problem) -> Double? {
    for key in keys {
      switch field(key) {
      case nil: continue
      case .number(let value):
        guard value.isFinite, abs(value) < 1e12 else {
          throw Problem(field: key, reason: "\(value) is not a usable number")
        }
        return value
      case .whole(let value): throw Problem(field: key, reason: "\(value) is not a usable number")
      case .text(let text):
        guard let value = Double(text), value.isFinite, abs(value) < 1e12 else {
          throw Problem(field: key, reason: "\(text.prefix(40)) is not a number")
        }
        return value
      case .flag:
        throw Problem(field: key, reason: "a number belongs here, not true or false")
      case .other(let kind): throw Problem(field: key, reason: "a number belongs here, not \(kind)")
      }
    }
    return nil
  }

  private static func name(
    _ keys: [String], _ field: (String) -> Field?, or device: String?
  ) throws(Problem) -> String {
    for key in keys {
      switch field(key) {
      case nil: continue
      case .text(let text) where !text.isEmpty: return text
      case .whole(let value): return "\(value)"
      case .number(let value):
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
      default: throw Problem(field: key, reason: "a name or an address belongs here")
      }
    }
    guard let device else {
      throw Problem(field: keys[0], reason: "is missing; BOARD=SOURCE names the board at this end")
    }
    return device
  }
}

extension Engine {
  /// The effect of adding a line.
  package enum LineEffect: Sendable, Hashable {
    /// The tag and the anchor by their index, and the time for the engine; nil for a late
    /// measurement.
    case added(tag: Int, anchor: Int, time: Double?)
    /// The line names a board that is not in the site.
    case unknown
    /// Both boards are tags, or both are anchors.
    case withoutTag
  }

  /// Adds the measurements of a line. Its boards may be in either order.
  package mutating func add(
    _ line: RangeLine, source: Int = 0, arrival: Double? = nil
  ) -> LineEffect {
    var (near, far) = (node(line.tag), node(line.anchor))
    if case .anchor? = near, case .tag? = far { swap(&near, &far) }
    let other = line.reference.map { node($0) }
    guard let near, let far, other != .some(nil) else { return .unknown }
    guard case .tag(let tag) = near, case .anchor(let anchor) = far else { return .withoutTag }
    var time: Double?
    var first: TagTrack.Reception?
    let angle = line.angleDeviation.map { $0 * .pi / 180 } ?? RangeLine.usual.angle
    for quantity in line.quantities {
      var kind = TagMeasurement.Kind.range(anchor: anchor)
      var (value, deviation) = (0.0, line.deviation ?? RangeLine.usual.distance)
      switch quantity {
      case .distance(let metres): value = metres
      case .difference(let metres):
        guard case .anchor(let reference)?? = other else { return .withoutTag }
        (kind, value) = (.difference(reference, anchor), metres)
      case .azimuth(let radians):
        (kind, value, deviation) = (.azimuth(anchor: anchor), radians, angle)
      case .elevation(let radians):
        (kind, value, deviation) = (.elevation(anchor: anchor), radians, angle)
      }
      time = add(
        TagMeasurement(time: line.time, kind, value, deviation: deviation, blocked: line.blocked),
        tag: tag, source: source, arrival: arrival)
      if first == nil { first = reception }
    }
    if let first { reception = first }
    return .added(tag: tag, anchor: anchor, time: time)
  }
}
