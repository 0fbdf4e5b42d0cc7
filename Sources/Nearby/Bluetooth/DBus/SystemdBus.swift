// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The sd-bus functions of libsystemd, loaded at run time. Neither the build nor a program without
/// Bluetooth needs the library.
///
/// Only functions of version 221 and earlier are used, and none with variable arguments, which
/// Swift cannot call. Pointers to a bus or a message are C pointers.
@safe struct SystemdBus: @unchecked Sendable {
  // Safe because all members are addresses of functions, which never change.
  typealias Bus = OpaquePointer
  typealias Message = OpaquePointer
  typealias Text = UnsafePointer<CChar>
  typealias Made = UnsafeMutablePointer<OpaquePointer?>
  typealias Handler =
    @Sendable @convention(c) (
      Message?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
    ) -> Int32

  let new: @convention(c) (Made) -> Int32
  let setAddress: @convention(c) (Bus, Text) -> Int32
  let setBusClient: @convention(c) (Bus, Int32) -> Int32
  let start: @convention(c) (Bus) -> Int32
  let isOpen: @convention(c) (Bus) -> Int32
  let close: @convention(c) (Bus) -> Void
  let unreference: @convention(c) (Bus) -> Bus?
  let descriptor: @convention(c) (Bus) -> Int32
  let events: @convention(c) (Bus) -> Int32
  let timeout: @convention(c) (Bus, UnsafeMutablePointer<UInt64>) -> Int32
  let process: @convention(c) (Bus, Made?) -> Int32
  let addFilter: @convention(c) (Bus, Made?, Handler, UnsafeMutableRawPointer?) -> Int32
  let callAsync:
    @convention(c) (Bus, Made?, Message, Handler, UnsafeMutableRawPointer?, UInt64) -> Int32
  let send: @convention(c) (Bus, Message, UnsafeMutablePointer<UInt64>?) -> Int32

  let newCall: @convention(c) (Bus, Made, Text?, Text, Text?, Text) -> Int32
  let newSignal: @convention(c) (Bus, Made, Text, Text, Text) -> Int32
  let newReturn: @convention(c) (Message, Made) -> Int32
  let newError: @convention(c) (Message, Made, UnsafeRawPointer) -> Int32
  let reference: @convention(c) (Message) -> Message?
  let unreferenceMessage: @convention(c) (Message) -> Message?

  let type: @convention(c) (Message, UnsafeMutablePointer<UInt8>) -> Int32
  let cookie: @convention(c) (Message, UnsafeMutablePointer<UInt64>) -> Int32
  let replyCookie: @convention(c) (Message, UnsafeMutablePointer<UInt64>) -> Int32
  let expectsReply: @convention(c) (Message) -> Int32
  let path: @convention(c) (Message) -> Text?
  let interface: @convention(c) (Message) -> Text?
  let member: @convention(c) (Message) -> Text?
  let sender: @convention(c) (Message) -> Text?
  let error: @convention(c) (Message) -> UnsafeRawPointer?

  let append: @convention(c) (Message, CChar, UnsafeRawPointer?) -> Int32
  let appendArray: @convention(c) (Message, CChar, UnsafeRawPointer?, Int) -> Int32
  let open: @convention(c) (Message, CChar, Text) -> Int32
  let closeContainer: @convention(c) (Message) -> Int32
  let peek:
    @convention(c) (Message, UnsafeMutablePointer<CChar>, UnsafeMutablePointer<Text?>) -> Int32
  let read: @convention(c) (Message, CChar, UnsafeMutableRawPointer) -> Int32
  let readArray:
    @convention(c) (
      Message, CChar, UnsafeMutablePointer<UnsafeRawPointer?>, UnsafeMutablePointer<Int>
    ) -> Int32
  let enter: @convention(c) (Message, CChar, Text) -> Int32
  let exit: @convention(c) (Message) -> Int32

  /// The library that this machine has.
  static let shared = Result { () throws(BluetoothError) in try SystemdBus() }

  /// The file names to try. The library of elogind has the same functions.
  static let names = ["libsystemd.so.0", "libelogind.so.0"]

  /// Loads the first library that exists. It stays loaded.
  init(_ names: [String] = names) throws(BluetoothError) {
    var reasons: [String] = []
    for name in names {
      guard let library = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
        reasons.append(unsafe dlerror().map { unsafe String(cString: $0) } ?? name)
        continue
      }
      unsafe try self.init(library, name)
      return
    }
    throw BluetoothError(.noLibrary(reasons.joined(separator: "; ")))
  }

  private init(_ library: UnsafeMutableRawPointer, _ file: String) throws(BluetoothError) {
    func symbol<F>(_ name: String) throws(BluetoothError) -> F {
      guard let address = unsafe dlsym(library, "sd_bus_" + name) else {
        throw BluetoothError(.noLibrary("\(file) has no sd_bus_\(name)"))
      }
      // `address` points to a C function of type `F`.
      return unsafe unsafeBitCast(address, to: F.self)
    }
    unsafe new = try symbol("new")
    unsafe setAddress = try symbol("set_address")
    unsafe setBusClient = try symbol("set_bus_client")
    unsafe start = try symbol("start")
    unsafe isOpen = try symbol("is_open")
    unsafe close = try symbol("close")
    unsafe unreference = try symbol("unref")
    unsafe descriptor = try symbol("get_fd")
    unsafe events = try symbol("get_events")
    unsafe timeout = try symbol("get_timeout")
    unsafe process = try symbol("process")
    unsafe addFilter = try symbol("add_filter")
    unsafe callAsync = try symbol("call_async")
    unsafe send = try symbol("send")
    unsafe newCall = try symbol("message_new_method_call")
    unsafe newSignal = try symbol("message_new_signal")
    unsafe newReturn = try symbol("message_new_method_return")
    unsafe newError = try symbol("message_new_method_error")
    unsafe reference = try symbol("message_ref")
    unsafe unreferenceMessage = try symbol("message_unref")
    unsafe type = try symbol("message_get_type")
    unsafe cookie = try symbol("message_get_cookie")
    unsafe replyCookie = try symbol("message_get_reply_cookie")
    unsafe expectsReply = try symbol("message_get_expect_reply")
    unsafe path = try symbol("message_get_path")
    unsafe interface = try symbol("message_get_interface")
    unsafe member = try symbol("message_get_member")
    unsafe sender = try symbol("message_get_sender")
    unsafe error = try symbol("message_get_error")
    unsafe append = try symbol("message_append_basic")
    unsafe appendArray = try symbol("message_append_array")
    unsafe open = try symbol("message_open_container")
    unsafe closeContainer = try symbol("message_close_container")
    unsafe peek = try symbol("message_peek_type")
    unsafe read = try symbol("message_read_basic")
    unsafe readArray = try symbol("message_read_array")
    unsafe enter = try symbol("message_enter_container")
    unsafe exit = try symbol("message_exit_container")
  }
}
