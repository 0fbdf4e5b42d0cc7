// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing

@Suite struct MessageTests {
  @Test func identifiers() throws {
    #expect(AppMessage.initialize.bytes == [0x0A])
    #expect(AppMessage.configureAndStart([7, 8]).bytes == [0x0B, 7, 8])
    #expect(AppMessage.stop.bytes == [0x0C])
    #expect(AccessoryMessage.accessoryConfigurationData([7, 8]).bytes == [0x01, 7, 8])
    #expect(AccessoryMessage.accessoryUwbDidStart.bytes == [0x02])
    #expect(AccessoryMessage.accessoryUwbDidStop.bytes == [0x03])
    for message in [AppMessage.initialize, .configureAndStart([1, 2]), .stop] {
      #expect(try AppMessage(message.bytes) == message)
    }
    for message in [
      AccessoryMessage.accessoryConfigurationData([1]), .accessoryUwbDidStart, .accessoryUwbDidStop,
    ] {
      #expect(try AccessoryMessage(message.bytes) == message)
    }
  }

  @Test func emptyAndUnknownMessagesAreRefused() {
    #expect(throws: AccessoryError(.emptyMessage)) { try AppMessage([]) }
    #expect(throws: AccessoryError(.emptyMessage)) { try AccessoryMessage([]) }
    #expect(throws: AccessoryError(.unknownMessage(0x2F))) { try AppMessage([0x2F, 1]) }
    #expect(throws: AccessoryError(.unknownMessage(0x0A))) { try AccessoryMessage([0x0A]) }
  }
}
