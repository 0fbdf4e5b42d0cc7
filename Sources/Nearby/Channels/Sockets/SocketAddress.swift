// SPDX-License-Identifier: Apache-2.0
package import Glibc
internal import System
package import SystemPackage

/// Functions that open sockets by address. They block while a name is resolved and a connection is
/// made.
package enum SocketAddress {
  /// Opens a stream socket for each address of an endpoint until `body` accepts one.
  package static func withSocket(
    _ endpoint: ChannelEndpoint, forListening: Bool,
    _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Errno?
  ) throws(ChannelError) -> FileDescriptor {
    var outcome = Result<FileDescriptor, Errno>.failure(.noSuchAddressOrDevice)
    switch endpoint {
    case .unix(let path):
      outcome =
        unsafe withUnixAddress(path) { unsafe attempt(AF_UNIX, $0, $1, body) }
        ?? .failure(.fileNameTooLong)
    case .tcp(let host, let port):
      var hints = unsafe addrinfo()
      unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      unsafe hints.ai_flags = forListening ? AI_PASSIVE : 0
      var list: UnsafeMutablePointer<addrinfo>?
      guard unsafe getaddrinfo(host, "\(port)", &hints, &list) == 0, let list = unsafe list else {
        throw ChannelError(.unresolvedHost(host))
      }
      defer { unsafe freeaddrinfo(list) }
      var entry: UnsafeMutablePointer<addrinfo>? = unsafe list
      while let current = unsafe entry {
        outcome = unsafe attempt(
          current.pointee.ai_family, current.pointee.ai_addr, current.pointee.ai_addrlen, body)
        if case .success = outcome { break }
        unsafe entry = current.pointee.ai_next
      }
    }
    return try outcome.mapError {
      ChannelError(.system($0, endpoint: endpoint.description))
    }.get()
  }

  private static func attempt(
    _ family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
    _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Errno?
  ) -> Result<FileDescriptor, Errno> {
    let number = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return .failure(Errno(rawValue: errno)) }
    if let error = unsafe body(number, address, length) {
      Glibc.close(number)
      return .failure(error)
    }
    return .success(FileDescriptor(rawValue: number))
  }

  /// Connects within a number of seconds; returns an error, or nil.
  static func connect(
    _ number: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, within seconds: Int
  ) -> Errno? {
    // The time-out for sending also limits connecting: socket(7).
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    guard unsafe Glibc.connect(number, address, length) != 0 else { return nil }
    // Unix sockets report EAGAIN after a time-out.
    return [EINPROGRESS, EAGAIN].contains(errno) ? .timedOut : Errno(rawValue: errno)
  }

  /// Returns the port of a listening socket, as chosen by the kernel.
  static func port(of descriptor: FileDescriptor) -> UInt16? {
    // The port follows the family in IPv4 and IPv6.
    internetAddress(of: descriptor).map {
      unsafe $0.bytes.withUnsafeBytes {
        unsafe UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
      }
    }
  }

  /// Returns whether a listening socket is bound to all interfaces of the machine.
  static func isUnspecified(_ descriptor: FileDescriptor) -> Bool {
    guard let (bytes, family) = internetAddress(of: descriptor) else { return false }
    // The address follows the port, in IPv6 after the flow label.
    if family == AF_INET { return bytes[4..<8].allSatisfy { $0 == 0 } }
    let address = bytes[8..<24]
    let isMapped = address.dropFirst(10).prefix(2).allSatisfy { $0 == 0xFF }
    return address.prefix(10).allSatisfy { $0 == 0 }
      && address.dropFirst(isMapped ? 12 : 10).allSatisfy { $0 == 0 }
  }

  /// Returns the address of the host at the other end of a connection, as bytes in hexadecimal; nil
  /// for a Unix socket.
  static func peer(of descriptor: FileDescriptor) -> String? {
    internetAddress(of: descriptor, isPeer: true).map { bytes, family in
      bytes[family == AF_INET ? 4..<8 : 8..<24].map { String($0, radix: 16) }.joined(separator: ":")
    }
  }

  /// Returns the address of an IPv4 or IPv6 socket; nil for other sockets.
  ///
  /// - Parameter isPeer: whether to return the address of the other end.
  private static func internetAddress(
    of descriptor: FileDescriptor, isPeer: Bool = false
  ) -> (bytes: [UInt8], family: Int32)? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let known = unsafe withUnsafeMutablePointer(to: &storage) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        isPeer
          ? unsafe getpeername(descriptor.rawValue, $0, &length)
          : unsafe getsockname(descriptor.rawValue, $0, &length)
      }
    }
    let family = Int32(storage.ss_family)
    guard known == 0, [AF_INET, AF_INET6].contains(family) else { return nil }
    return unsafe (withUnsafeBytes(of: &storage) { unsafe Array($0) }, family)
  }
}
