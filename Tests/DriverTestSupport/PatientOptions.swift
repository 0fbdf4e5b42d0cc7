// SPDX-License-Identifier: Apache-2.0
package import UWB
internal import UWBTestSupport

extension UWBDevice.Options {
  /// The options for chips that answer, however busy the machine is: no time limit of a command
  /// passes, and pauses end at once.
  package static var patient: Self { Self().patient }

  /// These options with the clock of `patient`.
  package var patient: Self {
    var options = self
    options.clock = .patient()
    return options
  }
}
