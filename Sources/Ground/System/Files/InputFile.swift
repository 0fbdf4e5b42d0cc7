// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// The reason why a file cannot be read or written, as the end of a sentence, such as "it is a
/// folder".
package enum FileError: Error, Hashable, CustomStringConvertible {
  case system(Errno)
  /// The path leads neither to a file nor to a pipe. The value names the kind that was found.
  case otherKind(String)
  case tooLong(limit: Int)

  package var description: String {
    switch self {
    case .system(.noSuchFileOrDirectory): "there is no such file"
    case .system(.permissionDenied): "this user has no permission"
    case .system(.canceled): "cancelled while it waited for the other end"
    case .system(let error): "\(error)"
    case .otherKind(let kind): "it is \(kind)"
    case .tooLong(let limit):
      limit >= 1 << 20
        ? "it is longer than \(limit >> 20) MiB" : "it is longer than \(limit) bytes"
    }
  }

  package var errno: Errno? { if case .system(let error) = self { error } else { nil } }

  static var last: FileError { .system(Errno(rawValue: Glibc.errno)) }
}

/// Reads an input that a user names: a file, a pipe, or `-` for standard input.
///
/// Cancelling the task ends a wait for a pipe. Devices are rejected, because opening one may reset
/// a board. Memory devices such as /dev/null are accepted. A byte order mark of UTF-8 is skipped.
package struct InputFile: ~Copyable {
  private let descriptor: FileDescriptor
  private let mustClose: Bool
  package let isRegular: Bool
  private let size: Int
  private var isAtStart: Bool

  /// - Parameter isText: Whether the input may be text, which may begin with a byte order mark.
  package init(_ path: String, isText: Bool = true) throws(FileError) {
    var status = stat()
    isAtStart = isText
    guard path != "-" else {
      guard unsafe fstat(STDIN_FILENO, &status) == 0 else { throw .last }
      if status.st_mode & S_IFMT == S_IFDIR { throw .otherKind("a folder") }
      descriptor = .standardInput
      (mustClose, isRegular, size) = (false, status.st_mode & S_IFMT == S_IFREG, 0)
      return
    }
    guard unsafe stat(path, &status) == 0 else { throw .last }
    if let kind = Self.refusedKind(status) { throw .otherKind(kind) }
    do {
      // Without this option, opening a pipe would wait for a writer.
      descriptor = try FileDescriptor.open(
        FilePath(path), .readOnly, options: [.closeOnExec, .nonBlocking, .init(rawValue: O_NOCTTY)])
    } catch { throw .system(error as? Errno ?? .ioError) }
    isRegular = status.st_mode & S_IFMT == S_IFREG
    size = isRegular ? Int(status.st_size) : 0
    mustClose = true
  }

  deinit { if mustClose { try? descriptor.close() } }

  /// Returns the kind of a path that cannot be read as a file.
  private static func refusedKind(_ status: stat) -> String? {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFSOCK: "a socket"
    case S_IFBLK: "a device"
    // Memory devices, such as /dev/null, have the major number 1.
    case S_IFCHR where (status.st_rdev >> 8) & 0xFFF != 1: "a device"
    default: nil
    }
  }

  /// Returns the next bytes; empty at the end.
  package mutating func read(atMost count: Int = 1 << 16) throws(FileError) -> [UInt8] {
    var bytes = try readBytes(atMost: count)
    guard isAtStart else { return bytes }
    isAtStart = false
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    // A pipe may deliver the byte order mark in pieces.
    while !bytes.isEmpty, bytes.count < mark.count, mark.starts(with: bytes) {
      let more = try readBytes(atMost: 1)
      if more.isEmpty { break }
      bytes += more
    }
    guard bytes.starts(with: mark) else { return bytes }
    bytes.removeFirst(mark.count)
    return bytes.isEmpty ? try readBytes(atMost: count) : bytes
  }

  private func readBytes(atMost count: Int) throws(FileError) -> [UInt8] {
    while true {
      try waitForInput()
      do {
        return try unsafe [UInt8](unsafeUninitializedCapacity: count) { room, used in
          used = try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(room))
        }
      } catch {
        let error = error as? Errno ?? .ioError
        guard error == .wouldBlock || error == .interrupted else { throw .system(error) }
      }
    }
  }

  private func waitForInput() throws(FileError) {
    while !isRegular {
      var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
      let count = unsafe poll(&entry, 1, 100)
      if count > 0 { return }
      if count < 0, Glibc.errno != EINTR { throw .last }
      if Task.isCancelled { throw .system(.canceled) }
    }
  }

  /// Reads all bytes.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of bytes; more are an error.
  ///   - isText: Whether the input may be text, which may begin with a byte order mark.
  package static func bytes(
    of path: String, limit: Int, isText: Bool = true
  ) throws(FileError) -> [UInt8] {
    var file = try InputFile(path, isText: isText)
    guard file.size <= limit else { throw .tooLong(limit: limit) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(file.size)
    while true {
      let piece = try file.read()
      if piece.isEmpty { return bytes }
      guard bytes.count + piece.count <= limit else { throw .tooLong(limit: limit) }
      bytes += piece
    }
  }
}

/// The lines of an input, read one at a time.
package struct InputLines: ~Copyable {
  private var file: InputFile
  private let limit: Int
  private var rest: [UInt8]
  private var position: Int
  private var isAtEnd: Bool

  /// Opens an input.
  ///
  /// - Parameter limit: The greatest length of a line in bytes; a longer one is an error.
  package init(_ path: String, limit: Int = 1 << 20) throws(FileError) {
    // This has to be the first statement: Swift 6.2 destroys initialised members twice if it
    // throws.
    file = try InputFile(path)
    self.limit = limit
    (rest, position, isAtEnd) = ([], 0, false)
  }

  /// Whether the next line is already in memory.
  package var hasLine: Bool { rest[position...].contains(0x0A) }

  /// Returns the next line without its line feed, or nil after the last one.
  package mutating func next() throws(FileError) -> ArraySlice<UInt8>? {
    var searched = position
    while true {
      if let end = rest[searched...].firstIndex(of: 0x0A) {
        defer { position = end + 1 }
        return rest[position..<end]
      }
      if isAtEnd {
        defer { position = rest.count }
        return position < rest.count ? rest[position...] : nil
      }
      guard rest.count - position <= limit else { throw .tooLong(limit: limit) }
      rest.removeFirst(position)
      position = 0
      searched = rest.count
      let piece = try file.read()
      isAtEnd = piece.isEmpty
      rest += piece
    }
  }
}
