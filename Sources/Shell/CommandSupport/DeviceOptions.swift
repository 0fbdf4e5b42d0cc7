// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Formats
package import UWB
import UWBLink

package struct DeviceOptions: ParsableArguments {
  package static let simulated = "sim"

  /// Suggests devices that are plugged in.
  package static let completion = CompletionKind.custom { _, _, _ in
    Discovery().names() + ["usb:", "tcp:localhost:", simulated]
  }

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: a serial path (/dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts), usb:SERIAL (see "
        + "uwbctl list), "
        + "spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, sr1xx:/dev/srxxx, uci:/dev/uci0, "
        + "nxp-usb:/dev/ttyACM0, tcp:host:port, uwbd:SOCKET?chip=NAME, or sim."),
    completion: DeviceOptions.completion)
  package var device = Self.simulated

  @OptionGroup package var chip: ChipOptions

  package var isSimulated: Bool { device == Self.simulated }
  package var driverOptions: UWBDevice.Options { chip.driverOptions }

  /// Prints a note that measurements come from simulated chips.
  package func noteSimulation() {
    if isSimulated { note("Simulated chips: --device names a board.") }
  }

  package init() {}

  package func validate() throws { try Self.check(device) }

  /// Checks the name of a device.
  ///
  /// - Throws: `ValidationError` for an invalid name.
  package static func check(_ device: String) throws {
    guard device != simulated else { return }
    do { _ = try LinkEndpoint(device) } catch {
      throw ValidationError("\(error) \(error.recoverySuggestion ?? "")")
    }
  }

  /// Returns the options for a device that a command accepts under another name.
  package static func naming(_ device: String, _ chip: ChipOptions) throws -> DeviceOptions {
    var options = try parse(["--device", device])
    options.chip = chip
    return options
  }
}
