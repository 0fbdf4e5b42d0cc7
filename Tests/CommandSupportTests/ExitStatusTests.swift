// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import Testing
import UWB
import UWBLink

/// The type of this module hides the type of Testing.
typealias ExitStatus = CommandSupport.ExitStatus

@Suite struct ExitStatusTests {
  @Test func statusesAreThoseOfSysexits() {
    #expect(ExitStatus.usage.rawValue == 64 && ExitStatus.configuration.rawValue == 78)
    #expect(Set(ExitStatus.allCases.map(\.rawValue)).count == ExitStatus.allCases.count)
  }

  @Test(arguments: [
    (LinkError.Code.notFound, ExitStatus.unavailable), (.connectionRefused, .unavailable),
    (.permissionDenied, .permission), (.busy, .busy), (.lineBusy, .busy),
    (.notASerialDevice, .usage), (.invalidEndpoint, .usage), (.unresolvedHost, .noHost),
    (.timeout, .silent), (.chipSilent, .silent), (.closedByPeer, .deviceGone),
    (.deviceGone, .deviceGone), (.system, .system),
  ])
  func eachFailureOfALinkHasItsStatus(_ code: LinkError.Code, _ status: ExitStatus) {
    let error = LinkError(code, endpoint: "/dev/ttyACM0")
    #expect(ExitStatus(of: error) == status)
    // Errors of the driver and of the loader have the status of their cause.
    #expect(ExitStatus(of: DriverError.link(error)) == status)
    #expect(ExitStatus(of: FirmwareError.link(error)) == status)
    #expect(ExitStatus(of: FirmwareError.givenUp(attempts: 3, .link(error))) == status)
    #expect(ExitStatus(of: CalibrationError.device(.link(error))) == status)
  }

  @Test func eachFailureOfADeviceHasItsStatus() {
    #expect(ExitStatus(DriverError.closed) == .deviceFailure)
    #expect(ExitStatus(DriverError.needsReset) == .deviceFailure)
    #expect(
      ExitStatus(DriverError.refused(command: "SESSION_START_CMD", .rejected)) == .configuration)
    #expect(
      ExitStatus(DriverError.refused(command: "CORE_SET_CONFIG_CMD", .rejected)) == .deviceFailure)
  }

  @Test func eachFailureOfAFileHasItsStatus() {
    #expect(ExitStatus(of: CaptureError.notACapture) == .data)
    #expect(ExitStatus(of: CaptureError.empty) == .data)
    #expect(ExitStatus(of: ProfileError.missing("SESSION_ID")) == .data)
    #expect(ExitStatus(of: ProfileError.tooLong(path: "a", limit: 1)) == .noInput)
    #expect(ExitStatus(of: FormatError.badFile("a", "not JSON")) == .data)
    #expect(ExitStatus(of: FirmwareError.unreadable(path: "a", why: "b")) == .noInput)
    #expect(ExitStatus(of: FirmwareError.notAnImage(path: "a", why: "b")) == .data)
    #expect(ExitStatus(of: FirmwareError.notNeeded(chip: "QM33")) == .usage)
  }

  @Test func eachFailureOfACalibrationHasItsStatus() {
    #expect(ExitStatus(CalibrationError.unknownName("", nearest: [])) == .usage)
    #expect(
      ExitStatus(CalibrationError.notKept(name: "", wrote: [], read: [])) == .deviceFailure)
    #expect(ExitStatus(CalibrationError.device(.closed)) == .deviceFailure)
  }

  private struct Stranger: Error {}
  private struct Phone: StatusError {
    var exitStatus: ExitStatus { .unavailable }
    var concernsBoards: Bool { false }
  }

  @Test func errorsOfOtherLibrariesHaveNone() {
    #expect(ExitStatus(of: Stranger()) == nil)
    #expect(Failure(Stranger()) == nil)
    #expect(Failure(Phone())?.status == .unavailable)
  }

  // MARK: advice

  @Test func adviceNamesACommand() throws {
    let missing = try #require(Failure(LinkError(.notFound, endpoint: "/dev/ttyACM0")))
    #expect(missing.cause == "There is no device at /dev/ttyACM0.")
    #expect(missing.suggestion?.hasSuffix(" List devices with: uwbctl list") == true)
    let refused = try #require(Failure(LinkError(.connectionRefused, endpoint: "tcp:[::1]:9")))
    #expect(refused.suggestion?.contains("uwbctl list") == false)
    let denied = try #require(Failure(LinkError(.permissionDenied, endpoint: "/dev/ttyACM0")))
    #expect(denied.suggestion?.hasSuffix("sudo uwbctl setup --install") == true)
    #expect(Failure(CaptureError.notACapture)?.suggestion?.contains("--capture FILE") == true)
    let name = Failure(CalibrationError.unknownName("x", nearest: []))
    #expect(name?.suggestion == "uwbctl calibrate list shows all names.")
  }

  @Test func aFailureIsKeptAsItIs() {
    let failure = Failure(.noPeer, "No peer.", try: "Look for one.")
    let same = Failure(failure as any Error)
    #expect(same?.status == .noPeer && same?.cause == "No peer.")
    #expect(same?.suggestion == "Look for one.")
  }

  @Test func cancellationIsNotAnError() async throws {
    var hasEnded = false
    try await reporting {
      hasEnded = true
      throw CancellationError()
    }
    #expect(hasEnded)
  }
}
