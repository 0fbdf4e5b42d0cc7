// SPDX-License-Identifier: Apache-2.0
internal import Locking
public import UCI
public import UWBLink

/// An event of a device beside measurements and responses. Switch over it with a `default`: cases
/// may be added.
public enum DeviceEvent: Sendable {
  /// The chip's own state changed.
  case deviceStatus(DeviceState)
  /// A session changed its state.
  case sessionStatus(SessionStatusNotification)
  /// The chip reported an error that belongs to no command.
  case genericError(Status)
  /// Measurements were dropped because their consumer was too slow: `total` of this session so far.
  case measurementsDropped(sessionToken: UInt32, total: Int)
  /// Data of a session was dropped because its subscriber was too slow.
  case dataDropped(sessionToken: UInt32)
  /// Any other notification, or a data message.
  case message(Message)
  /// A response that no command waits for: a late one, or an unrelated one.
  case unexpectedResponse(Opcode)
  /// The device lost its sessions, or is no longer available. With `UWBDevice.Options.recovery` it
  /// is being recovered: `.recovered` or the end of the events follows.
  case lost(DriverError)
  /// An attempt to recover the device failed; the next one follows.
  case notRecovered(DriverError)
  /// The device is back, with its sessions as they were.
  case recovered
  /// The device is back, but no longer accepts this session, which has ended.
  case sessionLost(sessionID: UInt32, DriverError)
  /// The link ended; nothing follows.
  case disconnected(LinkError)
}

/// Sends each element to all subscribers.
package final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var subscribers: [Int: AsyncStream<Element>.Continuation] = [:]
    var next = 0
    var finished = false
  }

  private let state = Locked(State())

  package init() {}

  package var subscriberCount: Int { state.withLock { $0.subscribers.count } }

  /// - Parameter policy: bounded, so that a slow subscriber cannot use unlimited memory.
  package func subscribe(
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    let id = state.withLock { state -> Int? in
      guard !state.finished else { return nil }
      state.next += 1
      state.subscribers[state.next] = continuation
      return state.next
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.subscribers.removeValue(forKey: id) }
    }
    return stream
  }

  /// - Returns: whether an element was dropped because a subscriber was too slow.
  @discardableResult
  package func send(_ element: Element) -> Bool {
    var isDropped = false
    // Outside the lock, which the termination handler of a subscriber takes.
    for subscriber in state.withLock({ Array($0.subscribers.values) }) {
      if case .dropped = subscriber.yield(element) { isDropped = true }
    }
    return isDropped
  }

  package func finish() {
    let subscribers = state.withLock { state in
      state.finished = true
      defer { state.subscribers = [:] }
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}
