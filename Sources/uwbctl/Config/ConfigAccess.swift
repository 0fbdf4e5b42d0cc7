// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UCIReference
import UWB

/// What `config get` and `config set` have in common.
struct ConfigAccess: ParsableArguments {
  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(
    help: ArgumentHelp(
      "Use the parameters of this session instead of the chip: its handle since FiRa 2.0, its id "
        + "before."))
  var session: UInt32?
  @Flag(help: "Reset the chip first, which ends its sessions.") var reset = false
  @Option(help: "Output format: text, or json (one object a line).") var format = OutputFormat.text

  func validate() throws {
    if reset, session != nil {
      throw ValidationError("--reset ends the session that --session names.")
    }
  }

  /// Opens the chip, lends its parameters to `body`, and closes the chip again.
  func withParameters(_ body: (ChipParameters) async throws -> Void) async throws {
    let session = session
    try await options.withDevice(capture, resetPolicy: reset ? .reset : .keepState) { chip, _ in
      do {
        try await body(ChipParameters(chip: chip, session: session))
      } catch let error as ParameterTextError {
        throw ValidationError(Self.words(error, session: session))
      }
    }
  }

  /// The message for an error; names of session parameters get one of their own.
  static func words(_ error: ParameterTextError, session: UInt32?) -> String {
    if case .unknownName(let name, _) = error, session == nil,
      let id = try? AppConfigID(named: name)
    {
      return "\(id.name) is a session parameter, and sessions end with the program that created "
        + "them. Use it in a profile for range, or name a session on the chip with --session."
    }
    return printable("\(error)")
  }
}
