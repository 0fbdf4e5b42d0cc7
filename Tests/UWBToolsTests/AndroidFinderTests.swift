// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import AccessoryProtocol
import Channels
import Glibc
import SystemPackage
import Testing
import UWB
import UWBSimulator
import UWBTools

/// The finder as an Android phone, and an accessory of single messages.
@Suite(.timeLimit(.minutes(10))) struct AndroidFinderTests {
  /// The channel of the finder and its other end.
  private func channels() throws -> (SocketChannel, SocketChannel) {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (
      SocketChannel(FileDescriptor(rawValue: ends[0])),
      SocketChannel(FileDescriptor(rawValue: ends[1]))
    )
  }

  private func capability(_ roles: AndroidCapability.Roles) -> AndroidCapability {
    var capability = AndroidCapability()
    (capability.address, capability.roles, capability.interval) = (0x1234, roles, 200)
    return capability
  }

  /// Phones send accessories of versions 1 and 2 the first form of a configuration.
  @Test(arguments: [(1, 1), (2, 1), (3, 3)] as [(UInt8, UInt8)])
  func theVersionOfTheAnswerDecides(version: UInt8, form: UInt8) async throws {
    let (near, far) = try channels()
    let pair = try SimulatedPair()
    pair.bench.start()
    let device = try await UWBDevice.open(pair.controller.path, options: .patient)
    let offered = capability(version == 2 ? .responder : .initiator)
    let accessory = Task {
      var received: [[UInt8]] = []
      for await message in far.messages {
        received.append(message)
        switch received.count {
        case 1:
          let answer = AndroidAccessoryMessage(.capabilityResponse(offered, .tag), version: version)
          try await far.send(answer.bytes)
        case 2:
          try await far.send([version, 9, 0])
          try await far.send([version, 3, 1, 0])
          try await far.send([version, 3, 0, 0])
        default: return received
        }
      }
      return received
    }
    let finder = AccessoryFinder(device: device, channel: near, phone: .android)
    var words: [String] = []
    try await finder.run { event in
      switch event {
      case .started: words.append("started")
      case .accessoryStarted: words.append("accessory started")
      case .accessoryStopped: words.append("accessory stopped")
      default: break
      }
      return words.count < 3
    }
    #expect(words == ["started", "accessory started", "accessory stopped"])
    let received = try await accessory.value
    #expect(received.first == [3, 0, 1, 0])
    #expect(received.last == [version, 6, 1, 0])
    let message = try AndroidPhoneMessage(received[1])
    #expect(message.version == form)
    guard case .configuration(let choice?, wantsMotion: false) = message.content else {
      Issue.record("no configuration")
      return
    }
    #expect(choice.number == 1 && choice.interval == 240 && choice.channel == 9)
    #expect(choice.role == (version == 2 ? .controlee : .controller))
    #expect(throws: Never.self) { try choice.session(of: .accessory, with: offered) }
    far.close()
    await device.close()
    pair.bench.stop()
  }

  @Test(
    arguments: [
      ("03000300", "phone, version 3, capability request: UWB, Bluetooth channel sounding"),
      ("01060000", "phone, version 1, stop: nothing"),
      ("030802", "accessory, version 3, motion: moderate"),
      (
        "0A0C 3AA737167832D0DF 01000100",
        "Find Hub frame 0x0a, not authenticated here; phone, version 1, capability request: UWB"
      ),
      ("01070100", "accessory, version 1, stop response: UWB"),
      ("01030000", "accessory, version 1, configuration response: nothing"),
      ("01020000 0000", "phone, version 1, configuration: nothing"),
      ("01010000", "accessory, version 1, capability response: nothing"),
      (
        "01020100 0100 001B C3D4 78563412 01 09 0B 7800 02 08 0102030405060708 5553 02 01",
        "phone, version 1, configuration: address 0xd4c3, session 305419896, configuration 1, "
          + "channel 9, preamble code 11, 120 ms, slots of 2 ms, key of 8 bytes, "
          + "accessory as responder"
      ),
      (
        "03010100 0014 A1B2 00020000 000F0000 4A000000 6000 01 03 00 0300",
        "accessory, version 3, capability response: address 0xb2a1, channels 9, preamble codes "
          + "9 10 11 12, configurations 1 3 6, from 96 ms, slots from 1 ms, roles initiator "
          + "responder, device tag"
      ),
    ] as [(String, String)])
  func messagesInWords(message: String, words: String) throws {
    #expect(try AndroidText.words(FrameText.bytes(message)) == words)
  }

  @Test func anAccessoryWithoutUWBIsAFailure() async throws {
    for offered in [nil, capability([])] {
      let (near, far) = try channels()
      let pair = try SimulatedPair()
      pair.bench.start()
      let device = try await UWBDevice.open(pair.controller.path, options: .patient)
      let answer = AndroidAccessoryMessage(.capabilityResponse(offered, .tag), version: 3)
      try await far.send(answer.bytes)
      let finder = AccessoryFinder(device: device, channel: near, phone: .android)
      await #expect(throws: (any Error).self) { try await finder.run { _ in true } }
      far.close()
      await device.close()
      pair.bench.stop()
    }
  }
}
