// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// Why Bluetooth cannot be used, or an operation failed.
package struct BluetoothError: LocalizedError, Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// Neither libsystemd nor libelogind can be loaded.
    case noLibrary(String)
    case noBus(address: String, errno: Int32)
    case busLost
    /// bluetoothd is not on the bus.
    case noDaemon
    /// There is no adapter, or none of that name.
    case noAdapter(name: String?, known: [String])
    case adapterOff(String)
    /// rfkill, or a switch, keeps it off.
    case adapterBlocked(String)
    case noRole(adapter: String, BluetoothAdapter.Role)
    case noPermission(String)
    /// BlueZ is too old, or was built or configured without something.
    case unsupported(String, since: String)
    case noDevice(String)
    case notConnected(String)
    /// The link was gone before the services were known, also when it was tried again.
    case linkDropped(String)
    case noCharacteristic(BluetoothUUID)
    case messageSize(bytes: Int, limit: Int)
    case peerNotReading
    case notSubscribed
    case pairing(String)
    /// No room for the services or the advertisement.
    case advertisement(String)
    case timeout(String, Duration)
    case cancelled
    /// bluetoothd, or who was called, answered with an error.
    case refused(String, name: String, text: String)
    /// An answer that is not what BlueZ documents.
    case invalidReply(String)
    case unsendable(String, Int32)
    case system(String, Int32)
  }
  package let reason: Reason

  package init(_ reason: Reason) { self.reason = reason }

  /// A bus that cannot be reached, or was lost.
  init(bus address: String, _ errno: Int32, isOpen: Bool) {
    switch errno {
    case EACCES, EPERM: self.init(.noPermission("connecting to \(address)"))
    case _ where isOpen: self.init(.busLost)
    default: self.init(.noBus(address: address, errno: errno))
    }
  }

  /// An error that came as the answer to a call.
  init(_ method: DBusMethod, _ name: String, _ text: String, _ limit: Duration) {
    let short = name.split(separator: ".").last ?? ""
    switch name {
    case "org.freedesktop.DBus.Error.AccessDenied":
      self.init(.noPermission("calling \(method.member) of \(method.destination)"))
    case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
      "org.freedesktop.DBus.Error.TimedOut":
      self.init(.timeout(method.member, limit))
    case "org.freedesktop.DBus.Error.ServiceUnknown",
      "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.systemd1.UnitMasked":
      self.init(.noDaemon)
    case _ where name.hasPrefix("org.freedesktop.DBus.Error.Spawn."): self.init(.noDaemon)
    case "org.freedesktop.DBus.Error.UnknownMethod",
      "org.freedesktop.DBus.Error.UnknownInterface",
      "org.freedesktop.DBus.Error.UnknownProperty":
      self.init(.unsupported("\(method.interface).\(method.member)", since: "5.55"))
    case "org.freedesktop.DBus.Error.UnknownObject": self.init(.noDevice(method.path))
    case "org.bluez.Error.NotConnected": self.init(.notConnected(method.path))
    default:
      self.init(.refused(method.member, name: String(short), text: text))
    }
  }

  /// The cause in one sentence.
  package var errorDescription: String? { description }

  /// What to try next; nil where the cause says it all.
  package var recoverySuggestion: String? {
    switch reason {
    case .noLibrary:
      "Install libsystemd (Debian: libsystemd0) or elogind (Debian: libelogind0)."
    case .noBus:
      "Start the message bus: sudo systemctl start dbus. In a container, mount its socket."
    case .busLost: "Start the message bus and bluetoothd: sudo systemctl start dbus bluetooth."
    case .noDaemon:
      "Install BlueZ (Debian: bluez) and start it: sudo systemctl start bluetooth."
    case .noAdapter(_, let known) where !known.isEmpty:
      "Use one of these: \(known.joined(separator: ", "))."
    case .noAdapter:
      "Plug in a Bluetooth adapter; if it is there, sudo dmesg | grep -i bluetooth says what is missing."
    case .adapterOff: "Switch it on: bluetoothctl power on."
    case .adapterBlocked: "Unblock it: rfkill unblock bluetooth. Laptops have a key for it."
    case .noRole: "Use another adapter, one for Bluetooth 4.1 or later."
    case .noPermission:
      "Join the group bluetooth (sudo usermod -a -G bluetooth $USER, then log in again), or see what "
        + "/etc/dbus-1/system.d/bluetooth.conf allows."
    case .unsupported(_, let version): "Use BlueZ \(version) or later: bluetoothd --version."
    case .noDevice: "Scan again: BlueZ forgets a device that it has not heard for 30 seconds."
    case .notConnected: "Connect again."
    case .linkDropped:
      "Go nearer. If only one side remembers the other's keys, remove the bond on both."
    case .noCharacteristic: "Check that it is the right device, and its firmware."
    case .messageSize:
      "Use an adapter and a peer that agree on a larger MTU; 52 carries the accessory protocol."
    case .peerNotReading: "Disconnect, and connect again."
    case .notSubscribed: "Let the peer subscribe first."
    case .pairing:
      "Remove the bond on both sides, then pair again. Apps on phones: forget the device in Settings."
    case .advertisement: "Use a shorter name, or one service in each advertisement."
    case .timeout: "Check that the device is near and on, then try again."
    case .cancelled: nil
    case .refused(_, "InProgress", _): "Wait until the other operation has ended, then try again."
    case .refused, .invalidReply: "See what bluetoothd says: journalctl -u bluetooth."
    case .unsendable, .system: nil
    }
  }
}

