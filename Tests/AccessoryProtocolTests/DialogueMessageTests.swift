// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI

/// Messages of both kinds of phones in captures, which contain no key.
@Suite struct DialogueMessageTests {
  /// Configuration 6 of AOSP's layout with the key 0x10 to 0x1F, and Bluetooth before UWB.
  private static let configuration = bytes(
    "01 02 03 00 03 00 01 09 01 02 03 04 05 06 07 00 23 C3 D4 78 56 34 12 06 09 0B 60 00 01 10"
      + "10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F 55 53 01 01")

  private func redacted(_ text: [UInt8], _ kind: DialogueMessage.Kind) -> [UInt8] {
    DialogueMessage(text, kind, isFromPhone: true).withoutKeys
  }

  @Test func keysOfAndroidBecomeZeros() throws {
    let expected = bytes(
      "01 02 03 00 03 00 01 09 00 00 00 00 00 00 00 00 23 C3 D4 78 56 34 12 06 09 0B 60 00 01 10"
        + "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 55 53 01 01")
    #expect(redacted(Self.configuration, .android) == expected)
    let motion = [3] + Self.configuration.dropFirst() + [1]
    #expect(redacted(motion, .android) == [3] + expected.dropFirst() + [1])
    #expect(redacted(bytes("03 00 01 00"), .android) == bytes("03 00 01 00"))
  }

  @Test func theVectorOfAppleBecomesZeros() throws {
    var data = ShareableConfigurationData(sessionID: 7, address: 0x1234)
    data.initialisationVector = try #require(.init([1, 2, 3, 4, 5, 6]))
    let hidden = redacted(AppMessage.configureAndStart(data.bytes).bytes, .apple)
    data.initialisationVector = try #require(.init([0, 0, 0, 0, 0, 0]))
    #expect(hidden == [0x0B] + data.bytes)
    #expect(redacted([0x0A], .apple) == [0x0A])
  }

  /// A message that is truncated or changed contains no byte of the key.
  @Test func damagedMessagesLoseEverythingAfterTheirHeader() {
    for count in 6..<Self.configuration.count {
      let cut = redacted(Array(Self.configuration[..<count]), .android)
      #expect(cut.count == count && cut.dropFirst(6).allSatisfy { $0 == 0 })
    }
    var damaged = Self.configuration
    damaged[29] = 8
    #expect(!redacted(damaged, .android).contains(0x14))
    #expect(redacted([0xA5, 7, 7], .apple) == [0xA5, 0, 0])
    #expect(redacted([3, 9, 7, 7], .android) == [3, 9, 0, 0])
    #expect(redacted([0x0B] + Array(1...30), .apple).dropFirst(6).allSatisfy { $0 == 0 })
    #expect(redacted([], .android) == [])
  }

  @Test func messagesOfTheAccessoryAreWhole() {
    let answer = DialogueMessage([3, 3, 1, 0], .android, isFromPhone: false)
    #expect(answer.withoutKeys == [3, 3, 1, 0])
    #expect("\(answer)" == "accessory, version 3, configuration response: UWB")
    #expect(
      "\(DialogueMessage([2], .apple, isFromPhone: false))" == "accessory, ranging has started")
  }

  @Test func wordsHaveNoKeys() {
    let words = "\(DialogueMessage(Self.configuration, .android, isFromPhone: true))"
    #expect(words.contains("key of 16 bytes") && !words.contains("101112"))
    #expect("\(DialogueMessage([0x0A], .apple, isFromPhone: true))" == "iPhone, initialize")
    let damaged = "\(DialogueMessage([3, 9, 7], .android, isFromPhone: true))"
    #expect(damaged.hasPrefix("phone, 3 bytes: "))
  }
}
