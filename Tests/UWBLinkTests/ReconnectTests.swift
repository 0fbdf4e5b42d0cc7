// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemPackage
import System
import Testing

@testable import UWBLink

@Suite("Waiting for a device that went away", .timeLimit(.minutes(10)))
struct ReconnectTests {
  /// A folder that is removed with the test.
  final class Folder {
    let path: String

    init() throws {
      path = FileManager.default.temporaryDirectory.appending(path: "uwb-\(UUID())").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to file: String) throws {
      let url = URL(filePath: path + "/" + file)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: url, atomically: true, encoding: .utf8)
    }

    func link(_ file: String, to target: String) throws {
      let url = URL(filePath: path + "/" + file)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: url.path, withDestinationPath: target)
    }
  }

  /// A terminal whose other end is not used, and its name.
  static func terminal() throws -> (FileDescriptor, String) {
    let master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // <asm-generic/ioctls.h>: TIOCGPTN and TIOCSPTLCK.
    var number: UInt32 = 0
    var lock: Int32 = 0
    guard master >= 0, ioctl(master, 0x8004_5430, &number) == 0,
      ioctl(master, 0x4004_5431, &lock) == 0
    else { throw Errno(rawValue: errno) }
    return (FileDescriptor(rawValue: master), "/dev/pts/\(number)")
  }

  @Test("A path that comes back is opened")
  func pathReturns() async throws {
    let folder = try Folder()
    let (master, name) = try Self.terminal()
    let target = ReconnectTarget(.serial(path: FilePath(folder.path + "/later/board")))
    #expect(target.canReturn)
    let link = Task { await target.open() }
    // At first, even the link's folder does not exist.
    try folder.link("later/board", to: name)
    #expect(await link.value != nil)
    try master.close()
  }

  /// Without the watch, each wait would last until the time limit.
  @Test("Folders that do not exist yet are noticed as they are made, one after the other")
  func folders() async throws {
    let folder = try Folder()
    let path = FilePath(folder.path + "/by-id/usb/board")
    let watch = try await runBlocking { PathWatch([path]) }
    for part in ["by-id", "by-id/usb"] {
      try FileManager.default.createDirectory(
        atPath: folder.path + "/" + part, withIntermediateDirectories: false)
      await watch.wait(milliseconds: 3_600_000)
    }
    try folder.link("by-id/usb/board", to: "/dev/null")
    await watch.wait(milliseconds: 3_600_000)
    #expect(FileManager.default.fileExists(atPath: path.string))
  }

  @Test("What comes into a folder that was made during the wait is noticed")
  func folderMadeMeanwhile() async throws {
    let folder = try Folder()
    for number in 0..<12 {
      let path = FilePath(folder.path + "/\(number)/board")
      let watch = try await runBlocking { PathWatch([path]) }
      let waiting = Task { await watch.wait(milliseconds: 3_600_000) }
      // The threads yield, so that most of the waits begin before the folder exists.
      for _ in 0..<8 * number { await Task.yield() }
      try FileManager.default.createDirectory(
        atPath: folder.path + "/\(number)", withIntermediateDirectories: false)
      await waiting.value
      try folder.link("\(number)/board", to: "/dev/null")
      await watch.wait(milliseconds: 3_600_000)
      #expect(FileManager.default.fileExists(atPath: path.string))
    }
  }

  @Test("Where the kernel has no watch left, callers look again")
  func blind() async { await PathWatch([FilePath("/none/board")], -1).wait(milliseconds: -1) }

  @Test("A device that is only asked for can be opened afterwards")
  func available() async throws {
    let (master, name) = try Self.terminal()
    let folder = try Folder()
    try folder.link("board", to: name)
    let target = ReconnectTarget(.serial(path: FilePath(folder.path + "/board")))
    for _ in 0..<20 {
      #expect(await target.waitUntilAvailable())
      // The link is exclusive, so a second open would fail while the attempt is still open.
      let closed = try Link(.serial(path: FilePath(name))).closed
      await closed.wait()
    }
    try master.close()
  }

  @Test("Cancellation ends the wait")
  func cancellation() async throws {
    let folder = try Folder()
    let target = ReconnectTarget(.serial(path: FilePath(folder.path + "/board")))
    let link = Task { await target.open() }
    link.cancel()
    #expect(await link.value == nil)
  }

  @Test("A descriptor does not come back")
  func descriptor() async throws {
    let target = ReconnectTarget(.descriptor(FileDescriptor(rawValue: -1)))
    #expect(!target.canReturn)
    #expect(await target.open() == nil)
  }

  @Test("A pseudo-terminal does not come back under its number")
  func pseudoTerminal() async throws {
    let (master, name) = try Self.terminal()
    defer { try? master.close() }
    let target = ReconnectTarget(.serial(path: FilePath(name)))
    #expect(!target.canReturn)
    #expect(await target.open() == nil)
  }

  @Test("The same device is found under another number")
  func otherNumber() async throws {
    let machine = try Folder()
    let (wrong, wrongName) = try Self.terminal()
    let (right, rightName) = try Self.terminal()
    let discovery = Discovery(
      sysfs: FilePath(machine.path + "/sys"), dev: FilePath(machine.path + "/dev"))
    /// A USB device with one port, as sysfs shows it.
    func plug(_ number: Int, serial: String, at name: String) throws {
      let device = "sys/devices/usb1/1-\(number)"
      try machine.write("1915\n", to: device + "/idVendor")
      try machine.write("520f\n", to: device + "/idProduct")
      try machine.write(serial + "\n", to: device + "/serial")
      try machine.write("00\n", to: device + "/1-\(number):1.0/bInterfaceNumber")
      try machine.link(
        "sys/class/tty/ttyACM\(number)/device",
        to: machine.path + "/" + device + "/1-\(number):1.0")
      try machine.link("dev/ttyACM\(number)", to: name)
    }
    let target = ReconnectTarget(.usb(serial: "A1"), discovery: discovery)
    let link = Task { await target.open() }
    try plug(0, serial: "B2", at: wrongName)
    try plug(1, serial: "A1", at: rightName)
    let opened = try #require(await link.value)
    try await opened.write([0x20, 0x02, 0, 0])
    var bytes = [UInt8](repeating: 0, count: 4)
    #expect(try bytes.withUnsafeMutableBytes { try right.read(into: $0) } == 4)
    #expect(bytes == [0x20, 0x02, 0, 0])
    try wrong.close()
    try right.close()
  }

  @Test("A server that comes back is connected to")
  func server() async throws {
    // The port is free now, and no program listens on it until the first connections were refused.
    func listen(on port: UInt16) throws -> (FileDescriptor, UInt16) {
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var yes: Int32 = 1
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let bound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, length) == 0 && Glibc.listen(socket, 1) == 0
            && getsockname(socket, $0, &length) == 0
        }
      }
      guard bound else { throw Errno(rawValue: errno) }
      return (FileDescriptor(rawValue: socket), UInt16(bigEndian: address.sin_port))
    }
    let (first, port) = try listen(on: 0)
    try first.close()
    let target = ReconnectTarget(.tcp(host: "127.0.0.1", port: "\(port)"))
    let link = Task { await target.open() }
    let (second, _) = try listen(on: port)
    #expect(await link.value != nil)
    try second.close()
  }
}
