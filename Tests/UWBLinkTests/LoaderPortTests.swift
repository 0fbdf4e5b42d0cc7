// SPDX-License-Identifier: Apache-2.0
import CUWB
import Glibc
import System
import SystemPackage
import Testing

@testable import UWBLink

/// A bus with an SR2xx in its loader, which records the bytes that it receives and answers 1, 2, 3…
private final class LoaderBus: Sendable {
  struct State {
    /// The result of every transfer and of every change of a line.
    var error: Int32 = 0
    /// Whether the loader has an answer.
    var offers = true
    var sent: [[UInt8]] = []
    var starts = 0
  }

  let state = Locked(State())

  func link() throws(LinkError) -> Link {
    let bus = cuwb_spi_bus(
      context: Unmanaged.passRetained(self).toOpaque(), lines: 1 << 0 | 1 << 3, longest: 4_200,
      transfer: { context, segments, count in
        LoaderBus.at(context).transfer(UnsafeBufferPointer(start: segments, count: Int(count)))
      },
      drive: { context, _, high in
        LoaderBus.at(context).state.withLock { state in
          if high { state.starts += 1 }
          return state.error
        }
      },
      sense: { context, _, high in
        high.pointee = LoaderBus.at(context).state.withLock { $0.offers }
        return 0
      },
      edges: { _, _, seen in
        seen.pointee = cuwb_edges(rising: false, falling: false)
        return 0
      },
      wait: { _, _, _, _, _ in 0 }, now: { _ in cuwb_monotonic_ns() }, pause: { _, _ in },
      close: { Unmanaged<LoaderBus>.fromOpaque($0!).release() })
    var raw: OpaquePointer?
    let endpoint = LinkEndpoint.spi(SPIEndpoint(device: "/dev/spidev9.0", chip: .sr250, lines: [:]))
    let result = cuwb_open_spi_bus(bus, CUWB_SPI_SR2XX, CUWB_START_KEEP, &raw)
    guard result.outcome == CUWB_OK, let raw else { throw LinkError(result, endpoint: endpoint) }
    return Link(endpoint, adopting: raw)
  }

  private func transfer(_ segments: UnsafeBufferPointer<cuwb_segment>) -> Int32 {
    state.withLock { state in
      var sent: [UInt8] = []
      for segment in segments {
        if let bytes = segment.out {
          sent += UnsafeRawBufferPointer(start: bytes, count: Int(segment.length))
        }
        if let memory = segment.in {
          let bytes = UnsafeMutableRawBufferPointer(start: memory, count: Int(segment.length))
          for index in bytes.indices { bytes[index] = UInt8(index + 1) }
        }
      }
      state.sent.append(sent)
      return state.error
    }
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> LoaderBus {
    Unmanaged<LoaderBus>.fromOpaque(context!).takeUnretainedValue()
  }
}

@Suite("A chip's loader behind a link", .timeLimit(.minutes(10)))
struct LoaderPortTests {
  @Test("Bytes go to a loader and come from it as they are")
  func bytes() throws {
    let bus = LoaderBus()
    let link = try bus.link()
    let starts = bus.state.withLock { $0.starts }
    try link.beginLoading()
    #expect(bus.state.withLock { $0.starts } == starts + 1, "it is switched off and on")
    try link.sendToLoader([0xA1, 0xA2])
    #expect(try link.receiveFromLoader(3, timeout: 0) == [1, 2, 3])
    #expect(try link.receiveFromLoader(2, timeout: 1_000) == [1, 2])
    try link.endLoading()
    // The first byte of a selection is its direction.
    #expect(bus.state.withLock { $0.sent } == [[0x00, 0xA1, 0xA2], [0xFF], [0xFF]])
  }

  @Test("A bus that fails, and a loader that says nothing, are errors of each step")
  func failures() throws {
    let bus = LoaderBus()
    let link = try bus.link()
    bus.state.withLock { $0.error = ENODEV }
    let errors = [
      #expect(throws: LinkError.self) { try link.beginLoading() },
      #expect(throws: LinkError.self) { try link.sendToLoader([1]) },
      #expect(throws: LinkError.self) { try link.receiveFromLoader(1, timeout: 0) },
    ]
    #expect(errors.map { $0?.code } == [.deviceGone, .deviceGone, .deviceGone])
    bus.state.withLock { ($0.error, $0.offers) = (0, false) }
    let silence = #expect(throws: LinkError.self) { try link.receiveFromLoader(1, timeout: 1) }
    #expect(silence?.code == .timeout)
  }

  @Test("A link without a loader says through which ones firmware is loaded")
  func none() throws {
    let (ours, theirs) = try FrameReaderTests.pair()
    let link = try Link(.descriptor(ours))
    let error = #expect(throws: LinkError.self) { try link.beginLoading() }
    #expect(error?.code == .invalidEndpoint)
    #expect(error?.recoverySuggestion?.contains("spi:/dev/spidev0.0") == true)
    try theirs.close()
  }
}
