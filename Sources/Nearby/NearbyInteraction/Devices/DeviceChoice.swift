// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import UWBLink

/// The choice of the device that a session uses.
enum DeviceChoice {
  /// Returns the named device, else the device of the environment, else the first board found.
  static func endpoint(
    named name: String?, discovery: Discovery = Discovery()
  ) -> Result<LinkEndpoint, NIError> {
    let named = unsafe name ?? getenv("UWB_DEVICE").map { unsafe String(cString: $0) }
    if let named, !named.isEmpty {
      do throws(LinkError) { return .success(try LinkEndpoint(named)) } catch {
        return .failure(NIError(.invalidConfiguration, error))
      }
    }
    let ports = discovery.ports()
    func first(_ kind: KnownProduct.Kind) -> SerialPort? {
      ports.first { $0.usb?.known?.kind == kind }
    }
    // A bridge may have any device. A debug probe has no UCI.
    guard let port = first(.board) ?? first(.bridge) else {
      return .failure(
        NIError(
          .unsupportedPlatform, reason: "No UWB board was found.",
          recovery: "Plug one in, or name it in UWB_DEVICE or NISession.device, for example "
            + "/dev/ttyACM0 or usb:SERIAL."))
    }
    return .success(port.endpoint)
  }
}
