// SPDX-License-Identifier: Apache-2.0
internal import Bluetooth
internal import System

/// A phone that is connected over Bluetooth LE: each write and each notification is a message.
final class BluetoothChannel: DataChannel {
  /// The phone's address when it was met first, which it keeps while it is paired.
  let name: String
  let messages: AsyncStream<[UInt8]>

  private struct State {
    var isOpen = true
    var failure: AccessoryError?
    /// Where the app listens: with the service over which it has spoken last.
    var output: GATTCharacteristic
    /// The last message, while the app has not subscribed.
    var waiting: [UInt8]?
    /// Whether others would have heard it.
    var isHeldBack = false
  }

  private let device: BluetoothDeviceID
  private let server: GATTServer
  private let state: Locked<State>
  private let continuation: AsyncStream<[UInt8]>.Continuation
  private let offered: @BluetoothActor ([UInt8]) -> Void
  private let disconnect: @BluetoothActor () -> Void

  /// Messages that can wait. More than enough, because apps wait for the answer to each.
  private static let capacity = 64

  /// - Parameters:
  ///   - offered: called with configuration data, before the app is sent it.
  ///   - disconnect: called when the channel is closed on this side.
  init(
    _ device: BluetoothDeviceID, _ server: GATTServer, _ output: GATTCharacteristic,
    offered: @escaping @BluetoothActor ([UInt8]) -> Void,
    disconnect: @escaping @BluetoothActor () -> Void
  ) {
    (self.device, self.server, name) = (device, server, device.address)
    (self.offered, self.disconnect) = (offered, disconnect)
    state = Locked(State(output: output))
    (messages, continuation) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(Self.capacity))
  }

  var isOpen: Bool { state.withLock { $0.isOpen } }
  var failure: AccessoryError? { state.withLock { $0.failure } }

  /// Takes what the phone has written.
  ///
  /// - Returns: false: there is no room for it, which ends the channel.
  func take(_ message: [UInt8], answering output: GATTCharacteristic) -> Bool {
    state.withLock { state in
      state.output = output
      // It has been heard, or is asked for again.
      state.waiting = nil
    }
    guard case .dropped = continuation.yield(message) else { return true }
    fail(AccessoryError(.receiveOverflow))
    return false
  }

  /// Sends what has waited for it.
  @BluetoothActor func subscribed(_ output: GATTCharacteristic) {
    let waiting = state.withLock { $0.output == output ? $0.waiting.take() : nil }
    guard let waiting else { return }
    do throws(BluetoothError) {
      try server.notify(waiting, output, to: device)
    } catch {
      fail(AccessoryError(.bluetooth(error)))
    }
  }

  /// Sends what others would have heard, who have left.
  @BluetoothActor func othersLeft() {
    let (message, output) = state.withLock { ($0.isHeldBack ? $0.waiting : nil, $0.output) }
    guard isOpen, let message else { return }
    do throws(BluetoothError) { try tellWithoutSocket(message, output) } catch {
      fail(AccessoryError(.bluetooth(error)))
    }
  }

  @BluetoothActor private func tellWithoutSocket(
    _ message: [UInt8], _ output: GATTCharacteristic
  ) throws(BluetoothError) {
    let isSent = try server.notifyWithoutSocket(message, output, to: device)
    state.withLock { ($0.waiting, $0.isHeldBack) = (message, !isSent) }
  }

  func send(_ message: [UInt8]) async throws(AccessoryError) { try await notify(message) }

  @BluetoothActor private func notify(_ message: [UInt8]) throws(AccessoryError) {
    let (isOpen, output) = state.withLock { ($0.isOpen, $0.output) }
    guard isOpen else { throw .closed }
    // The phone may read it as soon as the app has it.
    if message.first == 0x01 { offered(Array(message.dropFirst())) }
    do throws(BluetoothError) {
      try server.notify(message, output, to: device)
    } catch {
      guard case .notSubscribed = error.reason else { throw failed(error) }
      // Apps may speak before they listen.
      do throws(BluetoothError) { try tellWithoutSocket(message, output) } catch {
        throw failed(error)
      }
    }
  }

  private func failed(_ error: BluetoothError) -> AccessoryError {
    let failure = AccessoryError(.bluetooth(error))
    fail(failure)
    return failure
  }

  private func fail(_ error: AccessoryError) {
    state.withLock { $0.failure = $0.failure ?? error }
    close()
  }

  func close() {
    guard end() else { return }
    Task { @BluetoothActor in disconnect() }
  }

  /// Ends the channel of a phone that has left.
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
