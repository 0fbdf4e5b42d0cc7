// SPDX-License-Identifier: Apache-2.0

import SystemPackage
import UWBLink

/// The parts of this machine that the checks use; a tree of files can replace them.
struct Machine: Sendable {
  var discovery = Discovery()
  var processes = ProcessTable()
  /// Where udev stores its records.
  var udevRecords: FilePath = "/run/udev/data"
  /// Where udev looks for rules.
  var udevRules: [FilePath] = [
    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d",
    "/usr/lib/udev/rules.d", "/lib/udev/rules.d",
  ]

  /// Where the package's udev rule is installed; nil when it is not.
  var installedRule: FilePath? {
    udevRules.map { $0.appending("60-uwb.rules") }.first {
      (try? FileDescriptor.open($0, .readOnly).close()) != nil
    }
  }

  /// Whether udev is running.
  var hasUdev: Bool { (try? FileDescriptor.open(udevRecords, .readOnly).close()) != nil }
}
