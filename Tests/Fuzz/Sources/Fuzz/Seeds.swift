// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import UWB

/// The seeds of a fuzzer: frames of Frames.txt beside the package, and files in the format of a
/// corpus (`"hex": "…"`) in FUZZ_CORPUS, if it is set.
enum Seeds {
  static func write(_ target: any Target.Type, to folder: String) {
    var frames = own
    if let corpus = getenv("FUZZ_CORPUS") { frames += read(String(cString: corpus)) }
    let seeds = Set(target.seeds(frames))
    for (number, seed) in seeds.enumerated() {
      guard let file = fopen("\(folder)/seed-\(number)", "w") else {
        print("\(folder) cannot be written (error \(errno))")
        exit(73)
      }
      fwrite(seed, 1, seed.count, file)
      fclose(file)
    }
    print("\(target.name): \(seeds.count) seeds of \(frames.count) frames")
  }

  /// The package's own frames, one of each layout.
  private static var own: [[UInt8]] {
    guard let path = getenv("FUZZ_FRAMES"),
      let capture = try? CaptureReader.read(file: String(cString: path))
    else {
      print("FUZZ_FRAMES names no file of frames in hexadecimal")
      exit(66)
    }
    return capture.packets.map(\.bytes)
  }

  /// Every `"hex": "…"` in a file; the rest is ignored.
  private static func read(_ path: String) -> [[UInt8]] {
    guard let bytes = try? CaptureReader.contents(ofFile: path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      guard let key = line.firstRange(of: "\"hex\"") else { return nil }
      let rest = line[key.upperBound...].drop { $0 == ":" || $0 == " " || $0 == "\"" }
      let digits = Array(rest.prefix { $0.isHexDigit })
      guard digits.count >= 8, digits.count.isMultiple(of: 2) else { return nil }
      return stride(from: 0, to: digits.count, by: 2).map {
        UInt8(digits[$0].hexDigitValue! << 4 | digits[$0 + 1].hexDigitValue!)
      }
    }
  }
}
