// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import Foundation
@testable import NearbyInteraction
import Peers
import SIMDMath
import Testing

/// Archives and equality.
@Suite struct CodingTests {
  private func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
  }

  @Test func objectsKeepTheirValues() throws {
    let token = NIDiscoveryToken.accessory()
    let full = NINearbyObject(
      token: token, distance: 1.25, direction: simd_float3(0.6, -0.48, -0.64),
      horizontalAngle: -0.5,
      vertical: .above)
    let back = try #require(try archived(full))
    #expect(back.discoveryToken == token && back.distance == 1.25 && back.horizontalAngle == -0.5)
    #expect(back.direction == simd_float3(0.6, -0.48, -0.64))
    #expect(back.verticalDirectionEstimate == .above && back == full && back.hash == full.hash)
    let empty = try #require(try archived(NINearbyObject(token: token)))
    #expect(empty.distance == nil && empty.direction == nil && empty.horizontalAngle == nil)
    #expect(empty.verticalDirectionEstimate == .unknown)
  }

  @Test func objectsDifferInEachValue() {
    let token = NIDiscoveryToken.accessory()
    let object = NINearbyObject(token: token)
    let others = [
      NINearbyObject(token: .accessory()), NINearbyObject(token: token, distance: 1),
      NINearbyObject(token: token, direction: simd_float3(0, 0, -1)),
      NINearbyObject(token: token, horizontalAngle: 0),
      NINearbyObject(token: token, vertical: .same),
    ]
    for other in others { #expect(other != object) }
    #expect(object == NINearbyObject(token: token))
  }

  @Test(arguments: [
    NIAlgorithmConvergenceStatus.unknown, .converged, .notConverged([]),
    .notConverged([.insufficientMovement, .insufficientLighting]),
  ])
  func convergences(_ status: NIAlgorithmConvergenceStatus) throws {
    let convergence = NIAlgorithmConvergence(status)
    let back = try #require(try archived(convergence))
    #expect(back.status == status && back == convergence && back.hash == convergence.hash)
    #expect(back != NIAlgorithmConvergence(.notConverged([.insufficientSignalStrength])))
  }

  /// Descriptions of reasons; unknown reasons have none.
  @Test func reasonsHaveDescriptions() {
    let reasons: [NIAlgorithmConvergenceStatus.Reason] = [
      .insufficientMovement, .insufficientHorizontalSweep, .insufficientVerticalSweep,
      .insufficientLighting, .insufficientSignalStrength,
    ]
    #expect(Set(reasons.compactMap(\.localizedDescription)).count == reasons.count)
    #expect(NIAlgorithmConvergenceStatus.Reason(rawValue: "later").localizedDescription == nil)
  }

  // MARK: tokens

  @Test func damagedTokensAreRejected() throws {
    let peer = try PeerIdentity(capabilities: [.preciseDistance, .controller]).token.bytes
    #expect(try archived(NIDiscoveryToken(.peer, peer)) != nil)
    for token in [
      NIDiscoveryToken(.accessory, [1, 2, 3]), NIDiscoveryToken(.peer, Array(peer.dropLast())),
      NIDiscoveryToken(.peer, [UInt8](repeating: 1, count: 16)),
    ] {
      #expect((try? archived(token)) == nil)
    }
  }

  @Test func tokensDifferInTheirKindAndInEachByte() {
    let bytes = [UInt8](repeating: 1, count: 16)
    let token = NIDiscoveryToken(.accessory, bytes)
    #expect(token == NIDiscoveryToken(.accessory, bytes))
    #expect(token != NIDiscoveryToken(.peer, bytes))
    #expect(token != NIDiscoveryToken(.accessory, bytes.dropLast() + [2]))
    #expect(token != NIDiscoveryToken(.accessory, [2] + bytes.dropFirst()))
    // The description distinguishes tokens in a log, but is not enough for ranging.
    #expect("\(NIDiscoveryToken(.accessory, Array(0..<16)))" == "<NIDiscoveryToken …0c0d0e0f>")
  }

  @Test func peerCapabilitiesComeFromTheToken() throws {
    func capabilities(_ said: PeerToken.Capabilities) throws -> any NIDeviceCapability {
      NIDiscoveryToken(.peer, try PeerIdentity(capabilities: said).token.bytes).deviceCapabilities
    }
    func list(_ it: any NIDeviceCapability) -> [Bool] {
      [
        it.supportsPreciseDistanceMeasurement, it.supportsDirectionMeasurement,
        it.supportsCameraAssistance, it.supportsDLTDOAMeasurement,
        it.supportsExtendedDistanceMeasurement, it.supportsBluetoothChannelSounding,
      ]
    }
    #expect(try list(capabilities([])) == [false, false, false, false, false, false])
    #expect(
      try list(capabilities([.preciseDistance])) == [true, false, false, false, false, false])
    // An azimuth alone is not a direction.
    #expect(try list(capabilities([.direction])) == [false, false, false, false, false, false])
    #expect(
      try list(capabilities([.direction, .elevation])) == [false, true, false, false, false, false])
    #expect(
      try list(capabilities([.cameraAssistance])) == [false, false, true, false, false, false])
    #expect(try list(capabilities([.downlinkTDoA])) == [false, false, false, true, false, false])
    #expect(try list(capabilities([.elevation])) == [false, false, false, false, false, false])
    let accessory = NIDiscoveryToken.accessory().deviceCapabilities
    #expect(list(accessory) == [true, false, false, false, false, false])
  }

  // MARK: configurations

  @Test func configurationsKeepEachFlag() throws {
    let token = NIDiscoveryToken.accessory()
    for (assistance, extended) in [(true, false), (false, true)] {
      let peer = NINearbyPeerConfiguration(peerToken: token)
      peer.isCameraAssistanceEnabled = assistance
      peer.isExtendedDistanceMeasurementEnabled = extended
      for copy in [try archived(peer), peer.copy() as? NINearbyPeerConfiguration] {
        #expect(copy?.isCameraAssistanceEnabled == assistance)
        #expect(copy?.isExtendedDistanceMeasurementEnabled == extended)
      }
    }
  }

  @Test func bluetoothIdentifiersAreKept() throws {
    let identifier = UUID()
    let data = try SessionTests.CoreFixture().configuration.accessory
    guard case .ranges(let accessory) = data else {
      Issue.record("\(data)")
      return
    }
    let ranging = try NINearbyAccessoryConfiguration(
      accessoryData: Data(accessory.bytes), bluetoothPeerIdentifier: identifier)
    let sounding = NINearbyAccessoryConfiguration(
      bluetoothChannelSoundingIdentifier: identifier, previousBluetoothIdentifier: nil)
    for configuration in [ranging, sounding] {
      for copy in [
        try archived(configuration), configuration.copy() as? NINearbyAccessoryConfiguration,
      ] {
        #expect(copy?.bluetoothPeerIdentifier == identifier)
        #expect(copy?.accessory == configuration.accessory)
        #expect(copy?.accessoryDiscoveryToken == configuration.accessoryDiscoveryToken)
      }
    }
  }

  /// The token contains key material.
  @Test func whatWasGeneratedIsNotArchived() throws {
    let configuration = try SessionTests.CoreFixture().configuration
    configuration.shareableConfigurationData = Data([1, 2, 3])
    #expect(try archived(configuration)?.shareableConfigurationData == nil)
    let copy = configuration.copy() as? NINearbyAccessoryConfiguration
    #expect(copy?.shareableConfigurationData == Data([1, 2, 3]))
  }

  @Test func networksOfAnchorsAreKept() throws {
    // The default in Apple's documentation.
    #expect(NIDLTDOAConfiguration(networkIdentifier: 1).discoveryMethod == .bluetoothLowEnergy)
    let configuration = NIDLTDOAConfiguration(networkIdentifier: 77, discoveryMethod: .wiFi)
    configuration.radio.channel = 5
    configuration.radio.rounds = [1, 2]
    for copy in [
      try archived(configuration), configuration.copy() as? NIDLTDOAConfiguration,
    ] {
      #expect(copy?.networkIdentifier == 77 && copy?.discoveryMethod == .wiFi)
      #expect(copy?.radio == configuration.radio)
    }
  }

  // MARK: errors

  @Test func errorsHaveReasonsAndSuggestions() {
    struct Cause: Error {}
    let error = NIError(
      .sessionFailed, reason: "The cable broke.", recovery: "Take another.", underlying: Cause())
    #expect(error.localizedDescription == "The session failed. The cable broke.")
    #expect(error.description == "The session failed. The cable broke. Take another.")
    #expect(error.userInfo[NSLocalizedFailureReasonErrorKey] as? String == "The cable broke.")
    #expect(error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String == "Take another.")
    #expect(error.userInfo[NSUnderlyingErrorKey] is Cause)
    #expect((error as any Error).localizedDescription == error.localizedDescription)
    let later = error.with(.userDidNotAllow, "It was too late.")
    #expect(later.code == .userDidNotAllow && later.description.hasSuffix("Take another."))
    #expect(later.description.contains("It was too late. The cable broke."))
    #expect(later.userInfo[NSUnderlyingErrorKey] is Cause)
  }

  @Test func errorsDifferInCodeAndText() {
    let info: [String: Any] = [NSLocalizedDescriptionKey: "x"]
    #expect(NIError(.sessionFailed, userInfo: info) == NIError(.sessionFailed, userInfo: info))
    #expect(NIError(.sessionFailed, userInfo: info) != NIError(.userDidNotAllow, userInfo: info))
    #expect(NIError(.sessionFailed, userInfo: info) != NIError(.sessionFailed))
  }
}
