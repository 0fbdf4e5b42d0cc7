// SPDX-License-Identifier: Apache-2.0
internal import Channels
internal import System

/// The transport of peers in the local network: announcements by UDP, messages over TCP.
final class NetworkTransport: PeerTransport {
  let id: UInt64
  let arrivals: AsyncStream<PeerArrival>
  let listener: SocketListener
  private let beacon: PeerBeacon
  private let roster: Locked<PeerRoster>

  init(
    service: String, name: String, every interval: Duration,
    report: @escaping @Sendable (PeerSighting) -> Void
  ) async throws(NIPeerError) {
    let id = UInt64.random(in: 1 ... .max)
    self.id = id
    let roster = Locked(PeerRoster(own: id, service: service))
    self.roster = roster
    do throws(ChannelError) {
      listener = try await SocketListener(.tcp(host: "0.0.0.0", port: 0))
    } catch {
      throw .unreachable(error.description)
    }
    var port: UInt16 = 0
    if case .tcp(_, let chosen) = listener.endpoint { port = chosen }
    let start = ContinuousClock.now
    @Sendable func now() -> Double { start.duration(to: .now) / .seconds(1) }
    beacon = try PeerBeacon(
      PeerAnnouncement(id: id, port: port, service: service, name: name), every: interval
    ) { heard in
      roster.withLock { roster in
        if let change = roster.update(heard, at: now()) { report(roster.sighting(change)) }
      }
    } tick: {
      roster.withLock { roster in
        for change in roster.expire(at: now()) { report(roster.sighting(change)) }
      }
    }
    let (arrivals, arrival) = AsyncStream<PeerArrival>.makeStream()
    self.arrivals = arrivals
    Task { [accepted = listener.channels] in
      for await channel in accepted {
        arrival.yield(PeerArrival(channel: channel, address: channel.host ?? ""))
      }
      arrival.finish()
    }
  }

  deinit { close() }

  var hasNetwork: Bool { beacon.hasNetwork }

  func connect(to id: UInt64) async throws(NIPeerError) -> any DataChannel {
    guard let entry = roster.withLock({ $0.entries[id] }) else {
      throw .unreachable("it has closed.")
    }
    do throws(ChannelError) {
      return try await SocketChannel.connect(to: .tcp(host: entry.address, port: entry.port))
    } catch {
      throw .unreachable(error.description)
    }
  }

  func close() {
    beacon.close()
    listener.close()
  }

  func end() async { close() }
}

extension PeerRoster {
  fileprivate func sighting(_ change: Change) -> PeerSighting {
    switch change {
    case .found(let id): .found(id: id, name: entries[id]?.name ?? "")
    case .lost(let id): .lost(id: id)
    }
  }
}
