// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import System
import SystemPackage
import UWBService

/// The profiles in a folder, for sessions that the service holds for itself.
struct ProfileFolder: Sendable {
  private(set) var profiles: [HeldProfile] = []
  private(set) var problems: [String] = []

  /// The greatest size of a profile in bytes.
  private static let longest = 65_536

  /// The folder in which systemd puts copies of files that only root may read; nil without systemd.
  /// See `LoadCredential=` in systemd.exec(5).
  static let credentials = unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }

  /// Reads the files `NAME.json` of a folder. With several chips, files are `CHIP.NAME.json`, where
  /// CHIP is the last part of the chip's name. Blocks.
  ///
  /// - Parameters:
  ///   - held: The chips of files in use. Such a file keeps its chip when further chips appear.
  ///   - credentials: A folder with copies of files, for the ones that only root may read. The copy
  ///     of `NAME.json` in `sessions.d` is `sessions.d_NAME.json`.
  /// - Returns: Nil if the folder cannot be read.
  init?(
    _ folder: String, chips: [String], held: [String: String] = [:],
    credentials: String? = ProfileFolder.credentials
  ) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return nil
    }
    let copies = credentials.map { "\($0)/\(lastPart(of: folder))_" }
    for name in names.sorted() where name.hasSuffix(".json") && !name.hasPrefix(".") {
      let file = "\(folder)/\(name)"
      let named = chips.first { name.hasPrefix(lastPart(of: $0) + ".") }
      guard let chip = named ?? held[file] ?? (chips.count == 1 ? chips[0] : nil) else {
        problems.append(
          chips.isEmpty
            ? "\(file) waits for a chip: plug a board in."
            : "\(file) does not name its chip: rename it to CHIP.NAME.json.")
        continue
      }
      do throws(FileError) {
        profiles.append(
          HeldProfile(chip: chip, file: file, text: try Self.text(file, copies.map { $0 + name })))
      } catch { problems.append(Self.problem(file, error, hasCopies: copies != nil)) }
    }
  }

  /// Returns the cause, and the next step for a file of root.
  static func problem(_ file: String, _ error: FileError, hasCopies: Bool) -> String {
    let cause = "\(file) cannot be read: \(error)."
    guard case .system(.permissionDenied) = error else { return cause }
    return hasCopies
      ? "\(cause) Restart uwbd: systemd copies the file at the start."
      : "\(cause) With the drop-in uwbd-keys.conf, the unit reads files of root: uwbd(8)."
  }

  /// Returns the contents of a file, or of its copy if the system does not let this user read it.
  private static func text(_ file: String, _ copy: String?) throws(FileError) -> [UInt8] {
    do throws(FileError) {
      // Only regular files are read: a pipe might never end.
      guard try InputFile(file).isRegular else { throw .otherKind("not a file") }
      return try InputFile.bytes(of: file, limit: longest)
    } catch {
      guard error.errno != nil, let copy, unsafe access(copy, F_OK) == 0 else {
        throw error
      }
      return try InputFile.bytes(of: copy, limit: longest)
    }
  }
}
