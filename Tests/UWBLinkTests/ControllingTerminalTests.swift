// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import SystemPackage
import Testing

@testable import UWBLink

@Suite("Terminals that are opened", .timeLimit(.minutes(10)))
struct ControllingTerminalTests {
  // A service has no terminal of its own. If it acquired one by opening a port, the kernel would
  // end it with SIGHUP when the board is unplugged.
  @Test("No port becomes the terminal of a program without one")
  func controllingTerminal() async {
    // All cases run in one process: an exit test of Swift 6.2 accepts no values.
    await #expect(processExitsWith: .success) {
      try #require(setsid() > 0)
      for scheme in ["", "nxp-usb:", "sr1xx:", "uci:", "spi:"] {
        let (master, name) = try ReconnectTests.terminal()
        let options = scheme == "spi:" ? "?chip=sr250&irq=3&rst=4" : ""
        _ = try? await Link.open(LinkEndpoint(scheme + name + options))
        #expect(open("/dev/tty", O_RDWR) == -1, "\(scheme)")
        #expect(errno == ENXIO, "\(scheme)")
        try master.close()
      }
    }
  }

  @Test("No file that is read does")
  func inputFile() async {
    await #expect(processExitsWith: .success) {
      try #require(setsid() > 0)
      let (master, name) = try ReconnectTests.terminal()
      _ = try? InputFile(name)
      #expect(open("/dev/tty", O_RDWR) == -1)
      #expect(errno == ENXIO)
      try master.close()
    }
  }
}
