// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Testing
import UWB

@Suite struct ExitStatusTests {
  @Test func eachFailureHasItsStatus() {
    #expect(ExitStatus(CalibrationError.unknownName("", nearest: [])) == .usage)
    #expect(
      ExitStatus(CalibrationError.notKept(name: "", wrote: [], read: []))
        == .deviceFailure)
    #expect(ExitStatus(CalibrationError.device(.closed)) == .deviceFailure)
  }
}
