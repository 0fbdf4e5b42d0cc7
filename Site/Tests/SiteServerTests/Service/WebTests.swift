// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import UWBSite

@testable import SiteServer

/// A page that speaks WebSocket with the server. Its calls block, with a limit.
private final class Page {
  private let socket: Int32
  private var bytes: [UInt8] = []
  /// The status of the reply to the first request.
  private(set) var status = 0

  init(_ port: UInt16, path: String = "/ws", host: String = "localhost", origin: String? = nil)
    throws
  {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw SinkFailure("cannot connect: \(errno)") }
    var time = timeval(tv_sec: 20, tv_usec: 0)
    unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    let header = origin.map { "Origin: \($0)\r\n" } ?? ""
    write(
      Array(
        """
        GET \(path) HTTP/1.1\r
        Host: \(host)\r
        Connection: Upgrade\r
        Upgrade: websocket\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
        \(header)\r

        """.utf8))
    while !head.hasSuffix("\r\n\r\n"), let byte = try read(1).first { bytes.append(byte) }
    status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
  }

  deinit { close(socket) }

  private var head: String { String(decoding: bytes, as: UTF8.self) }

  private func write(_ bytes: [UInt8]) { _ = unsafe Glibc.write(socket, bytes, bytes.count) }

  private func read(_ count: Int) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    var start = 0
    while start < count {
      let number = unsafe buffer.withUnsafeMutableBytes {
        unsafe Glibc.read(socket, $0.baseAddress! + start, count - start)
      }
      guard number > 0 else { throw SinkFailure("the connection has ended") }
      start += number
    }
    return buffer
  }

  func send(_ text: String, opcode: UInt8 = 1) {
    let payload = Array(text.utf8)
    var frame: [UInt8] = [0x80 | opcode]
    if payload.count < 126 {
      frame.append(0x80 | UInt8(payload.count))
    } else if payload.count < 65_536 {
      frame += [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    } else {
      frame += [0xFF, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(payload.count >> $0 & 0xFF) }
    }
    write(frame + [1, 2, 3, 4] + payload.enumerated().map { $1 ^ UInt8($0 % 4 + 1) })
  }

  /// Returns the next frame: its opcode and its text.
  func receive() throws -> (opcode: UInt8, text: String) {
    let head = try read(2)
    var length = Int(head[1])
    if length == 126 { length = try read(2).reduce(0) { $0 << 8 | Int($1) } }
    if length == 127 { length = try read(8).reduce(0) { $0 << 8 | Int($1) } }
    return (head[0] & 0x0F, String(decoding: try read(length), as: UTF8.self))
  }

  func reply() throws -> JSONValue { try JSONValue(Array(try receive().text.utf8)) }
}

/// Runs a body that blocks on a thread of its own: the server needs the threads of tasks.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}

