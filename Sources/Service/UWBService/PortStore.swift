// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The descriptors of ports that systemd keeps (FileDescriptorStoreMax=), so that a crash of the service
/// does not close them: a board may be reset by that.
struct PortStore: Sendable {
  /// What the names of ports begin with.
  static let prefix = "chip"

  private let supervisor: Supervisor

  /// - Parameter inherited: what systemd has kept. The ports can be opened again.
  init(_ supervisor: Supervisor, inherited: [Int32]) {
    self.supervisor = supervisor
    for descriptor in inherited {
      // It is the same open file as that of the service before, with its locks.
      flock(descriptor, LOCK_UN)
      _ = ioctl(descriptor, UInt(TIOCNXCL))
      // systemd has its own, until it is replaced.
      close(descriptor)
    }
  }

  /// Hands over the port that this program has open at a path, in place of the one before. Blocks.
  func keep(_ path: String, as name: String) {
    guard let descriptor = Self.descriptor(of: path) else { return }
    supervisor.notify("FDSTOREREMOVE=1\nFDNAME=\(name)")
    supervisor.notify("FDSTORE=1\nFDNAME=\(name)", descriptor)
  }

  /// The port has been closed.
  func drop(_ name: String) { supervisor.notify("FDSTOREREMOVE=1\nFDNAME=\(name)") }

  /// A descriptor of a device that this program has open.
  private static func descriptor(of path: String) -> Int32? {
    var (wanted, status) = (stat(), stat())
    guard stat(path, &wanted) == 0, wanted.st_mode & S_IFMT == S_IFCHR,
      let folder = opendir("/proc/self/fd")
    else { return nil }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let number = Int32(name), fstat(number, &status) == 0,
        status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == wanted.st_rdev
      {
        return number
      }
    }
    return nil
  }
}
