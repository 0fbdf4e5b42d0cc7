// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBTestSupport
import UCI
import UWBLink

@testable import UWB

@Suite("What the driver's errors say", .computes)
struct ErrorTextTests {
  @Test("A refusal has the raw value, the meaning and the next step")
  func refusal() {
    let error = DriverError.refused(command: "SESSION_START_CMD", .sessionNotConfigured)
    #expect(
      error.description == "The device refused SESSION_START_CMD: ERROR_SESSION_NOT_CONFIGURED "
        + "(0x15). The session lacks parameters it needs before it can start.")
    #expect(error.recoverySuggestion?.hasPrefix("Set every parameter") == true)
  }

  @Test("Refused parameters are named, with what they take")
  func parameters() throws {
    let error = DriverError.parametersRefused(
      .invalidParameter,
      [
        RefusedParameter(id: 0x1B, status: .invalidRange),
        RefusedParameter(id: 0x9E, status: .unknown),
      ])
    #expect(
      error.description.hasSuffix(
        "Refused: SLOTS_PER_RR (0x1B, INVALID_RANGE), APP_CONFIG_0x9E (0x9E, UNKNOWN)."))
    let suggestion = try #require(error.recoverySuggestion)
    #expect(suggestion.contains("SLOTS_PER_RR takes a number of slots, 1…255."))
  }

  @Test("What a vendor means by a code is said when the vendor is known")
  func vendors() {
    let error = DriverError.sessionEnded(.idle, StateChangeReason(rawValue: 0x80))
    #expect(error.description.contains("Qorvo, Android: Angles"))
    #expect(error.recoverySuggestion == nil)
    let qorvo = Dialect(vendor: .qorvo)
    #expect(
      error.description(in: qorvo)
        == "The session became IDLE: INVALID_CHANNEL_WITH_AOA (0x80). Angles of arrival cannot be "
        + "measured on this channel.")
    #expect(error.recoverySuggestion(in: qorvo) == "Use channel 9, or set AOA_RESULT_REQ to 0.")
  }

  @Test("A session that stays INITIALISED lacks parameters, and only then")
  func stateNotReached() {
    let error = DriverError.stateNotReached(expected: .idle, last: .initialised)
    #expect(error.description == "The session did not become IDLE; it is INIT.")
    #expect(error.recoverySuggestion?.hasPrefix("Set every parameter") == true)
    for (expected, last) in [
      (.active, .initialised), (.idle, .active), (.idle, nil),
    ] as [(SessionState, SessionState?)] {
      let other = DriverError.stateNotReached(expected: expected, last: last)
      #expect(other.recoverySuggestion?.hasPrefix("Reset the board") == true)
    }
  }

  @Test("A chip that has answered before is not said to have other firmware")
  func noAnswer() {
    for (command, words) in [
      ("CORE_DEVICE_RESET_CMD", "runs UCI firmware"), ("SESSION_STOP_CMD", "Reset the board"),
    ] {
      let error = DriverError.noAnswer(command: command, milliseconds: 10, garbage: 0)
      #expect(error.recoverySuggestion?.contains(words) == true)
    }
  }

  /// Device parameters and session parameters have the same numbers.
  @Test("A refused parameter of the chip has its own name")
  func deviceParameters() {
    let refused = [RefusedParameter(id: 0, status: .readOnly)]
    let chip = DriverError.parametersRefused(
      .invalidParameter, refused, command: "CORE_SET_CONFIG_CMD")
    #expect(chip.description.contains("DEVICE_STATE (0x0, READ_ONLY)"))
    #expect(chip.recoverySuggestion == "Leave out the parameters named: they can only be read.")
    let session = DriverError.parametersRefused(.invalidParameter, refused)
    #expect(session.description.contains("DEVICE_TYPE (0x0, READ_ONLY)"))
  }

  @Test("A network has no baud rate and no connectors")
  func networks() throws {
    for garbage in [UInt64(0), 9] {
      let error = DriverError.noAnswer(
        command: "CORE_DEVICE_RESET_CMD", milliseconds: 10, garbage: garbage)
      let advice = try #require(
        error.at(.tcp(host: "localhost", port: "4000")).recoverySuggestion)
      #expect(advice.contains("listens there") && !advice.contains("USB"))
      #expect(!advice.contains("baud"))
      #expect(error.at(try LinkEndpoint("/dev/ttyACM0")) == error)
    }
  }

  @Test("Each refusal and each answer that cannot be read has a next step")
  func nextSteps() {
    for error in [
      DriverError.refused(command: "SESSION_INIT_CMD", Status(rawValue: 0x40)),
      .parametersRefused(Status(rawValue: 0x7F), []),
      .malformedAnswer(command: "X", .tooShort(field: "status", needed: 1, available: 0)),
    ] {
      #expect(error.recoverySuggestion != nil)
    }
  }

  @Test("A reason nobody explains keeps its number")
  func unknown() {
    let error = DriverError.sessionEnded(.idle, StateChangeReason(rawValue: 0xE7))
    #expect(error.description == "The session became IDLE: REASON_0xE7 (0xE7).")
  }
}
