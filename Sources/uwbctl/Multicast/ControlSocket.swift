// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SystemPackage

/// The sockets at which running `range` commands accept requests, in a folder that only its owner can
/// enter.
enum ControlSocket {
  /// The maximum length of a request.
  static let lineLimit = 65_536
  /// Seconds to wait for the other end.
  static let patience = 5

  /// `$XDG_RUNTIME_DIR/uwbctl`, or a folder of this user in /tmp where that is not set.
  static var folder: String {
    if let base = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), !base.isEmpty {
      return base + "/uwbctl"
    }
    return "/tmp/uwbctl-\(getuid())"
  }

  /// Creates the folder; throws unless it belongs to this user and nobody else can enter it.
  static func makeFolder(_ path: String) throws(Errno) {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw Errno(rawValue: errno) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
      status.st_mode & 0o077 == 0
    else { throw .permissionDenied }
  }

  /// All sockets, including those of programs that have ended.
  static func paths(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix("range-") && $0.hasSuffix(".sock") }
      .map { "\(folder)/\($0)" }.sorted()
  }

  /// Listens at an unused path.
  static func listen(at path: String) throws(Errno) -> FileDescriptor {
    let descriptor = try open()
    unlink(path)
    let bound = withAddress(of: path) { bind(descriptor.rawValue, $0, $1) }
    guard bound == 0, chmod(path, 0o600) == 0, Glibc.listen(descriptor.rawValue, 8) == 0 else {
      let error = Errno(rawValue: errno)
      try? descriptor.close()
      throw error
    }
    return descriptor
  }

  static func connect(to path: String) throws(Errno) -> FileDescriptor {
    let descriptor = try open()
    setPatience(descriptor)
    guard withAddress(of: path, { Glibc.connect(descriptor.rawValue, $0, $1) }) == 0 else {
      let error = Errno(rawValue: errno)
      try? descriptor.close()
      throw error
    }
    return descriptor
  }

  /// Sets timeouts, so that a silent other end cannot block this one.
  static func setPatience(_ descriptor: FileDescriptor) {
    var time = timeval(tv_sec: patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor.rawValue, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  static func send(_ message: some Encodable, over descriptor: FileDescriptor) throws {
    try descriptor.writeAll(Array(JSONEncoder().encode(message)) + [0x0A])
  }

  /// Receives one line; throws when it is not such a message or does not arrive in time.
  static func receive<M: Decodable>(_ type: M.Type, over descriptor: FileDescriptor) throws -> M {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !line.contains(0x0A), line.count < lineLimit {
      let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
      guard count > 0 else { break }
      line += buffer[..<count]
    }
    return try JSONDecoder().decode(type, from: Data(line.prefix { $0 != 0x0A }))
  }

  private static func open() throws(Errno) -> FileDescriptor {
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    return FileDescriptor(rawValue: number)
  }

  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      return -1
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
