// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import Testing
import UCI
import UWBLink

@testable import UWB

@Suite("NXP boards", .timeLimit(.minutes(10)))
struct NXPBoardTests {
  private func packet(_ parameters: [TLV]) throws -> [UInt8] {
    try #require(
      Segmentation.packets(
        SetConfig(parameters), dialect: Dialect(vendor: .nxp), limit: 255
      ).first)
  }

  @Test("A chip is told of its board behind its reset, and before anything else")
  func isTold() async throws {
    let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]
    let chip = try ScriptedChip(greeting: [[0x60, 0x01, 0x00, 0x01, 0x00]]) { packet, _ in
      switch (packet[0], packet[1]) {
      case (0x2E, 0x00): [[0x4E, 0x00, 0x00, 0x01, 0x00], ready]
      case (0x20, 0x04): [[0x40, 0x04, 0x00, 0x02, 0x00, 0x00]]
      case (0x2F, 0x21): [[0x4F, 0x21, 0x00, 0x01, 0x00]]
      default: DWM3001CDK.answers(packet)
      }
    }
    var options = UWBDevice.Options(profile: .nxp)
    options.board = NXPBoard(named: "rhodes-v4")
    options.board?.configuration = NXPBoard.murata2BP.configuration
    options.board?.calibration = NXPBoard.murata2BP.calibration
    let device = try await UWBDevice.open(chip.endpoint, options: options.patient)
    await device.close()
    #expect(chip.packets.first == [0x2E, 0x00, 0x00, 0x02, 0x73, 0x04])
    #expect(
      chip.packets.map { $0[0...1] } == [
        [0x2E, 0x00], [0x20, 0x00], [0x20, 0x04], [0x20, 0x04], [0x2F, 0x21], [0x20, 0x02],
        [0x20, 0x03],
      ])
  }

  @Test("A chip that refuses what its board needs is not used without it")
  func refuses() async throws {
    let chip = try ScriptedChip(greeting: [[0x60, 0x01, 0x00, 0x01, 0x00]]) { packet, _ in
      switch (packet[0], packet[1]) {
      case (0x2E, 0x00): [[0x4E, 0x00, 0x00, 0x01, 0x00], [0x60, 0x01, 0x00, 0x01, 0x01]]
      case (0x20, 0x04): [[0x40, 0x04, 0x00, 0x05, 0x04, 0x01, 0xE4, 0x28, 0x04]]
      default: DWM3001CDK.answers(packet)
      }
    }
    var options = UWBDevice.Options(profile: .nxp)
    options.board = .murata2BP
    let error = await #expect(throws: DriverError.self) {
      _ = try await UWBDevice.open(chip.endpoint, options: options.patient)
    }
    guard error?.code == .parametersRefused else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("The antennas of a Murata 2BP are told as NXP's ROS node tells them")
  func murata() throws {
    let board = NXPBoard.murata2BP
    #expect(
      try packet(board.configuration[1]) == [
        0x20, 0x04, 0x00, 0x3B, 0x03,
        // TX: 1 is EF1 low, 2 is EF1 high.
        0xE4, 0x61, 0x0B, 0x02, 0x01, 0x01, 0x00, 0x00, 0x00, 0x02, 0x01, 0x00, 0x01, 0x00,
        // RX1 by EF2, RX2 by EF1.
        0xE4, 0x60, 0x19, 0x04, 0x01, 0x01, 0x02, 0x00, 0x02, 0x00, 0x02, 0x01, 0x02, 0x00, 0x00,
        0x00, 0x03, 0x02, 0x01, 0x00, 0x01, 0x00, 0x04, 0x02, 0x01, 0x00, 0x00, 0x00,
        // Pairs 2 and 3, 1 and 3.
        0xE4, 0x62, 0x0D, 0x02, 0x01, 0x02, 0x03, 0x00, 0x00, 0x00, 0x02, 0x01, 0x03, 0x00, 0x00,
        0x00,
      ])
    #expect(
      board.calibration.map(\.value) == [
        [0x04, 0x01, 0xD0, 0x3A, 0x02, 0xD0, 0x3A, 0x03, 0xD0, 0x3A, 0x04, 0xD0, 0x3A]
      ])
  }

  @Test("Boards are found by their names, which differ")
  func names() throws {
    for board in NXPBoard.all { #expect(NXPBoard(named: board.name) == board) }
    #expect(Set(NXPBoard.all.map(\.name)).count == NXPBoard.all.count)
    let endpoint = try LinkEndpoint("sr1xx:/dev/srxxx?board=murata-3cp")
    let error = #expect(throws: DriverError.self) { try endpoint.namedBoard() }
    #expect(error?.description.contains("murata-2bp") == true)
    let named = try LinkEndpoint("sr1xx:/dev/srxxx?board=rhodes-v4").namedBoard()
    #expect(named == NXPBoard(named: "rhodes-v4"))
  }

  @Test("The way to a chip tells its family")
  func expected() throws {
    let nxp = ["sr1xx:/dev/srxxx", "nxp-usb:/dev/ttyACM0", "spi:/dev/s?chip=sr250&irq=1"]
    for text in nxp { #expect(DeviceProfile.expected(at: try LinkEndpoint(text)) == .nxp) }
    let qorvo = ["uci:/dev/uci0", "spi:/dev/s?chip=qm35&irq=1&rdy=2"]
    for text in qorvo { #expect(DeviceProfile.expected(at: try LinkEndpoint(text)) == .qorvoQM35) }
    #expect(DeviceProfile.expected(at: try LinkEndpoint("/dev/ttyACM0")) == nil)
  }
}
