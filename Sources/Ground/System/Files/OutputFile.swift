// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// Writes an output that a user names: a file, a pipe, a device, or `-` for standard output.
///
/// Only regular files are replaced or truncated. Links are followed as the kernel allows.
package enum OutputFile {
  /// Opens a file for writing in pieces, and truncates a regular file.
  ///
  /// Cancelling the task ends a wait for the reader of a pipe.
  ///
  /// - Parameters:
  ///   - isSecret: Whether only the owner may read the file. This also applies to an existing file.
  ///   - isAppending: Whether each write appends to the file.
  package static func open(
    _ path: String, isSecret: Bool = false, isAppending: Bool = false
  ) throws(FileError) -> FileDescriptor {
    if path == "-" {
      do { return try FileDescriptor.standardOutput.duplicate() } catch {
        throw .system(error as? Errno ?? .ioError)
      }
    }
    var options: FileDescriptor.OpenOptions = [
      .create, .closeOnExec, .nonBlocking, .init(rawValue: O_NOCTTY),
    ]
    if isAppending { options.insert(.append) }
    let descriptor = try waitingForReader(path) {
      try FileDescriptor.open(
        FilePath(path), .writeOnly, options: options,
        permissions: isSecret
          ? .ownerReadWrite : [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
    }
    do throws(FileError) {
      var status = stat()
      let number = descriptor.rawValue
      guard unsafe fstat(number, &status) == 0 else { throw .last }
      if status.st_mode & S_IFMT == S_IFREG {
        if isSecret, status.st_mode & 0o077 != 0, fchmod(number, 0o600) != 0 { throw .last }
        guard ftruncate(number, 0) == 0 else { throw .last }
      }
      let flags = fcntl(number, F_GETFL)
      guard fcntl(number, F_SETFL, flags & ~O_NONBLOCK) == 0 else { throw .last }
    } catch {
      try? descriptor.close()
      throw error
    }
    return descriptor
  }

  /// Returns whether an output is the regular file that an input is read from.
  ///
  /// - Parameters:
  ///   - path: the output; `-` is standard output, which is never truncated.
  ///   - input: `-` is standard input.
  package static func isSame(_ path: String, as input: String) -> Bool {
    var (output, source) = (stat(), stat())
    let found = input == "-" ? unsafe fstat(STDIN_FILENO, &source) : unsafe stat(input, &source)
    guard path != "-", found == 0, unsafe stat(path, &output) == 0 else { return false }
    return output.st_mode & S_IFMT == S_IFREG && output.st_dev == source.st_dev
      && output.st_ino == source.st_ino
  }

  /// Returns whether an output is the terminal of a user. `-` is standard output.
  package static func isTerminal(_ path: String) -> Bool {
    path == "-" && isatty(STDOUT_FILENO) == 1
  }

  /// Returns whether an output is a regular file that exists.
  package static func isFile(_ path: String) -> Bool {
    var status = stat()
    guard path != "-", unsafe stat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFREG
  }

  /// Checks that `write` can write an output, for example before a long measurement. Changes
  /// nothing.
  package static func check(_ path: String) throws(FileError) {
    var status = stat()
    guard path != "-" else { return }
    let exists = unsafe stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT == S_IFDIR { throw .otherKind("a folder") }
    let folder = FilePath(path).removingLastComponent().string
    guard unsafe access(folder.isEmpty ? "." : folder, W_OK | X_OK) != 0 else { return }
    guard exists else { throw .last }
    guard unsafe access(path, W_OK) == 0 else { throw .last }
  }

  private static func waitingForReader(
    _ path: String, _ open: () throws -> FileDescriptor
  ) throws(FileError) -> FileDescriptor {
    while true {
      do { return try open() } catch {
        let error = error as? Errno ?? .ioError
        guard error == .noSuchAddressOrDevice else { throw .system(error) }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .last }
        guard status.st_mode & S_IFMT == S_IFIFO else {
          throw status.st_mode & S_IFMT == S_IFSOCK ? .otherKind("a socket") : .system(error)
        }
        if Task.isCancelled { throw .system(.canceled) }
        usleep(50_000)
      }
    }
  }

  /// Writes a regular file completely or not at all, and other kinds in place. An existing file
  /// keeps its permissions.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    var status = stat()
    let exists = unsafe lstat(path, &status) == 0
    if path == "-" || exists && status.st_mode & S_IFMT != S_IFREG {
      return try writeInPlace(bytes, to: path)
    }
    let draft = path + ".\(getpid())-\(UInt32.random(in: 0 ... .max))"
    do {
      let descriptor = try FileDescriptor.open(
        FilePath(draft), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
        permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
      defer { try? descriptor.close() }
      if exists {
        // Only root may preserve the owner if it is another user.
        _ = fchown(descriptor.rawValue, status.st_uid, status.st_gid)
        _ = fchmod(descriptor.rawValue, status.st_mode & 0o777)
      }
      try descriptor.writeAll(bytes)
      guard unsafe rename(draft, path) == 0 else { throw Errno(rawValue: Glibc.errno) }
    } catch {
      let error = error as? Errno ?? .ioError
      unsafe unlink(draft)
      // A file may be writable in a folder that is not.
      guard exists, error == .permissionDenied else { throw .system(error) }
      try writeInPlace(bytes, to: path)
    }
  }

  private static func writeInPlace(_ bytes: [UInt8], to path: String) throws(FileError) {
    let descriptor = try open(path)
    defer { try? descriptor.close() }
    do { try descriptor.writeAll(bytes) } catch { throw .system(error as? Errno ?? .ioError) }
  }
}
