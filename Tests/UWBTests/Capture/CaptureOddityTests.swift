// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBTestSupport
import UCI
import UWB

/// Documentation/swift-uwb.docc/DeviceOddities.md, "Captures".
@Suite("Device oddities in captures", .computes)
struct CaptureOddityTests {
  @Test("Data packets of a capture have 16 bits of length, as on the wire")
  func dataPacketsInCaptures() throws {
    let data: [UInt8] = [0x02, 0x00, 0x2C, 0x01] + [UInt8](repeating: 0x5A, count: 300)
    var encoder = PcapngEncoder()
    var file = PcapngEncoder.preamble()
    for packet in [Samples.ready, data, Samples.ready] {
      file += encoder.packet(.inbound, packet, time: 1)
    }
    let capture = try CaptureReader.read(file)
    #expect(capture.packets.map(\.bytes) == [Samples.ready, data, Samples.ready])
    for packet in capture.packets { #expect(packet.isWhole) }
    let header = try PacketHeader(parsing: data.span.bytes)
    #expect(header.payloadLength == 300)
  }
}
