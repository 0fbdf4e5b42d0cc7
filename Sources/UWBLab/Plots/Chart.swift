// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A chart: data in their units, with axes. `Figure` draws it.
public struct Chart {
  typealias Point = (x: Double, y: Double)

  /// How a series is drawn.
  enum Mark {
    case points
    case line
    /// The area between two lines.
    case band([(x: Double, low: Double, high: Double)])
    /// Closed outlines.
    case outlines([[Point]])
    /// Vertical lines.
    case bars([(x: Double, low: Double, high: Double)])
    /// Points with names beside them.
    case labels([String])
  }

  struct Series {
    var name: String
    var colour: Colour
    var mark: Mark
    var points: [Point] = []
    /// Whether the axes cover all points; otherwise those beyond are marked at their ends.
    var fits = true
  }

  /// Visible on white and on black.
  enum Colour: String, CaseIterable {
    case blue = "#3a86c8"
    case red = "#dc4a54"
    case green = "#2f9e5f"
    case orange = "#df8314"
    case violet = "#9a6fc9"
    case grey = "#8a8a8a"

    static func numbered(_ index: Int) -> Colour {
      let order: [Colour] = [.blue, .orange, .green, .violet, .red]
      return order[index % order.count]
    }
  }

  var title: String
  /// With the unit: `range (m)`.
  var x: String
  var y: String
  var series: [Series]
  /// Names instead of numbers along x, at 0, 1, 2 and so on.
  var categories: [String]?
  /// Whether both axes have the same scale.
  var isMap = false

  /// The ranges of the axes, with a margin.
  func limits() -> (x: ClosedRange<Double>, y: ClosedRange<Double>) {
    var (xs, ys): ([Double], [Double]) = ([], [])
    for one in series where one.fits {
      xs += one.points.map(\.x)
      ys += one.points.map(\.y)
      switch one.mark {
      case .band(let list), .bars(let list):
        xs += list.map(\.x)
        ys += list.flatMap { [$0.low, $0.high] }
      case .outlines(let list):
        xs += list.joined().map(\.x)
        ys += list.joined().map(\.y)
      default: break
      }
    }
    if let categories { xs = [-0.6, Double(categories.count) - 0.4] }
    return (Self.range(xs, room: categories == nil ? 0.02 : 0), Self.range(ys, room: 0.06))
  }

  private static func range(_ values: [Double], room: Double) -> ClosedRange<Double> {
    let finite = values.filter(\.isFinite)
    guard let low = finite.min(), let high = finite.max() else { return 0...1 }
    let width = high - low
    let margin = width > 1e-9 * max(1, abs(high)) ? room * width : max(0.5, 0.05 * abs(high))
    return (low - margin)...(high + margin)
  }
}

/// The ticks of an axis: 1, 2 or 5 times a power of ten apart.
struct AxisTicks {
  let values: [Double]
  private let digits: Int

  init(_ range: ClosedRange<Double>, about count: Int) {
    let width = max(range.upperBound - range.lowerBound, .leastNormalMagnitude)
    let wanted = min(max(width / Double(max(1, count)), 1e-12), 1e15)
    let power = pow(10, log10(wanted).rounded(.down))
    let step = power * ([1.0, 2, 5].first { power * $0 >= wanted } ?? 10)
    digits = max(0, min(9, -Int((log10(step) + 1e-9).rounded(.down))))
    let first = (range.lowerBound / step).rounded(.up)
    let last = (range.upperBound / step).rounded(.down)
    values =
      last - first > 100 || !(last - first).isFinite
      ? [] : stride(from: first, through: last, by: 1).map { $0 * step }
  }

  func label(_ value: Double) -> String {
    guard abs(value) < 1e9 else { return "\(value)" }
    let text = fixed(value, digits)
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text
  }
}
