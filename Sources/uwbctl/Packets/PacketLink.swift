// SPDX-License-Identifier: Apache-2.0

import Glibc
import Locking
import UCI
import UWB
import UWBLink

/// A packet as it went over the wire.
struct WirePacket: Sendable {
  var direction: PacketDirection
  /// Header included.
  var bytes: [UInt8]
  /// CLOCK_MONOTONIC in nanoseconds.
  var time: UInt64
  /// Bytes thrown away before it because they were no UCI.
  var skippedBefore = 0
}

/// A link without a driver on it: nothing is reset, asked or answered by itself.
///
/// One task at a time takes `events`.
final class PacketLink: Sendable {
  enum Event: Sendable {
    case packet(WirePacket)
    /// `timer(after:)` has passed.
    case timer(Int)
    /// The link ended by itself; nothing follows.
    case ended(LinkError)
  }

  /// What arrives and what is sent, in that order, and timers.
  let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  private let parts: Locked<(link: Link, reader: FrameReader)?>
  private let record: UWBDevice.PacketTap?
  private let counters = Locked((timers: 0, dropped: 0))

  /// So many events wait for a slow taker; what comes then is dropped and counted.
  private static let backlog = 100_000

  /// - Parameter record: sees every packet, as it comes.
  /// - Throws: `LinkError`.
  init(
    _ endpoint: LinkEndpoint, framing: Link.Framing = .init(), record: UWBDevice.PacketTap? = nil
  ) throws(LinkError) {
    let link = try Link(endpoint)
    let (events, continuation) = AsyncStream<Event>.makeStream(
      bufferingPolicy: .bufferingOldest(Self.backlog))
    self.events = events
    self.continuation = continuation
    self.record = record
    let counters = counters
    let reader = FrameReader(
      link,
      handler: { bytes, info in
        record?(.inbound, bytes, info.receivedAt)
        let packet = WirePacket(
          direction: .inbound, bytes: bytes.withUnsafeBytes { Array($0) },
          time: info.receivedAt, skippedBefore: Int(info.skippedBefore))
        if case .dropped = continuation.yield(.packet(packet)) {
          counters.withLock { $0.dropped += 1 }
        }
      },
      ended: { error in
        continuation.yield(.ended(error))
        continuation.finish()
      })
    parts = Locked((link, reader))
    reader.setFraming(framing)
    reader.start()
  }

  deinit { close() }

  /// Closes the device: when this returns, somebody else can open it.
  func close() {
    let parts = parts.withLock { $0.take() }
    parts?.reader.stop()
    continuation.finish()
  }

  /// Changes how frames are told apart, once the chip has said who it is.
  func adopt(_ profile: DeviceProfile) {
    var framing = Link.Framing()
    framing.extendedLength = profile.extendedLength
    framing.dataLengthInByte3 = profile.dataLengthInByte3
    parts.withLock { $0?.reader }?.setFraming(framing)
  }

  /// Sends a packet as it is.
  ///
  /// - Throws: `LinkError`.
  func send(_ packet: [UInt8]) throws(LinkError) {
    guard let link = parts.withLock({ $0?.link }) else { return }
    let time = Self.now()
    record?(.outbound, packet.span.bytes, time)
    continuation.yield(
      .packet(WirePacket(direction: .outbound, bytes: packet, time: time)))
    try link.write(packet)
  }

  /// Passes a packet on: like `send`, but neither recorded nor among the events.
  ///
  /// - Parameter timeout: milliseconds to wait while the other end takes nothing.
  /// - Throws: `LinkError`.
  func write(_ packet: [UInt8], timeout: Int32) throws(LinkError) {
    try parts.withLock { $0?.link }?.write(packet, timeout: timeout)
  }

  /// Puts an event with the number returned behind what will have come by then.
  @discardableResult
  func timer(after milliseconds: Int) -> Int {
    let number = counters.withLock {
      $0.timers += 1
      return $0.timers
    }
    let continuation = continuation
    Task {
      try? await Task.sleep(for: .milliseconds(milliseconds))
      continuation.yield(.timer(number))
    }
    return number
  }

  /// What the link has seen; nil once it is closed.
  var statistics: Link.Statistics? { parts.withLock { $0?.link }?.statistics }

  /// The modem lines; nil where there are none.
  var modemLines: ModemLines? { parts.withLock { $0?.link }?.modemLines }

  /// Packets that were not taken in time.
  var dropped: Int { counters.withLock { $0.dropped } }

  /// CLOCK_MONOTONIC in nanoseconds.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension PacketLink {
  /// Takes what comes until a deadline, or until `wanted` says that it was the last.
  ///
  /// - Returns: whether `wanted` was met.
  /// - Throws: `LinkError` when the link ends; `CancellationError`.
  @discardableResult
  func take(
    milliseconds: Int, until wanted: (WirePacket) throws -> Bool
  ) async throws -> Bool {
    let end = timer(after: milliseconds)
    for await event in events {
      switch event {
      case .packet(let packet): if try wanted(packet) { return true }
      case .timer(end): return false
      case .timer: break
      case .ended(let error): throw error
      }
    }
    try Task.checkCancellation()
    throw LinkError(.deviceGone, endpoint: "the device")
  }

  /// Sends packets that form one command and takes what comes up to the last packet of its
  /// response.
  ///
  /// - Parameter seen: sees every packet, the response's too.
  /// - Returns: the payload of the response; nil when none came in time.
  func ask(
    _ packets: [[UInt8]], milliseconds: Int, seen: (WirePacket) throws -> Void = { _ in }
  ) async throws -> [UInt8]? {
    guard let first = packets.first, first.count >= PacketHeader.length else { return nil }
    let opcode = Opcode(GroupID(rawValue: first[0]), first[1])
    for packet in packets { try send(packet) }
    var payload: [UInt8] = []
    let answered = try await take(milliseconds: milliseconds) { packet in
      try seen(packet)
      guard packet.direction == .inbound,
        let header = try? PacketHeader(parsing: packet.bytes.span.bytes),
        header.type == .response, header.opcode == opcode
      else { return false }
      payload += packet.bytes.dropFirst(PacketHeader.length)
      return !header.moreFollows
    }
    return answered ? payload : nil
  }
}
