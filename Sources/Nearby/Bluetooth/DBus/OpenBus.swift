// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// An open connection of sd-bus. It is used only on the thread of `BluetoothActor`.
@safe @BluetoothActor final class OpenBus: EventSource {
  enum Event {
    case reply(UInt64, DBusMessage)
    /// A reply that cannot be parsed.
    case invalid(UInt64)
    case signal(DBusMessage)
    case call(DBusCall)
    case ended(errno: Int32)
  }

  /// The messages received by `sd_bus_process`, which must not be called from its own callbacks.
  private final class Inbox {
    var messages: [HeldMessage] = []
    let library: SystemdBus
    init(_ library: SystemdBus) { self.library = library }
  }

  /// A reference to a message. It is used only on the thread of `BluetoothActor`.
  @safe private struct HeldMessage: @unchecked Sendable { let pointer: SystemdBus.Message }

  private let library: SystemdBus
  private let bus: SystemdBus.Bus
  private let inbox: Inbox
  private var isClosed = false
  /// The number of received calls without a reply.
  private var unanswered = 0
  private static let limit = 256
  var handle: @BluetoothActor (Event) -> Void = { _ in }

  init(_ library: SystemdBus, _ address: String) throws(BluetoothError) {
    var made: SystemdBus.Bus?
    guard unsafe library.new(&made) >= 0, let bus = unsafe made else {
      throw BluetoothError(bus: address, ENOMEM, isOpen: false)
    }
    self.library = library
    unsafe self.bus = bus
    inbox = Inbox(library)
    let context = unsafe Unmanaged.passUnretained(inbox).toOpaque()
    do throws(BusFailure) {
      unsafe try BusFailure.check(library.setAddress(bus, address))
      unsafe try BusFailure.check(library.setBusClient(bus, 1))
      unsafe try BusFailure.check(library.addFilter(bus, nil, Self.arrived, context))
      unsafe try BusFailure.check(library.start(bus))
    } catch {
      _ = unsafe library.unreference(bus)
      isClosed = true
      throw BluetoothError(bus: address, error.errno, isOpen: false)
    }
  }

