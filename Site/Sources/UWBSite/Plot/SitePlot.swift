// SPDX-License-Identifier: Apache-2.0

/// A drawing of a site from above: a panel for each floor.
package struct SitePlot: Sendable {
  private static let width = 900.0
  private static let tallest = 900.0
  private static let anchorColour = "#0b62a4"
  private static let zoneColours = ["#2a7f3f", "#a3600d", "#7b3fa0", "#0f7c80", "#a02c2c"]

  private let site: Site

  package init(_ site: Site) { self.site = site }

  /// The drawing as an SVG document.
  package var svg: String {
    var svg = SVG()
    var top = 0.0
    for floor in panels {
      let frame = PlotFrame(
        around: points(of: floor), top: top, width: Self.width, tallest: Self.tallest)
      draw(floor, frame, &svg)
      top += frame.height
    }
    return svg.document(width: Self.width, height: top)
  }

  /// The floors, or one panel without a floor.
  private var panels: [Site.Floor?] {
    site.floors.isEmpty ? [nil] : site.floors.sorted { $0.height < $1.height }
  }

  // MARK: the parts of a floor

  /// Returns whether a part is on a floor. A part without a floor is on every floor.
  private func isOn(_ name: String?, _ floor: Site.Floor?) -> Bool {
    name == nil || floor == nil || name == floor?.id
  }

  private func zones(_ floor: Site.Floor?) -> [Site.Zone] {
    site.zones.filter {
      isOn($0.floor, floor)
        && ($0.connectedFloors.isEmpty || $0.connectedFloors.contains(floor?.id ?? ""))
    }
  }

  private func anchors(_ floor: Site.Floor?) -> [(Site.Anchor, Site.Place)] {
    site.anchors.compactMap { anchor in
      guard isOn(anchor.floor, floor), let place = anchor.place else { return nil }
      return (anchor, place)
    }
  }

  private func doors(_ floor: Site.Floor?) -> [Site.Door] {
    site.doors.filter { isOn($0.floor, floor) }
  }

  private func points(of floor: Site.Floor?) -> [SIMD2<Double>] {
    zones(floor).flatMap { Self.outline($0.shape) }
      + anchors(floor).map { SIMD2($1.position.x, $1.position.y) } + doors(floor).flatMap(\.ends)
  }

  private static func outline(_ shape: Site.Zone.Shape) -> [SIMD2<Double>] {
    switch shape {
    case .polygon(let corners): corners
    case .circle(let center, let radius):
      ring.map { center + $0 * radius }
    }
  }

  /// The points of a unit circle.
  private static let ring: [SIMD2<Double>] = (0..<72).map {
    let angle = Double($0) * .pi / 36
    return SIMD2(Math.cos(angle), Math.sin(angle))
  }

  // MARK: drawing

  private func draw(_ floor: Site.Floor?, _ frame: PlotFrame, _ svg: inout SVG) {
    frame.drawAxes(&svg)
    let corners = [frame.least, frame.greatest].map(frame.pixel)
    var labels = LabelPlacer(
      least: SIMD2(corners[0].x, corners[1].y), greatest: SIMD2(corners[1].x, corners[0].y))
    let anchors = anchors(floor)
    for (_, place) in anchors {
      labels.keepFree(frame.pixel(SIMD2(place.position.x, place.position.y)), radius: 5)
    }
    let factor = Self.magnification(anchors.map(\.1), frame)
    draw(zones(floor), frame, &labels, &svg)
    for door in doors(floor) { draw(door, frame, &labels, &svg) }
    for (anchor, place) in anchors { draw(anchor, place, factor, frame, &labels, &svg) }
    let title = [site.name, floor.map { $0.label ?? $0.id } ?? ""].filter { !$0.isEmpty }
    svg.text(
      title.joined(separator: ", "), at: SIMD2(PlotFrame.left, frame.top + 26), size: 15)
    let drawn = factor == 1 ? "" : ", drawn \(Int(factor)) times larger"
    guard !anchors.isEmpty else { return }
    svg.text(
      "ellipses: 95 % of an anchor's place\(drawn)",
      at: SIMD2(Self.width - PlotFrame.right, frame.top + 26), anchor: .end, colour: "#555")
  }

  private func draw(
    _ zones: [Site.Zone], _ frame: PlotFrame, _ labels: inout LabelPlacer, _ svg: inout SVG
  ) {
    for (number, zone) in zones.enumerated() {
      let colour = Self.zoneColours[number % Self.zoneColours.count]
      let outline = Self.outline(zone.shape)
      svg.path(
        outline.map(frame.pixel),
        "fill=\"\(colour)\" fill-opacity=\"0.08\" stroke=\"\(colour)\" stroke-width=\"1.5\"")
      let name = zone.label ?? zone.id
      let middle = frame.pixel(
        outline.reduce(SIMD2(0, 0), +) / Double(max(1, outline.count)))
      let left = middle - SIMD2(0.31 * 12 * Double(name.count), 0)
      svg.text(
        name, at: labels.place(name, beside: left, distance: 0, size: 12), colour: colour)
    }
  }

  private func draw(
    _ door: Site.Door, _ frame: PlotFrame, _ labels: inout LabelPlacer, _ svg: inout SVG
  ) {
    let ends = door.ends.map(frame.pixel)
    svg.line(ends[0], ends[1], "stroke=\"#c2410c\" stroke-width=\"4\"")
    let name = door.label ?? door.id
    let place = labels.place(name, beside: (ends[0] + ends[1]) / 2, distance: 5, size: 11)
    svg.text(name, at: place, size: 11, colour: "#c2410c")
  }

  private func draw(
    _ anchor: Site.Anchor, _ place: Site.Place, _ factor: Double, _ frame: PlotFrame,
    _ labels: inout LabelPlacer, _ svg: inout SVG
  ) {
    let center = SIMD2(place.position.x, place.position.y)
    let ellipse = Self.ellipse(place, factor).map { frame.pixel(center + $0) }
    svg.path(
      ellipse, "fill=\"\(Self.anchorColour)\" fill-opacity=\"0.15\" stroke=\"\(Self.anchorColour)\""
    )
    let pixel = frame.pixel(center)
    svg.circle(pixel, radius: 3.5, "fill=\"\(Self.anchorColour)\"")
    let text = labels.place(anchor.id, beside: pixel, distance: 6, size: 12)
    svg.text(anchor.id, at: text, colour: Self.anchorColour)
  }

  /// Returns the outline of the ellipse that holds 95 % of the probability of a place.
  private static func ellipse(_ place: Site.Place, _ factor: Double) -> [SIMD2<Double>] {
    let (sd, rest) = (place.deviation, 1 - place.correlationXY * place.correlationXY)
    let radius = factor * 2.4477
    return ring.map { unit in
      SIMD2(
        radius * sd.x * unit.x,
        radius * sd.y * (place.correlationXY * unit.x + max(0, rest).squareRoot() * unit.y))
    }
  }

  /// Returns the round factor that makes small ellipses visible; 1 if none is needed.
  private static func magnification(_ places: [Site.Place], _ frame: PlotFrame) -> Double {
    let largest = places.map { max($0.deviation.x, $0.deviation.y) }.max() ?? 0
    let pixels = largest * 2.4477 * frame.scale
    guard pixels > 0, pixels < 10 else { return 1 }
    return [1000.0, 500, 200, 100, 50, 20, 10, 5, 2].first { pixels * $0 <= 40 } ?? 1
  }
}
