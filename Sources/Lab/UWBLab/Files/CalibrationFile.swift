// SPDX-License-Identifier: Apache-2.0

import Estimators
import Formats
import FoundationEssentials
internal import JSON
public import Ranging
internal import System
internal import UCI

extension RangingCalibration {
  /// Reads a calibration (JSON5).
  ///
  /// - Throws: `LabError` with `.unreadable` or `.badFile`.
  public init(file path: String) throws(LabError) {
    do throws(FormatError) { self = try .read(path) } catch { throw LabError(error) }
  }

  /// Writes the calibration as JSON, completely or not at all.
  ///
  /// - Throws: `LabError` with `.notCreated`.
  public func write(to path: String) throws(LabError) {
    do throws(FormatError) { try JSONFile.write(self, to: path) } catch { throw LabError(error) }
  }

  /// Merges the calibration into a file. Other boards and pairs in the file are kept.
  ///
  /// - Throws: `LabError` with `.unreadable`, `.badFile` or `.notCreated`.
  package func merge(intoFile path: String) throws(LabError) {
    var whole = try Self.present(in: path)
    whole.merge(self)
    try whole.write(to: path)
  }

  /// Checks that a calibration can be merged into a file. Does not change it.
  ///
  /// - Throws: `LabError` with `.unreadable`, `.badFile` or `.notCreated`.
  package static func check(output path: String) throws(LabError) {
    _ = try present(in: path)
    do { try OutputFile.check(path) } catch { throw .notCreated(path, error) }
  }

  private static func present(in path: String) throws(LabError) -> RangingCalibration {
    OutputFile.isFile(path) ? try RangingCalibration(file: path) : RangingCalibration()
  }

  /// A line about the residuals of distances.
  package var summary: String {
    let fit = residuals.map {
      "; \(counted($0.count, "distance fits", "distances fit")) to "
        + "\(fixed($0.rms * 100, 1)) cm RMS, median "
        + "\(fixed($0.median * 100, 1)) cm, 95 % below \(fixed($0.percentile95 * 100, 1)) cm"
    }
    return
      "delay \(fixed(delay ?? 0, 4)) m, \(counted(powerBiasKnots?.count ?? 0, "level"))\(fit ?? "")"
  }
}

extension RangingCalibration {
  /// The greatest distance between two antennas in wavelengths. The phases of antennas farther
  /// apart fit too many directions.
  private static let farthestAntennas = 10.0

  /// Returns the pairs of antennas with their models, which together determine the azimuth.
  func antennaPairs() throws(LabError) -> [AntennaPair] {
    let all = pairs ?? []
    let models = try all.enumerated().map { index, pair throws(LabError) in
      guard !all[..<index].contains(where: { $0.column == pair.column }) else {
        throw Self.wrong(pair, "another pair has the same column")
      }
      let noise = pair.phaseNoise ?? phaseNoise ?? 5 * .pi / 180
      guard noise > 0 else { throw Self.wrong(pair, "noise_rad is not greater than 0") }
      let error = pair.modelDeviationAnywhere
      guard error != nil || pair.modelDeviation == nil else {
        throw Self.wrong(pair, "model_rad is not 0 to 10")
      }
      return AntennaPair(
        try model(of: pair), offset: pair.offset ?? 0,
        harmonics: (pair.harmonics ?? []).map { ($0.cosine, $0.sine) },
        phaseDeviation: noise, modelDeviation: error ?? 7 * .pi / 180)
    }
    guard models.isEmpty || models.contains(where: \.determinesAzimuth) else {
      throw LabError(
        .badFile, "The antennas of each pair are one above the other, so they determine no azimuth."
      )
    }
    return models
  }

