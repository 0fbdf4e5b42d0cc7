// SPDX-License-Identifier: Apache-2.0

/// The ranges of numbers that are plausible in a site.
enum SiteLimits {
  static let coordinates = -100_000.0...100_000
  static let deviations = 0.0...10_000
  static let delays = -1000.0...1000
  static let radii = 0.001...100_000
}

extension Site {
  /// Reads a site file.
  ///
  /// - Throws: `SiteFileError` with all problems of the file.
  package init(json text: [UInt8]) throws(SiteFileError) {
    let value: JSONValue
    do { value = try JSONValue(text) } catch {
      throw SiteFileError(problems: [SiteProblem(field: "", reason: "\(error)")])
    }
    let problems = ProblemList()
    guard Self.isReadable(value, problems) else { throw SiteFileError(problems: problems.problems) }
    let file = ObjectReader(value, at: "", keys: Self.keys, problems)
    name = file.text("name") ?? ""
    gauge = file.object("gauge", keys: Gauge.keys, isRequired: true).map(Gauge.init) ?? Gauge()
    floors = file.objects("floors", keys: Floor.keys).map(Floor.init)
    anchors = file.objects("anchors", keys: Anchor.keys).map(Anchor.init)
    tags = file.objects("tags", keys: Tag.keys).map(Tag.init)
    zones = file.objects("zones", keys: Zone.keys).map(Zone.init)
    doors = file.objects("doors", keys: Door.keys).map(Door.init)
    plans = file.objects("plans", keys: FloorPlan.keys).map(FloorPlan.init)
    check(problems)
    guard problems.problems.isEmpty else { throw SiteFileError(problems: problems.problems) }
  }

  static let keys = [
    "version", "name", "gauge", "floors", "anchors", "tags", "zones", "doors", "plans",
  ]

  /// Notes a version that this program cannot read: its other fields may have another meaning.
  private static func isReadable(_ value: JSONValue, _ problems: ProblemList) -> Bool {
    switch value["version"] {
    case _ where value.kind != "an object":
      problems.note("", "a site file is an object, not \(value.kind)")
    case nil: problems.note("version", "is missing; this program reads version \(version)")
    case .number(Double(version)): return true
    case .some(let other):
      problems.note("version", "\(other) is unknown; this program reads version \(version)")
    }
    return false
  }
}

extension Site.Gauge {
  static let keys = ["kind", "anchors", "is_mirrored", "origin_wgs84", "note"]

  init(_ reader: ObjectReader) {
    kind = reader.choice("kind", isRequired: true) ?? .measured
    anchors = reader.texts("anchors")
    isMirrored = reader.bool("is_mirrored") ?? false
    origin = reader.object("origin_wgs84", keys: Origin.keys).map(Origin.init)
    note = reader.text("note")
    if kind == .wgs84 && !reader.has("origin_wgs84") {
      reader.note("origin_wgs84", "is missing; the kind wgs84 needs it")
    }
  }
}

extension Site.Gauge.Origin {
  static let keys = ["latitude_deg", "longitude_deg", "height_m", "heading_deg"]

  init(_ reader: ObjectReader) {
    latitude = reader.number("latitude_deg", -90...90, "degrees", isRequired: true) ?? 0
    longitude = reader.number("longitude_deg", -180...180, "degrees", isRequired: true) ?? 0
    height = reader.number("height_m", SiteLimits.coordinates) ?? 0
    heading = reader.number("heading_deg", -360...360, "degrees") ?? 90
  }
}

extension Site.Floor {
  static let keys = ["id", "label", "height_m"]

  init(_ reader: ObjectReader) {
    id = reader.text("id", isRequired: true) ?? ""
    label = reader.text("label")
    height = reader.number("height_m", SiteLimits.coordinates, isRequired: true) ?? 0
  }
}

extension Site.Place {
  /// Reads the place of an anchor; nil if the anchor has none.
  init?(_ reader: ObjectReader) {
    let axes = ["x", "y", "z"]
    let position = reader.numbers("position_m", axes, SiteLimits.coordinates)
    let deviation = reader.numbers("position_sd_m", axes, SiteLimits.deviations)
    correlationXY = reader.number("correlation_xy", -1...1, "") ?? 0
    if reader.has("position_m") && !reader.has("position_sd_m") {
      reader.note("position_sd_m", "is missing; a place needs its deviation [x, y, z]")
    }
    if !reader.has("position_m") {
      for key in ["position_sd_m", "correlation_xy"] where reader.has(key) {
        reader.note(key, "has no meaning without position_m")
      }
    }
    guard let position, let deviation else { return nil }
    self.position = SIMD3(position[0], position[1], position[2])
    self.deviation = SIMD3(deviation[0], deviation[1], deviation[2])
  }
}

extension Site.Anchor {
  static let keys = [
    "id", "addresses", "position_m", "position_sd_m", "correlation_xy", "height_m", "height_sd_m",
    "floor", "delay_m", "delay_sd_m", "facing_deg", "angle_sd_deg", "roles", "service", "chip",
    "profile",
  ]

  init(_ reader: ObjectReader) {
    id = reader.text("id", isRequired: true) ?? ""
    addresses = reader.addresses("addresses")
    place = Site.Place(reader)
    height = reader.number("height_m", SiteLimits.coordinates)
    heightDeviation = reader.number("height_sd_m", SiteLimits.deviations) ?? 0.02
    if reader.has("position_m") && reader.has("height_m") {
      reader.note("height_m", "is the z of position_m already; give one of them")
    }
    floor = reader.text("floor")
    delay = reader.number("delay_m", SiteLimits.delays) ?? 0
    delayDeviation = reader.number("delay_sd_m", SiteLimits.deviations) ?? 0.15
    facing = reader.number("facing_deg", -360...360, "degrees")
    angleDeviation = reader.number("angle_sd_deg", 0.01...90, "degrees") ?? 6
    roles = reader.choices("roles")
    service = reader.text("service")
    chip = reader.text("chip")
    profile = reader.text("profile")
  }
}

