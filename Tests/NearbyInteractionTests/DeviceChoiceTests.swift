// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Foundation
@testable import NearbyInteraction
import Peers
import SystemPackage
import Testing
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport

/// The device that a session uses, its capabilities, and the errors of unusable devices.
@Suite struct DeviceChoiceTests {
  /// The test runs in a process of its own, without the environment's UWB_DEVICE.
  @Test func boardsAreChosenBeforeBridgesAndProbesNever() async {
    await #expect(processExitsWith: .success) {
      func name(_ choice: Result<LinkEndpoint, NIError>) throws -> String {
        try choice.get().description
      }
      unsetenv("UWB_DEVICE")
      let desk = try FakeMachine.desk()
      for none in [nil, ""] {
        let found = try name(DeviceChoice.endpoint(named: none, discovery: desk.discovery))
        #expect(found.hasPrefix("usb:E5A1B2C3D4F6"))
      }
      let bridge = try FakeMachine()
      try bridge.usbDevice(
        "1-4", "1366", "1051", ["manufacturer": "SEGGER", "product": "J-Link", "serial": "1"])
      try bridge.cdcPort("ttyACM0", socket: "1-4", interface: "00", numbers: "166:0")
      #expect(throws: NIError.self) {
        try DeviceChoice.endpoint(named: nil, discovery: bridge.discovery).get()
      }
      try bridge.usbDevice("1-5", "1a86", "7523", ["product": "USB Serial"])
      try bridge.bridgePort("ttyUSB0", socket: "1-5", driver: "ch341-uart", numbers: "188:0")
      let found = try name(DeviceChoice.endpoint(named: nil, discovery: bridge.discovery))
      #expect(found.contains("ttyUSB0"))
      let nothing = DeviceChoice.endpoint(named: nil, discovery: try FakeMachine().discovery)
      guard case .failure(let error) = nothing else {
        Issue.record("\(nothing)")
        return
      }
      #expect(error.code == .unsupportedPlatform && error.description.contains("UWB_DEVICE"))
    }
  }

  @Test func invalidNamesAreErrors() {
    let choice = DeviceChoice.endpoint(named: "tcp:nonsense")
    guard case .failure(let error) = choice else {
      Issue.record("\(choice)")
      return
    }
    #expect(error.code == .invalidConfiguration)
  }

  /// The test changes the settings of all sessions, and therefore runs in a process of its own.
  @Test func sessionSettingsOverrideSharedOnes() async {
    await #expect(processExitsWith: .success) {
      let fixture = try SessionTests.CoreFixture()
      NISession.device = "tcp:127.0.0.1:10"
      NISession.poseSource = PoseTrack()
      #expect(
        RunRequest(fixture.configuration, of: fixture.session).plan?.device == "tcp:127.0.0.1:9")
      fixture.session.device = nil
      #expect(
        RunRequest(fixture.configuration, of: fixture.session).plan?.device == NISession.device)
      fixture.configuration.isCameraAssistanceEnabled = true
      #expect(RunRequest(fixture.configuration, of: fixture.session).finder != nil)
      // A wrong setting of a session is not replaced by the setting of all sessions.
      fixture.session.setARSession(NSObject())
      let wrong = RunRequest(fixture.configuration, of: fixture.session)
      #expect(wrong.problem?.code == .invalidARConfiguration && wrong.finder == nil)
    }
  }

  // MARK: errors

  @Test func errorsOfTheDriverHaveTheirCodes() {
    func link(_ code: LinkError.Code) -> DriverError {
      .link(LinkError(code, endpoint: "/dev/ttyACM0", detail: ""))
    }
    let codes: [(DriverError, NIError.Code)] = [
      (link(.permissionDenied), .userDidNotAllow), (link(.invalidEndpoint), .invalidConfiguration),
      (link(.deviceGone), .sessionFailed), (link(.unresolvedHost), .sessionFailed),
      (.refused(command: "SESSION_INIT_CMD", .maxSessionsExceeded), .activeSessionsLimitExceeded),
      (.refused(command: "SESSION_INIT_CMD", .rejected), .sessionFailed),
      (.parametersRefused(.invalidParameter, []), .invalidConfiguration),
      (.configurationProblems([]), .invalidConfiguration),
      (.invalidConfiguration("x"), .invalidConfiguration), (.closed, .sessionFailed),
      (.noAnswer(command: "x", milliseconds: 1, garbage: 0), .sessionFailed),
    ]
    for (error, code) in codes {
      #expect(NIError(error).code == code, "\(error)")
      #expect(NIError(error).userInfo[NSUnderlyingErrorKey] as? DriverError == error)
    }
    let passing: [DriverError] = [
      link(.notFound), link(.busy), link(.deviceGone), link(.closedByPeer),
      link(.connectionRefused), .recovering, .otherDevice, .deviceRestarted,
      .deviceFailed(.error), .deviceError(command: "x"),
    ]
    for error in passing { #expect(error.isTransient, "\(error)") }
    let lasting: [DriverError] = [
      link(.permissionDenied), link(.invalidEndpoint), link(.notASerialDevice), .closed,
      .refused(command: "x", .rejected), .parametersRefused(.invalidParameter, []),
      .noAnswer(command: "x", milliseconds: 1, garbage: 0),
    ]
    for error in lasting { #expect(!error.isTransient, "\(error)") }
  }

  /// A file that is not a device is an error.
  @Test func filesThatAreNoDevicesAreErrors() async throws {
    let recorder = Recorder()
    let session = recorder.session(on: "/dev/null")
    session.run(NIDLTDOAConfiguration(networkIdentifier: 1))
    #expect(await recorder.wait { !$0.isEmpty })
    #expect(recorder.calls == [.invalidated(.sessionFailed)])
  }

  // MARK: capabilities

  /// Roles and angles as in CORE_GET_CAPS_INFO_RSP of FiRa 2.0, whose 0x02 has four bytes.
  private func chip(
    roles: Capabilities.Roles? = nil, angles: Capabilities.Angles = []
  ) -> Capabilities {
    var parameters = [TLV(0x02, [2, 0, 2, 0])]
    if let roles, let number = CapabilityID.deviceRoles.number(in: .fira2) {
      parameters.append(
        TLV(number, [UInt8(roles.rawValue & 0xFF), UInt8(roles.rawValue >> 8)]))
    }
    if let number = CapabilityID.aoaSupport.number(in: .fira2) {
      parameters.append(TLV(number, [angles.rawValue]))
    }
    return Capabilities(parameters)
  }

  @Test func capabilitiesFollowRolesAndAngles() {
    let tag = ChipCapabilities(chip(roles: [.dtTag], angles: [.elevation]), hasPoses: true)
    #expect(!tag.supportsPreciseDistanceMeasurement && tag.supportsDLTDOAMeasurement)
    // Assistance needs distances.
    #expect(!tag.supportsCameraAssistance && !tag.supportsDirectionMeasurement)
    for role in [Capabilities.Roles.initiator, .responder] {
      let ranging = ChipCapabilities(
        chip(roles: role, angles: [.azimuth90, .elevation]), hasPoses: false)
      #expect(ranging.supportsPreciseDistanceMeasurement && !ranging.supportsDLTDOAMeasurement)
      #expect(ranging.supportsDirectionMeasurement && !ranging.supportsCameraAssistance)
      // A direction has two angles.
      let flat = ChipCapabilities(chip(roles: role, angles: [.azimuth180]), hasPoses: false)
      #expect(!flat.supportsDirectionMeasurement)
    }
    let round = ChipCapabilities(chip(angles: [.azimuth180, .elevation]), hasPoses: true)
    #expect(round.supportsPreciseDistanceMeasurement && round.supportsDirectionMeasurement)
    #expect(round.supportsCameraAssistance)
  }

  /// Without a chip, a token allows both roles.
  @Test func tokensWithoutAChipAllowBothRoles() throws {
    let identity = try PeerIdentity.ofDevice(named: "/dev/does-not-exist", hasPoses: false)
    #expect(identity.token.capabilities == [.preciseDistance, .controller, .controlee])
  }

  @Test func chipsThatCannotRangeWithEachOtherAreIncompatible() throws {
    let own = try PeerIdentity(capabilities: [.preciseDistance, .controlee])
    let other = try PeerIdentity(capabilities: [.preciseDistance, .controlee])
    let plan = own.plan(with: NIDiscoveryToken(.peer, other.token.bytes), nil)
    guard case .failure(let error) = plan else {
      Issue.record("\(plan)")
      return
    }
    #expect(error.code == .incompatiblePeerDevice)
  }

  /// Preparing a chip opens and closes it. In a process of its own, because a child process of
  /// another test could keep the device open.
  @Test func queriedChipsAreClosedAgain() async {
    await #expect(processExitsWith: .success) {
      let chips = try ChipFixture(.qm33, others: [])
      await NISession.prepare(chips.path)
      let identity = try PeerIdentity.ofDevice(named: chips.path, hasPoses: true)
      #expect(identity.token.capabilities.contains(.provisionedSTS))
      #expect(identity.token.capabilities.contains(.cameraAssistance))
      let (plain, assisted) = (NISession(), NISession())
      plain.device = chips.path
      assisted.device = chips.path
      assisted.poseSource = PoseTrack()
      let tokens = [plain.discoveryToken, assisted.discoveryToken]
      #expect(
        tokens.map { $0?.deviceCapabilities.supportsCameraAssistance } == [false, true])
      await plain.close()
      // The device is not in the registry, like a device of another program.
      let other = try await UWBDevice.open(.serial(path: FilePath(chips.path)), options: .patient)
      await other.close()
      chips.bench.stop()
    }
  }
}
