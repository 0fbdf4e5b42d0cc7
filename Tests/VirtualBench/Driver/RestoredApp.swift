// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Channels
import Foundation
import NearbyInteraction
import System
import UWBLink

/// `VirtualBench restored-app FOLDER ADAPTER NAME`: an app that pairs with the accessory NAME over
/// Bluetooth LE and ranges with it, through the service at FOLDER/control, until it is killed. When
/// it runs again, it resumes its session from the state in FOLDER, and ends after five distances.
///
/// `VirtualBench sequence FOLDER` prints the number of each measurement of the service.
enum RestoredApp {
  static func run(_ arguments: [String]) async {
    guard arguments.count == 3 else { fail("restored-app FOLDER ADAPTER NAME") }
    do {
      try await App(arguments[0]).run(adapter: arguments[1], name: arguments[2])
    } catch {
      fail("\(error)")
    }
  }

  static func sequence(_ arguments: [String]) {
    guard arguments.count == 1 else { fail("sequence FOLDER") }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard
      withUnixAddress("\(arguments[0])/control", { connect(descriptor, $0, $1) }) == 0
    else { fail("\(arguments[0])/control: \(lastError)") }
    let call = #"{"method":"org.swift-uwb.Chips.Monitor","parameters":{},"more":true}"# + "\0"
    guard write(descriptor, call, call.utf8.count) == call.utf8.count else { fail(lastError) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var rest: [UInt8] = []
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
      rest += buffer[..<count]
      while let end = rest.firstIndex(of: 0) {
        let reply = try? JSONSerialization.jsonObject(with: Data(rest[..<end])) as? [String: Any]
        let parameters = reply?["parameters"] as? [String: Any]
        if let measurement = parameters?["measurement"] as? [String: Any],
          let sequence = measurement["sequence"] as? Int
        {
          say("\(sequence)")
        }
        rest.removeFirst(end + 1)
      }
    }
  }
}

private final class App: NSObject, NISessionDelegate, Sendable {
  private let folder: String
  private let session = NISession()
  private let generated: AsyncStream<Data>
  private let generation: AsyncStream<Data>.Continuation
  private let distances: AsyncStream<Float>
  private let distance: AsyncStream<Float>.Continuation

  init(_ folder: String) {
    self.folder = folder
    (generated, generation) = AsyncStream.makeStream()
    (distances, distance) = AsyncStream.makeStream()
  }

  private func file(_ name: String) -> URL { URL(filePath: "\(folder)/\(name)") }

  func run(adapter: String, name: String) async throws {
    session.delegate = self
    session.delegateQueue = DispatchQueue(label: "app")
    session.device = "uwbd:\(folder)/control?linger=60"
    let kept = try? Data(contentsOf: file("shareable-data"))
    let identifier = try? String(contentsOf: file("identifier"), encoding: .utf8)
    let central = try await BluetoothCentral.open(adapter: adapter)
    for await found in try await central.accessories()
    where identifier.map({ $0 == found.identifier.uuidString }) ?? (found.name == name) {
      let channel = try await central.connect(to: found, pairing: kept == nil)
      say("connected")
      var messages = channel.messages.makeAsyncIterator()
      if kept == nil {
        try await channel.send(AppMessage.initialize.bytes)
        guard
          case .accessoryConfigurationData(let data)? = try await messages.next().map(
            AccessoryMessage.init)
        else { fail("0x0A is not answered with 0x01") }
        try Data(data).write(to: file("accessory-data"))
        try Data(found.identifier.uuidString.utf8).write(to: file("identifier"))
      }
      let configuration = try NINearbyAccessoryConfiguration(
        accessoryData: Data(contentsOf: file("accessory-data")),
        bluetoothPeerIdentifier: found.identifier)
      configuration.shareableConfigurationData = kept
      session.run(configuration)
      guard let data = await generated.first(where: { _ in true }) else { fail("it does not run") }
      guard kept == nil || data == kept else { fail("it has made other data") }
      try data.write(to: file("shareable-data"))
      try await channel.send(AppMessage.configureAndStart([UInt8](data)).bytes)
      var count = 0
      for await metres in distances {
        say("distance \(metres)")
        count += 1
        if kept != nil, count == 5 { break }
      }
      guard count == 5, kept != nil else { fail("the session has ended") }
      try await channel.send(AppMessage.stop.bytes)
      while let message = await messages.next(), message.first != 0x03 {}
      await session.close()
      await central.close()
      return
    }
    fail("\(name) is not heard")
  }

  // MARK: NISessionDelegate

  func session(
    _ session: NISession, didGenerateShareableConfigurationData data: Data,
    for object: NINearbyObject
  ) { generation.yield(data) }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    for object in nearbyObjects { if let metres = object.distance { distance.yield(metres) } }
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    say("\((error as NSError).localizedFailureReason ?? "\(error)")")
    generation.finish()
    distance.finish()
  }
}
