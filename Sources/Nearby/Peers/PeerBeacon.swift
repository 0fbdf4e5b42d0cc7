// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import System

/// A beacon that announces a program in all networks of this machine, and receives the
/// announcements of other programs.
///
/// All work runs on its own queue. The beacon follows networks that appear and disappear.
final class PeerBeacon: @unchecked Sendable {
  // Sendable: dispatch sources are thread-safe, though not marked so on Linux.

  struct Heard: Sendable {
    var announcement: PeerAnnouncement
    /// The sender's address in dotted decimals.
    var address: String
  }

  private let queue = DispatchQueue(label: "uwb peers")
  private let reader: any DispatchSourceRead
  private let clock: any DispatchSourceTimer
  private let isClosed = Locked(false)
  /// Whether the first announcement was sent in a network besides the loopback.
  let hasNetwork: Bool

  /// Starts to send and to receive announcements.
  ///
  /// - Parameters:
  ///   - heard: called with each announcement, including this program's own.
  ///   - tick: called after each announcement of this program.
  init(
    _ announcement: PeerAnnouncement, every interval: Duration,
    heard: @escaping @Sendable (Heard) -> Void, tick: @escaping @Sendable () -> Void
  ) throws(NIPeerError) {
    let socket = Glibc.socket(
      AF_INET,
      Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard socket >= 0 else { throw .noNetwork(errno: errno) }
    // Several programs of this machine may use the port.
    var yes: Int32 = 1
    unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var group = Self.group
    let bound = unsafe withUnsafePointer(to: &group) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let (error, bytes) = (errno, announcement.bytes)
    let networks = bound == 0 ? Self.send(bytes, on: socket) : []
    guard bound == 0, !networks.isEmpty else {
      Glibc.close(socket)
      throw .noNetwork(errno: bound == 0 ? ENETUNREACH : error)
    }
    hasNetwork = networks.contains { !$0.hasPrefix("127.") }
    let farewell =
      PeerAnnouncement(
        id: announcement.id, port: 0, service: announcement.service, name: announcement.name
      ).bytes
    reader = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
    reader.setEventHandler { Self.read(socket, heard) }
    reader.setCancelHandler {
      _ = Self.send(farewell, on: socket)
      Glibc.close(socket)
    }
    clock = DispatchSource.makeTimerSource(queue: queue)
    let milliseconds = Int(interval / .milliseconds(1))
    clock.schedule(
      deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
    clock.setEventHandler {
      _ = Self.send(bytes, on: socket)
      tick()
    }
    reader.resume()
    clock.resume()
  }

  deinit { close() }

  /// Announces that this program closes, and stops.
  func close() {
    let wasOpen = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    guard wasOpen else { return }
    clock.cancel()
    reader.cancel()
  }

  private static var group: sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = PeerAnnouncement.port.bigEndian
    unsafe inet_pton(AF_INET, PeerAnnouncement.group, &address.sin_addr)
    return address
  }

  /// Sends a datagram in each network, after joining the group there.
  ///
  /// - Returns: this machine's addresses in the networks where sending succeeded.
  private static func send(_ bytes: [UInt8], on socket: Int32) -> [String] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&list) == 0 else { return [] }
    defer { unsafe freeifaddrs(list) }
    var reached: [String] = []
    var next = unsafe list
    while let entry = unsafe next?.pointee {
      unsafe next = entry.ifa_next
      guard let address = unsafe entry.ifa_addr, unsafe Int32(address.pointee.sa_family) == AF_INET,
        unsafe entry.ifa_flags & UInt32(IFF_UP) != 0, reached.count < 32
      else { continue }
      let own = unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe $0.pointee.sin_addr
      }
      var join = ip_mreq(imr_multiaddr: group.sin_addr, imr_interface: own)
      unsafe setsockopt(
        socket, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &join,
        socklen_t(MemoryLayout<ip_mreq>.size))
      var from = own
      unsafe setsockopt(
        socket, Int32(IPPROTO_IP), IP_MULTICAST_IF, &from, socklen_t(MemoryLayout<in_addr>.size))
      var to = group
      let sent = unsafe withUnsafePointer(to: &to) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe sendto(
            socket, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0,
            socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if sent == bytes.count { reached.append(text(own)) }
    }
    return reached
  }

  /// Reads at most 64 datagrams, so that the timer is called even in a flood.
  private static func read(_ socket: Int32, _ heard: (Heard) -> Void) {
    var buffer = [UInt8](repeating: 0, count: PeerAnnouncement.longest + 1)
    for _ in 0..<64 {
      var from = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = unsafe withUnsafeMutablePointer(to: &from) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe recvfrom(socket, &buffer, buffer.count, 0, $0, &length)
        }
      }
      guard count >= 0 else { return }
      guard let announcement = PeerAnnouncement(Array(buffer[..<count])) else { continue }
      heard(Heard(announcement: announcement, address: text(from.sin_addr)))
    }
  }

  private static func text(_ address: in_addr) -> String {
    unsafe withUnsafeBytes(of: address) { unsafe $0.map(String.init).joined(separator: ".") }
  }
}
