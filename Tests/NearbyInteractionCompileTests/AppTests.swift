// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction
import Testing

/// Behaviour that apps rely on.
@Suite(.serialized) struct AppTests {
  /// Published data of a DWM3001CDK: versions 1.0 and 1.1, initiator, address 11 D7.
  static let accessoryData = Data([
    0x01, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x15,
    0x01, 0x00, 0x01, 0x00, 0x3F, 0xF5, 0x03, 0x00, 0xB8, 0x0B, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01,
    0x01, 0x11, 0xD7, 0x19, 0x00,
  ])

  @Test func rawValues() {
    #expect(NIError.Code.unsupportedPlatform.rawValue == -5889)
    #expect(NIError.Code.invalidConfiguration.rawValue == -5888)
    #expect(NIError.Code.sessionFailed.rawValue == -5887)
    #expect(NIError.Code.resourceUsageTimeout.rawValue == -5886)
    #expect(NIError.Code.activeSessionsLimitExceeded.rawValue == -5885)
    #expect(NIError.Code.userDidNotAllow.rawValue == -5884)
    #expect(NIError.Code.invalidARConfiguration.rawValue == -5883)
    #expect(NIError.Code.accessoryPeerDeviceUnavailable.rawValue == -5882)
    #expect(NIError.Code.incompatiblePeerDevice.rawValue == -5881)
    #expect(NIError.Code.activeExtendedDistanceSessionsLimitExceeded.rawValue == -5880)
    #expect(NIErrorDomain == "com.apple.NearbyInteraction")
    #expect(NINearbyObject.RemovalReason(rawValue: 0) == .timeout)
    #expect(NINearbyObject.RemovalReason(rawValue: 1) == .peerEnded)
    let vertical: [NINearbyObject.VerticalDirectionEstimate] = [
      .unknown, .same, .above, .below, .aboveOrBelow,
    ]
    #expect(vertical.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect(NIDLTDOACoordinatesType.geodetic.rawValue == 0)
    #expect(NIDLTDOACoordinatesType.relative.rawValue == 1)
    let types: [NIDLTDOAMeasurementType] = [.poll, .response, .final]
    #expect(types.map(\.rawValue) == [0, 1, 2])
    #expect(NIDLTDOAConfiguration.DiscoveryMethod.wiFi.rawValue == 0)
  }

  @Test func errorsCanBeMatchedInThreeWays() throws {
    func name(_ error: Error) -> String {
      switch error {
      case NIError.invalidConfiguration: "invalid"
      case NIError.userDidNotAllow: "denied"
      default: "other"
      }
    }
    let denied = NIError(.userDidNotAllow)
    #expect(name(denied) == "denied" && name(NIError(.sessionFailed)) == "other")
    #expect(name(NSError(domain: NIErrorDomain, code: -5888)) == "invalid")
    #expect(name(NSError(domain: NSCocoaErrorDomain, code: -5888)) == "other")
    let any: Error = denied
    #expect((any as? NIError)?.code == .userDidNotAllow)
    #expect((any as NSError).code == -5884 && (any as NSError).domain == NIErrorDomain)
    #expect(NIError.errorDomain == NIErrorDomain && denied.errorCode == -5884)
    #expect(NIError.userDidNotAllow == NIError.Code.userDidNotAllow)
    // Apps create such errors themselves, and show them like any other.
    #expect(any.localizedDescription == denied.localizedDescription)
    let given: Error = NIError(.sessionFailed, userInfo: [NSLocalizedDescriptionKey: "mine"])
    #expect(given.localizedDescription == "mine" && (given as NSError).code == -5887)
    do {
      _ = try NINearbyAccessoryConfiguration(data: Data([1, 2, 3]))
      Issue.record("three bytes are no configuration")
    } catch NIError.invalidConfiguration {
    }
    do {
      _ = try NINearbyAccessoryConfiguration(data: Self.accessoryData.dropLast())
      Issue.record("a byte is missing")
    } catch {
      let reason = (error as NSError).userInfo[NSLocalizedFailureReasonErrorKey] as? String
      #expect(reason?.contains("UWB configuration") == true, "\(reason ?? "nil")")
      #expect(error.localizedDescription.contains("not valid"))
    }
  }

