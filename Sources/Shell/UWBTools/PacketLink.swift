// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import System
package import UCI
package import UWB
package import UWBLink

package struct WirePacket: Sendable {
  package var direction: PacketDirection
  /// The packet with its header.
  package var bytes: [UInt8]
  /// The time in nanoseconds of CLOCK_MONOTONIC.
  package var time: UInt64
  /// The number of bytes discarded before the packet because they were not UCI.
  var skippedBefore = 0
}

/// A link without a driver: it sends nothing by itself.
///
/// `events` has a single consumer.
package final class PacketLink: Sendable {
  package enum Event: Sendable {
    case packet(WirePacket)
    /// The time of `timer(after:)` has passed.
    case timer(Int)
    /// The link failed. This is the last event.
    case ended(LinkError)
  }

  /// Packets in order of arrival and sending, and timers.
  package let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  private let parts: Locked<(link: Link, reader: FrameReader)?>
  private let record: UWBDevice.PacketTap?
  private let counters = Locked((timers: 0, dropped: 0))
  /// The time of the last packet; the lock orders all packets.
  private let order: Locked<UInt64>

  /// The number of buffered events; later ones are dropped and counted.
  private static let backlog = 100_000

  /// Opens the device.
  ///
  /// - Parameter record: Called with each packet.
  package init(
    _ endpoint: LinkEndpoint, framing: Link.Framing = .init(), record: UWBDevice.PacketTap? = nil
  ) async throws(LinkError) {
    let link = try await Link.open(endpoint, connector: Link.serviceConnector)
    let (events, continuation) = AsyncStream<Event>.makeStream(
      bufferingPolicy: .bufferingOldest(Self.backlog))
    self.events = events
    self.continuation = continuation
    self.record = record
    let (counters, order) = (counters, Locked<UInt64>(0))
    self.order = order
    let reader = FrameReader(
      link,
      handler: { bytes, info in
        let packet = WirePacket(
          direction: .inbound, bytes: unsafe bytes.withUnsafeBytes { unsafe Array($0) },
          time: info.receivedAt, skippedBefore: Int(info.skippedBefore))
        if Self.add(packet, order, record, continuation) { counters.withLock { $0.dropped += 1 } }
      },
      ended: { error in
        continuation.yield(.ended(error))
        continuation.finish()
      })
    parts = Locked((link, reader))
    reader.setFraming(framing)
    try reader.start()
  }

  deinit { close() }

  package func close() { _ = beginClosing() }

  /// Closes the device. It can be opened again when this returns.
  package func closeAndWait() async {
    guard let (stopped, closed) = beginClosing() else { return }
    await stopped.wait()
    await closed.wait()
  }

  /// Runs `body` and closes the device, even after an error.
  package nonisolated(nonsending) func use<R>(
    _ body: nonisolated(nonsending) () async throws -> R
  ) async throws -> R {
    try await lending(body, end: closeAndWait)
  }

  private func beginClosing() -> (stopped: Latch, closed: Latch)? {
    let parts = parts.withLock { $0.take() }
    parts?.reader.stop()
    continuation.finish()
    return parts.map { ($0.reader.stopped, $0.link.closed) }
  }

  /// Changes the framing once the chip is identified.
  package func adopt(_ profile: DeviceProfile) {
    var framing = Link.Framing()
    framing.extendedLength = profile.extendedLength
    framing.dataLengthInByte3 = profile.dataLengthInByte3
    parts.withLock { $0?.reader }?.setFraming(framing)
  }

  package func send(_ packet: [UInt8]) async throws(LinkError) {
    guard let link = parts.withLock({ $0?.link }) else { return }
    let willWrite: @Sendable (RawSpan) -> Void = { [order, record, continuation] _ in
      _ = Self.add(
        WirePacket(direction: .outbound, bytes: packet, time: Self.now()), order, record,
        continuation)
    }
    try await link.write(packet, willWrite: willWrite)
  }

  /// Records a packet and adds an event for it, one packet at a time.
  ///
  /// Times never decrease. A packet may be read before another one is sent, but recognised
  /// afterwards: it then receives the time of the sent packet.
  ///
  /// - Returns: Whether the event was dropped because the buffer is full.
  private static func add(
    _ packet: WirePacket, _ order: Locked<UInt64>, _ record: UWBDevice.PacketTap?,
    _ continuation: AsyncStream<Event>.Continuation
  ) -> Bool {
    order.withLock { last in
      var packet = packet
      last = max(last, packet.time)
      packet.time = last
      unsafe record?(packet.direction, packet.bytes.span.bytes, last)
      if case .dropped = continuation.yield(.packet(packet)) { return true }
      return false
    }
  }

  /// Sends a packet without recording it or adding an event.
  ///
  /// - Parameter timeout: The longest wait for the other end to read.
  package func write(_ packet: [UInt8], timeout: Duration) async throws(LinkError) {
    try await parts.withLock { $0?.link }?.write(packet, timeout: timeout)
  }

  /// Adds an event with the returned number after a delay.
  @discardableResult
  package func timer(after delay: Duration) -> Int {
    let number = counters.withLock {
      $0.timers += 1
      return $0.timers
    }
    let continuation = continuation
    Task {
      try? await Task.sleep(for: delay)
      continuation.yield(.timer(number))
    }
    return number
  }

  /// The statistics of the link; nil once it is closed.
  package var statistics: LinkStatistics? { parts.withLock { $0?.link }?.statistics }

  /// The modem lines; nil on links without them.
  var modemLines: ModemLines? { parts.withLock { $0?.link }?.modemLines }

  package var dropped: Int { counters.withLock { $0.dropped } }

  /// Returns the time in nanoseconds of CLOCK_MONOTONIC.
  package static func now() -> UInt64 { nanoseconds(of: CLOCK_MONOTONIC) }
}

