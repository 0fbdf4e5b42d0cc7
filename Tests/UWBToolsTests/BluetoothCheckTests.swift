// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Testing
import UWBTestSupport
import UWBTools

/// The doctor's results for bluetoothd's settings.
@Suite(.ownThreads) struct BluetoothCheckTests {
  /// All checks of Bluetooth LE.
  static let checks: [Check] = [
    .bluetoothd, .adapter, .severalPhones, .repairing, .phoneServices, .controllerMode,
  ]

  private static func verdicts(
    _ text: String, _ version: (major: Int, minor: Int)? = (5, 66)
  ) -> [Finding.Verdict] {
    let findings = BluetoothSettings(text, of: "/etc/bluetooth/main.conf").findings(version)
    #expect(findings.map(\.check) == Array(checks.suffix(3)))
    for finding in findings {
      #expect((finding.advice == nil) == (finding.verdict == .ok))
      #expect((finding.status != .success) == (finding.verdict == .fail))
    }
    return findings.map(\.verdict)
  }

  @Test(arguments: [
    "", "[General]\n#JustWorksRepairing = always\n# ControllerMode=le\n",
    "JustWorksRepairing = always\n[Policy]\nReverseServiceDiscovery=false\nControllerMode=le\n",
    "[General]\nJustWorksRepairing = never\nReverseServiceDiscovery = true\nControllerMode = dual",
    "[General\n=\n]\n=x\nJustWorksRepairing\n",
  ])
  func theDefaultsAreNotForPhones(_ text: String) {
    #expect(Self.verdicts(text) == [.warn, .warn, .warn])
  }

  @Test(arguments: ["always", "confirm"]) func goodSettingsPass(_ repairing: String) {
    let text =
      "[General]\r\nJustWorksRepairing=\(repairing)\r\nReverseServiceDiscovery = False \r\n"
      + "\tControllerMode = le\r\n"
    #expect(Self.verdicts(text) == [.ok, .ok, .ok])
  }

  @Test func aSettingOfLaterVersionsCountsThere() {
    let text = "[GATT]\nClient = false\n"
    #expect(Self.verdicts(text)[1] == .warn)
    #expect(Self.verdicts(text, (5, 74))[1] == .ok)
    #expect(Self.verdicts(text, nil)[1] == .ok)
  }

  @Test func withoutBluetoothLENothingWorks() {
    #expect(Self.verdicts("[General]\nControllerMode = bredr\n")[2] == .fail)
  }

  @Test func oldVersionsServeOnePhone() {
    #expect(BluetoothCheckup.severalPhones((5, 75)).verdict == .warn)
    #expect(BluetoothCheckup.severalPhones((5, 76)).verdict == .ok)
    #expect(BluetoothCheckup.severalPhones(nil).verdict == .skipped)
  }
}
