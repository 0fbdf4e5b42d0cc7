// SPDX-License-Identifier: Apache-2.0

/// First byte of each message between an app and an accessory.
public enum MessageId: UInt8 {
  // From the accessory.
  case accessoryConfigurationData = 0x1
  case accessoryUwbDidStart = 0x2
  case accessoryUwbDidStop = 0x3
  // From the app.
  case initialize = 0xA
  case configureAndStart = 0xB
  case stop = 0xC
}
