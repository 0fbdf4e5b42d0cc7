// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Ranging

/// What `compute ss-twr --learn` writes and `--calibration` reads: by how much distances are too
/// long.
struct RangeCalibration: Codable {
  struct Knot: Codable {
    var rx_power_dbm: Double
    var bias_m: Double
  }
  struct Residuals: Codable {
    var count: Int
    var rmse_m: Double
    var median_m: Double
    var p95_m: Double
  }

  var format = "swift-uwb range calibration"
  var version = 1
  /// Metres that both antenna delays together add.
  var delay_m: Double
  /// The same for single peers, where there were several.
  var delays_m: [String: Double]?
  /// Metres that the level adds.
  var power_bias: [Knot]?
  /// Of the data that it was learned from.
  var residuals: Residuals?

  var correction: RangeCorrection {
    RangeCorrection(
      delay: delay_m, delays: delays_m ?? [:],
      powerBias: PowerBias(
        (power_bias ?? []).map { .init(power: $0.rx_power_dbm, bias: $0.bias_m) }))
  }

  /// A line on how well it fits.
  var summary: String {
    let fit = residuals.map {
      "; \($0.count) distances fit to \(fixed($0.rmse_m * 100, 1)) cm RMS, median "
        + "\(fixed($0.median_m * 100, 1)) cm, 95 % below \(fixed($0.p95_m * 100, 1)) cm"
    }
    return "delay \(fixed(delay_m, 4)) m, \(power_bias?.count ?? 0) levels\(fit ?? "")"
  }
}

/// What a calibration takes away from distances.
struct RangeCorrection {
  var delay: Double
  var delays: [String: Double] = [:]
  var powerBias: PowerBias

  func bias(peer: String, power: Double?) -> Double {
    (delays[peer] ?? delay) + (power.map { powerBias.bias(at: $0) } ?? 0)
  }
}

extension RangeCalibration {
  init(file path: String) throws(ComputeError) {
    let octets = try ComputeFiles.read(path)
    do { self = try JSONDecoder().decode(Self.self, from: Data(octets)) } catch {
      throw .badFile(path, "not a calibration of ranges: \(jsonProblem(error))")
    }
  }

  func write(to path: String) throws(ComputeError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do {
      let data = try encoder.encode(self)
      try ComputeFiles.write(String(decoding: data, as: UTF8.self) + "\n", to: path)
    } catch let error as ComputeError { throw error } catch {
      throw .badFile(path, "\(error)")
    }
  }
}

/// What is wrong with a JSON file, in a line.
func jsonProblem(_ error: any Error) -> String {
  func place(_ path: [any CodingKey]) -> String {
    path.isEmpty ? "at the top" : "in " + path.map { $0.stringValue }.joined(separator: ".")
  }
  guard let error = error as? DecodingError else { return "\(error)" }
  return switch error {
  case .keyNotFound(let key, let context):
    "\(key.stringValue) is missing \(place(context.codingPath))"
  case .typeMismatch(_, let context), .valueNotFound(_, let context):
    "\(context.debugDescription) (\(place(context.codingPath)))"
  case .dataCorrupted(let context): "\(context.debugDescription) (\(place(context.codingPath)))"
  @unknown default: "\(error)"
  }
}
