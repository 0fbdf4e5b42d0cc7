// SPDX-License-Identifier: Apache-2.0

/// Maps metres to pixels, with one scale for both axes.
struct PlotFrame {
  static let left = 70.0
  static let right = 24.0
  static let above = 40.0
  static let below = 50.0

  /// The corner of the drawing area with the least x and y, in metres.
  let least: SIMD2<Double>
  let greatest: SIMD2<Double>
  /// The number of pixels in a metre.
  let scale: Double
  let top: Double

  /// Creates a frame around points, with some room.
  init(around points: [SIMD2<Double>], top: Double, width: Double, tallest: Double) {
    let (xs, ys) = (points.map(\.x), points.map(\.y))
    var least = SIMD2(xs.min() ?? 0, ys.min() ?? 0)
    var greatest = SIMD2(xs.max() ?? 0, ys.max() ?? 0)
    let room = max(0.5, 0.08 * (greatest - least).max())
    least -= SIMD2(repeating: room)
    greatest += SIMD2(repeating: room)
    let inside = SIMD2(width - Self.left - Self.right, tallest - Self.above - Self.below)
    scale = (inside / (greatest - least)).min()
    // The drawing area always has its full width, so a tall site has empty room at its sides.
    let extra = (inside.x / scale - (greatest.x - least.x)) / 2
    self.least = least - SIMD2(extra, 0)
    self.greatest = greatest + SIMD2(extra, 0)
    self.top = top
  }

  var height: Double { Self.above + scale * (greatest.y - least.y) + Self.below }

  func pixel(_ point: SIMD2<Double>) -> SIMD2<Double> {
    SIMD2(
      Self.left + scale * (point.x - least.x),
      top + Self.above + scale * (greatest.y - point.y))
  }

  /// Returns round values of an axis, about 80 pixels apart, and the number of their decimals.
  static func ticks(
    from least: Double, to greatest: Double, scale: Double
  ) -> (values: [Double], decimals: Int) {
    var (step, decimals) = (1.0, 0)
    while step * scale < 80 { step *= 10 }
    while step * scale / 10 >= 80 { (step, decimals) = (step / 10, decimals + 1) }
    for divisor in [5.0, 2] where step * scale / divisor >= 60 {
      if step == 1 || decimals > 0 { decimals += 1 }
      step /= divisor
      break
    }
    let first = (least / step).rounded(.up)
    let count = Int(((greatest / step).rounded(.down) - first).rounded())
    return ((0...max(0, count)).map { (first + Double($0)) * step }, decimals)
  }

  static func text(_ value: Double, decimals: Int) -> String {
    var power = 1.0
    for _ in 0..<decimals { power *= 10 }
    let whole = Int((abs(value) * power).rounded())
    let sign = value < 0 && whole > 0 ? "−" : ""
    guard decimals > 0 else { return "\(sign)\(whole)" }
    let rest = String(whole % Int(power))
    let zeros = String(repeating: "0", count: decimals - rest.count)
    return "\(sign)\(whole / Int(power)).\(zeros)\(rest)"
  }

  func drawAxes(_ svg: inout SVG) {
    let (grid, edge) = ("stroke=\"#ddd\"", "stroke=\"#666\" fill=\"none\"")
    let across = Self.ticks(from: least.x, to: greatest.x, scale: scale)
    for value in across.values {
      let foot = pixel(SIMD2(value, least.y))
      svg.line(foot, pixel(SIMD2(value, greatest.y)), grid)
      svg.text(
        Self.text(value, decimals: across.decimals), at: foot + SIMD2(0, 18), anchor: .middle)
    }
    let upwards = Self.ticks(from: least.y, to: greatest.y, scale: scale)
    for value in upwards.values {
      let foot = pixel(SIMD2(least.x, value))
      svg.line(foot, pixel(SIMD2(greatest.x, value)), grid)
      svg.text(Self.text(value, decimals: upwards.decimals), at: foot + SIMD2(-8, 4), anchor: .end)
    }
    let corners = [
      least, SIMD2(greatest.x, least.y), greatest, SIMD2(least.x, greatest.y),
    ].map(pixel)
    svg.path(corners, edge)
    svg.text("x (m)", at: (corners[0] + corners[1]) / 2 + SIMD2(0, 38), anchor: .middle)
    let side = (corners[0] + corners[3]) / 2 - SIMD2(50, 0)
    svg.text("y (m)", at: side, anchor: .middle, isTurned: true)
  }
}
