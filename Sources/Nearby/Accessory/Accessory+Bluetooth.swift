// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Bluetooth
public import Channels

extension Accessory {
  /// Serves phones over Bluetooth LE until the task is cancelled.
  ///
  /// Serving continues after bluetoothd was restarted or the adapter was replugged. Other channels
  /// can be served at the same time. A phone keeps its name, and so its session, when it connects
  /// again.
  ///
  /// - Parameters:
  ///   - peripheral: the name, the adapter and the phones that may pair.
  ///   - report: called with each event, one after the other.
  /// - Throws: `ChannelError` with the code `.bluetooth` if something is missing at the start.
  public func serve(
    _ peripheral: BluetoothPeripheral,
    report: @escaping @Sendable (BluetoothPeripheral.Event) -> Void = { _ in }
  ) async throws(ChannelError) {
    let phones: PeripheralServices.Phones =
      switch options.phones {
      case .any: [.iPhone, .android]
      case .iPhone: .iPhone
      case .android: .android
      }
    let services = PeripheralServices(for: phones) { [weak self] device in
      // The phone's app may not have asked yet.
      let data = self?.offered(to: device.address) ?? (try? self?.configurationData())
      return data.map { .success($0.bytes) } ?? .failure(.application(0x80))
    }
    do throws(BluetoothError) {
      let server = try await PeripheralServer(peripheral, services, report)
      await server.run { await self.serve($0, as: $0.name) }
    } catch {
      throw ChannelError(.bluetooth(error))
    }
  }
}
