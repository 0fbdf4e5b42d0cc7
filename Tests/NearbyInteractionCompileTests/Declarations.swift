// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction

/// All declarations of the interface, with the types that apps see.
func declarations(_ session: NISession, _ object: NINearbyObject) throws {
  // NISession
  let _: Bool = NISession.isSupported
  let _: NIDeviceCapability = NISession.deviceCapabilities
  session.delegate = nil
  session.delegateQueue = DispatchQueue.main
  let _: NISessionDelegate? = session.delegate
  let _: DispatchQueue? = session.delegateQueue
  let token: NIDiscoveryToken? = session.discoveryToken
  let _: NIConfiguration? = session.configuration
  session.pause()
  session.invalidate()
  session.setARSession(session)
  let _: simd_float4x4? = session.worldTransform(for: object)
  session.updateMotionState(.moving, forObjectWithToken: object.discoveryToken)
  session.updateMotionState(NIMotionActivityState.stationary, forObjectWithToken: token!)
  let _: NIMotionActivityState = .unknown

  // Configurations
  let peer = NINearbyPeerConfiguration(peerToken: object.discoveryToken)
  let _: NIDiscoveryToken = peer.peerDiscoveryToken
  peer.isCameraAssistanceEnabled = true
  peer.isExtendedDistanceMeasurementEnabled = false
  let accessory = try NINearbyAccessoryConfiguration(data: Data())
  let _: NIDiscoveryToken = accessory.accessoryDiscoveryToken
  accessory.isCameraAssistanceEnabled.toggle()
  _ = try NINearbyAccessoryConfiguration(accessoryData: Data(), bluetoothPeerIdentifier: UUID())
  _ = NINearbyAccessoryConfiguration(
    bluetoothChannelSoundingIdentifier: UUID(), previousBluetoothIdentifier: nil)
  let anchors = NIDLTDOAConfiguration(networkIdentifier: 7)
  anchors.networkIdentifier = 8
  _ = NIDLTDOAConfiguration(networkIdentifier: 7, discoveryMethod: .bluetoothLowEnergy)
  anchors.discoveryMethod = .wiFi
  for configuration in [peer, accessory, anchors] as [NIConfiguration] {
    let _: NSCopying & NSSecureCoding & NSObject = configuration
    session.run(configuration)
  }

  // Objects
  let _: Float? = object.distance
  let _: simd_float3? = object.direction
  let _: Float? = object.horizontalAngle
  let _: NINearbyObject.VerticalDirectionEstimate = object.verticalDirectionEstimate
  let _: NIDeviceCapability = object.discoveryToken.deviceCapabilities

  // Capabilities
  let capabilities = NISession.deviceCapabilities
  let _: [Bool] = [
    capabilities.supportsPreciseDistanceMeasurement, capabilities.supportsDirectionMeasurement,
    capabilities.supportsCameraAssistance, capabilities.supportsExtendedDistanceMeasurement,
    capabilities.supportsDLTDOAMeasurement, capabilities.supportsBluetoothChannelSounding,
  ]
}

func declarations(_ measurement: NIDLTDOAMeasurement) {
  let _: Int = measurement.address
  let _: Int = measurement.clusterInitiatorAddress
  let _: NIDLTDOAMeasurementType = measurement.measurementType
  let _: Double = measurement.transmitTime
  let _: Double = measurement.receiveTime
  let _: UInt64 = measurement.rawTransmitTime
  let _: UInt64 = measurement.rawReceiveTime
  let _: Double = measurement.signalStrength
  let _: Double = measurement.carrierFrequencyOffset
  let _: Double? = measurement.responderClockFrequencyOffset
  let _: NIDLTDOACoordinatesType = measurement.coordinatesType
  let _: simd_double3 = measurement.coordinates
  let _: NIDLTDOAMeasurement.FloorElevation? = measurement.floorElevation
  let _: Int? = measurement.floorElevation?.floorNumber
  let _: Double? = measurement.floorElevation?.height
}

/// On Apple's platforms, imported enumerations are bitwise copyable.
func areBitwiseCopyable() {
  func check<Value: BitwiseCopyable & Sendable & Hashable>(_: Value.Type) {}
  check(NIError.Code.self)
  check(NINearbyObject.RemovalReason.self)
  check(NINearbyObject.VerticalDirectionEstimate.self)
  check(NIDLTDOACoordinatesType.self)
  check(NIDLTDOAMeasurementType.self)
  check(NIDLTDOAConfiguration.DiscoveryMethod.self)
  check(NIMotionActivityState.self)
}

/// All methods of the delegate.
final class Everything: NSObject, NISessionDelegate {
  var calls: [String] = []
  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    calls.append("didUpdate")
  }
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) { calls.append("didRemove") }
  func sessionWasSuspended(_ session: NISession) { calls.append("wasSuspended") }
  func sessionSuspensionEnded(_ session: NISession) { calls.append("suspensionEnded") }
  func session(_ session: NISession, didInvalidateWith error: any Error) {
    calls.append("didInvalidate")
  }
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) { calls.append("didGenerate") }
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) { calls.append("didConverge") }
  func sessionDidStartRunning(_ session: NISession) { calls.append("didStart") }
  func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {
    calls.append("didUpdateDLTDOA")
  }
}
