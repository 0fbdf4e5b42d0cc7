// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing

@Suite struct MessageTests {
  @Test func identifiers() throws {
    #expect(AppMessage.initialize.octets == [0x0A])
    #expect(AppMessage.configureAndStart([7, 8]).octets == [0x0B, 7, 8])
    #expect(AppMessage.stop.octets == [0x0C])
    #expect(AccessoryMessage.accessoryConfigurationData([7, 8]).octets == [0x01, 7, 8])
    #expect(AccessoryMessage.accessoryUwbDidStart.octets == [0x02])
    #expect(AccessoryMessage.accessoryUwbDidStop.octets == [0x03])
    for message in [AppMessage.initialize, .configureAndStart([1, 2]), .stop] {
      #expect(try AppMessage(message.octets) == message)
    }
    for message in [
      AccessoryMessage.accessoryConfigurationData([1]), .accessoryUwbDidStart, .accessoryUwbDidStop,
    ] {
      #expect(try AccessoryMessage(message.octets) == message)
    }
  }

  @Test func nothingAndTheUnknownAreRefused() {
    #expect(throws: AccessoryProtocolError.emptyMessage) { try AppMessage([]) }
    #expect(throws: AccessoryProtocolError.emptyMessage) { try AccessoryMessage([]) }
    #expect(throws: AccessoryProtocolError.unknownMessage(0x2F)) { try AppMessage([0x2F, 1]) }
    #expect(throws: AccessoryProtocolError.unknownMessage(0x0A)) { try AccessoryMessage([0x0A]) }
  }
}
