// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UWBTestSupport

@testable import UWBService
@testable import uwbd

@Suite(.timeLimit(.minutes(10))) struct BoardFolderTests {
  @Test func boardsComeAsTheyArePluggedIn() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let boards = BoardFolder(folder.path("uwb"))
    func plug(_ name: String, _ target: String) throws {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("uwb/\(name)"), withDestinationPath: "../\(target)")
    }
    let (changes, change) = AsyncStream<[String]>.makeStream()
    let watching = Task { await boards.watch { change.yield($0) } }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == [])
    try FileManager.default.createDirectory(
      atPath: folder.path("uwb"), withIntermediateDirectories: false)
    try plug("jlink-1-if00", "ttyACM1")
    try plug("nxp-spidev0.0", "spidev0.0")
    try plug("qorvo-1", "ttyACM0")
    #expect(await iterator.next() == [folder.path("uwb/qorvo-1")])
    try plug("nxp-2", "ttyUSB0")
    #expect(await iterator.next() == [folder.path("uwb/nxp-2"), folder.path("uwb/qorvo-1")])
    watching.cancel()
    await watching.value
  }
}
