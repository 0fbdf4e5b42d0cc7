// SPDX-License-Identifier: Apache-2.0

import Glibc
package import SystemPackage

/// A pseudo-terminal in raw mode: the chip holds the master, the host opens `path`.
///
/// The slave stays open here as well, so that a host that closes it causes no hang-up, and output
/// is kept until the next host.
package struct PseudoTerminal {
  package let master: FileDescriptor
  package let slave: FileDescriptor
  /// The path of the slave, like `/dev/pts/5`.
  package let path: String

  // The request TIOCGPTN of <asm-generic/ioctls.h>; glibc declares functions for it only for GNU
  // sources.
  private static let getNumber: UInt = 0x8004_5430
  private static let setLock: UInt = 0x4004_5431

  package init() throws(Errno) {
    let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard master >= 0 else { throw Errno(rawValue: errno) }
    var number: UInt32 = 0
    var lock: Int32 = 0
    guard unsafe ioctl(master, Self.getNumber, &number) == 0,
      unsafe ioctl(master, Self.setLock, &lock) == 0
    else {
      let error = Errno(rawValue: errno)
      close(master)
      throw error
    }
    let path = "/dev/pts/\(number)"
    let slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var settings = termios()
    guard slave >= 0, unsafe tcgetattr(slave, &settings) == 0 else {
      let error = Errno(rawValue: errno)
      if slave >= 0 { close(slave) }
      close(master)
      throw error
    }
    unsafe cfmakeraw(&settings)
    unsafe cfsetspeed(&settings, speed_t(B115200))
    unsafe tcsetattr(slave, TCSANOW, &settings)
    self.master = FileDescriptor(rawValue: master)
    self.slave = FileDescriptor(rawValue: slave)
    self.path = path
  }

  /// Closes both ends, which hangs up the host.
  package func hangUp() {
    close(slave.rawValue)
    close(master.rawValue)
  }
}
