// SPDX-License-Identifier: Apache-2.0
import UWBLink

/// The place of a chip, and the names that it keeps when it is plugged in elsewhere.
struct ChipIdentity: Sendable {
  /// The path of the device without symbolic links, or the endpoint's name.
  var place: String
  /// A name that finds the same chip again.
  var device: String?
  /// The serial number of the USB device.
  var serial: String?

  /// Reads the names of a chip that is present. Blocks.
  init(of endpoint: LinkEndpoint) {
    place = endpoint.place
    let discovery = Discovery()
    let port = (try? endpoint.resolved())?.path.flatMap { discovery.port(at: $0) }
    serial = port?.usb?.serial
    let stable = discovery.stableEndpoint(of: endpoint)
    guard case .serial(let path, _, _) = stable else {
      device = stable.description
      return
    }
    // A symbolic link to the port, such as a link of udev, names the chip. Links of by-path are
    // left out, because they stay with the socket.
    let links = port?.stablePaths.map { "\($0)" }.filter { !$0.contains("/by-path/") } ?? []
    device = links.first ?? ("\(path)" == place ? nil : "\(path)")
  }
}
