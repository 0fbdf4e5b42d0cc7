// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import UWBLink

/// A pseudo-terminal on which another program finds the chip.
///
/// The program's end is held open here too, so that it may come and go.
struct ProxyTerminal {
  /// What the other program opens, like `/dev/pts/5`.
  let path: String
  /// Our end.
  let endpoint: LinkEndpoint
  private let slave: FileDescriptor
  private let link: String?

  /// - Parameter link: a symbolic link to make; one that is there is replaced.
  /// - Throws: `Errno`.
  init(link: String?) throws(Errno) {
    var master: Int32 = -1
    var slave: Int32 = -1
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw Errno(rawValue: errno) }
    var name = [CChar](repeating: 0, count: 64)
    var settings = termios()
    guard ttyname_r(slave, &name, name.count) == 0, tcgetattr(slave, &settings) == 0 else {
      let error = Errno(rawValue: errno)
      Glibc.close(master)
      Glibc.close(slave)
      throw error
    }
    cfmakeraw(&settings)
    cfsetspeed(&settings, speed_t(B115200))
    tcsetattr(slave, TCSANOW, &settings)
    for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    endpoint = .descriptor(FileDescriptor(rawValue: master))
    self.slave = FileDescriptor(rawValue: slave)
    self.link = link
    if let link {
      var status = stat()
      // Only a link is ever replaced.
      if lstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(link) }
      guard symlink(path, link) == 0 else {
        let error = Errno(rawValue: errno)
        Glibc.close(master)
        Glibc.close(slave)
        throw error
      }
    }
  }

  /// Throws away what the other program has not read: nobody reads, or too slowly.
  func discard() { tcflush(slave.rawValue, TCIFLUSH) }

  /// Hangs up, and removes the link.
  func close() {
    try? slave.close()
    if let link { unlink(link) }
  }
}
