// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Ranging

/// The one form in which calibrations are kept: what `calibrate` and `compute ss-twr --learn` write,
/// and what `compute` reads.
extension RangingCalibration {
  init(file path: String) throws(ComputeError) {
    self = try JSONFile.read(path, as: "a calibration")
    guard format.map({ $0.hasPrefix("swift-uwb ") && $0.hasSuffix("calibration") }) ?? true else {
      throw .badFile(path, "its format is \(format ?? "")")
    }
    guard (version ?? 1) == 1 else { throw .badFile(path, "its version is \(version ?? 0)") }
  }

  /// Writes the file whole, or not at all.
  func write(to path: String) throws(ComputeError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      var data = try encoder.encode(self)
      data.append(0x0A)
      try data.write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw .notCreated(path, "\(error)")
    }
  }

  /// Writes this into a file, beside what else is there: other boards, other pairs.
  func write(into path: String) throws(ComputeError) {
    var whole = RangingCalibration()
    if FileManager.default.fileExists(atPath: path) { whole = try RangingCalibration(file: path) }
    whole.merge(self)
    try whole.write(to: path)
  }

  /// A line on how well distances fit.
  var summary: String {
    let fit = residuals.map {
      "; \($0.count) distances fit to \(fixed($0.rmse_m * 100, 1)) cm RMS, median "
        + "\(fixed($0.median_m * 100, 1)) cm, 95 % below \(fixed($0.p95_m * 100, 1)) cm"
    }
    return "delay \(fixed(delay_m ?? 0, 4)) m, \(power_bias?.count ?? 0) levels\(fit ?? "")"
  }
}

/// JSON from files: also with comments, trailing commas and names without quotes (JSON5).
enum JSONFile {
  static func read<T: Decodable>(_ path: String, as what: String) throws(ComputeError) -> T {
    let bytes = try ComputeFiles.read(path)
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    do { return try decoder.decode(T.self, from: Data(bytes)) } catch {
      throw .badFile(path, "not \(what): \(problem(error))")
    }
  }

  /// What is wrong, in a line.
  private static func problem(_ error: any Error) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "at the top" : "in " + path.map { $0.stringValue }.joined(separator: ".")
    }
    guard let error = error as? DecodingError else { return "\(error)" }
    return switch error {
    case .keyNotFound(let key, let context):
      "\(key.stringValue) is missing \(place(context.codingPath))"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(context.debugDescription) (\(place(context.codingPath)))"
    case .dataCorrupted(let context):
      "\(context.debugDescription) (\(place(context.codingPath)))"
        + (context.underlyingError.map { ": \($0)" } ?? "")
    @unknown default: "\(error)"
    }
  }
}
