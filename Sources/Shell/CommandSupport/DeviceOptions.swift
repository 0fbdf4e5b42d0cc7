// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Formats
package import UWB
import UWBLink

/// The option that names a device.
package struct DeviceOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: a serial path (/dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts), usb:SERIAL (see "
        + "uwbctl list), "
        + "spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, sr1xx:/dev/srxxx, uci:/dev/uci0, "
        + "nxp-usb:/dev/ttyACM0, tcp:host:port, uwbd:SOCKET?chip=NAME, or sim."),
    completion: DeviceOptions.completion)
  package var device = DeviceOptions.simulated

  package init() {}

  package func validate() throws { try DeviceOptions.check(device) }
}

/// A command that opens a device.
///
/// It declares the groups of device and chip itself: in debug builds, each level of nested groups
/// makes the argument parser five times slower.
package protocol DeviceCommand: Command {
  var device: DeviceOption { get }
  var chip: ChipOptions { get }
}

extension DeviceCommand {
  package var options: DeviceOptions { DeviceOptions(device: device.device, chip: chip) }
}

/// A device and its kind of chip.
package struct DeviceOptions {
  package static let simulated = "sim"

  /// Suggests devices that are plugged in.
  package static let completion = CompletionKind.custom { _, _, _ in
    Discovery().names() + ["usb:", "tcp:localhost:", simulated]
  }

  package var device: String
  package var chip: ChipOptions

  package var isSimulated: Bool { device == Self.simulated }
  package var driverOptions: UWBDevice.Options { chip.driverOptions }

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
    try check(device)
    return DeviceOptions(device: device, chip: chip)
  }
}