@Suite(.timeLimit(.minutes(5))) struct WebTests {
  private static let site = "org.swift-uwb.Site"

  @Test("A page calls the service, and follows the tags")
  func page() async throws {
    try await onThread {
      var run = try ServedRun(web: WebAddress("127.0.0.1:0"))
      let page = try Page(run.port, origin: "http://localhost")
      #expect(page.status == 101)
      page.send(#"{"method":"\#(Self.site).GetInfo"}"#)
      #expect(try page.reply()["parameters"]?["protocol"] == .number(1))
      page.send(#"{"method":"\#(Self.site).Watch","parameters":{"tags":["X"]}}"#)
      #expect(try page.reply()["error"] == .string("\(Self.site).NoTag"))
      page.send("hello")
      #expect(try page.reply()["error"] == .string("\(Self.site).InvalidMessage"))
      page.send("ab", opcode: 9)
      let pong = try page.receive()
      #expect((pong.opcode, pong.text) == (10, "ab"))
      page.send(#"{"method":"\#(Self.site).Watch","parameters":{"after":0},"more":true}"#)
      #expect(try page.reply()["continues"] == .bool(true))
      try run.follow([3, 5, 1])
      guard case .array(let places)? = try page.reply()["parameters"]?["places"] else {
        throw SinkFailure("no places")
      }
      #expect(places.first?["tag"] == .string("T"))
      // A call during another one closes the connection.
      page.send(#"{"method":"\#(Self.site).GetInfo"}"#)
      while try page.receive().opcode != 8 {}
      try run.finish()
    }
  }

  @Test("A text that is too long closes the connection only")
  func longText() async throws {
    try await onThread {
      let run = try ServedRun(web: WebAddress("127.0.0.1:0"))
      let page = try Page(run.port)
      page.send(String(repeating: "x", count: 70_000))
      #expect(try page.receive().opcode == 8)
      let other = try Page(run.port)
      other.send(#"{"method":"\#(Self.site).GetInfo"}"#)
      #expect(try other.reply()["error"] == nil)
    }
  }

  @Test("Other pages, other names and other paths are refused")
  func refused() async throws {
    try await onThread {
      let run = try ServedRun(web: WebAddress("127.0.0.1:0"))
      #expect(try Page(run.port, path: "/none").status == 404)
      #expect(try Page(run.port, host: "example.org").status == 403)
      #expect(try Page(run.port, origin: "http://example.org").status == 403)
      let secret = try ServedRun(web: WebAddress("127.0.0.1:0"), token: "0123456789abcdef")
      #expect(try Page(secret.port).status == 401)
      #expect(try Page(secret.port, path: "/ws?token=0123456789abcdef").status == 101)
      #expect(throws: SinkFailure.self) { try ServedRun(web: WebAddress("127.0.0.1:\(run.port)")) }
    }
  }

  @Test(
    "The check of requests",
    arguments: [
      (true, "localhost", "http://localhost", true), (true, "localhost:8080", nil, true),
      (true, "127.0.0.1:8080", "https://127.0.0.1:8080", true), (true, "[::1]:80", nil, true),
      (true, "127.0.0.2:80", nil, true), (true, "127.0.0.256:80", nil, false),
      (true, "127.0.0.1.example.org", nil, false), (true, "[::1]:x", nil, false),
      (true, "localhost:8080", "http://localhost:8081", false),
      (true, "localhost.example.org", nil, false), (true, "localhost:8080x", nil, false),
      (true, "192.168.1.2", nil, false), (true, "", nil, false), (true, "localhost", "null", false),
      (false, "192.168.1.2:8080", "http://192.168.1.2:8080", true),
      (false, "192.168.1.2:8080", "http://example.org", false),
    ] as [(Bool, String, String?, Bool)])
  func check(_ isLoopback: Bool, _ host: String, _ origin: String?, _ isAccepted: Bool) {
    let check = WebGuard(isLoopback: isLoopback, token: nil)
    #expect((check.refusal(host: host, origin: origin, token: nil) == nil) == isAccepted)
  }

  @Test("A token is needed whole")
  func token() {
    let check = WebGuard(isLoopback: false, token: Array("0123456789abcdef".utf8))
    for token in [nil, "", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0"] {
      #expect(check.refusal(host: "a", origin: nil, token: token) == .token)
    }
    #expect(check.refusal(host: "a", origin: nil, token: "0123456789abcdef") == nil)
  }

  @Test(
    "Addresses of pages",
    arguments: [
      ("8080", "127.0.0.1", 8080, true), ("0.0.0.0:80", "0.0.0.0", 80, false),
      ("[::1]:81", "::1", 81, true), ("[fe80::1]:82", "fe80::1", 82, false),
    ] as [(String, String, UInt16, Bool)])
  func addresses(_ text: String, _ host: String, _ port: UInt16, _ isLoopback: Bool) throws {
    let address = try #require(WebAddress(text))
    #expect((address.host, address.port) == (host, port) && address.isLoopback == isLoopback)
    #expect(["", "x", "70000", ":80", "::1:80", "1.2.3.4:"].allSatisfy { WebAddress($0) == nil })
  }
}
