// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import System
import UWBLink

/// The profiles in a folder, for sessions that the service itself holds.
struct ProfileFolder: Sendable {
  struct Profile: Sendable {
    /// As the chip is named.
    var chip: String
    var file: String
    var text: [UInt8]
  }

  private(set) var profiles: [Profile] = []
  private(set) var problems: [String] = []

  /// More than a profile ever has.
  private static let longest = 65_536

  /// Reads the files `NAME.json`; where there are several chips, `CHIP.NAME.json` with the last part of
  /// the chip's name. Blocks.
  ///
  /// - Parameter held: the chips of files that are used now, which keep them when there are more chips.
  /// - Returns: nil if the folder cannot be read.
  init?(_ folder: String, chips: [String], held: [String: String] = [:]) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return nil
    }
    for name in names.sorted() where name.hasSuffix(".json") && !name.hasPrefix(".") {
      let file = "\(folder)/\(name)"
      let named = chips.first { name.hasPrefix(Self.lastPart(of: $0) + ".") }
      guard let chip = named ?? held[file] ?? (chips.count == 1 ? chips[0] : nil) else {
        problems.append("\(file) belongs to no chip: name it CHIP.NAME.json.")
        continue
      }
      do throws(FileError) {
        // A pipe might never end.
        guard try InputFile(file).isRegular else { throw .otherKind("no file") }
        profiles.append(
          Profile(
            chip: chip, file: file, text: try InputFile.bytes(of: file, limit: Self.longest)))
      } catch { problems.append("\(file) cannot be read: \(error).") }
    }
  }

  private static func lastPart(of name: String) -> Substring {
    name.split { $0 == "/" || $0 == ":" }.last ?? ""
  }
}
