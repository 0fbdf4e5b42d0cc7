// SPDX-License-Identifier: Apache-2.0
internal import Channels
internal import System
internal import UWB

/// A channel to one peer that receives messages within a time-out.
struct PeerWire: Sendable {
  let channel: any DataChannel
  /// The transport, which has to exist while the channel is in use.
  private let transport: any PeerTransport

  private let timer: NINearbyPeers.Limits.Timer

  init(
    _ channel: any DataChannel, _ transport: any PeerTransport,
    timer: @escaping NINearbyPeers.Limits.Timer = OneShotTimer.init
  ) {
    (self.channel, self.transport, self.timer) = (channel, transport, timer)
  }

  func send(_ message: PeerMessage) async throws(NIPeerError) {
    do throws(ChannelError) { try await channel.send(message.bytes) } catch {
      // Over Bluetooth LE, the message may be too long.
      throw error.code == .bluetooth ? .unreachable(error.description) : .vanished
    }
  }

  /// Waits for a message. Closes the channel after the limit, or if the task is cancelled.
  func next(within limit: Duration? = nil) async throws(NIPeerError) -> PeerMessage {
    let isLate = Locked(false)
    let timer = limit.map { limit in
      self.timer(limit) { [channel] in
        isLate.withLock { $0 = true }
        channel.close()
      }
    }
    defer { timer?.cancel() }
    let bytes = await withTaskCancellationHandler {
      var messages = channel.messages.makeAsyncIterator()
      return await messages.next()
    } onCancel: {
      channel.close()
    }
    guard let bytes else {
      if isLate.withLock({ $0 }) { throw .silent }
      guard let failure = channel.failure else { throw .vanished }
      throw failure.code == .bluetooth ? .unreachable(failure.description) : .damaged
    }
    guard let message = PeerMessage(bytes) else { throw .damaged }
    return message
  }

  /// Sends a refusal, and ends the channel.
  func refuse() async {
    try? await send(.refusal)
    channel.close()
  }
}
