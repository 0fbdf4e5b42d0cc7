// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import Synchronization
package import UWBSite

/// The site file, for pages that change it.
///
/// A page sends the version that it has read. If another editor has saved a new version meanwhile,
/// the change is refused.
package final class SiteEditor: Sendable {
  enum Failure: Error, Hashable {
    /// Another editor has saved a new version.
    case changed
    case problems([String])
    case file(String)
  }

  /// The greatest size in bytes of a site file or a picture.
  static let mostBytes = 16 << 20

  /// The path of the site file; nil for a temporary site.
  private let path: String?
  /// The only queue that reads and writes the file.
  private let queue = DispatchQueue(label: "site file")
  private let memory: Mutex<Memory>
  private let changes: SiteChanges?

  /// The text and the picture of a site without a file.
  private struct Memory: Sendable {
    var text: [UInt8]
    var pictures: [String: [UInt8]] = [:]
  }

  /// - Parameters:
  ///   - path: the site file; nil for a site in memory.
  ///   - site: the site of a run without a file.
  ///   - changes: the queue of changes to the run; nil if the run has ended.
  package init(path: String?, _ site: Site, changes: SiteChanges? = nil) {
    (self.path, self.changes) = (path, changes)
    memory = Mutex(Memory(text: Array(site.json.utf8)))
  }

  /// Whether changes remain after the run.
  var isFile: Bool { path != nil }

  // MARK: site

  /// Reads the text, with its version.
  func read() async throws(Failure) -> (text: [UInt8], version: String) {
    try await perform { () throws(Failure) in
      let text = try self.text()
      return (text, Self.version(text))
    }
  }

  /// Replaces the text; returns the new version.
  func write(_ text: [UInt8], over version: String) async throws(Failure) -> String {
    try await perform { () throws(Failure) in
      guard Self.version(try self.text()) == version else { throw Failure.changed }
      let site: Site
      do throws(SiteFileError) { site = try Site(json: text) } catch {
        throw Failure.problems(error.problems.map { "\($0)" })
      }
      let bytes = Array(site.json.utf8)
      if let path = self.path {
        try Self.write(bytes, to: path)
      } else {
        self.memory.withLock { $0.text = bytes }
      }
      self.changes?.put(.site(site))
      return Self.version(bytes)
    }
  }

  private func text() throws(Failure) -> [UInt8] {
    guard let path else { return memory.withLock { $0.text } }
    return try Self.bytes(path)
  }

  // MARK: pictures

  /// Saves a picture; returns the name of its file, which depends on its content.
  func add(picture: [UInt8]) async throws(Failure) -> String {
    guard let type = PictureType(picture) else {
      throw .problems(["The picture is not a PNG, JPEG or WebP file."])
    }
    return try await perform { () throws(Failure) in
      let stem = self.path.map {
        URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent
      }
      let name = "\(stem ?? "site")-plan-\(Self.version(picture)).\(type.rawValue)"
      if let folder = self.folder {
        try Self.write(picture, to: folder.appending(path: name).path)
      } else {
        // Without a site file, only the last picture is kept.
        self.memory.withLock { $0.pictures = [name: picture] }
      }
      return name
    }
  }

  /// Reads a picture that the site file names, or that was just saved.
  func picture(_ name: String) async throws(Failure) -> (type: PictureType, bytes: [UInt8]) {
    try await perform { () throws(Failure) in
      let isPlain = !name.hasPrefix(".") && !name.contains("/") && !name.contains("\0")
      guard isPlain, self.isNamed(name) else { throw Failure.file("There is no such picture.") }
      var bytes = self.memory.withLock { $0.pictures[name] } ?? []
      if let folder = self.folder { bytes = try Self.bytes(folder.appending(path: name).path) }
      guard let type = PictureType(bytes) else {
        throw Failure.file("\(name) is not a PNG, JPEG or WebP file.")
      }
      return (type, bytes)
    }
  }

  private func isNamed(_ name: String) -> Bool {
    if name.contains("-plan-") { return true }
    guard let text = try? text(), let site = try? Site(json: text) else { return false }
    return site.plans.contains { $0.image == name }
  }

  private var folder: URL? {
    path.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
  }

  // MARK: files

  private static func bytes(_ path: String) throws(Failure) -> [UInt8] {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)), data.count <= mostBytes
    else { throw .file("\(path) cannot be read.") }
    return Array(data)
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    do { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
      throw .file("\(path) cannot be written. Check the permissions of its folder.")
    }
  }

  /// Calls a body that may wait for the disk, on a thread where this is allowed.
  private func perform<R: Sendable>(
    _ body: @escaping @Sendable () throws(Failure) -> R
  ) async throws(Failure) -> R {
    let result: Result<R, Failure> = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: Result { () throws(Failure) in try body() })
      }
    }
    return try result.get()
  }

  /// Returns a checksum of a text (FNV-1a with 64 bits) that detects changes, but no manipulation.
  static func version(_ text: [UInt8]) -> String {
    let hash = text.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The types of pictures that cannot contain programs.
enum PictureType: String, Sendable, Hashable {
  case png, jpeg, webp

  init?(_ bytes: [UInt8]) {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.count > 12, bytes.starts(with: "RIFF".utf8),
      bytes[8..<12].elementsEqual("WEBP".utf8)
    {
      self = .webp
    } else {
      return nil
    }
  }
}
