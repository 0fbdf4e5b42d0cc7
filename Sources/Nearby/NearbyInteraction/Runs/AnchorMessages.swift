// SPDX-License-Identifier: Apache-2.0
internal import SIMDMath
internal import UCI

/// A converter of a chip's reports of anchor messages into measurements for apps.
struct AnchorMessages: Sendable {
  /// The initiator of the current round.
  private var initiator: (block: UInt16, round: UInt8, address: Int)?

  mutating func convert(_ measurements: SessionInfo.Measurements) -> [NIDLTDOAMeasurement] {
    switch measurements {
    case .downlinkTDoA(let list):
      list.compactMap { measurement in
        convert(
          measurement.message, measurement.txTimestamp, measurement.rxTimestamp,
          measurement.anchorLocation, isCommonTimeBase: measurement.isCommonTimeBase)
      }
    case .downlinkTDoAV2(let list):
      list.compactMap { measurement in
        guard let sent = measurement.txTimestamp, let received = measurement.rxTimestamp else {
          return nil
        }
        return convert(
          measurement.message, sent, received, measurement.anchorLocation,
          isCommonTimeBase: measurement.isCommonTimeBase)
      }
    default: []
    }
  }

  private mutating func convert(
    _ message: DownlinkTDoAMessage, _ sent: UInt64, _ received: UInt64,
    _ location: AnchorLocation?, isCommonTimeBase: Bool
  ) -> NIDLTDOAMeasurement? {
    guard message.status.isSuccess,
      let type = NIDLTDOAMeasurementType(rawValue: Int(message.messageType))
    else { return nil }
    let address = Int(clamping: message.peer.value)
    if type == .poll { initiator = (message.blockIndex, message.roundIndex, address) }
    let isSameRound =
      initiator.map { $0.block == message.blockIndex && $0.round == message.roundIndex } ?? false
    var values = NIDLTDOAMeasurement.Values(
      address: address, clusterInitiatorAddress: isSameRound ? initiator?.address ?? 0 : 0,
      type: type.rawValue, rawTransmitTime: Int64(bitPattern: sent),
      rawReceiveTime: Int64(bitPattern: received),
      signalStrength: message.rssiDBm ?? 0,
      carrierFrequencyOffset: message.clockOffsetPPM * 1e-6,
      responderClockFrequencyOffset: type == .response ? message.anchorClockOffsetPPM * 1e-6 : nil,
      block: Int(message.blockIndex), round: Int(message.roundIndex),
      isCommonTimeBase: isCommonTimeBase, responderReply: message.responderReplyTime,
      initiatorReply: message.initiatorReplyTime, anchorFlight: message.timeOfFlight)
    switch location {
    case .geographic(let latitude, let longitude, let altitude):
      values.coordinatesType = NIDLTDOACoordinatesType.geodetic.rawValue
      values.coordinates = SIMD3(latitude, longitude, altitude)
    case .relative(let x, let y, let z):
      // The unit is probably the millimetre: see AnchorLocation.
      values.coordinates = SIMD3(Double(x), Double(y), Double(z)) / 1_000
    case nil: break
    }
    return NIDLTDOAMeasurement(values)
  }
}