extension BluetoothError: CustomStringConvertible {
  /// The cause in one sentence.
  package var description: String {
    func words(_ errno: Int32) -> String { unsafe String(cString: strerror(errno)) }
    return switch reason {
    case .noLibrary(let why): "Bluetooth needs libsystemd, which cannot be loaded: \(why)."
    case .noBus(let address, let errno):
      "There is no message bus at \(address): \(words(errno))."
    case .busLost: "The message bus has closed the connection."
    case .noDaemon: "bluetoothd does not run."
    case .noAdapter(nil, _): "There is no Bluetooth adapter."
    case .noAdapter(let name?, _): "There is no Bluetooth adapter \(name)."
    case .adapterOff(let name): "The Bluetooth adapter \(name) is switched off."
    case .adapterBlocked(let name): "The Bluetooth adapter \(name) is blocked (rfkill)."
    case .noRole(let adapter, let role):
      "The Bluetooth adapter \(adapter) cannot be a \(role.rawValue)."
    case .noPermission(let what): "This user may not use Bluetooth: \(what) is refused."
    case .unsupported(let what, _): "This BlueZ cannot do \(what)."
    case .noDevice(let id): "bluetoothd does not know the device \(id)."
    case .linkDropped(let id): "The device \(id) drops the connection."
    case .notConnected(let id): "The device \(id) is not connected."
    case .noCharacteristic(let uuid): "The device has no characteristic \(uuid)."
    case .messageSize(let bytes, let limit):
      "A message of \(bytes) bytes does not fit into the connection's \(limit)."
    case .peerNotReading: "The device does not take what it is sent."
    case .notSubscribed: "The device has not subscribed to notifications."
    case .pairing(let why): "Pairing failed: \(why)."
    case .advertisement(let why): "The advertisement is refused: \(why)."
    case .timeout(let what, let limit): "\(what) was not answered within \(limit)."
    case .cancelled: "It was cancelled."
    case .refused(let what, let name, let text):
      "\(what) failed: \(name)\(text.isEmpty ? "" : " (\(text))")."
    case .invalidReply(let what): "bluetoothd answered with something else than \(what)."
    case .unsendable(let what, let errno): "\(what) cannot be sent: \(words(errno))."
    case .system(let what, let errno): "\(what): \(words(errno))."
    }
  }
}
