// SPDX-License-Identifier: Apache-2.0

import UCI

extension SimulatedChip {
  /// NXP's SET_PROFILE with Apple's profile: creates and configures a session from an app's data.
  ///
  /// Sources: NXP's UWBIoT API Reference Guide for the command; AOSP's ranging test application for
  /// the layout of the data. Real chips take versions 1.0 and 1.1.
  mutating func setProfile(_ command: NXPSetProfile) {
    let opcode = NXPSetProfile.opcode
    let data = command.data
    guard command.profile == NXPSetProfile.apple, data.starts(with: [1, 0]),
      (data.count == 28 && data[2] == 0) || (data.count == 30 && data[2] == 1)
    else { return respond(opcode, .invalidParameter) }
    let id = data[7..<11].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard let index = addSession(id, .ranging, opcode) else { return }
    let own = MACAddress(command.address).bytes
    let parameters: [UInt8: [UInt8]] = [
      AppParameter.deviceType: [command.deviceType], AppParameter.deviceRole: [command.role],
      AppParameter.roundUsage: [2], AppParameter.multiNodeMode: [0],
      AppParameter.addressMode: [0], AppParameter.deviceAddress: own,
      AppParameter.numberOfControlees: [1],
      AppParameter.destinationAddress: Array(data[26..<28]),
      AppParameter.preambleCode: [data[11]], AppParameter.channel: [data[12]],
      AppParameter.slotsPerRound: [data[13]], AppParameter.slotDuration: Array(data[15..<17]),
      AppParameter.rangingDuration: data[17..<19] + [0, 0],
      AppParameter.roundControl: [data[19]], AppParameter.stsConfig: [0],
      // VENDOR_ID and STATIC_STS_IV.
      0x27: [0x4C, 0x00], 0x28: Array(data[20..<26]),
      AppParameter.resultReport: [1], 0x22: [1], 0x12: [3], AppParameter.sfd: [2],
    ]
    sessions[index].parameters = parameters
    sessions[index].destinations = Self.addresses(in: parameters)
    respond(opcode, SessionInitResponse(status: .ok, handle: sessions[index].token).encoded())
    move(index, to: .idle)
  }
}