  @Test func tokensAreHashableAndCanBeArchived() throws {
    let token = try #require(NISession().discoveryToken)
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    // Apps split the text into 30 groups of 8.
    #expect(data.base64EncodedString().count >= 240)
    let back = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDiscoveryToken.self, from: data))
    #expect(back == token && back !== token && back.hash == token.hash)
    #expect(back.deviceCapabilities.supportsPreciseDistanceMeasurement)
    var names = [token: "here"]
    #expect(names[back] == "here")
    let other = try NINearbyAccessoryConfiguration(data: Self.accessoryData).accessoryDiscoveryToken
    names[other] = "accessory"
    #expect(names.count == 2 && other != token)
    let copy = try #require(token.copy() as? NIDiscoveryToken)
    #expect(copy == token)
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDiscoveryToken.self, from: Data([1, 2, 3]))
    }
  }

  @Test func configurationsSurviveAnArchiveAndACopy() throws {
    let accessory = try NINearbyAccessoryConfiguration(data: Self.accessoryData)
    accessory.isCameraAssistanceEnabled = true
    let token = try #require(NISession().discoveryToken)
    let peer = NINearbyPeerConfiguration(peerToken: token)
    peer.isExtendedDistanceMeasurementEnabled = true
    let anchors = NIDLTDOAConfiguration(networkIdentifier: 77)
    func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: object, requiringSecureCoding: true)
      return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
    }
    for copy in [try archived(accessory), accessory.copy() as? NINearbyAccessoryConfiguration] {
      #expect(copy?.accessoryDiscoveryToken == accessory.accessoryDiscoveryToken)
      #expect(copy?.isCameraAssistanceEnabled == true && copy !== accessory)
    }
    for copy in [try archived(peer), peer.copy() as? NINearbyPeerConfiguration] {
      #expect(copy?.peerDiscoveryToken == token && copy?.isCameraAssistanceEnabled == false)
      #expect(copy?.isExtendedDistanceMeasurementEnabled == true)
    }
    #expect(try archived(anchors)?.networkIdentifier == 77)
    let other = try NINearbyAccessoryConfiguration(data: Self.accessoryData)
    #expect(other.accessoryDiscoveryToken != accessory.accessoryDiscoveryToken)
  }

  @Test func delegatesImplementAnySubsetAndAreNotRetained() {
    let session = NISession()
    var delegate: OnlyUpdates? = OnlyUpdates()
    session.delegate = delegate
    #expect(session.delegate === delegate)
    session.delegate?.sessionWasSuspended(session)
    session.delegate?.session(session, didUpdate: [])
    #expect(delegate?.count == 1)
    delegate = nil
    #expect(session.delegate == nil)
    let nothing = Nothing()
    session.delegate = nothing
    session.delegate?.session(session, didUpdateDLTDOA: [])
  }

  @Test func theConfigurationIsACopyOfTheLastRun() throws {
    let session = NISession()
    #expect(session.configuration == nil)
    let accessory = try NINearbyAccessoryConfiguration(data: Self.accessoryData)
    session.invalidate()
    session.run(accessory)
    accessory.isCameraAssistanceEnabled = true
    let kept = try #require(session.configuration as? NINearbyAccessoryConfiguration)
    #expect(kept !== accessory && !kept.isCameraAssistanceEnabled)
    #expect(kept.accessoryDiscoveryToken == accessory.accessoryDiscoveryToken)
  }

  @Test func peersExchangeTokens() async throws {
    let (here, there) = await (RoomModel(), RoomModel())
    let data = try #require(await there.invite("here"))
    _ = await here.invite("there")
    let session = try #require(await here.last)
    #expect(await here.name(of: session) == "there")
    await MainActor.run { here.accept(data, from: "there") }
    let peer = try #require(await here.peers.first)
    #expect(peer.token == NIDiscoveryToken.unarchive(data) && peer.distance == nil)
    #expect(session.configuration is NINearbyPeerConfiguration)
    await here.leave()
    await there.leave()
    #expect(RoomModel.hint(for: .notConverged([.insufficientLighting])) == "more light")
    #expect(RoomModel.hint(for: .notConverged([.insufficientMovement])) == "move")
    #expect(RoomModel.hint(for: .converged) == nil)
  }

  @Test func failuresCanBeAwaited() async throws {
    let session = NISession()
    session.delegateQueue = DispatchQueue(label: "awaiting")
    session.invalidate()
    let configuration = try NINearbyAccessoryConfiguration(data: Self.accessoryData)
    let delegate = Awaiting()
    let error = await delegate.failure(of: session, with: configuration)
    #expect(error.domain == NIErrorDomain && error.code == NIError.Code.sessionFailed.rawValue)
  }

  @Test func vectorFunctionsWork() throws {
    let vectors = Vectors(place: simd_float3(1, 0, 0))
    let data = try JSONEncoder().encode(vectors)
    #expect(try JSONDecoder().decode(Vectors.self, from: data).place == vectors.place)
    #expect(simd_cross(simd_float3(1, 0, 0), simd_float3(0, 1, 0)) == simd_float3(0, 0, 1))
    let expected: Float = 6 + Float(5).squareRoot()
    #expect(abs(vectors.heading(to: simd_float3(1, 0, -2)) - expected) < 1e-5)
    let quarter = simd_quatf(angle: .pi / 2, axis: simd_float3(0, 1, 0))
    #expect(simd_distance(quarter.act(simd_float3(0, 0, -1)), simd_float3(-1, 0, 0)) < 1e-6)
    var transform = simd_float4x4(quarter)
    transform.columns.3 = simd_float4(1, 2, 3, 1)
    let product = transform * transform.inverse
    for column in 0..<4 {
      #expect(simd_distance(product[column], matrix_identity_float4x4[column]) < 1e-6)
    }
    #expect(abs(transform.determinant - 1) < 1e-6)
    #expect(abs(simd_quatf(transform).angle - .pi / 2) < 1e-6)
    #expect(simd_distance(simd_quatf(transform).axis, simd_float3(0, 1, 0)) < 1e-6)
    #expect(simd_quatf(angle: 3, axis: simd_float3(1, 0, 0)).inverse.real > 0)
  }
}
