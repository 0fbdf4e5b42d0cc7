// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import System
import UWBService

/// The profiles in a folder, for sessions that the service holds for itself.
struct ProfileFolder: Sendable {
  private(set) var profiles: [HeldProfile] = []
  private(set) var problems: [String] = []

  /// The greatest size of a profile in bytes.
  private static let longest = 65_536

  /// Reads the files `NAME.json` of a folder. With several chips, files are `CHIP.NAME.json`, where
  /// CHIP is the last part of the chip's name. Blocks.
  ///
  /// - Parameter held: The chips of files in use. Such a file keeps its chip when further chips
  ///   appear.
  /// - Returns: Nil if the folder cannot be read.
  init?(_ folder: String, chips: [String], held: [String: String] = [:]) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return nil
    }
    for name in names.sorted() where name.hasSuffix(".json") && !name.hasPrefix(".") {
      let file = "\(folder)/\(name)"
      let named = chips.first { name.hasPrefix(Self.lastPart(of: $0) + ".") }
      guard let chip = named ?? held[file] ?? (chips.count == 1 ? chips[0] : nil) else {
        problems.append("\(file) does not name its chip: rename it to CHIP.NAME.json.")
        continue
      }
      do throws(FileError) {
        // Only regular files are read: a pipe might never end.
        guard try InputFile(file).isRegular else { throw .otherKind("not a file") }
        profiles.append(
          HeldProfile(
            chip: chip, file: file, text: try InputFile.bytes(of: file, limit: Self.longest)))
      } catch { problems.append("\(file) cannot be read: \(error).") }
    }
  }

  private static func lastPart(of name: String) -> Substring {
    name.split { $0 == "/" || $0 == ":" }.last ?? ""
  }
}
