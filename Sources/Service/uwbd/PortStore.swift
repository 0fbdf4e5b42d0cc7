// SPDX-License-Identifier: Apache-2.0
import Glibc
import UWBService

/// Stores the descriptors of ports with systemd (FileDescriptorStoreMax=), so that a crash of the
/// service closes no port. Closing a port may reset a board.
struct PortStore: PortKeeper {
  private let supervisor: Supervisor

  /// Releases the ports that systemd has kept, so that the service can open them again.
  ///
  /// - Parameter inherited: The descriptors passed by systemd.
  init(_ supervisor: Supervisor, inherited: [Int32]) {
    self.supervisor = supervisor
    for descriptor in inherited {
      // The descriptor shares the open file of the previous service, and with it the locks.
      flock(descriptor, LOCK_UN)
      _ = ioctl(descriptor, UInt(TIOCNXCL))
      // systemd keeps its own duplicate until it is replaced.
      close(descriptor)
    }
  }

  func keep(_ path: String, as name: String) {
    guard let descriptor = Self.descriptor(of: path) else { return }
    supervisor.notify("FDSTOREREMOVE=1\nFDNAME=\(name)")
    supervisor.notify("FDSTORE=1\nFDNAME=\(name)", descriptor)
  }

  func drop(_ name: String) { supervisor.notify("FDSTOREREMOVE=1\nFDNAME=\(name)") }

  /// Returns the descriptor of a device that this process has open.
  private static func descriptor(of path: String) -> Int32? {
    var (wanted, status) = (stat(), stat())
    guard unsafe stat(path, &wanted) == 0, wanted.st_mode & S_IFMT == S_IFCHR,
      let folder = unsafe opendir("/proc/self/fd")
    else { return nil }
    defer { unsafe closedir(folder) }
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let number = Int32(name), unsafe fstat(number, &status) == 0,
        status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == wanted.st_rdev
      {
        return number
      }
    }
    return nil
  }
}