  private func model(of pair: Pair) throws(LabError) -> AntennaPair.Model {
    let axis = pair.axis ?? [0, 1, 0]
    let length = axis.reduce(0) { $0 + $1 * $1 }.squareRoot()
    guard axis.count == 3, length > 0 else {
      throw Self.wrong(pair, "its axis needs x, y and z")
    }
    let unit = axis.map { $0 / length }
    if let points = pair.table {
      let curve = points.compactMap { point in
        point.phaseInRadians.map { (angle: point.angleDegrees * .pi / 180, phase: $0) }
      }
      guard curve.count == points.count, let table = PhaseTable(curve) else {
        throw Self.wrong(pair, "its table needs two points with phases")
      }
      return .table(table, x: unit[0], y: unit[1], z: unit[2])
    }
    var baseline: [Double]
    var scale = 1.0
    if let names = pair.antennas {
      guard names.count == 2, let a = antennas?[names[0]], let b = antennas?[names[1]],
        a.count == 3, b.count == 3
      else { throw Self.wrong(pair, "it needs two antennas with x, y and z") }
      baseline = (0..<3).map { a[$0] - b[$0] }
    } else if let spacing = pair.spacing ?? pair.spacingInWavelengths {
      guard spacing > 0 else { throw Self.wrong(pair, "its spacing is not greater than 0") }
      baseline = unit.map { $0 * spacing }
    } else {
      throw Self.wrong(pair, "it has neither antennas nor a spacing nor a table")
    }
    if pair.antennas != nil || pair.spacing != nil {
      guard let wavelength = carrierWavelength else {
        throw LabError(
          .badFile,
          channel == nil && frequency == nil && self.wavelength == nil
            ? "channel, frequency_hz or wavelength_m is missing."
            : "channel takes 5 or 9, and frequency_hz or wavelength_m more than 0.")
      }
      scale = 1 / wavelength
    }
    baseline = baseline.map { $0 * scale }
    let distance = baseline.reduce(0) { $0 + $1 * $1 }.squareRoot()
    guard distance > 0 else { throw Self.wrong(pair, "its antennas are at the same place") }
    guard distance <= Self.farthestAntennas else {
      throw Self.wrong(pair, "its antennas are more than 10 wavelengths apart")
    }
    return .baseline(x: baseline[0], y: baseline[1], z: baseline[2])
  }

  private static func wrong(_ pair: Pair, _ cause: String) -> LabError {
    LabError(.badFile, "The pair \(pair.column) cannot be used: \(cause).")
  }
}

/// The positions of anchors in a JSON file. It is a list of objects with a name, or an object of
/// positions or objects by name. The latter may be the value of `anchors` in an object that also
/// has `height_m`.
public struct Anchors: Sendable {
  package struct Anchor: Sendable {
    var name = ""
    package var position: SIMD3<Double>
    /// The metres by which ranges to this anchor are too long.
    var bias = 0.0

    fileprivate init(_ node: JSONNode, _ key: String) throws {
      var numbers: [Double] = []
      if node.array != nil {
        numbers = try node.decode(in: key)
      } else {
        let fields: Fields = try node.decode(in: key)
        name = fields.id?.text ?? fields.name?.text ?? fields.anchor?.text ?? ""
        numbers = fields.position ?? []
        if let x = fields.x ?? fields.x_m, let y = fields.y ?? fields.y_m {
          numbers = [x, y, fields.z ?? fields.z_m ?? 0]
        }
        bias = fields.bias_m ?? 0
      }
      guard 2...3 ~= numbers.count else {
        throw node.error("an anchor needs x, y and z, or a position")
      }
      position = SIMD3<Double>(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }
  }

  private struct Fields: Decodable {
    /// The name, which may be written as a number.
    struct Name: Decodable {
      var text: String?

      init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        text = (try? value.decode(String.self)) ?? (try? value.decode(Int.self)).map { "\($0)" }
      }
    }

    var id, name, anchor: Name?
    var x, y, z, x_m, y_m, z_m, bias_m: Double?
    var position: [Double]?
  }

  /// The anchors by their names.
  package var byName: [String: Anchor] = [:]
  /// The height of the located device in metres.
  var height: Double?

  private init(_ node: JSONNode) throws {
    guard let given = node.object?.first(where: { $0.name == "anchors" })?.value else {
      try add(node)
      return
    }
    for (name, value) in node.object ?? [] {
      switch name {
      case "anchors": try add(given)
      case "height_m": height = try value.decode()
      default: throw value.error("the key \(name) is unknown")
      }
    }
  }

  private mutating func add(_ node: JSONNode) throws {
    guard let list = node.array else {
      guard let members = node.object else { throw node.error("an object belongs at the top") }
      for (name, value) in members { byName[name] = try Anchor(value, name) }
      return
    }
    for (index, node) in list.enumerated() {
      let anchor = try Anchor(node, "\(index)")
      guard !anchor.name.isEmpty else { throw node.error("an anchor has no name") }
      guard byName.updateValue(anchor, forKey: anchor.name) == nil else {
        throw node.error("there are two anchors \(anchor.name)")
      }
    }
  }

  /// Reads a file (JSON5).
  ///
  /// - Throws: `LabError` with `.unreadable` or `.badFile`.
  public init(file path: String) throws(LabError) {
    do throws(FormatError) {
      self = try JSONFile.read(path, as: "a list of anchors") { try Anchors($0) }
    } catch {
      throw LabError(error)
    }
    guard !byName.isEmpty else { throw LabError(.badFile(path, "it has no anchors.")) }
  }

  /// The prior of an unknown height: about the height of the anchors.
  var usualHeight: HeightPrior {
    let heights = byName.values.map(\.position.z)
    let (low, high) = (heights.min() ?? 0, heights.max() ?? 0)
    return HeightPrior(
      heights.reduce(0, +) / Double(max(1, heights.count)),
      standardDeviation: max(0.5, high - low))
  }
}
