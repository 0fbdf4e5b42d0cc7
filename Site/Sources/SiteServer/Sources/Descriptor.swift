// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// An open file, pipe or terminal.
final class Descriptor: Sendable {
  enum Reading: Sendable, Hashable {
    case bytes([UInt8])
    /// No bytes are available yet.
    case nothing
    case end
    /// The error number of the system.
    case failed(Int32)
  }

  /// An error of the system.
  struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    let number: Int32

    var description: String {
      switch number {
      case ENOENT: "there is no such file"
      case EACCES, EPERM: "this user may not open it"
      case EBUSY: "another program uses it"
      case EIO, ENODEV, ENXIO: "the device is gone"
      default: "error \(number) of the system"
      }
    }
  }

  let number: Int32
  private let isOwned: Bool

  init(_ number: Int32, isOwned: Bool = true) { (self.number, self.isOwned) = (number, isOwned) }

  convenience init(opening path: String, _ flags: Int32) throws(Failure) {
    let number = unsafe open(path, flags | O_CLOEXEC)
    guard number >= 0 else { throw Failure(number: errno) }
    self.init(number)
  }

  deinit { if isOwned { close(number) } }

  /// Returns whether the path is a socket, which cannot be opened like a file.
  static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// The kind of a file, which determines how it is read.
  enum Kind { case file, stream, terminal, folder }

  var kind: Kind {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { return .stream }
    return switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    case S_IFCHR: isatty(number) == 1 ? .terminal : .stream
    default: .stream
    }
  }

  /// Reads the available bytes. Waits for them for at most a number of milliseconds.
  func read(within milliseconds: Int32, most: Int = 65_536) -> Reading {
    var one = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    let ready = unsafe poll(&one, 1, milliseconds)
    guard ready > 0 else { return ready == 0 || errno == EINTR ? .nothing : .failed(errno) }
    var chunk = [UInt8](repeating: 0, count: most)
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe readBytes(number, $0)
    }
    if count < 0 { return errno == EINTR || errno == EAGAIN ? .nothing : .failed(errno) }
    return count == 0 ? .end : .bytes(Array(chunk[..<count]))
  }

  /// Writes as many bytes as the receiver accepts.
  func write(_ bytes: [UInt8]) throws(Failure) {
    let count = unsafe bytes.withUnsafeBytes { unsafe writeBytes(number, $0) }
    if count < 0, errno != EAGAIN, errno != EINTR { throw Failure(number: errno) }
  }
}

/// The calls of the C library, which methods of the same names hide.
private func readBytes(_ number: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  unsafe read(number, bytes.baseAddress, bytes.count)
}

private func writeBytes(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(number, bytes.baseAddress, bytes.count)
}
