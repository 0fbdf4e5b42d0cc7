// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Meter

/// A target of the fuzzer. It traps where a property does not hold.
protocol Target {
  static var name: String { get }
  /// The memory that `size` bytes may need at one time.
  static func memoryLimit(for size: Int) -> Int
  static func run(_ input: [UInt8])
  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]]
}

extension Target {
  /// The limit is linear in the input, because a field of a few bytes on the wire becomes a text of
  /// one or two hundred.
  static func memoryLimit(for size: Int) -> Int { 65_536 + 1_024 * size }
}

private var targets: [any Target.Type] {
  [
    MessageTarget.self, SegmentTarget.self, PcapngTarget.self, TextTarget.self, SecretTarget.self,
    FramerTarget.self, ProfileTarget.self, ParameterTarget.self, AccessoryTarget.self,
    PeerTarget.self, VarlinkTarget.self, JSONReaderTarget.self, TableTarget.self, JSONTarget.self,
    ShellTarget.self,
  ]
}

/// Ends the run with a sentence; libFuzzer keeps the input.
func fail(_ what: @autoclosure () -> String) -> Never {
  print("property does not hold: \(what())")
  fflush(nil)
  abort()
}

private func chosen() -> any Target.Type {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = targets.first(where: { $0.name == name }) else {
    print("FUZZ_TARGET is one of: " + targets.map { $0.name }.joined(separator: " "))
    exit(64)
  }
  return target
}

// Sound: libFuzzer calls the functions one after the other on one thread.
nonisolated(unsafe) private var target: any Target.Type = MessageTarget.self

/// Called once, before the first input.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeRawPointer, _ arguments: UnsafeRawPointer) -> CInt {
  target = chosen()
  if let folder = getenv("FUZZ_SEEDS") {
    Seeds.write(target, to: String(cString: folder))
    exit(0)
  }
  return 0
}

private func memory(_ input: [UInt8]) -> Int {
  meter_start()
  target.run(input)
  var allocations = 0
  return meter_stop(&allocations)
}

/// Tries one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: bytes, count: size))
  let limit = target.memoryLimit(for: size)
  // The first run does not count objects that are created once and kept, such as tables.
  if memory(input) > limit {
    let most = memory(input)
    if most > limit { fail("\(size) bytes cost \(most) bytes of memory, more than \(limit)") }
  }
  return 0
}
