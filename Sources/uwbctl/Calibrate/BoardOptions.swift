// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLink

/// Which boards, and how they range.
struct BoardOptions: ParsableArguments {
  @Option(
    name: .customLong("board"),
    help: ArgumentHelp(
      "A board, NAME=DEVICE (A=/dev/ttyACM0, B=usb:SERIAL); repeat it. None: simulated boards.",
      valueName: "name=device"))
  var boards: [String] = []
  @Option(help: "How many simulated boards, without --board.") var simulated: Int?
  @Option(help: "5 or 9 on most chips.") var channel: UInt8 = 9
  @Option(help: "Measurements at each place.") var rounds = 100
  @Option(help: "From one to the next, in milliseconds.") var interval: UInt32 = 50
  @OptionGroup var chip: ChipOptions

  func validate() throws {
    guard 1...100_000 ~= rounds else { throw ValidationError("--rounds takes 1 to 100000.") }
    guard boards.isEmpty || simulated == nil else {
      throw ValidationError("Give either --board or --simulated.")
    }
    if let simulated, !(2...8).contains(simulated) {
      throw ValidationError("--simulated takes 2 to 8.")
    }
    let named = try named
    guard Set(named.map(\.name)).count == named.count,
      Set(named.map { "\($0.endpoint)" }).count == named.count
    else { throw ValidationError("Each board has a name and a device of its own.") }
  }

  /// The boards that were given.
  var named: [(name: String, endpoint: LinkEndpoint)] {
    get throws {
      try boards.map { text in
        guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
          throw ValidationError("--board takes NAME=DEVICE, not \(printable(text)).")
        }
        do throws(LinkError) {
          return (String(text[..<mark]), try LinkEndpoint(String(text[text.index(after: mark)...])))
        } catch { throw ValidationError("\(error) \(error.suggestion ?? "")") }
      }
    }
  }

  /// The two ends of a session between two boards.
  func session(
    id: UInt32
  ) throws -> (controller: SessionConfiguration, controlee: SessionConfiguration) {
    let options = try RangeOptions.parse([
      "--interval", "\(interval)", "--channel", "\(channel)", "--session-id", "\(id)",
    ])
    let controller = try options.configuration()
    try controller.validate()
    return (controller, RangeOptions.mirrored(controller)[0])
  }
}
