// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// Handles NXP's SET_PROFILE with Apple's profile: creates and configures a session from an app's
  /// data.
  ///
  /// Sources: NXP's UWBIoT API Reference Guide for the command; AOSP's ranging test application for
  /// the layout of the data. Real chips accept versions 1.0 and 1.1.
  mutating func setProfile(_ command: NXPSetProfile) throws(Refusal) {
    let data = command.data
    guard command.profile == NXPSetProfile.apple, data.starts(with: [1, 0]),
      (data.count == 28 && data[2] == 0) || (data.count == 30 && data[2] == 1)
    else { throw Refusal(.invalidParameter) }
    let index = try addSession(UInt32(data[7..<11].number), .ranging)
    let own = MACAddress(command.address).bytes
    let parameters: [AppConfigID: [UInt8]] = [
      .deviceType: [command.deviceType], .deviceRole: [command.role],
      .rangingRoundUsage: [2], .multiNodeMode: [0],
      .macAddressMode: [0], .deviceMACAddress: own,
      .numberOfControlees: [1],
      .dstMACAddress: Array(data[26..<28]),
      .preambleCodeIndex: [data[11]], .channelNumber: [data[12]],
      .slotsPerRR: [data[13]], .slotDuration: Array(data[15..<17]),
      .rangingDuration: data[17..<19] + [0, 0],
      .rangingRoundControl: [data[19]], .stsConfig: [0],
      .vendorID: [0x4C, 0x00], .staticSTSIV: Array(data[20..<26]),
      .resultReportConfig: [1], .scheduleMode: [1], .rframeConfig: [3], .sfdID: [2],
    ]
    sessions[index].parameters = parameters
    sessions[index].destinations = Self.addresses(in: parameters)
    respond(
      NXPSetProfile.opcode, SessionInitResponse(status: .ok, handle: sessions[index].token))
    move(index, to: .idle)
  }
}
