// SPDX-License-Identifier: Apache-2.0

extension Site {
  /// The text of the site file; `init(json:)` reads the same value from it.
  package var json: String { value.text() + "\n" }

  private var value: JSONValue {
    .members([
      ("version", .number(Double(Self.version))),
      ("name", .text(name)),
      ("gauge", gauge.value),
      ("floors", .list(floors.map(\.value))),
      ("anchors", .list(anchors.map(\.value))),
      ("tags", .list(tags.map(\.value))),
      ("zones", .list(zones.map(\.value))),
      ("doors", .list(doors.map(\.value))),
      ("plans", .list(plans.map(\.value))),
    ])
  }
}

/// Conversions to JSON. Nil means that the member is absent.
extension JSONValue {
  fileprivate static func members(_ members: [(String, JSONValue?)]) -> JSONValue {
    .object(members.compactMap { name, value in value.map { JSONMember(name, $0) } })
  }

  fileprivate static func list(_ values: [JSONValue]) -> JSONValue? {
    values.isEmpty ? nil : .array(values)
  }

  fileprivate static func text(_ text: String?) -> JSONValue? {
    text.flatMap { $0.isEmpty ? nil : .string($0) }
  }

  fileprivate static func texts(_ texts: [String]) -> JSONValue? {
    list(texts.map(JSONValue.string))
  }

  fileprivate static func numbers(_ numbers: [Double]) -> JSONValue { .array(numbers.map(number)) }

  fileprivate static func point(_ point: SIMD2<Double>) -> JSONValue {
    numbers([point.x, point.y])
  }
}

extension Site.Gauge {
  fileprivate var value: JSONValue {
    .members([
      ("kind", .string(kind.rawValue)),
      ("anchors", .texts(anchors)),
      ("is_mirrored", isMirrored ? .bool(true) : nil),
      ("origin_wgs84", origin?.value),
      ("note", .text(note)),
    ])
  }
}

extension Site.Gauge.Origin {
  fileprivate var value: JSONValue {
    .members([
      ("latitude_deg", .number(latitude)), ("longitude_deg", .number(longitude)),
      ("height_m", .number(height)), ("heading_deg", .number(heading)),
    ])
  }
}

extension Site.Floor {
  fileprivate var value: JSONValue {
    .members([("id", .string(id)), ("label", .text(label)), ("height_m", .number(height))])
  }
}

extension Site.Anchor {
  fileprivate var value: JSONValue {
    .members([
      ("id", .string(id)),
      ("addresses", .texts(addresses.map(\.description))),
      ("position_m", place.map { .numbers([$0.position.x, $0.position.y, $0.position.z]) }),
      ("position_sd_m", place.map { .numbers([$0.deviation.x, $0.deviation.y, $0.deviation.z]) }),
      ("correlation_xy", place.flatMap { $0.correlationXY == 0 ? nil : .number($0.correlationXY) }),
      ("height_m", place == nil ? height.map(JSONValue.number) : nil),
      ("height_sd_m", .number(heightDeviation)),
      ("floor", .text(floor)),
      ("delay_m", .number(delay)),
      ("delay_sd_m", .number(delayDeviation)),
      ("facing_deg", facing.map(JSONValue.number)),
      ("angle_sd_deg", angleDeviation == 6 ? nil : .number(angleDeviation)),
      ("roles", .texts(roles.map(\.rawValue))),
      ("service", .text(service)),
      ("chip", .text(chip)),
      ("profile", .text(profile)),
    ])
  }
}

extension Site.Tag {
  fileprivate var value: JSONValue {
    var (known, range): (JSONValue?, JSONValue?)
    switch height {
    case .known(let value): known = .number(value)
    case .range(let value): range = .numbers([value.lowerBound, value.upperBound])
    case .free: break
    }
    return .members([
      ("id", .string(id)),
      ("label", .text(label)),
      ("addresses", .texts(addresses.map(\.description))),
      ("blink_ids", .texts(blinks)),
      ("carrier", .string(carrier.rawValue)),
      ("height_m", known),
      ("height_range_m", range),
    ])
  }
}

extension Site.Zone {
  fileprivate var value: JSONValue {
    var (polygon, circle): (JSONValue?, JSONValue?)
    switch shape {
    case .polygon(let corners): polygon = .array(corners.map(JSONValue.point))
    case .circle(let center, let radius):
      circle = .members([("center_m", .point(center)), ("radius_m", .number(radius))])
    }
    return .members([
      ("id", .string(id)),
      ("label", .text(label)),
      ("polygon_m", polygon),
      ("circle", circle),
      ("floor", .text(floor)),
      ("margin_m", margin == 0 ? nil : .number(margin)),
      ("connects_floors", .texts(connectedFloors)),
    ])
  }
}

extension Site.Door {
  fileprivate var value: JSONValue {
    .members([
      ("id", .string(id)),
      ("label", .text(label)),
      ("floor", .text(floor)),
      ("ends_m", .array(ends.map(JSONValue.point))),
      ("inside_anchor", .text(insideAnchor)),
      ("outside_anchor", .text(outsideAnchor)),
    ])
  }
}

extension Site.FloorPlan {
  fileprivate var value: JSONValue {
    .members([
      ("image", .string(image)),
      ("floor", .text(floor)),
      ("origin_m", .point(origin)),
      ("metres_per_pixel", .number(metresPerPixel)),
      ("rotation_deg", rotation == 0 ? nil : .number(rotation)),
    ])
  }
}
