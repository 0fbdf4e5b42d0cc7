// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import NearbyInteraction
import SystemPackage
import Testing
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport


/// Which chip a session uses, what it can do, and what an app is told where it cannot be used.
@Suite struct DeviceChoiceTests {
  private func name(_ choice: Result<LinkEndpoint, NIError>) throws -> String {
    try choice.get().description
  }

  @Test func aBoardIsFoundBeforeABridgeAndAProbeNever() throws {
    guard getenv("UWB_DEVICE") == nil else { return print("skipped: UWB_DEVICE names a device") }
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
    let nonsense = DeviceChoice.endpoint(named: "nonsense", discovery: desk.discovery)
    guard case .failure(let error) = nonsense else {
      Issue.record("\(nonsense)")
      return
    }
    #expect(error.code == .invalidConfiguration)
  }

  /// What belongs to all sessions, in a process of its own.
  @Test func aSessionHasItsOwnDeviceAndSourceBeforeThoseOfAll() async {
    await #expect(processExitsWith: .success) {
      let parts = try SessionTests.Parts()
      NISession.device = "tcp:127.0.0.1:10"
      NISession.poseSource = PoseTrack()
      #expect(RunRequest(parts.configuration, of: parts.session).plan?.device == "tcp:127.0.0.1:9")
      parts.session.device = nil
      #expect(RunRequest(parts.configuration, of: parts.session).plan?.device == NISession.device)
      parts.configuration.isCameraAssistanceEnabled = true
      #expect(RunRequest(parts.configuration, of: parts.session).finder != nil)
      // What was set wrongly is not made good by what belongs to all.
      parts.session.setARSession(NSObject())
      let wrong = RunRequest(parts.configuration, of: parts.session)
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
    for error in passing { #expect(error.mayPass, "\(error)") }
    let lasting: [DriverError] = [
      link(.permissionDenied), link(.invalidEndpoint), link(.notASerialDevice), .closed,
      .refused(command: "x", .rejected), .parametersRefused(.invalidParameter, []),
      .noAnswer(command: "x", milliseconds: 1, garbage: 0),
    ]
    for error in lasting { #expect(!error.mayPass, "\(error)") }
  }

  /// A file that is no device will not become one.
  @Test func whatIsNoDeviceIsNotWaitedFor() async throws {
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
    // Assistance finds a direction from distances.
    #expect(!tag.supportsCameraAssistance && !tag.supportsDirectionMeasurement)
    for role in [Capabilities.Roles.initiator, .responder] {
      let ranging = ChipCapabilities(chip(roles: role, angles: [.azimuth90]), hasPoses: false)
      #expect(ranging.supportsPreciseDistanceMeasurement && !ranging.supportsDLTDOAMeasurement)
      #expect(ranging.supportsDirectionMeasurement && !ranging.supportsCameraAssistance)
    }
    let round = ChipCapabilities(chip(angles: [.azimuth180]), hasPoses: true)
    #expect(round.supportsPreciseDistanceMeasurement && round.supportsDirectionMeasurement)
    #expect(round.supportsCameraAssistance)
  }

  /// Where no chip can be asked, a token still allows both roles.
  @Test func aTokenWithoutAChip() {
    let identity = PeerIdentity.ofDevice(named: "/dev/does-not-exist", hasPoses: false)
    #expect(identity.token.capabilities == [.preciseDistance, .controller, .controlee])
  }

  @Test func chipsThatCannotRangeWithEachOtherAreIncompatible() {
    let own = PeerIdentity(capabilities: [.preciseDistance, .controlee])
    let other = PeerIdentity(capabilities: [.preciseDistance, .controlee])
    let plan = own.plan(with: NIDiscoveryToken(.peer, other.token.bytes), nil)
    guard case .failure(let error) = plan else {
      Issue.record("\(plan)")
      return
    }
    #expect(error.code == .incompatiblePeerDevice)
  }

  /// Who asks a chip opens it for that, and leaves it to others. In a process of its own: one that is
  /// started by another test at the moment could keep the device open.
  @Test func aChipThatWasAskedIsClosedAgain() async {
    await #expect(processExitsWith: .success) {
      let stage = try Stage(.qm33, others: [])
      let identity = try await waiting {
        PeerIdentity.ofDevice(named: stage.path, hasPoses: true)
      }
      #expect(identity.token.capabilities.contains(.cameraAssistance))
      let (plain, assisted) = (NISession(), NISession())
      plain.device = stage.path
      assisted.device = stage.path
      assisted.poseSource = PoseTrack()
      let tokens = try await waiting { [plain.discoveryToken, assisted.discoveryToken] }
      #expect(
        tokens.map { $0?.deviceCapabilities.supportsCameraAssistance } == [false, true])
      await plain.close()
      // Past the registry, so like another program.
      let other = try await UWBDevice.open(.serial(path: FilePath(stage.path)))
      await other.close()
      stage.bench.stop()
    }
  }
}
