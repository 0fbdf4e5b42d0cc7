// SPDX-License-Identifier: Apache-2.0

import Estimators
import Formats
import FoundationEssentials
public import Ranging
internal import System

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

  /// Merges the calibration into a file: other boards and pairs in it stay.
  ///
  /// - Throws: `LabError` with `.unreadable`, `.badFile` or `.notCreated`.
  package func merge(intoFile path: String) throws(LabError) {
    var whole = RangingCalibration()
    if path != "-", FileManager.default.fileExists(atPath: path) {
      whole = try RangingCalibration(file: path)
    }
    whole.merge(self)
    try whole.write(to: path)
  }

  /// A line on the residuals of distances.
  package var summary: String {
    let fit = residuals.map {
      "; \($0.count) distances fit to \(fixed($0.rms * 100, 1)) cm RMS, median "
        + "\(fixed($0.median * 100, 1)) cm, 95 % below \(fixed($0.percentile95 * 100, 1)) cm"
    }
    return "delay \(fixed(delay ?? 0, 4)) m, \(powerBiasKnots?.count ?? 0) levels\(fit ?? "")"
  }
}

extension RangingCalibration {
  /// Returns the pairs of antennas with their models.
  func antennaPairs() throws(LabError) -> [AntennaPair] {
    try (pairs ?? []).map { pair throws(LabError) in
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
      baseline = unit.map { $0 * spacing }
    } else {
      throw Self.wrong(pair, "it has neither antennas nor a spacing nor a table")
    }
    if pair.antennas != nil || pair.spacing != nil {
      guard let wavelength = carrierWavelength else {
        throw LabError(.badFile, "channel, frequency_hz or wavelength_m is missing.")
      }
      scale = 1 / wavelength
    }
    baseline = baseline.map { $0 * scale }
    return .baseline(x: baseline[0], y: baseline[1], z: baseline[2])
  }

  private static func wrong(_ pair: Pair, _ cause: String) -> LabError {
    LabError(.badFile, "The pair \(pair.column) cannot be used: \(cause).")
  }
}

/// The positions of anchors in a JSON file: a list of objects with a name, or positions or objects
/// by name, alone or as `anchors` beside `height_m`.
public struct Anchors: Decodable, Sendable {
  package struct Anchor: Decodable, Sendable {
    var name = ""
    package var position: SIMD3<Double>
    /// Metres that ranges to it are too long by.
    var bias = 0.0

    enum CodingKeys: String, CodingKey {
      case id, name, anchor, x, y, z, x_m, y_m, z_m, position, bias_m
    }

    package init(from decoder: any Decoder) throws {
      if let numbers = try? decoder.singleValueContainer().decode([Double].self) {
        position = try Self.position(numbers, decoder)
        return
      }
      try Anchors.refuse(in: decoder) { CodingKeys(stringValue: $0) == nil }
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      for key in [CodingKeys.anchor, .name, .id] {
        if let text = try? fields.decode(String.self, forKey: key) { name = text }
        if let number = try? fields.decode(Int.self, forKey: key) { name = "\(number)" }
      }
      func number(_ keys: CodingKeys...) throws -> Double? {
        for key in keys {
          if let value = try fields.decodeIfPresent(Double.self, forKey: key) { return value }
        }
        return nil
      }
      var numbers = try fields.decodeIfPresent([Double].self, forKey: .position) ?? []
      if let x = try number(.x, .x_m), let y = try number(.y, .y_m) {
        numbers = [x, y, try number(.z, .z_m) ?? 0]
      }
      position = try Self.position(numbers, decoder)
      bias = try number(.bias_m) ?? 0
    }

    private static func position(
      _ numbers: [Double], _ decoder: any Decoder
    ) throws -> SIMD3<Double> {
      guard 2...3 ~= numbers.count else {
        throw DecodingError.dataCorrupted(
          .init(
            codingPath: decoder.codingPath,
            debugDescription: "an anchor needs x, y and z, or a position"))
      }
      return SIMD3<Double>(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }
  }

  /// The anchors by their names.
  package var byName: [String: Anchor] = [:]
  /// The height of the located device in metres.
  var height: Double?

  private enum CodingKeys: String, CodingKey { case anchors, height_m }

  /// Decodes either form.
  public init(from decoder: any Decoder) throws {
    var source = decoder
    if let fields = try? decoder.container(keyedBy: CodingKeys.self), fields.contains(.anchors) {
      try Self.refuse(in: decoder) { CodingKeys(stringValue: $0) == nil }
      height = try fields.decodeIfPresent(Double.self, forKey: .height_m)
      source = try fields.superDecoder(forKey: .anchors)
    }
    let container = try source.singleValueContainer()
    guard (try? source.unkeyedContainer()) != nil else {
      byName = try container.decode([String: Anchor].self)
      return
    }
    for anchor in try container.decode([Anchor].self) {
      guard !anchor.name.isEmpty, byName.updateValue(anchor, forKey: anchor.name) == nil else {
        throw DecodingError.dataCorrupted(
          .init(
            codingPath: source.codingPath,
            debugDescription: anchor.name.isEmpty
              ? "an anchor has no name" : "there are two anchors \(anchor.name)"))
      }
    }
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private static func refuse(
    in decoder: any Decoder, where isUnknown: (String) -> Bool
  ) throws {
    let keys = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
    guard let key = keys.sorted().first(where: isUnknown) else { return }
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "the key \(key) is unknown"))
  }

  /// Reads a file (JSON5).
  ///
  /// - Throws: `LabError` with `.unreadable` or `.badFile`.
  public init(file path: String) throws(LabError) {
    do throws(FormatError) { self = try JSONFile.read(path, as: "a list of anchors") } catch {
      throw LabError(error)
    }
    guard !byName.isEmpty else { throw LabError(.badFile(path, "it has no anchors.")) }
  }

  /// The prior without a known height: about the height of the anchors.
  var usualHeight: HeightPrior {
    let heights = byName.values.map(\.position.z)
    let (low, high) = (heights.min() ?? 0, heights.max() ?? 0)
    return HeightPrior(
      heights.reduce(0, +) / Double(max(1, heights.count)),
      standardDeviation: max(0.5, high - low))
  }
}
