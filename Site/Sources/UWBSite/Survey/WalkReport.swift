// SPDX-License-Identifier: Apache-2.0

extension WalkSurvey {
  /// The text of a walk, for terminals with 80 columns.
  package var report: String {
    let width = max(places.map(\.id.count).max() ?? 0, 6)
    var lines = ["\(places.count) anchors from \(poses) places of the rig"]
    lines.append(
      "anchor".left(width) + "x m".right(10) + "y m".right(10) + "z m".right(8)
        + "± major".right(9) + "± minor".right(9) + "ranges".right(8))
    for place in places {
      let axes = place.ellipse.axes
      lines.append(
        place.id.left(width) + fixed(place.position.x, 2).right(10)
          + fixed(place.position.y, 2).right(10) + fixed(place.height, 2).right(8)
          + fixed(axes.major, 2).right(9) + fixed(axes.minor, 2).right(9)
          + "\(place.ranges)".right(8))
    }
    lines.append("Residuals: \(fixed(100 * residual, 1)) cm (root of the mean square).")
    if mirrorCost < 25 {
      lines.append("AMBIGUOUS: the mirror image fits nearly as well; carry a wider rig.")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
