// SPDX-License-Identifier: Apache-2.0
internal import Bluetooth
internal import System

/// A channel to a phone over Bluetooth LE: each write and each notification is a message.
package final class BluetoothChannel: DataChannel {
  /// The first address of the phone, which stays the same while it is paired.
  package let name: String
  package let messages: AsyncStream<[UInt8]>

  private struct State {
    var isOpen = true
    package var failure: ChannelError?
    /// The number of messages that did not fit into the queue.
    var lost = 0
    /// The output of the service that the app has written to last.
    var output: GATTCharacteristic
    /// The last message, while the app has not subscribed.
    var waiting: Waiting?
  }
  private enum Waiting {
    /// A message that may be lost, because the app may not have subscribed.
    case sent([UInt8])
    /// A message that waits here, since other phones would receive it now.
    case heldBack([UInt8])

    var message: [UInt8] {
      switch self {
      case .sent(let message), .heldBack(let message): message
      }
    }
  }

  private let device: BluetoothDeviceID
  private let server: GATTServer
  private let state: Locked<State>
  private let continuation: AsyncStream<[UInt8]>.Continuation
  private let disconnect: @BluetoothActor () -> Void

  /// The number of messages that can be queued: a burst of an app that does not wait for answers.
  /// BlueZ confirms writes before this program receives them, so that nothing slows the app down.
  private static let capacity = 512

  /// Creates a channel, whose answers use `output` until the app writes to another service.
  ///
  /// - Parameter disconnect: called when the channel is closed on this side.
  init(
    _ device: BluetoothDeviceID, _ server: GATTServer, _ output: GATTCharacteristic,
    disconnect: @escaping @BluetoothActor () -> Void
  ) {
    (self.device, self.server, name) = (device, server, device.address)
    self.disconnect = disconnect
    state = Locked(State(output: output))
    (messages, continuation) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(Self.capacity))
  }

  var isOpen: Bool { state.withLock { $0.isOpen } }
  package var failure: ChannelError? { state.withLock { $0.failure } }

  /// Queues a message that the phone has written.
  ///
  /// - Parameter limit: the longest message in bytes.
  /// - Returns: an error if the message is too long or the queue is full. The channel ends.
  func receive(
    _ message: [UInt8], answering output: GATTCharacteristic, limit: Int
  ) -> ATTError? {
    guard message.count <= limit else {
      fail(ChannelError(.messageTooLong(bytes: message.count, limit: limit)))
      return .invalidLength
    }
    let isFirst = state.withLock { state -> Bool? in
      state.output = output
      // The phone has received the message, or asks for it again.
      state.waiting = nil
      guard state.lost > 0 || continuation.yield(message).isDropped else { return nil }
      state.lost += 1
      state.failure = ChannelError(.messagesLost(state.lost))
      return state.lost == 1
    }
    // The channel stays open until the phone has disconnected, so that its lost messages are
    // counted.
    if isFirst == true { Task { @BluetoothActor in disconnect() } }
    return isFirst == nil ? nil : .application(0x80)
  }

  /// Sends the message that waited for the subscription.
  @BluetoothActor func subscribed(_ output: GATTCharacteristic) {
    let waiting = state.withLock { $0.output == output ? $0.waiting.take() : nil }
    guard let waiting else { return }
    do throws(BluetoothError) {
      try server.notify(waiting.message, output, to: device)
    } catch {
      fail(ChannelError(.bluetooth(error)))
    }
  }

  /// Sends the message that was held back, after the other phones have disconnected.
  @BluetoothActor func othersDisconnected() {
    let (waiting, output) = state.withLock { ($0.waiting, $0.output) }
    guard isOpen, case .heldBack(let message)? = waiting else { return }
    do throws(BluetoothError) { try notifyWithoutSocket(message, output) } catch {
      fail(ChannelError(.bluetooth(error)))
    }
  }

  @BluetoothActor private func notifyWithoutSocket(
    _ message: [UInt8], _ output: GATTCharacteristic
  ) throws(BluetoothError) {
    let isSent = try server.notifyWithoutSocket(message, output, to: device)
    state.withLock { $0.waiting = isSent ? .sent(message) : .heldBack(message) }
  }

  package func send(_ message: [UInt8]) async throws(ChannelError) { try await notify(message) }

  @BluetoothActor private func notify(_ message: [UInt8]) throws(ChannelError) {
    let (isOpen, output) = state.withLock { ($0.isOpen, $0.output) }
    guard isOpen else { throw .closed }
    do throws(BluetoothError) {
      try server.notify(message, output, to: device)
    } catch {
      guard case .notSubscribed = error.reason else { throw failed(error) }
      // An app may write before it subscribes.
      do throws(BluetoothError) { try notifyWithoutSocket(message, output) } catch {
        throw failed(error)
      }
    }
  }

  private func failed(_ error: BluetoothError) -> ChannelError {
    let failure = ChannelError(.bluetooth(error))
    fail(failure)
    return failure
  }

  private func fail(_ error: ChannelError) {
    state.withLock { $0.failure = $0.failure ?? error }
    close()
  }

  package func close() {
    guard end() else { return }
    Task { @BluetoothActor in disconnect() }
  }

  /// Ends the channel of a phone that has disconnected.
  ///
  /// - Returns: whether it was open.
  @discardableResult
  func end() -> Bool {
    let wasOpen = state.withLock { state in
      defer { state.isOpen = false }
      return state.isOpen
    }
    continuation.finish()
    return wasOpen
  }
}

extension AsyncStream.Continuation.YieldResult {
  fileprivate var isDropped: Bool { if case .dropped = self { true } else { false } }
}
