// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWBSite

/// A tag with its measurements and its true path.
struct Course {
  var name: String
  var anchors: [TagTrack.Anchor]
  var carrier = TagTrack.Carrier.person
  var height = TagTrack.Height.fixed(1, deviation: 0.05)
  var measurements: [TagMeasurement] = []
  /// The true position at the time of each measurement; nil where it is not recorded.
  var truth: [SIMD3<Double>?] = []
}

/// A table of numbers. A date with a time is the seconds of its day; other cells are not numbers.
struct NumberTable {
  var header: [Substring] = []
  var rows: [[Double]] = []

  /// - Returns: nil if the file does not exist.
  init?(_ path: String, separator: Character = ",", hasHeader: Bool = true) {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    for line in text.split(whereSeparator: \.isNewline) {
      let cells = line.split(separator: separator)
      if hasHeader, header.isEmpty {
        header = cells
      } else {
        rows.append(cells.map(Self.number))
      }
    }
  }

  static func number(_ cell: Substring) -> Double {
    if let value = Double(cell) { return value }
    let clock = cell.split(separator: " ").last?.split(separator: ":").map { Double($0) ?? .nan }
    guard let clock, clock.count == 3 else { return .nan }
    return clock[0] * 3600 + clock[1] * 60 + clock[2]
  }
}

/// The position between the points of a recorded path; nil outside.
func interpolate(
  _ path: [(time: Double, position: SIMD3<Double>)], _ time: Double
) -> SIMD3<Double>? {
  guard let first = path.first, let last = path.last, first.time...last.time ~= time else {
    return nil
  }
  var (low, high) = (0, path.count - 1)
  while high - low > 1 {
    let middle = (low + high) / 2
    if path[middle].time <= time { low = middle } else { high = middle }
  }
  let part = (time - path[low].time) / max(1e-9, path[high].time - path[low].time)
  return path[low].position + (path[high].position - path[low].position) * part
}

/// A robot in a labyrinth, with odometry: Tim Pfeifer, TU Chemnitz (CC BY-SA 4.0).
func labyrinth(_ folder: String, odometry: Bool) -> [Course] {
  guard
    let input = NumberTable(
      folder + "/labyrinth/Indoor_UWB_Input.txt", separator: " ", hasHeader: false),
    let known = NumberTable(
      folder + "/labyrinth/Indoor_UWB_GT.txt", separator: " ", hasHeader: false)
  else { return [] }
  var course = Course(name: "labyrinth", anchors: [], carrier: .vehicle)
  course.height = .fixed(0, deviation: 0.01)
  let path = known.rows.map { (time: $0[1], position: SIMD3($0[2], $0[3], 0)) }
  var modules: [Double] = []
  for row in input.rows {
    if row.count == 8 {
      if !modules.contains(row[6]) {
        modules.append(row[6])
        course.anchors.append(TagTrack.Anchor([row[4], row[5], 0]))
      }
      let anchor = modules.firstIndex(of: row[6]) ?? 0
      course.measurements.append(TagMeasurement(time: row[1], .range(anchor: anchor), row[2]))
    } else if odometry, row.count > 8 {
      // Against the readme, the robot turns towards the side of the faster wheel of its columns:
      // the recorded path decides. It slips by a half in turns.
      let (left, right, width) = (row[2], row[3], row[5])
      course.measurements.append(
        TagMeasurement(
          time: row[1], .odometry(turn: (right - left) / width), abs(right + left) / 2,
          deviation: 0.1))
    } else {
      continue
    }
  }
  course.measurements.sort { $0.time < $1.time }
  course.truth = course.measurements.map { interpolate(path, $0.time) }
  return [course]
}

/// A tag among four anchors outdoors: cucudasluv/UWB-dataset (Apache-2.0).
func hanyang(_ folder: String, _ kind: String) -> [(course: Course, published: [Double])] {
  let root = "\(folder)/hanyang/Dynamic_measurements/\(kind)/Trajectory_A"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
  return names.sorted().map { name in
    var course = Course(name: "\(kind) \(name)", anchors: [])
    var rows: [(time: Double, anchor: Int, range: Double)] = []
    for file in ["A3", "A5", "A9", "A12"] {
      guard let table = NumberTable("\(root)/\(name)/\(file).csv") else { continue }
      let anchor = course.anchors.count
      course.anchors.append(
        TagTrack.Anchor([table.rows[0][3], table.rows[0][4], table.rows[0][5]]))
      rows += table.rows.filter { $0.count >= 9 }.map { ($0[1], anchor, $0[6]) }
    }
    rows.sort { $0.time < $1.time }
    let start = rows.first?.time ?? 0
    func path(_ file: String) -> [(time: Double, position: SIMD3<Double>)] {
      (NumberTable("\(root)/\(name)/\(file).csv")?.rows ?? []).filter { $0.count >= 4 }.map {
        (($0[0] - start) * 1e-9, SIMD3($0[1], $0[2], $0[3]))
      }
    }
    let truth = path("trajectory")
    for row in rows {
      let time = (row.time - start) * 1e-9
      course.measurements.append(
        TagMeasurement(time: time, .range(anchor: row.anchor), row.range))
      course.truth.append(interpolate(truth, time))
    }
    let published = path("ESKF").compactMap { point in
      interpolate(truth, point.time).map { flat(point.position - $0) }
    }
    return (course, published)
  }
}

