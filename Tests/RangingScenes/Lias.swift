// SPDX-License-Identifier: Apache-2.0
package import Ranging

/// A trolley with three tags among eight anchors, with motion capture:
/// LIAS-CUHKSZ/Efficient-Pose-Estimation-via-UWB-measurements (MIT).
package struct Lias {
  /// The positions of the anchors in metres, from the README of the recording.
  package static let anchors = [
    SIMD3<Double>(-3.4203, 3.0053, 1.0442), SIMD3<Double>(0.0016, 3.0110, 1.0446),
    SIMD3<Double>(3.6056, 2.9795, 1.0463), SIMD3<Double>(3.6011, -0.0008, 1.0422),
    SIMD3<Double>(3.5674, -3.0087, 1.0443), SIMD3<Double>(-0.0072, -2.9652, 1.0444),
    SIMD3<Double>(-3.4673, -2.9587, 1.0445), SIMD3<Double>(-3.4858, -0.0098, 1.0457),
  ]
  /// The positions of the tags on the trolley.
  package static let tags = [
    SIMD3<Double>(-0.0689, -0.1423, 0.0011), SIMD3<Double>(-0.0750, 0.1402, 0.0016),
    SIMD3<Double>(0.2034, 0.1451, -0.0008),
  ]

  /// All ranges of one time. The index of a range is 3·anchor + tag.
  package private(set) var epochs: [(time: Double, ranges: [Double])] = []
  /// Poses of the trolley.
  package private(set) var path: [(time: Double, pose: Pose)] = []
  /// The constant error of each of the 24 ranges, from stands at known positions.
  package private(set) var biases: [Double]

  /// Returns nil if the recording does not exist.
  package init?(_ recordings: Recordings) {
    let root = recordings.folder + "/lias/Planar_Dataset"
    guard
      let ranges = RecordedTable("\(root)/Dynamic/UWB_dynamic_exp_fast.csv", hasHeader: false),
      let path = RecordedTable("\(root)/Dynamic/motion_capture_dynamic_exp_fast.csv")
    else { return nil }
    biases = Self.biases("\(root)/Static/8.14")
    for row in path.rows where row.count >= 8 && row.allSatisfy(\.isFinite) {
      // The rigid body of the motion capture is upside down, so the pose is turned by half a turn
      // about its x axis.
      let (w, x, y, z) = (row[4], row[5], row[6], row[7])
      let pose = Pose(position: SIMD3<Double>(row[1], row[2], row[3]), w: -x, x: w, y: z, z: -y)
      self.path.append((row[0], pose))
    }
    guard let first = self.path.first, let last = self.path.last else { return nil }
    for row in ranges.rows where row.count >= 25 && first.time...last.time ~= row[0] {
      epochs.append((row[0] - first.time, Array(row[1...24])))
    }
    for index in self.path.indices { self.path[index].time -= first.time }
  }

  /// Returns the pose at a time, interpolated between the captured poses.
  package func pose(at time: Double) -> Pose {
    var (low, high) = (0, path.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if path[middle].time <= time { low = middle } else { high = middle }
    }
    let (a, b) = (path[low], path[high])
    let part = max(0, min(1, (time - a.time) / max(1e-9, b.time - a.time)))
    func between(_ x: Double, _ y: Double) -> Double { x + (y - x) * part }
    // A quaternion and its negative describe the same turn.
    let (p, q) = (a.pose, b.pose)
    let sign = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z < 0 ? -1.0 : 1.0
    return Pose(
      position: p.position + (q.position - p.position) * part, w: between(p.w, sign * q.w),
      x: between(p.x, sign * q.x), y: between(p.y, sign * q.y), z: between(p.z, sign * q.z))
  }

  /// Returns the position of a tag at a time.
  package func position(ofTag tag: Int, at time: Double) -> SIMD3<Double> {
    let pose = pose(at: time)
    let back = Pose(position: .zero, w: pose.w, x: -pose.x, y: -pose.y, z: -pose.z)
    return pose.position + back.toDevice(Self.tags[tag])
  }

  /// Returns the range without errors.
  package func truth(_ index: Int, at time: Double) -> Double {
    (position(ofTag: index % 3, at: time) - Self.anchors[index / 3]).length
  }

  /// The position and yaw of each stand, from the README.
  private static let stands: [(file: String, yaw: Double, x: Double, y: Double)] = [
    ("pos1_deg_0", -0.019, -1.9298, -1.2368), ("pos1_deg_120", 119.623, -1.7694, -1.2333),
    ("pos1_deg_240", 239.020, -1.7584, -1.2758), ("pos3_deg_0", 1.375, 1.7362, 1.2086),
    ("pos3_deg_120", 121.417, 1.7556, 1.2200), ("pos3_deg_240", 240.619, 1.8427, 1.2911),
    ("pos5_deg_0", 0.233, -0.0475, -0.0122), ("pos5_deg_120", 119.408, 0.0089, 0.0259),
    ("pos5_deg_240", 240.289, -0.0111, 0.0741),
  ]

  private static func biases(_ folder: String) -> [Double] {
    var errors = [[Double]](repeating: [], count: 24)
    for stand in stands {
      guard
        let table = RecordedTable(
          "\(folder)/UWB_static_exp_8_14_\(stand.file).csv", hasHeader: false)
      else { continue }
      let half = stand.yaw * .pi / 360
      // The quaternion describes a turn to the left.
      let pose = Pose(position: .zero, w: cosine(half), z: -sine(half))
      for index in 0..<24 {
        var tag = tags[index % 3]
        tag.z = 0
        let position = SIMD3<Double>(stand.x, stand.y, 0.97) + pose.toDevice(tag)
        let truth = (position - anchors[index / 3]).length
        let found = table.rows.compactMap { $0.count > index + 1 ? $0[index + 1] : nil }
          .filter(\.isFinite).sorted()
        if !found.isEmpty { errors[index].append(found[found.count / 2] - truth) }
      }
    }
    return errors.map { $0.isEmpty ? 0 : $0.reduce(0, +) / Double($0.count) }
  }
}
