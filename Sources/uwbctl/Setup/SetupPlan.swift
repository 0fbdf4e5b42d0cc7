// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// The files that give users access to UWB devices, compared with the present ones.
struct SetupPlan {
  /// A file to write or to remove.
  struct File: Equatable {
    enum State: Equatable {
      case missing, same, different
    }

    var path: FilePath
    /// nil: the file is removed.
    var text: String?
    var state: State
  }

  enum Failure: Error {
    case refused(FilePath, Errno)
  }

  /// Where udev looks for local rules.
  let folder: FilePath
  private(set) var files: [File]

  /// - Parameters:
  ///   - root: of the system: `/`, or the folder of an image.
  ///   - nodes: kernel names of nodes to make accessible; none: a former list stays.
  init(root: FilePath, nodes: [String]) {
    folder = root.appending("etc").appending("udev").appending("rules.d")
    files = [Self.file(folder.appending(UdevRules.name), UdevRules.text)]
    if !nodes.isEmpty {
      let path = folder.appending(UdevRules.nodesName)
      files.append(Self.file(path, UdevRules.text(forNodes: nodes)))
    }
  }

  /// Removes everything that `setup` installs.
  init(removingFrom root: FilePath) {
    folder = root.appending("etc").appending("udev").appending("rules.d")
    let paths = [UdevRules.name, UdevRules.nodesName].map(folder.appending)
    files = paths.map { Self.file($0, nil) }.filter { $0.state != .missing }
  }

  /// Whether there is anything to do.
  var isDone: Bool {
    files.allSatisfy { $0.text == nil ? $0.state == .missing : $0.state == .same }
  }

  private static func file(_ path: FilePath, _ text: String?) -> File {
    guard let descriptor = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else {
      return File(path: path, text: text, state: .missing)
    }
    defer { try? descriptor.close() }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = (try? bytes.withUnsafeMutableBytes { try descriptor.read(into: $0) }) ?? 0
    let isSame = text.map { Array($0.utf8) == Array(bytes[..<count]) } ?? false
    return File(path: path, text: text, state: isSame ? .same : .different)
  }

  // MARK: execution

  /// Writes missing and different files, and removes those without a text. A different file is kept
  /// as `.old`, which udev does not read.
  ///
  /// - Returns: a sentence for each change.
  func carryOut() throws(Failure) -> [String] {
    var done: [String] = []
    for file in files {
      guard let text = file.text else {
        try remove(file.path)
        done.append("Removed \(file.path).")
        continue
      }
      guard file.state != .same else { continue }
      if file.state == .different {
        let old = FilePath(file.path.string + ".old")
        guard rename(file.path.string, old.string) == 0 else { throw failure(file.path) }
        done.append("Kept the former \(file.path) as \(old).")
      }
      try write(text, to: file.path)
      done.append("Wrote \(file.path).")
    }
    return done
  }

  private func remove(_ path: FilePath) throws(Failure) {
    guard unlink(path.string) == 0 || errno == ENOENT else { throw failure(path) }
  }

  /// Writes a file completely or not at all, by renaming it.
  private func write(_ text: String, to path: FilePath) throws(Failure) {
    try makeFolders()
    let draft = FilePath(path.string + ".new")
    do {
      let descriptor = try FileDescriptor.open(
        draft, .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
      defer { try? descriptor.close() }
      try descriptor.writeAll(text.utf8)
      // Independently of the umask.
      guard fchmod(descriptor.rawValue, 0o644) == 0 else { throw Errno(rawValue: errno) }
    } catch {
      unlink(draft.string)
      throw .refused(path, error as? Errno ?? .ioError)
    }
    guard rename(draft.string, path.string) == 0 else { throw failure(path) }
  }

  private func makeFolders() throws(Failure) {
    var path = FilePath(folder.string.hasPrefix("/") ? "/" : "")
    for component in folder.components {
      path.append(component)
      guard mkdir(path.string, 0o755) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES
      else { throw failure(path) }
    }
  }

  private func failure(_ path: FilePath) -> Failure { .refused(path, Errno(rawValue: errno)) }
}
