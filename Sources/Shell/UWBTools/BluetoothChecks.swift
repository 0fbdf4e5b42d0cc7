// SPDX-License-Identifier: Apache-2.0

import Bluetooth
import CommandSupport
import FoundationEssentials
import UWBLink

/// Checks Bluetooth LE, over which phones connect to an accessory.
package struct BluetoothCheckup {
  package var settings = "/etc/bluetooth/main.conf"

  package init(settings: String = "/etc/bluetooth/main.conf") { self.settings = settings }

  /// Runs the checks, and reports each finding at once.
  package func run(_ report: (Finding) -> Void) async throws -> [Finding] {
    var findings: [Finding] = []
    func add(_ finding: Finding) {
      findings.append(finding)
      report(finding)
    }
    let bluetooth: Bluetooth
    do throws(BluetoothError) { bluetooth = try await Bluetooth.open() } catch {
      add(.fail(.bluetoothd, error, else: "Look at its log: journalctl -u bluetooth"))
      return findings
    }
    add(.ok(.bluetoothd, "it runs, and this user may use it"))
    var version: (major: Int, minor: Int)?
    do throws(BluetoothError) {
      let adapter = try await bluetooth.adapter(for: .peripheral)
      add(.ok(.adapter, "\(adapter.name), \(adapter.address)"))
      version = adapter.version
      add(Self.severalPhones(version))
    } catch {
      add(.fail(.adapter, error, else: "Use another adapter."))
    }
    await bluetooth.close()
    let text = try await runBlocking { [settings] in
      // Without the file, bluetoothd uses its defaults.
      FileManager.default.fileExists(atPath: settings)
        ? try? String(contentsOfFile: settings, encoding: .utf8) : ""
    }
    guard let text else {
      add(
        .warn(
          .repairing, "\(settings) cannot be read, so its settings are not checked.",
          "Let this user read it, or run: sudo uwbctl doctor ble"))
      return findings
    }
    for finding in BluetoothSettings(text, of: settings).findings(version) { add(finding) }
    return findings
  }

  package static func severalPhones(_ version: (major: Int, minor: Int)?) -> Finding {
    guard let version else {
      return .skipped(.severalPhones, "a DeviceID of main.conf hides the version of BlueZ")
    }
    let name = "BlueZ \(version.major).\(version.minor)"
    return version >= (5, 76)
      ? .ok(.severalPhones, name)
      : .warn(
        .severalPhones,
        "\(name) sends each notification to every phone, so one phone is served at a time.",
        "Use BlueZ 5.76 or later, as Debian 13 and Ubuntu 25.04 have it.")
  }
}

/// The settings of bluetoothd that affect iPhones.
package struct BluetoothSettings {
  private let file: String
  /// The values by group and key.
  private var values: [[String]: String] = [:]

  /// Parses the settings.
  ///
  /// - Parameter text: The contents of the file.
  package init(_ text: String, of file: String) {
    self.file = file
    func trimmed(_ text: Substring) -> String {
      let rest = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
      return String(rest.reversed())
    }
    var group = ""
    for line in text.split(whereSeparator: \.isNewline).map(trimmed) {
      if line.hasPrefix("["), line.hasSuffix("]") {
        group = String(line.dropFirst().dropLast())
      } else if !line.hasPrefix("#"), let cut = line.firstIndex(of: "=") {
        values[[group, trimmed(line[..<cut])]] = trimmed(line[line.index(after: cut)...])
      }
    }
  }

  /// Checks the settings.
  ///
  /// - Parameter version: The version of BlueZ, if known.
  package func findings(_ version: (major: Int, minor: Int)?) -> [Finding] {
    [repairing, phoneServices(version), controllerMode]
  }

  private func change(_ setting: String) -> String {
    "Set \(setting) below [General] of \(file), then: sudo systemctl restart bluetooth"
  }

  private var repairing: Finding {
    let value = values[["General", "JustWorksRepairing"]] ?? "never"
    guard value != "always", value != "confirm" else {
      return .ok(.repairing, "JustWorksRepairing = \(value)")
    }
    return .warn(
      .repairing,
      "JustWorksRepairing = never: a phone that has forgotten this machine cannot pair again.",
      change("JustWorksRepairing = confirm")
        + "; or remove the keys each time: uwbctl bonds --remove NAME")
  }

  private func phoneServices(_ version: (major: Int, minor: Int)?) -> Finding {
    func isOff(_ group: String, _ key: String) -> Bool {
      ["false", "0"].contains(values[[group, key]]?.lowercased())
    }
    if isOff("General", "ReverseServiceDiscovery") {
      return .ok(.phoneServices, "ReverseServiceDiscovery = false")
    }
    if isOff("GATT", "Client"), version.map({ $0 >= (5, 74) }) ?? true {
      return .ok(.phoneServices, "Client = false")
    }
    return .warn(
      .phoneServices,
      "BlueZ reads the services of phones, such as the battery, so iPhones ask their users to pair at "
        + "each connection.",
      change("ReverseServiceDiscovery = false"))
  }

  private var controllerMode: Finding {
    switch values[["General", "ControllerMode"]] ?? "dual" {
    case "le": .ok(.controllerMode, "ControllerMode = le")
    case "bredr":
      .fail(
        .controllerMode, .configuration, "ControllerMode = bredr: there is no Bluetooth LE.",
        change("ControllerMode = le"))
    default:
      .warn(
        .controllerMode,
        "ControllerMode = dual: an iPhone may pair over Bluetooth Classic instead of LE.",
        change("ControllerMode = le") + "; not with headsets or other devices that need the former")
    }
  }
}