extension ObjectReader {
  /// Reads names of an even number of hexadecimal digits.
  func digits(_ key: String) -> [String] {
    list(key).compactMap { path, value in
      if case .string(let text) = value, [4, 8, 16].contains(text.utf8.count),
        text.utf8.allSatisfy({
          UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
            || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        })
      {
        return text
      }
      problems.note(path, "4, 8 or 16 digits such as \"ab01\" belong here, not \(value)")
      return nil
    }
  }

  func addresses(_ key: String) -> [Address] {
    list(key).compactMap { path, value in
      if case .string(let text) = value, let address = Address(text) { return address }
      problems.note(path, "an address such as \"0x0001\" belongs here, not \(value)")
      return nil
    }
  }
}

extension Site.Tag {
  static let keys = [
    "id", "label", "addresses", "blink_ids", "carrier", "height_m", "height_range_m",
  ]

  init(_ reader: ObjectReader) {
    id = reader.text("id", isRequired: true) ?? ""
    label = reader.text("label")
    addresses = reader.addresses("addresses")
    blinks = reader.digits("blink_ids")
    carrier = reader.choice("carrier") ?? .person
    if let known = reader.number("height_m", SiteLimits.coordinates) { height = .known(known) }
    guard
      let ends = reader.numbers("height_range_m", ["least", "greatest"], SiteLimits.coordinates)
    else { return }
    if reader.has("height_m") {
      reader.note("height_range_m", "stands beside height_m; give one of them")
    } else if ends[0] >= ends[1] {
      reader.note("height_range_m", "the first number is not less than the second")
    } else {
      height = .range(ends[0]...ends[1])
    }
  }
}

extension Site.Zone {
  static let keys = [
    "id", "label", "polygon_m", "circle", "floor", "margin_m", "connects_floors",
  ]

  init(_ reader: ObjectReader) {
    id = reader.text("id", isRequired: true) ?? ""
    label = reader.text("label")
    shape = Shape(reader)
    floor = reader.text("floor")
    margin = reader.number("margin_m", SiteLimits.deviations) ?? 0
    connectedFloors = reader.texts("connects_floors")
    if connectedFloors.count == 1 {
      reader.note("connects_floors", "at least two floors belong here")
    }
  }
}

extension Site.Zone.Shape {
  /// Reads a polygon or a circle; returns an empty polygon after a problem.
  init(_ reader: ObjectReader) {
    self = .polygon([])
    let points = reader.points("polygon_m", SiteLimits.coordinates)
    let circle = reader.object("circle", keys: ["center_m", "radius_m"])
    let center = circle?.numbers("center_m", ["x", "y"], SiteLimits.coordinates, isRequired: true)
    let radius = circle?.number("radius_m", SiteLimits.radii, isRequired: true)
    switch (reader.has("polygon_m"), circle != nil) {
    case (true, true): reader.note("circle", "stands beside polygon_m; give one of them")
    case (false, false): reader.note("polygon_m", "is missing; a zone has it or a circle")
    case (false, true):
      guard let center, let radius else { return }
      self = .circle(center: SIMD2(center[0], center[1]), radius: radius)
    case (true, false):
      guard let points else { return }
      self = .polygon(points)
      if let reason = Polygon.problem(points) { reader.note("polygon_m", reason) }
    }
  }
}

extension Site.Door {
  static let keys = ["id", "label", "floor", "ends_m", "inside_anchor", "outside_anchor"]

  init(_ reader: ObjectReader) {
    id = reader.text("id", isRequired: true) ?? ""
    label = reader.text("label")
    floor = reader.text("floor")
    ends = reader.points("ends_m", SiteLimits.coordinates) ?? []
    if !reader.has("ends_m") {
      reader.note("ends_m", "is missing; a door has two ends [[x, y], [x, y]]")
    } else if ends.count != 2 && !ends.isEmpty {
      reader.note("ends_m", "two points [[x, y], [x, y]] belong here, not \(ends.count)")
    } else if ends.count == 2 && ends[0] == ends[1] {
      reader.note("ends_m", "both ends are the same point")
    }
    insideAnchor = reader.text("inside_anchor")
    outsideAnchor = reader.text("outside_anchor")
    for (key, other) in [("inside_anchor", "outside_anchor"), ("outside_anchor", "inside_anchor")]
    where reader.has(key) && !reader.has(other) {
      reader.note(other, "is missing; a door with \(key) needs it")
    }
    if let insideAnchor, insideAnchor == outsideAnchor {
      reader.note("outside_anchor", "\(insideAnchor) is the inside anchor already")
    }
  }
}

extension Site.FloorPlan {
  static let keys = ["image", "floor", "origin_m", "metres_per_pixel", "rotation_deg"]

  init(_ reader: ObjectReader) {
    image = reader.text("image", isRequired: true) ?? ""
    if !image.isEmpty, image.hasPrefix(".") || image.contains("/") {
      reader.note("image", "the name of a file beside the site file belongs here, without a folder")
    }
    floor = reader.text("floor")
    let corner = reader.numbers("origin_m", ["x", "y"], SiteLimits.coordinates, isRequired: true)
    origin = corner.map { SIMD2($0[0], $0[1]) } ?? .zero
    metresPerPixel = reader.number("metres_per_pixel", 1e-6...1000, isRequired: true) ?? 1
    rotation = reader.number("rotation_deg", -360...360, "degrees") ?? 0
  }
}
