// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A negative result of sd-bus, as an errno.
struct BusFailure: Error {
  let errno: Int32

  @discardableResult
  static func check(_ result: Int32) throws(BusFailure) -> Int32 {
    guard result >= 0 else { throw BusFailure(errno: -result) }
    return result
  }
}

private func letter(_ text: Unicode.Scalar) -> CChar { CChar(text.value) }

// MARK: writing

extension SystemdBus {
  /// Appends a value to a message.
  func write(_ value: DBusValue, to message: Message) throws(BusFailure) {
    switch value {
    case .byte(let value): unsafe try number("y", value, message)
    case .bool(let value): unsafe try number("b", Int32(value ? 1 : 0), message)
    case .int16(let value): unsafe try number("n", value, message)
    case .uint16(let value): unsafe try number("q", value, message)
    case .int32(let value): unsafe try number("i", value, message)
    case .uint32(let value): unsafe try number("u", value, message)
    case .int64(let value): unsafe try number("x", value, message)
    case .uint64(let value): unsafe try number("t", value, message)
    case .double(let value): unsafe try number("d", value, message)
    case .string(let text): unsafe try self.text("s", text, message)
    case .path(let text): unsafe try self.text("o", text, message)
    case .signature(let text): unsafe try self.text("g", text, message)
    case .descriptor(let descriptor): unsafe try number("h", descriptor.number, message)
    case .bytes(let bytes):
      let result = unsafe bytes.withUnsafeBytes {
        unsafe appendArray(message, letter("y"), $0.baseAddress, $0.count)
      }
      try BusFailure.check(result)
    case .array(let values, let element):
      unsafe try container("a", element, message, values)
    case .dictionary(let entries, let types):
      unsafe try BusFailure.check(open(message, letter("a"), "{\(types)}"))
      for entry in entries {
        unsafe try container("e", types, message, [entry.key, entry.value])
      }
      unsafe try BusFailure.check(closeContainer(message))
    case .structure(let members):
      unsafe try container("r", members.map(\.signature).joined(), message, members)
    case .variant(let content):
      unsafe try container("v", content.signature, message, [content])
    }
  }

  private func container(
    _ type: Unicode.Scalar, _ contents: String, _ message: Message, _ values: [DBusValue]
  ) throws(BusFailure) {
    unsafe try BusFailure.check(open(message, letter(type), contents))
    for value in values { unsafe try write(value, to: message) }
    unsafe try BusFailure.check(closeContainer(message))
  }

  private func number<N: BitwiseCopyable>(
    _ type: Unicode.Scalar, _ value: N, _ message: Message
  ) throws(BusFailure) {
    let result = unsafe withUnsafePointer(to: value) { unsafe append(message, letter(type), $0) }
    try BusFailure.check(result)
  }

  private func text(
    _ type: Unicode.Scalar, _ text: String, _ message: Message
  ) throws(BusFailure) {
    // The C string would end at the NUL.
    guard !text.utf8.contains(0) else { throw BusFailure(errno: EINVAL) }
    let result = unsafe text.withCString { unsafe append(message, letter(type), $0) }
    try BusFailure.check(result)
  }
}

// MARK: reading

extension SystemdBus {
  /// Reads the values up to the end of the container or message. sd-bus has checked their form and
  /// their depth.
  func values(in message: Message) throws(BusFailure) -> [DBusValue] {
    var values: [DBusValue] = []
    while let value = unsafe try next(in: message) { values.append(value) }
    return values
  }

  /// Returns the type of the next value, and the signature of its contents.
  private func peek(
    _ message: Message
  ) throws(BusFailure) -> (type: Unicode.Scalar, contents: String)? {
    var type: CChar = 0
    var contents: Text?
    guard unsafe try BusFailure.check(peek(message, &type, &contents)) > 0 else { return nil }
    let scalar = Unicode.Scalar(UInt8(bitPattern: type))
    return unsafe (scalar, contents.map { unsafe String(cString: $0) } ?? "")
  }

  private func next(in message: Message) throws(BusFailure) -> DBusValue? {
    guard let (type, contents) = unsafe try peek(message) else { return nil }
    switch type {
    case "y": return .byte(unsafe try number(type, message))
    case "b": return .bool(unsafe try number(type, message, Int32.self) != 0)
    case "n": return .int16(unsafe try number(type, message))
    case "q": return .uint16(unsafe try number(type, message))
    case "i": return .int32(unsafe try number(type, message))
    case "u": return .uint32(unsafe try number(type, message))
    case "x": return .int64(unsafe try number(type, message))
    case "t": return .uint64(unsafe try number(type, message))
    case "d": return .double(Double(bitPattern: unsafe try number(type, message)))
    case "s": return .string(unsafe try text(type, message))
    case "o": return .path(unsafe try text(type, message))
    case "g": return .signature(unsafe try text(type, message))
    case "h":
      // The message owns its descriptor, so duplicate it.
      let number = fcntl(unsafe try number(type, message, Int32.self), F_DUPFD_CLOEXEC, 0)
      guard number >= 0 else { throw BusFailure(errno: errno) }
      return .descriptor(OwnedDescriptor(number))
    case "a" where contents == "y":
      var start: UnsafeRawPointer?
      var count = 0
      unsafe try BusFailure.check(readArray(message, letter("y"), &start, &count))
      return .bytes(
        unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)))
    case "a" where contents.first == "{":
      let types = String(contents.dropFirst().dropLast())
      unsafe try BusFailure.check(enter(message, letter("a"), contents))
      var entries: [DBusValue.Entry] = []
      while unsafe try peek(message) != nil {
        let pair = unsafe try inside("e", types, message)
        guard pair.count == 2 else { throw BusFailure(errno: EBADMSG) }
        entries.append(DBusValue.Entry(pair[0], pair[1]))
      }
      unsafe try BusFailure.check(exit(message))
      return .dictionary(entries, of: types)
    case "a": return .array(unsafe try inside(type, contents, message), of: contents)
    case "r": return .structure(unsafe try inside(type, contents, message))
    case "v":
      guard let content = unsafe try inside(type, contents, message).first else { fallthrough }
      return .variant(content)
    default: throw BusFailure(errno: EBADMSG)
    }
  }

  private func inside(
    _ type: Unicode.Scalar, _ contents: String, _ message: Message
  ) throws(BusFailure) -> [DBusValue] {
    unsafe try BusFailure.check(enter(message, letter(type), contents))
    let values = unsafe try values(in: message)
    unsafe try BusFailure.check(exit(message))
    return values
  }

  private func number<N: FixedWidthInteger & BitwiseCopyable>(
    _ type: Unicode.Scalar, _ message: Message, _: N.Type = N.self
  ) throws(BusFailure) -> N {
    var value: N = 0
    unsafe try BusFailure.check(read(message, letter(type), &value))
    return value
  }

  private func text(_ type: Unicode.Scalar, _ message: Message) throws(BusFailure) -> String {
    var start: Text?
    unsafe try BusFailure.check(read(message, letter(type), &start))
    guard let start = unsafe start else { throw BusFailure(errno: EBADMSG) }
    return unsafe String(cString: start)
  }
}
