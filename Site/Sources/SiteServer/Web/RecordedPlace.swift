// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// A place in the past that pages can show.
struct RecordedPlace: Timed, Hashable {
  /// The number of places: nine minutes of 100 tags with 10 places a second, in 32 MB.
  static let capacity = 1 << 19

  var tag: Int32
  var isRefused: Bool
  var time: Double
  var position: SIMD3<Float>
  /// The covariance in the plane: xx, xy, yy.
  var spread: SIMD3<Float>
  var r95: Float
}

extension RecordedPlace {
  init(tag: Int, _ place: TagPlace, isRefused: Bool) {
    self.tag = Int32(tag)
    self.isRefused = isRefused
    time = place.time
    position = SIMD3<Float>(place.position)
    spread = SIMD3(Float(place.spread.xx), Float(place.spread.xy), Float(place.spread.yy))
    r95 = Float(place.r95)
  }

  /// Appends the place as a list: tag, time, x, y, z, xx, xy, yy, r95, and 1 for a refused place.
  func append(to text: inout [UInt8]) {
    text.append(UInt8(ascii: "["))
    text.append(Double(tag), decimals: 0)
    let numbers: [(Double, Int)] =
      [(time, 3)] + (0..<3).map { (Double(position[$0]), 3) }
      + (0..<3).map { (Double(spread[$0]), 5) } + [(Double(r95), 3)]
    for (value, decimals) in numbers {
      text.append(UInt8(ascii: ","))
      text.append(value, decimals: decimals)
    }
    text += (isRefused ? ",1]" : ",0]").utf8
  }
}