func flat(_ v: SIMD3<Double>) -> Double { (v.x * v.x + v.y * v.y).squareRoot() }

/// A trolley with three tags among eight anchors, with motion capture (MIT):
/// LIAS-CUHKSZ/Efficient-Pose-Estimation-via-UWB-measurements.
func lias(_ folder: String) -> [Course] {
  let root = folder + "/lias/Planar_Dataset"
  guard
    let ranges = NumberTable("\(root)/Dynamic/UWB_dynamic_exp_fast.csv", hasHeader: false),
    let capture = NumberTable("\(root)/Dynamic/motion_capture_dynamic_exp_fast.csv")
  else { return [] }
  let biases = liasBiases(root)
  let start = capture.rows[0][0]
  return (0..<3).map { tag in
    var course = Course(name: "lias tag \(tag)", anchors: liasAnchors.map { TagTrack.Anchor($0) })
    course.height = .fixed(0.97, deviation: 0.02)
    let path = capture.rows.filter { $0.count >= 8 }.map { row in
      (
        time: row[0] - start,
        position: SIMD3(row[1], row[2], row[3]) + liasTurned(liasTags[tag], row)
      )
    }
    // 10 Hz: every tenth row.
    for (number, row) in ranges.rows.enumerated() where row.count >= 25 && number % 10 == 0 {
      let time = row[0] - start
      guard let truth = interpolate(path, time) else { continue }
      for anchor in 0..<8 where row[1 + 3 * anchor + tag].isFinite {
        let value = row[1 + 3 * anchor + tag] - biases[3 * anchor + tag]
        course.measurements.append(TagMeasurement(time: time, .range(anchor: anchor), value))
        course.truth.append(truth)
      }
    }
    return course
  }
}

private let liasAnchors = [
  SIMD3<Double>(-3.4203, 3.0053, 1.0442), SIMD3<Double>(0.0016, 3.0110, 1.0446),
  SIMD3<Double>(3.6056, 2.9795, 1.0463), SIMD3<Double>(3.6011, -0.0008, 1.0422),
  SIMD3<Double>(3.5674, -3.0087, 1.0443), SIMD3<Double>(-0.0072, -2.9652, 1.0444),
  SIMD3<Double>(-3.4673, -2.9587, 1.0445), SIMD3<Double>(-3.4858, -0.0098, 1.0457),
]
/// The places of the tags on the trolley.
private let liasTags = [
  SIMD3<Double>(-0.0689, -0.1423, 0.0011), SIMD3<Double>(-0.0750, 0.1402, 0.0016),
  SIMD3<Double>(0.2034, 0.1451, -0.0008),
]

/// A vector of the trolley in the room. The captured body is upside down: half a turn about its x.
private func liasTurned(_ v: SIMD3<Double>, _ row: [Double]) -> SIMD3<Double> {
  let (w, x, y, z) = (-row[5], row[4], row[7], -row[6])
  let axis = SIMD3(x, y, z)
  func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
  }
  let side = cross(axis, v) * 2
  return v + side * w + cross(axis, side)
}

/// The constant error of each of the 24 ranges, from nine stands at known places.
private func liasBiases(_ root: String) -> [Double] {
  let stands: [(file: String, yaw: Double, x: Double, y: Double)] = [
    ("pos1_deg_0", -0.019, -1.9298, -1.2368), ("pos1_deg_120", 119.623, -1.7694, -1.2333),
    ("pos1_deg_240", 239.020, -1.7584, -1.2758), ("pos3_deg_0", 1.375, 1.7362, 1.2086),
    ("pos3_deg_120", 121.417, 1.7556, 1.2200), ("pos3_deg_240", 240.619, 1.8427, 1.2911),
    ("pos5_deg_0", 0.233, -0.0475, -0.0122), ("pos5_deg_120", 119.408, 0.0089, 0.0259),
    ("pos5_deg_240", 240.289, -0.0111, 0.0741),
  ]
  var errors = [[Double]](repeating: [], count: 24)
  for stand in stands {
    guard
      let table = NumberTable(
        "\(root)/Static/8.14/UWB_static_exp_8_14_\(stand.file).csv", hasHeader: false)
    else { continue }
    let (c, s) = (cos(stand.yaw * .pi / 180), sin(stand.yaw * .pi / 180))
    for index in 0..<24 {
      let tag = liasTags[index % 3]
      let place = SIMD3(
        stand.x + c * tag.x - s * tag.y, stand.y + s * tag.x + c * tag.y, 0.97)
      let arm = place - liasAnchors[index / 3]
      let values = table.rows.compactMap { $0.count > index + 1 ? $0[index + 1] : nil }
      errors[index].append(Errors.quantile(values, 0.5) - (arm * arm).sum().squareRoot())
    }
  }
  return errors.map { $0.isEmpty ? 0 : $0.reduce(0, +) / Double($0.count) }
}
