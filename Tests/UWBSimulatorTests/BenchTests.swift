// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import Testing
import UCI

@testable import UWBSimulator

/// Makes the creation of all further threads of the process fail.
private func limitThreads() -> Bool {
  // Declared for GNU sources only.
  guard let symbol = dlsym(nil, "pthread_setattr_default_np") else { return false }
  typealias Function = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  // More than any address space.
  pthread_attr_setstacksize(&attributes, 1 << 52)
  return unsafeBitCast(symbol, to: Function.self)(&attributes) == 0
}

/// A host that has only a file of the port.
private final class PlainHost {
  private let file: FileDescriptor
  private var bytes: [UInt8] = []
  private(set) var hungUp = false

  init(_ path: String) throws {
    file = try FileDescriptor.open(
      FilePath(path), .readWrite, options: [.closeOnExec, .init(rawValue: O_NOCTTY)])
  }

  deinit { try? file.close() }

  func send(_ hexadecimal: String) throws {
    let bytes = UWBSimulatorTests.bytes(hexadecimal)
    _ = try bytes.withUnsafeBytes { try file.write($0) }
  }

  /// Returns the next packet; nil after a hang-up or five minutes of silence.
  func packet() -> String? {
    while true {
      if bytes.count >= 4, bytes.count >= 4 + Int(bytes[3]) {
        defer { bytes.removeFirst(4 + Int(bytes[3])) }
        return hex(Array(bytes.prefix(4 + Int(bytes[3]))))
      }
      var descriptor = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, 300_000) > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = read(file.rawValue, &buffer, buffer.count)
      guard count > 0 else {
        hungUp = true
        return nil
      }
      bytes += buffer[..<count]
    }
  }

  /// Returns packets up to the one with this beginning; nil if it does not arrive.
  func packets(until prefix: String) -> [String]? {
    var all: [String] = []
    while let packet = packet() {
      all.append(packet)
      if packet.hasPrefix(prefix) { return all }
    }
    return nil
  }
}

@Suite(.timeLimit(.minutes(10))) struct BenchTests {
  @Test("A system without threads left is an error of the first chip")
  func noThreads() async {
    await #expect(processExitsWith: .success) {
      guard limitThreads() else { exit(EXIT_FAILURE) }
      do throws(Errno) {
        _ = try SimulatedBench().add(profile: .qm33, at: .zero)
      } catch {
        exit(error == .resourceTemporarilyUnavailable ? EXIT_SUCCESS : EXIT_FAILURE)
      }
      exit(EXIT_FAILURE)
    }
  }

  @Test("A bench that was stopped serves its chips again after another start")
  func stopsAndStarts() throws {
    let bench = SimulatedBench()
    let host = try PlainHost(try bench.add(profile: .qm33, at: .zero).path)
    for _ in 0..<2 {
      bench.start()
      try host.send("20020000")
      #expect(host.packets(until: "4002") != nil)
      bench.stop()
    }
  }

  @Test("a chip on a pseudo-terminal: READY waits for the host, a reset is answered")
  func reset() throws {
    let bench = SimulatedBench()
    let chip = try bench.add(profile: .qm33, at: SIMD3(0, 0, 0), name: "A")
    bench.start()
    defer { bench.stop() }
    #expect(chip.name == "A")
    for _ in 0..<2 {
      // The second host comes after the first one has disconnected.
      let host = try PlainHost(chip.path)
      try host.send("2000 0001 00")
      let answer = host.packets(until: "4000")
      #expect(answer?.suffix(2) == ["6001000101", "4000000100"])
      #expect(host.packet() == "6001000101")
    }
  }

  @Test("Unplugged: the host sees a hang-up; replugged: READY at the new path")
  func unplug() throws {
    let bench = SimulatedBench()
    let chip = try bench.add(profile: .qm33, at: SIMD3(0, 0, 0))
    bench.start()
    let host = try PlainHost(chip.path)
    #expect(host.packet() == "6001000101")
    chip.unplug()
    #expect(host.packet() == nil)
    #expect(host.hungUp)
    #expect(chip.path.isEmpty)
    try chip.replug()
    let again = try PlainHost(chip.path)
    #expect(again.packet() == "6001000101")
  }

  @Test("two chips range over their terminals")
  func ranging() throws {
    let pair = try SimulatedPair(scene: Scene(seed: 3), movement: .still, distance: 2)
    pair.bench.start()
    let ends = [
      (pair.controlees[0], TestSession(isController: false, address: 1, destinations: [0])),
      (pair.controller, TestSession(isController: true, address: 0, destinations: [1])),
    ]
    var hosts: [PlainHost] = []
    for (chip, session) in ends {
      let host = try PlainHost(chip.path)
      try host.send("2100 0005 07000000 00")
      _ = host.packets(until: "6102")
      for packet in Segmentation.packets(
        SetAppConfig(
          sessionToken: 1,
          parameters: session.parameters.filter { $0.id != 0x09 && $0.id != 0x1B } + [
            TLV(0x09, [20, 0, 0, 0]), TLV(0x1B, [10]),
          ]))
      {
        try host.send(hex(packet))
      }
      _ = host.packets(until: "6102")
      try host.send("2200 0004 01000000")
      hosts.append(host)
    }
    for host in hosts {
      var distances: [Int] = []
      while distances.count < 5, let packet = host.packets(until: "6200")?.last {
        let info = try SessionInfo(decoding: Array(bytes(packet)[4...]))
        distances += info.entries.compactMap(\.distanceCentimetres)
      }
      #expect(distances.count == 5)
      #expect(distances.allSatisfy { abs($0 - 200) <= 15 })
    }
  }

  @Test("A host that does not read blocks nothing; packets that do not fit are dropped whole")
  func fullQueue() throws {
    let bench = SimulatedBench()
    let chip = try bench.add(profile: .qm33, at: SIMD3(0, 0, 0))
    bench.start()
    let packet = bytes("6e3f 0004 01020304")
    for _ in 0..<20_000 { chip.chatter(packet) }
    let host = try PlainHost(chip.path)
    try host.send("2105 0000")
    var count = 0
    var seen = host.packet()
    #expect(seen == "6001000101")
    // Every packet that arrives is complete.
    while count < 4_000, let next = host.packet() {
      seen = next
      guard seen == hex(packet) else { break }
      count += 1
    }
    #expect(count >= 4_000 || seen == "410500020000")
  }

  @Test("A link leads to the chip and is removed with the bench")
  func link() throws {
    let path = "/tmp/uwb-simulator-test-\(getpid())"
    do {
      let bench = SimulatedBench()
      let chip = try bench.add(profile: .fira1, at: SIMD3(0, 0, 0))
      try chip.link(at: path)
      bench.start()
      #expect(try PlainHost(path).packet() == "6001000101")
      try chip.replug()
      #expect(try PlainHost(path).packet() == "6001000101")
    }
    var status = stat()
    #expect(lstat(path, &status) != 0)
  }

  @Test("Stops and starts again; a released bench ends its thread")
  func lifecycle() throws {
    let bench = SimulatedBench()
    let chip = try bench.add(profile: .qm33, at: SIMD3(0, 0, 0))
    bench.start()
    bench.start()
    bench.stop()
    bench.stop()
    bench.start()
    let host = try PlainHost(chip.path)
    #expect(host.packet() == "6001000101")
    bench.stop()
  }
}
