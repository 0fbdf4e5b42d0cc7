// SPDX-License-Identifier: Apache-2.0

import System
import Testing
import UWBLink

@testable import UWB

@Suite("Firmware: SR1xx", .timeLimit(.minutes(10)))
struct HBCITests {
  /// The bytes do not resemble text.
  private static func image(_ count: Int) throws -> FirmwareImage {
    let bytes = (0..<count).map { index in
      let mixed = index * 31 + (index >> 8) * 7
      return UInt8(mixed & 0xFF)
    }
    return try FirmwareImage(bytes, kind: .hbci)
  }

  private func load(
    _ image: FirmwareImage, _ loader: ScriptedLoader,
    _ progress: @escaping @Sendable (FirmwareProgress) -> Void = { _ in }
  ) async throws -> Firmware.Report {
    try await Firmware.load(image, through: loader, progress: progress, pause: { _ in })
  }

  @Test("An image of any length arrives", arguments: [2, 2_047, 2_048, 2_049, 4_096, 100_000])
  func arrives(_ count: Int) async throws {
    let loader = ScriptedLoader()
    let image = try Self.image(count)
    let report = try await load(image, loader)
    let state = loader.state.withLock { $0 }
    #expect(state.faults.isEmpty)
    #expect(state.image == image.bytes)
    #expect(state.ended && state.resets == 1)
    #expect(report.bytes == count)
    #expect(report.isProduction == true && report.revision == 0xB1)
  }

  @Test("Only revision B2 is given time between a segment's header and its data")
  func pauses() async throws {
    for (revision, segments) in [(0xB1, 0), (0xB2, 3), (0xB3, 3)] as [(UInt8, Int)] {
      let loader = ScriptedLoader()
      loader.state.withLock { $0.revision = revision }
      let pauses = Locked<[Int]>([])
      _ = try await Firmware.load(
        try Self.image(5_000), through: loader, progress: { _ in },
        pause: { milliseconds in pauses.withLock { $0.append(milliseconds) } })
      #expect(pauses.withLock { $0 } == Array(repeating: 1, count: segments) + [100])
    }
  }

  @Test("A full segment that others follow has the length 8000; the check byte makes the sum 0")
  func segments() {
    let full = HBCI.segment(ArraySlice(repeatElement(7, count: 2_048)), moreFollow: true)
    #expect(full.header == [0x53, 0x01, 0x00, 0x80])
    #expect(full.data.count == 2_049)
    let last = HBCI.segment([1, 2, 3], moreFollow: false)
    #expect(last.header == [0x53, 0x01, 0x04, 0x00])
    // 53 + 01 + 04 + 01 + 02 + 03 = 5E.
    #expect(last.data == [1, 2, 3, 0xA2])
  }

  @Test("Progress is reported for each step and segment")
  func progress() async throws {
    let seen = Locked<[FirmwareProgress]>([])
    _ = try await load(try Self.image(5_000), ScriptedLoader()) { step in
      seen.withLock { $0.append(step) }
    }
    let all = seen.withLock { $0 }
    #expect(
      all.map(\.step) == [
        .starting, .identifying, .entering, .sending, .sending, .sending, .accepting, .leaving,
      ])
    #expect(all.filter { $0.step == .sending }.map(\.sent) == [0, 2_048, 4_096])
    #expect(all.allSatisfy { $0.total == 5_000 && $0.attempt == 1 })
  }

  @Test(
    "A refused segment, a lost answer and a damaged one: again from the beginning", arguments: 0..<3
  )
  func anotherAttempt(_ fault: Int) async throws {
    let loader = ScriptedLoader()
    let image = try Self.image(9_000)
    loader.state.withLock {
      $0.dataErrors = fault == 0 ? 1 : 0
      $0.silences = fault == 1 ? 1 : 0
      $0.damagesPayload = fault == 2
    }
    _ = try await load(image, loader)
    let state = loader.state.withLock { $0 }
    #expect(state.resets == 2)
    #expect(state.image == image.bytes)
    #expect(state.faults.isEmpty)
  }

  @Test("After five attempts it is given up, and said that the chip has no firmware")
  func givenUp() async throws {
    let loader = ScriptedLoader()
    loader.state.withLock { $0.dataErrors = 100 }
    let error = await #expect(throws: FirmwareError.self) {
      _ = try await load(try Self.image(3_000), loader)
    }
    guard case .givenUp(5, .refused(.sending, 0x81, _)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.description.contains("no firmware") == true)
    #expect(error?.recoverySuggestion != nil)
    #expect(loader.state.withLock { $0.resets == 5 && !$0.ended })
  }

  @Test(
    "An image that the chip refuses is not sent again", arguments: [0x8D, 0x8A, 0x92] as [UInt8])
  func refused(_ code: UInt8) async throws {
    let loader = ScriptedLoader()
    loader.state.withLock { $0.verdict = code }
    let error = await #expect(throws: FirmwareError.self) {
      _ = try await load(try Self.image(3_000), loader)
    }
    guard case .refused(.accepting, code, .some) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(loader.state.withLock { $0.resets == 1 && !$0.ended })
  }

  @Test("A chip that is not there, and one that says something else")
  func others() async throws {
    let loader = ScriptedLoader()
    loader.state.withLock { $0.silences = 1_000 }
    let error = await #expect(throws: FirmwareError.self) {
      _ = try await load(try Self.image(3_000), loader)
    }
    #expect(error == .givenUp(attempts: 5, .noAnswer(step: .identifying)))
  }

  @Test("Called off in the middle, it says that the chip has no firmware")
  func cancelled() throws {
    let loader = ScriptedLoader()
    let sent = Locked(0)
    let load = HBCILoader(
      port: loader, image: try Self.image(200_000).bytes,
      isCancelled: { sent.withLock { $0 > 20_000 } },
      progress: { step in sent.withLock { $0 = step.sent } }, pause: { _ in })
    let error = #expect(throws: FirmwareError.self) { try load.load() }
    #expect(error == .cancelled(step: .sending))
    #expect(error?.description.contains("no firmware") == true)
    #expect(loader.state.withLock { !$0.ended && $0.image.count < 30_000 })
  }
}

