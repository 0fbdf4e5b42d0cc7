// SPDX-License-Identifier: Apache-2.0
import UCI
public import UCIReference

extension SessionConfiguration {
  /// From parameters, for example of a profile or a capture. What has no field here goes into
  /// `additional` as it is.
  ///
  /// - Throws: `DriverError.configurationProblems` when they do not say who takes part.
  public init(sessionID: UInt32, _ parameters: SessionParameters) throws(DriverError) {
    guard let address = parameters.address, parameters.isController != nil,
      parameters.isSet(.dstMACAddress)
    else {
      throw .configurationProblems(
        [AppConfigID.deviceType, .deviceMACAddress, .dstMACAddress].filter {
          !parameters.isSet($0) || ($0 == .deviceMACAddress && parameters.address == nil)
        }.map { .init(.preventsRanging, "\($0.name) is missing or has a wrong length.", [$0]) })
    }
    self.init(
      role: parameters.isController == true ? .controller : .controlee, sessionID: sessionID,
      address: address, peers: parameters.destinations)
    type = parameters.type
    wantsAngles = parameters.number(.aoaResultRequest) != 0
    resultReport = .timeOfFlight
    wantsRSSI = false
    let config = parameters.number(.stsConfig) ?? 0
    var inSTS: [AppConfigID] = []
    if config == 0, let vendor = parameters[.vendorID], let iv = parameters[.staticSTSIV] {
      sts = .fixed(StaticSTS(vendorID: vendor, iv: iv))
      inSTS = [.stsConfig, .vendorID, .staticSTSIV]
    } else if config == 3, let key = parameters[.sessionKey] {
      sts = .provisioned(SessionKey(key))
      inSTS = [.stsConfig, .sessionKey]
    } else {
      // As it is written, and nothing filled in.
      sts = .dynamic
      if !parameters.isSet(.stsConfig) {
        additional.append(TLV(.stsConfig, [UInt8(truncatingIfNeeded: config)]))
      }
    }
    for tlv in parameters.list
    where !inSTS.contains(AppConfigID(rawValue: tlv.id)) && !take(tlv, of: parameters) {
      additional.append(tlv)
    }
  }

  /// Takes a parameter into its field; false where it has none, or not for this value.
  private mutating func take(_ tlv: TLV, of all: SessionParameters) -> Bool {
    let id = AppConfigID(rawValue: tlv.id)
    guard let value = tlv.integer ?? (tlv.value.isEmpty ? nil : 0) else { return false }
    let byte = UInt8(truncatingIfNeeded: value)
    switch id {
    case .deviceType, .deviceMACAddress, .dstMACAddress: return true
    case .deviceRole: return byte == role.rawValue
    case .multiNodeMode: return (peers.count > 1) == (byte == 1) && byte <= 1
    case .macAddressMode: return byte == (address.isExtended ? 2 : 0)
    case .numberOfControlees: return Int(byte) == peers.count
    case .channelNumber: channel = byte
    case .preambleCodeIndex: preambleCode = byte
    case .sfdID: sfd = byte
    case .rframeConfig: rframe = byte
    case .slotDuration where tlv.value.count == 2: slotDuration = UInt16(value)
    case .slotsPerRR: slotsPerRound = byte
    case .rangingDuration where tlv.value.count == 4: interval = UInt32(value)
    case .blockStrideLength: blockStride = byte
    case .resultReportConfig: resultReport = ResultReport(rawValue: byte)
    case .rssiReporting where byte <= 1: wantsRSSI = byte == 1
    case .aoaResultRequest where byte <= 1: wantsAngles = byte == 1
    case .hoppingMode where byte <= 1: hopping = byte == 1
    case .macFCSType where byte <= 1: fcs = byte == 1 ? .crc32 : .crc16
    case .maxNumberOfMeasurements where tlv.value.count == 2: maxMeasurements = UInt16(value)
    case .rangingRoundUsage:
      guard let usage = RoundUsage(rawValue: byte) else { return false }
      roundUsage = usage
    case .scheduleMode:
      return byte == (all.number(.rangingRoundUsage) ?? 2 >= 7 ? 0 : 1)
    case .stsLength: return byte == 1
    default: return false
    }
    return true
  }
}
