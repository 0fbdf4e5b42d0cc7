// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A DWM1001 board with PANS firmware at a serial port.
struct PANSBoard: LiveSource {
  let path: String
  let board: String?
  let names: SiteNames

  func run(_ port: SourcePort) { port.keep { talk(port) } }

  /// Communicates with the board until it disconnects.
  private func talk(_ port: SourcePort) -> AttemptEnd {
    var hasWorked = false
    do {
      let descriptor = try Descriptor(opening: path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      try descriptor.makeSerial()
      var dialogue = PANSDialogue(board: board, names, at: port.now)
      while !port.isClosed {
        switch descriptor.read(within: 100) {
        case .nothing: break
        case .bytes(let bytes):
          let (items, output) = dialogue.receive(bytes, at: port.now)
          hasWorked = hasWorked || !items.isEmpty
          port.send(items)
          try descriptor.write(Array(output.utf8))
        case .end: throw Descriptor.Failure(number: EIO)
        case .failed(let number): throw Descriptor.Failure(number: number)
        }
        let (items, output) = try dialogue.tick(at: port.now)
        port.send(items)
        try descriptor.write(Array(output.utf8))
      }
      // Stops the output if this program started it.
      if dialogue.hasStarted { try? descriptor.write(Array("lec\r".utf8)) }
      return AttemptEnd(reason: "closed", hasWorked: hasWorked)
    } catch { return AttemptEnd(reason: "\(error)", hasWorked: hasWorked) }
  }
}

extension Descriptor {
  /// Sets a serial port to 115,200 baud, 8 bits and no translation of characters.
  func makeSerial() throws(Failure) {
    var settings = termios()
    guard unsafe tcgetattr(number, &settings) == 0 else { throw Failure(number: errno) }
    unsafe cfmakeraw(&settings)
    settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
    settings.c_cflag &= ~tcflag_t(CSTOPB)
    unsafe cfsetspeed(&settings, speed_t(B115200))
    guard unsafe tcsetattr(number, TCSANOW, &settings) == 0 else { throw Failure(number: errno) }
  }
}
