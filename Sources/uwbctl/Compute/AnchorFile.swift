// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Ranging

/// Where anchors are, as `compute locate` reads it.
struct AnchorFile: Decodable {
  struct Anchor: Decodable {
    var id: String
    var place: Vector3
    /// Metres that ranges to it are too long by.
    var bias: Double

    enum CodingKeys: String, CodingKey {
      case id, name, anchor, x, y, z, x_m, y_m, z_m, position, bias_m
    }

    init(id: String, place: Vector3) { (self.id, self.place, bias) = (id, place, 0) }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      var id: String?
      for key in [CodingKeys.id, .name, .anchor] where id == nil {
        id =
          (try? fields.decode(String.self, forKey: key))
          ?? (try? fields.decode(Int.self, forKey: key)).map { "\($0)" }
      }
      self.id = id ?? ""
      if let position = try fields.decodeIfPresent([Double].self, forKey: .position) {
        place = try AnchorFile.place(position, decoder)
      } else {
        func number(_ keys: CodingKeys...) throws -> Double? {
          for key in keys {
            if let value = try fields.decodeIfPresent(Double.self, forKey: key) { return value }
          }
          return nil
        }
        guard let x = try number(.x, .x_m), let y = try number(.y, .y_m) else {
          throw DecodingError.dataCorruptedError(
            forKey: .x, in: fields, debugDescription: "an anchor has x, y and z, or a position")
        }
        place = Vector3(x, y, try number(.z, .z_m) ?? 0)
      }
      bias = try fields.decodeIfPresent(Double.self, forKey: .bias_m) ?? 0
    }
  }

  var anchors: [String: Anchor] = [:]
  /// Metres; of what is located.
  var height: Double?

  enum CodingKeys: String, CodingKey { case anchors, height_m }

  init(from decoder: any Decoder) throws {
    // {"anchors": …, "height_m": …}, or the anchors alone.
    if let fields = try? decoder.container(keyedBy: CodingKeys.self), fields.contains(.anchors) {
      height = try fields.decodeIfPresent(Double.self, forKey: .height_m)
      anchors = try fields.decode(Anchors.self, forKey: .anchors).byName
    } else {
      anchors = try Anchors(from: decoder).byName
    }
  }

  /// A list of objects, or an object of places or objects by name.
  private struct Anchors: Decodable {
    var byName: [String: Anchor] = [:]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let list = try? container.decode([Anchor].self) {
        for anchor in list { byName[anchor.id] = anchor }
      } else if let places = try? container.decode([String: [Double]].self) {
        for (id, numbers) in places {
          byName[id] = Anchor(id: id, place: try AnchorFile.place(numbers, decoder))
        }
      } else {
        byName = try container.decode([String: Anchor].self)
      }
    }
  }

  private static func place(_ numbers: [Double], _ decoder: any Decoder) throws -> Vector3 {
    guard 2...3 ~= numbers.count else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a place has x, y and z"))
    }
    return Vector3(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
  }

  init(file path: String) throws(ComputeError) {
    self = try JSONFile.read(path, as: "a list of anchors")
    guard !anchors.isEmpty else { throw .badFile(path, "it has no anchors") }
  }
}
