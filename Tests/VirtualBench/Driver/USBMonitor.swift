// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `usbmon BUS [--until PREFIX]`: prints the requests of the host's driver to a CDC-ACM device,
/// until SIGTERM or until a line with this beginning. Source: Documentation/usb/usbmon of the
/// kernel, text interface "1u"; CDC PSTN 1.2, table 13, for the requests.
enum USBMonitor {
  static func run(_ arguments: [String]) {
    var arguments = arguments
    let last = option("--until", in: &arguments)
    guard let bus = arguments.first.flatMap({ Int($0) }) else {
      fail("usbmon BUS [--until PREFIX]")
    }
    let path = "/sys/kernel/debug/usb/usbmon/\(bus)u"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { fail("\(path): \(lastError)") }
    var buffer = LineBuffer()
    while let lines = buffer.lines(from: descriptor) {
      for words in lines.compactMap(explain) {
        say(words)
        if let last, words.hasPrefix(last) { return }
      }
    }
  }

  /// One line of the kernel: TAG TIME S Co:1:002:0 s 21 22 0001 0000 0000 0.
  static func explain(_ line: String) -> String? {
    let words = line.split(separator: " ").map(String.init)
    guard words.count > 4, words[2] == "S" else { return nil }
    if words[3].hasPrefix("Bo"), let equals = words.firstIndex(of: "="), equals + 1 < words.count {
      return "out \(words[(equals + 1)...].joined())"
    }
    guard words[3].hasPrefix("Co"), words[4] == "s", words.count > 9, words[5] == "21" else {
      return nil
    }
    switch words[6] {
    case "22":
      let bits = Int(words[7], radix: 16) ?? 0
      let names = [(1, "dtr"), (2, "rts")].filter { bits & $0.0 != 0 }.map(\.1)
      return "control-lines " + (names.isEmpty ? "none" : names.joined(separator: " "))
    case "20":
      guard let equals = words.firstIndex(of: "=") else { return nil }
      let bytes = Control.bytes(words[(equals + 1)...].joined())
      guard bytes.count == 7 else { return nil }
      let baud = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
      let parity = bytes[5] < 5 ? String(Array("NOEMS")[Int(bytes[5])]) : "?"
      return "line-coding \(baud) \(bytes[6])\(parity)\(bytes[4] == 0 ? "1" : "2")"
    default: return nil
    }
  }
}

/// `order PREFIX…`: checks that lines with these beginnings arrive in this order on standard input.
enum Order {
  static func run(_ prefixes: [String]) {
    var wanted = prefixes[...]
    var seen: [String] = []
    while let line = readLine() {
      seen.append(line)
      if let next = wanted.first, line.hasPrefix(next) { wanted = wanted.dropFirst() }
    }
    guard let missing = wanted.first else { return }
    fail("there is no '\(missing)' in its place; there were:\n" + seen.joined(separator: "\n"))
  }
}