extension WirePacket {
  /// The device state in this packet; nil for another packet.
  package var deviceState: DeviceState? {
    guard direction == .inbound, bytes.count > PacketHeader.length,
      let header = try? unsafe PacketHeader(parsing: bytes.span.bytes),
      header.type == .notification, header.opcode == .coreDeviceStatus
    else { return nil }
    return DeviceState(rawValue: bytes[PacketHeader.length])
  }
}

extension PacketLink {
  /// The time-outs for READY after a reset. The first is the time-out of NXP's Android service. If
  /// READY came before the response, a second READY is awaited for the shorter time.
  private static let ready = (patience: Duration.seconds(3), again: Duration.milliseconds(500))

  /// Resets the chip, and waits for READY, because some firmware drops earlier commands.
  ///
  /// - Parameter seen: Called with each packet.
  /// - Returns: Whether the chip is ready.
  package nonisolated(nonsending) func reset(
    timeout: Duration, seen: (WirePacket) throws -> Void
  ) async throws -> Bool {
    var isReady = false
    func take(_ packet: WirePacket) throws {
      try seen(packet)
      if packet.deviceState == .ready { isReady = true }
    }
    let response = try await ask(
      Segmentation.packets(DeviceReset()), timeout: timeout, seen: take)
    guard response?.first == Status.ok.rawValue else { return false }
    let patience = isReady ? Self.ready.again : Self.ready.patience
    try await receive(for: patience) { packet in
      try take(packet)
      return packet.deviceState == .ready
    }
    return isReady
  }

  /// Receives packets for a time, or until `wanted` returns true.
  ///
  /// - Returns: Whether `wanted` returned true.
  /// - Throws: `LinkError` when the link ends; `CancellationError`.
  @discardableResult
  package nonisolated(nonsending) func receive(
    for time: Duration, until wanted: (WirePacket) throws -> Bool
  ) async throws -> Bool {
    let end = timer(after: time)
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

  /// Sends the packets of one command, and receives packets up to the last one of its response.
  ///
  /// - Parameter seen: Called with each packet, including the packets of the response.
  /// - Returns: The payload of the response; nil after the time-out.
  package nonisolated(nonsending) func ask(
    _ packets: [[UInt8]], timeout: Duration, seen: (WirePacket) throws -> Void = { _ in }
  ) async throws -> [UInt8]? {
    guard let first = packets.first, first.count >= PacketHeader.length else { return nil }
    let opcode = Opcode(GroupID(rawValue: first[0]), first[1])
    for packet in packets { try await send(packet) }
    var payload: [UInt8] = []
    let answered = try await receive(for: timeout) { packet in
      try seen(packet)
      guard packet.direction == .inbound,
        let header = try? unsafe PacketHeader(parsing: packet.bytes.span.bytes),
        header.type == .response, header.opcode == opcode
      else { return false }
      payload += packet.bytes.dropFirst(PacketHeader.length)
      return !header.moreFollows
    }
    return answered ? payload : nil
  }
}
