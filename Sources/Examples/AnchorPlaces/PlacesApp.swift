// SPDX-License-Identifier: Apache-2.0

import ExampleEnvironment
import NearbyInteraction
import SystemPackage
import UCI
import UWB
import UWBSimulator

/// An app that computes its own place from the messages of anchors.
///
/// All code runs on the delegate's queue.
final class PlacesApp: NSObject, NISessionDelegate, @unchecked Sendable {
  let session = NISession()
  /// Beyond Apple: places by the messages.
  private var places = NIAnchorPlaces(height: 1.2)

  /// Called with each place.
  var onPlace: (@Sendable (NIAnchorPlaces.Place) -> Void)?

  func start(network: Int) {
    session.delegate = self
    session.delegateQueue = DispatchQueue(label: "app")
    session.run(NIDLTDOAConfiguration(networkIdentifier: network))
  }

  // MARK: NISessionDelegate

  func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {
    for result in places.update(measurements) {
      if case .place(let place) = result { onPlace?(place) }
    }
  }

  func session(_ session: NISession, didInvalidateWith error: any Error) {
    fail("the session ended: \(error)")
  }
}

/// Anchors in one process and an app in another. The first process also simulates the chips, and
/// starts the second one with the name of its chip.
@main
enum Main {
  private static let network = 77
  private static let anchors: [SIMD3<Double>] = [
    SIMD3(0, 0, 2.5), SIMD3(8, 0, 2.2), SIMD3(8, 6, 0.5), SIMD3(0, 6, 2.4), SIMD3(4, 3, 0.2),
  ]
  private static let truth = SIMD3(3, 2, 1.1)

  static func main() async throws {
    failAfter(seconds: 120) { "process \(getpid())" }
    guard CommandLine.arguments.count < 2 else { return await app() }
    let environment = try ExampleEnvironment(phone: .fira2, at: Placement(at: truth))
    var devices: [UWBDevice] = []
    // The initiator is the last one: the others wait for its poll.
    for index in anchors.indices.reversed() {
      let chip = try environment.bench.add(
        profile: .fira2, placement: Placement(at: anchors[index]), name: "anchor \(index)")
      let device = try await UWBDevice.open(.serial(path: FilePath(chip.path)))
      devices.append(device)
      try await device.makeSession(anchor(index)).start()
    }
    let lines = try runApp(on: environment.phone.path)
    for device in devices { await device.close() }
    let found = lines.compactMap { line in
      let numbers = line.split(separator: " ").compactMap { Double($0) }
      return numbers.count == 2 ? SIMD2(numbers[0], numbers[1]) : nil
    }
    guard found.count == 10, let last = found.last else { fail("places: \(lines)") }
    let error = last - SIMD2(truth.x, truth.y)
    print("\(last.x), \(last.y), actually \(truth.x), \(truth.y)")
    guard (error * error).sum() < 0.2 * 0.2 else { fail("wrong place") }
    succeed("a process finds its place by the anchors of another")
  }

  /// Returns the session of an anchor with `NIDLTDOAConfiguration`'s default parameters.
  private static func anchor(_ index: Int) -> SessionConfiguration {
    let place = 1_000 * anchors[index]
    let responders = anchors.indices.dropFirst().map { MACAddress(UInt16($0)) }
    let role = SessionConfiguration.DownlinkAnchor(
      rounds: [.init(0, index == 0 ? .initiator(responders: responders) : .responder)],
      location: .relative(x: Int32(place.x), y: Int32(place.y), z: Int32(place.z)))
    var session = SessionConfiguration(
      role: .downlinkAnchor(role), sessionID: UInt32(network), address: MACAddress(UInt16(index)))
    (session.channel, session.preambleCode) = (9, 10)
    (session.slotDuration, session.slotsPerRound, session.interval) = (2_400, 25, 200)
    session.sts = .fixed(.init(vendorID: [8, 7], iv: [1, 2, 3, 4, 5, 6]))
    return session
  }

  /// Runs the second process to its end, and returns its lines.
  private static func runApp(on chip: String) throws -> [Substring] {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [chip]
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n")
  }

  /// The second process: prints ten places.
  private static func app() async {
    let app = PlacesApp()
    app.session.device = CommandLine.arguments[1]
    let (found, places) = AsyncStream<NIAnchorPlaces.Place>.makeStream()
    app.onPlace = { places.yield($0) }
    app.start(network: network)
    var count = 0
    for await place in found where count < 10 {
      print(place.position.x, place.position.y)
      count += 1
      if count == 10 { break }
    }
    await app.session.close()
  }
}
