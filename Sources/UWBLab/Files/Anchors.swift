// SPDX-License-Identifier: Apache-2.0

import Ranging

/// The positions of anchors, as a JSON file has them: a list of objects with a name, or positions or
/// objects by name, alone or as `anchors` beside `height_m`.
public struct Anchors: Decodable, Sendable {
  /// An anchor.
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
  /// Metres; of what is located.
  var height: Double?

  private enum CodingKeys: String, CodingKey { case anchors, height_m }

  private struct List: Decodable {
    var byName: [String: Anchor] = [:]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let list = try? container.decode([Anchor].self) {
        for anchor in list { byName[anchor.name] = anchor }
      } else {
        byName = try container.decode([String: Anchor].self)
      }
    }
  }

  /// Decodes either form.
  public init(from decoder: any Decoder) throws {
    if let fields = try? decoder.container(keyedBy: CodingKeys.self), fields.contains(.anchors) {
      height = try fields.decodeIfPresent(Double.self, forKey: .height_m)
      byName = try fields.decode(List.self, forKey: .anchors).byName
    } else {
      byName = try List(from: decoder).byName
    }
  }

  /// Reads a file (JSON5).
  ///
  /// - Throws: `LabError` with `.unreadable` or `.badFile`.
  public init(file path: String) throws(LabError) {
    self = try JSONFile.read(path, as: "a list of anchors")
    guard !byName.isEmpty else { throw .badFile(path, "it has no anchors.") }
  }

  /// Where nothing is known of the height: about that of the anchors.
  var usualHeight: HeightPrior {
    let heights = byName.values.map(\.position.z)
    let (low, high) = (heights.min() ?? 0, heights.max() ?? 0)
    return HeightPrior(
      heights.reduce(0, +) / Double(max(1, heights.count)),
      standardDeviation: max(0.5, high - low))
  }
}
