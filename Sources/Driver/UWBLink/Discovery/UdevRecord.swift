// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// What udev has noted about a device: the effect of its rules.
package struct UdevRecord: Sendable, Hashable {
  /// The environment that rules have set, such as `ID_MM_PORT_IGNORE`.
  package var properties: [String: String] = [:]
  /// Tags, such as `uaccess`.
  package var tags: Set<String> = []

  /// From the text of a record: lines `E:NAME=VALUE` and `G:TAG` (source: systemd,
  /// sd-device's device-private.c).
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

  /// Of a character device.
  ///
  /// - Parameters:
  ///   - deviceNumbers: major and minor, as in `SerialPort.deviceNumbers`.
  ///   - folder: where udev keeps its records.
  /// - Returns: nil where there is no udev, or nothing noted.
  package init?(deviceNumbers: String?, in folder: FilePath = "/run/udev/data") {
    guard let deviceNumbers, let text = FileTree.text(folder.appending("c\(deviceNumbers)")) else {
      return nil
    }
    self.init(text)
  }

  /// Whether ModemManager is told to leave the device alone.
  package var isIgnoredByModemManager: Bool {
    ["ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE"].contains { properties[$0] == "1" }
  }
}