@Suite("Firmware: files", .timeLimit(.minutes(10)))
struct FirmwareImageTests {
  @Test("What is no image is refused before anything is sent")
  func refused() {
    func why(_ bytes: [UInt8], _ kind: FirmwareImage.Kind) -> String {
      do throws(FirmwareError) {
        _ = try FirmwareImage(bytes, kind: kind, path: "f")
        return ""
      } catch {
        return error.description
      }
    }
    #expect(why([], .hbci).contains("empty"))
    #expect(why([UInt8](repeating: 0xFF, count: 5_000), .hbci).contains("the same"))
    #expect(why(Array("<html><body>".utf8), .hbci).contains("web page"))
    #expect(why([0x50, 0x4B, 3, 4, 9], .hdll).contains("zip"))
    #expect(why(Array("version https://git-lfs".utf8), .hbci).contains("LFS"))
    #expect(why([0x1F, 0x8B, 0, 0], .hbci).contains("compressed"))
    #expect(why(Array("just some text\n".utf8), .hbci).contains("text"))
    #expect(why([0x7F, 0x45, 0x4C, 0x46, 0x02], .hbci).contains("ELF"))
    #expect(
      why((0..<262_145).map { UInt8($0 & 0xFF) }, .hbci).contains("262145"))
    #expect(why((0..<262_144).map { UInt8($0 & 0xFF) }, .hbci).isEmpty)
    let frames =
      ScriptedFlash.frame([0x03, 0x01, 9, 9]) + ScriptedFlash.frame([0x03, 0x02, 41, 4, 7])
    #expect(why(frames, .hbci).contains("SR2xx"))
    #expect(why(frames, .hdll).isEmpty)
    for cut in 2..<frames.count where cut != 8 {
      #expect(why(Array(frames.prefix(cut)), .hdll).contains("cut off"), "\(cut)")
    }
    for place in frames.indices {
      var damaged = frames
      damaged[place] ^= 0x10
      #expect(!why(damaged, .hdll).isEmpty, "\(place)")
    }
  }

  /// The lists of AOSP's HAL and of NXP's middleware.
  @Test("Every published code of the loaders has a meaning, and no other has")
  func meanings() {
    let all = (0...255) as ClosedRange<UInt8>
    #expect(all.filter { HBCI.meaning(ofAcknowledgement: $0) != nil } == [0x81, 0x82, 0x83, 0x84])
    #expect(all.filter(HBCI.isTransmissionError) == [0x81, 0x82, 0x83, 0x84])
    #expect(
      all.filter { HBCI.meaning(ofGeneral: $0) != nil }
        == [0xD1, 0xD2, 0xD3, 0xD4, 0xE1, 0xE3, 0xE4, 0xE5])
    #expect(all.filter { HBCI.meaning(ofImage: $0) != nil } == Array(0x81...0x95))
    var known = Array(0x80...0x84) as [UInt8]
    known += 0x90...0x99
    known += [0xA0, 0xA1, 0xA2, 0xB0, 0xB1, 0xB2, 0xC0, 0xC1]
    #expect(all.filter { HDLL.meaning(of: $0) != nil } == known)
    #expect(HBCI.meaning(ofImage: 0x8A) == HBCI.meaning(ofImage: 0x8B))
    #expect(HBCI.meaning(ofImage: 0x8D)?.contains("signed") == true)
    #expect(HDLL.meaning(of: 0x92)?.contains("signature") == true)
    #expect(HDLL.meaning(of: 0x95)?.contains("another chip") == true)
    let error = FirmwareError.wrongAnswer(step: .entering, [0x0A, 0xFF, 0x00])
    #expect(error.description.hasPrefix("The chip's loader answered 0A FF 00 while "))
  }

  @Test("A file that is not there")
  func missing() {
    let error = #expect(throws: FirmwareError.self) {
      _ = try FirmwareImage(path: "/no/such/file", kind: .hbci)
    }
    guard case .unreadable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("The checks of the frames that NXP documents")
  func published() {
    #expect(HDLL.isIntact([0x00, 0x04, 0x81, 0x01, 0x02, 0x00, 0x7D, 0xC8]))
    #expect(HDLL.isIntact([0x00, 0x04, 0x81, 0x03, 0x02, 0x00, 0x13, 0xA8]))
    #expect(!HDLL.isIntact([0x00, 0x04, 0x81, 0x03, 0x02, 0x00, 0x13, 0xA9]))
    #expect(
      HDLL.word(of: HDLL.ready) == HDLL.Word(kind: .notification, group: 1, operation: 1))
    #expect(HDLL.word(of: ScriptedFlash.frame([0x43])) == nil, "its check is no part of a word")
  }
}

