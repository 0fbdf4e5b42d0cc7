// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A socket to bluetoothd in which each datagram is one notification or one write.
@BluetoothActor final class PacketSocket: EventSource {
  private let descriptor: OwnedDescriptor
  private var isOpen = true
  /// A handler of each datagram.
  private let received: @BluetoothActor ([UInt8]) -> Void
  /// A handler that is called once, after the other side has closed the socket.
  private let ended: @BluetoothActor () -> Void

  /// The size of the receive buffer in bytes. Every attribute is shorter.
  private static let longest = 1_024

  init(
    _ descriptor: OwnedDescriptor, received: @escaping @BluetoothActor ([UInt8]) -> Void,
    ended: @escaping @BluetoothActor () -> Void
  ) {
    self.descriptor = descriptor
    self.received = received
    self.ended = ended
    let flags = fcntl(descriptor.number, F_GETFL, 0)
    _ = fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK)
    EventSources.add(self)
  }

  /// Creates two connected sockets.
  static func pair() throws(BluetoothError) -> (OwnedDescriptor, OwnedDescriptor) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw BluetoothError(.system("A pair of sockets", errno))
    }
    return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
  }

  /// Closes the socket without a call of `ended`.
  func close() {
    guard isOpen else { return }
    isOpen = false
    EventSources.remove(self)
    // bluetoothd sees the end at once, even if the descriptor stays open.
    shutdown(descriptor.number, Int32(SHUT_RDWR))
  }

  func send(_ bytes: [UInt8]) throws(BluetoothError) {
    guard isOpen else { throw BluetoothError(.notSubscribed) }
    while true {
      let count = unsafe Glibc.send(
        descriptor.number, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      if count >= 0 { return }
      switch errno {
      case EINTR: continue
      case EAGAIN, ENOBUFS: throw BluetoothError(.peerNotReading)
      default: throw BluetoothError(.notSubscribed)
      }
    }
  }

  func prepare() -> (descriptor: Int32, events: Int16, deadline: UInt64?)? {
    isOpen ? (descriptor.number, Int16(POLLIN), nil) : nil
  }

  func ready(_ events: Int16) {
    var buffer = [UInt8](repeating: 0, count: Self.longest)
    while isOpen {
      let count = unsafe recv(
        descriptor.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count < 0, errno == EINTR { continue }
      if count > 0 {
        received(Array(buffer[..<count]))
      } else if count == 0, events & Int16(POLLHUP) == 0 {
        // An empty datagram.
        return received([])
      } else if count < 0, errno == EAGAIN, events & Int16(POLLHUP | POLLERR) == 0 {
        return
      } else {
        close()
        return ended()
      }
    }
  }
}
