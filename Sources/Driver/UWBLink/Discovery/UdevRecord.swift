// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// The record of a device in udev's database, which holds the effect of its rules.
package struct UdevRecord: Sendable, Hashable {
  /// The properties that rules have set, such as `ID_MM_PORT_IGNORE`.
  package var properties: [String: String] = [:]
  /// The tags, such as `uaccess`.
  package var tags: Set<String> = []

  /// Parses the lines `E:NAME=VALUE` and `G:TAG` of a record. Source: device-private.c of systemd's
  /// sd-device.
  package init(_ text: String) {
    for line in text.split(separator: "\n") {
      if line.hasPrefix("E:"), let equals = line.firstIndex(of: "=") {
        let name = line[line.index(line.startIndex, offsetBy: 2)..<equals]
        properties[String(name)] = String(line[line.index(after: equals)...])
      } else if line.hasPrefix("G:") {
        tags.insert(String(line.dropFirst(2)))
      }
    }
  }

  /// Reads the record of a character device; nil without udev or without a record.
  ///
  /// - Parameters:
  ///   - deviceNumbers: The major and minor number, as in `SerialPort.deviceNumbers`.
  ///   - folder: The folder of udev's records.
  package init?(deviceNumbers: String?, in folder: FilePath = "/run/udev/data") {
    guard let deviceNumbers, let text = FileTree.text(folder.appending("c\(deviceNumbers)")) else {
      return nil
    }
    self.init(text)
  }

  /// Whether a rule makes ModemManager ignore the device.
  package var isIgnoredByModemManager: Bool {
    ["ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE"].contains { properties[$0] == "1" }
  }
}