@Suite("Firmware: SR2xx", .timeLimit(.minutes(10)))
struct HDLLTests {
  private static let frames: [[UInt8]] =
    [ScriptedFlash.frame([0x03, 0x01, 1, 2, 3]), ScriptedFlash.frame([0x03, 0x02, 1, 41, 4, 9])]
    + (0..<20).map { ScriptedFlash.frame([0x03, 0x03] + [UInt8](repeating: $0, count: 500)) }
    + [ScriptedFlash.frame([0x03, 0x04, 8])]

  private func load(_ flash: ScriptedFlash) async -> Result<Firmware.Report, FirmwareError> {
    do throws(FirmwareError) {
      let image = try FirmwareImage(Array(Self.frames.joined()), kind: .hdll)
      return .success(
        try await Firmware.load(image, through: flash, progress: { _ in }, pause: { _ in }))
    } catch {
      return .failure(error)
    }
  }

  @Test("Every frame is sent as it is and answered; then the chip is reset")
  func writes() async throws {
    let flash = ScriptedFlash()
    _ = try await load(flash).get()
    #expect(flash.state.withLock { $0.written } == Self.frames)
    #expect(flash.state.withLock { $0.resets } == 2)
  }

  @Test("Its version is where NXP's tools look for it")
  func version() throws {
    let image = try FirmwareImage(Array(Self.frames.joined()), kind: .hdll)
    #expect(image.version?.major == 1 && image.version?.minor == 41)
  }

  @Test("A refusal says how far it got, and that the flash is half written")
  func halfWritten() async {
    let flash = ScriptedFlash()
    flash.state.withLock { $0.statuses[7] = 0x93 }
    let written = Self.frames.prefix(7).joined().count
    guard case .failure(let error) = await load(flash) else { return }
    #expect(
      error
        == .halfWritten(
          written: written, total: Self.frames.joined().count,
          .refused(step: .sending, code: 0x93, meaning: HDLL.meaning(of: 0x93))))
    #expect(error.description.contains("half written"))
    #expect(flash.state.withLock { $0.written.count } == 8)
    // The dialogue starts again from the beginning.
    flash.state.withLock {
      $0.statuses = [:]
      $0.written = []
    }
    #expect((try? await load(flash).get()) != nil)
  }

  @Test("A chip that falls silent, and one that never begins")
  func silent() async {
    let flash = ScriptedFlash()
    flash.state.withLock { $0.silentFrom = 3 }
    guard case .failure(.halfWritten(_, _, .noAnswer(.sending))) = await load(flash) else {
      Issue.record("it fell silent unnoticed")
      return
    }
    let dead = ScriptedFlash()
    dead.state.withLock { $0.isReady = false }
    guard case .failure(.noAnswer(.starting)) = await load(dead) else {
      Issue.record("it was never there")
      return
    }
    #expect(dead.state.withLock { $0.written.isEmpty })
  }
}
