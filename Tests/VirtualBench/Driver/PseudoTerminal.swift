// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A pseudo-terminal in raw mode with a link to it; the other end is held open.
func pseudoTerminal(_ link: String) -> Int32 {
  let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
  // TIOCGPTN and TIOCSPTLCK of <asm-generic/ioctls.h>.
  var number: UInt32 = 0
  var lock: Int32 = 0
  guard ioctl(master, 0x8004_5430, &number) == 0, ioctl(master, 0x4004_5431, &lock) == 0 else {
    fail("there is no pseudo-terminal: \(lastError)")
  }
  let path = "/dev/pts/\(number)"
  let slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
  var settings = termios()
  guard slave >= 0, tcgetattr(slave, &settings) == 0 else { fail("\(path): \(lastError)") }
  cfmakeraw(&settings)
  tcsetattr(slave, TCSANOW, &settings)
  chmod(path, 0o666)
  unlink(link)
  guard symlink(path, link) == 0 else { fail("\(link): \(lastError)") }
  return master
}
