// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import UWBLink

/// A pseudo-terminal that another program opens as the chip.
///
/// The program's end is also held open here, so that the program may close and reopen it.
struct ProxyTerminal {
  /// What the other program opens, such as `/dev/pts/5`.
  let path: String
  /// The end of this program.
  let endpoint: LinkEndpoint
  private let slave: FileDescriptor
  private let link: String?

  /// - Parameter link: a symbolic link to create, or to replace.
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
      // Only links are replaced.
      if lstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(link) }
      guard symlink(path, link) == 0 else {
        let error = Errno(rawValue: errno)
        Glibc.close(master)
        Glibc.close(slave)
        throw error
      }
    }
  }

  /// Discards what the other program has not read.
  func discard() { tcflush(slave.rawValue, TCIFLUSH) }

  /// Hangs up, and removes the link.
  func close() {
    try? slave.close()
    if let link { unlink(link) }
  }
}