  isolated deinit { close() }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    for message in inbox.messages { _ = unsafe library.unreferenceMessage(message.pointer) }
    inbox.messages = []
    unsafe library.close(bus)
    _ = unsafe library.unreference(bus)
  }

  /// A handler that stores a received message or reply. It is called by `process`.
  private nonisolated static let arrived: SystemdBus.Handler = { message, context, _ in
    guard let message = unsafe message, let context = unsafe context else { return 0 }
    let inbox = unsafe Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue()
    // sd-bus replies to Ping itself.
    if let interface = unsafe inbox.library.interface(message),
      unsafe strcmp(interface, "org.freedesktop.DBus.Peer") == 0
    {
      return 0
    }
    if let message = unsafe inbox.library.reference(message) {
      unsafe inbox.messages.append(HeldMessage(pointer: message))
    }
    return 1
  }

  // MARK: the thread

  func prepare() -> (descriptor: Int32, events: Int16, deadline: UInt64?)? {
    guard !isClosed else { return nil }
    let descriptor = unsafe library.descriptor(bus)
    let events = unsafe library.events(bus)
    guard descriptor >= 0, events >= 0 else { return (-1, 0, 0) }
    var deadline = UInt64.max
    guard unsafe library.timeout(bus, &deadline) >= 0 else { return (-1, 0, 0) }
    // sd-bus counts microseconds.
    let nanoseconds = deadline == .max ? nil : min(deadline, .max / 1_000) * 1_000
    return (descriptor, Int16(truncatingIfNeeded: events), nanoseconds)
  }

  func ready(_ events: Int16) {
    while !isClosed {
      let result = unsafe library.process(bus, nil)
      // sd-bus creates error replies to pending calls when it loses the bus.
      let isOpen = unsafe library.isOpen(bus) > 0
      guard result >= 0, isOpen else { return handle(.ended(errno: max(0, -result))) }
      let messages = inbox.messages
      inbox.messages = []
      for message in messages {
        if !isClosed { unsafe process(message.pointer) }
        _ = unsafe library.unreferenceMessage(message.pointer)
      }
      guard !isClosed else { return }
      if result == 0 { return }
    }
  }

  private func process(_ message: SystemdBus.Message) {
    var type: UInt8 = 0
    _ = unsafe library.type(message, &type)
    var cookie: UInt64 = 0
    // The cookie of the call that this message replies to.
    _ = unsafe library.replyCookie(message, &cookie)
    let read = unsafe self.read(message, type)
    switch (type, read) {
    case (1, .success(let call)):
      guard unsafe library.expectsReply(message) > 0 else {
        return handle(.call(DBusCall(call) { _ in }))
      }
      guard unanswered < Self.limit, let original = unsafe library.reference(message) else {
        return unsafe answer(
          message,
          .error(name: "org.freedesktop.DBus.Error.LimitsExceeded", text: "Too many calls."))
      }
      unanswered += 1
      let pointer = unsafe HeldMessage(pointer: original)
      handle(
        .call(
          DBusCall(call) { [weak self, library] answer in
            if let self, !self.isClosed {
              self.unanswered -= 1
              unsafe self.answer(pointer.pointer, answer)
            }
            _ = unsafe library.unreferenceMessage(pointer.pointer)
          }))
    case (1, .failure):
      unsafe answer(
        message,
        .error(name: "org.freedesktop.DBus.Error.InvalidArgs", text: "It cannot be parsed."))
    case (2, .success(let message)), (3, .success(let message)): handle(.reply(cookie, message))
    case (2, .failure), (3, .failure): handle(.invalid(cookie))
    case (4, .success(let message)): handle(.signal(message))
    default: break
    }
  }

  private func read(
    _ message: SystemdBus.Message, _ type: UInt8
  ) -> Result<DBusMessage, BusFailure> {
    func text(_ pointer: SystemdBus.Text?) -> String {
      unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }
    return Result { () throws(BusFailure) in
      let kind: DBusMessage.Kind
      switch type {
      case 1: kind = .call
      case 2: kind = .reply
      case 3:
        // struct sd_bus_error: two strings and a number.
        let error = unsafe library.error(message)
        let name = unsafe error?.load(as: SystemdBus.Text?.self)
        let words = unsafe error?.load(
          fromByteOffset: MemoryLayout<UnsafeRawPointer>.size, as: SystemdBus.Text?.self)
        kind = .error(name: unsafe text(name ?? nil), text: unsafe text(words ?? nil))
      default: kind = .signal
      }
      return DBusMessage(
        kind: kind, sender: unsafe text(library.sender(message)),
        path: unsafe text(library.path(message)),
        interface: unsafe text(library.interface(message)),
        member: unsafe text(library.member(message)),
        // An error has only its text.
        body: type == 3 ? [] : unsafe try library.values(in: message))
    }
  }

  // MARK: sending

  /// Sends the message that `make` creates, with `values` appended.
  private func send(
    _ values: [DBusValue], _ make: (SystemdBus.Made) -> Int32,
    _ send: (SystemdBus.Message) -> Int32
  ) throws(BusFailure) {
    var made: SystemdBus.Message?
    unsafe try BusFailure.check(make(&made))
    guard let message = unsafe made else { throw BusFailure(errno: ENOMEM) }
    defer { _ = unsafe library.unreferenceMessage(message) }
    for value in values { unsafe try library.write(value, to: message) }
    unsafe try BusFailure.check(send(message))
  }

  func call(
    _ method: DBusMethod, _ arguments: [DBusValue], within limit: Duration
  ) throws(BusFailure) -> UInt64 {
    let (seconds, attoseconds) = limit.components
    // sd-bus takes 0 as its default of 25 s.
    let time = max(
      1, UInt64(max(0, seconds)) * 1_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000_000))
    let context = unsafe Unmanaged.passUnretained(inbox).toOpaque()
    var cookie: UInt64 = 0
    unsafe try send(
      arguments,
      {
        unsafe library.newCall(
          bus, $0, method.destination, method.path, method.interface, method.member)
      },
      { message in
        let result = unsafe library.callAsync(bus, nil, message, Self.arrived, context, time)
        return result < 0 ? result : unsafe library.cookie(message, &cookie)
      })
    return cookie
  }

  func emit(
    _ path: String, _ interface: String, _ member: String, _ body: [DBusValue]
  ) throws(BusFailure) {
    unsafe try send(
      body, { unsafe library.newSignal(bus, $0, path, interface, member) },
      { unsafe library.send(bus, $0, nil) })
  }

  private func answer(_ call: SystemdBus.Message, _ answer: DBusCall.Answer) {
    // Sending fails if the caller has disconnected.
    switch answer {
    case .values(let values):
      do throws(BusFailure) {
        unsafe try send(
          values, { unsafe library.newReturn(call, $0) }, { unsafe library.send(bus, $0, nil) })
      } catch {
        unsafe self.answer(
          call, .error(name: "org.freedesktop.DBus.Error.Failed", text: "The reply is invalid."))
      }
    case .error(let name, let text):
      unsafe name.withCString { name in
        unsafe text.withCString { text in
          // struct sd_bus_error: two strings and a number.
          let size = MemoryLayout<Int>.size
          let error = UnsafeMutableRawPointer.allocate(byteCount: 3 * size, alignment: size)
          defer { unsafe error.deallocate() }
          unsafe error.storeBytes(of: name, as: SystemdBus.Text.self)
          unsafe error.storeBytes(of: text, toByteOffset: size, as: SystemdBus.Text.self)
          unsafe error.storeBytes(of: 0, toByteOffset: 2 * size, as: Int.self)
          unsafe try? send(
            [], { unsafe library.newError(call, $0, error) },
            { unsafe library.send(bus, $0, nil) })
        }
      }
    }
  }
}
