// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

internal import UWB

/// A source that cannot be opened.
package struct SourceFailure: Error, Sendable, Hashable, CustomStringConvertible {
  package let source: String
  package let reason: String
  package var description: String { "\(source): \(reason)" }
}

extension Source {
  /// Opens a source by its argument: `-`, a file, a pipe, `uwbd:` with a socket, `pans:` with a
  /// serial port, `history:` with a folder, `utc:` with `-` or a pipe.
  ///
  /// The board at this end may stand before it, as in `T1=-`.
  package init(argument: String, _ names: SiteNames) throws(SourceFailure) {
    let (board, place) = Self.parts(argument)
    if place.hasPrefix("pans:") {
      let path = String(place.dropFirst("pans:".count))
      self.init(place, .live(PANSBoard(path: path, board: board, names: names)))
      return
    }
    if place.hasPrefix("history:") {
      let folder = HistoryFolder(String(place.dropFirst("history:".count)))
      do throws(HistoryFailure) {
        self.init(place, .recording(try RecordedMeasurements(folder)))
      } catch { throw SourceFailure(source: place, reason: "\(error)") }
      return
    }
    if place.hasPrefix("utc:") {
      self.init(place, .timed(try Self.timed(String(place.dropFirst("utc:".count)), board)))
      return
    }
    if place == "-" {
      self.init(
        place,
        .live(
          LineStream(
            descriptor: Descriptor(STDIN_FILENO, isOwned: false),
            parser: LineParser(.json, board: board))))
      return
    }
    if let path = Self.service(place) {
      self.init(place, .live(ChipService(path: path, board: board, names: names)))
      return
    }
    if place.hasSuffix(".pcapng") {
      self.init(place, .recording(try Self.capture(place, board)))
      return
    }
    let descriptor: Descriptor
    do throws(Descriptor.Failure) { descriptor = try Descriptor(opening: place, O_RDONLY) } catch {
      throw SourceFailure(source: place, reason: "\(error)")
    }
    let parser = LineParser(place.hasSuffix(".csv") ? .table : .json, board: board)
    switch descriptor.kind {
    case .file: self.init(place, .recording(LineFile(descriptor, parser)))
    case .terminal:
      throw SourceFailure(
        source: place, reason: "is a serial port; pans:\(place) reads a board with PANS firmware")
    case .folder: throw SourceFailure(source: place, reason: "is a folder; a file belongs here")
    default: self.init(place, .live(LineStream(descriptor: descriptor, parser: parser)))
    }
  }

  /// Returns the socket of `uwbd:`, `uwbd:PATH` or the path of a socket.
  private static func service(_ place: String) -> String? {
    guard !place.hasPrefix("uwbd:") else {
      let path = place.dropFirst("uwbd:".count)
      return path.isEmpty ? ChipService.usualPath : String(path)
    }
    return Descriptor.isSocket(place) ? place : nil
  }

  private static func timed(
    _ path: String, _ board: String?
  ) throws(SourceFailure) -> TimedLines {
    let parser = LineParser(.json, board: board)
    guard path != "-" else {
      return TimedLines(Descriptor(STDIN_FILENO, isOwned: false), parser)
    }
    let descriptor: Descriptor
    do throws(Descriptor.Failure) { descriptor = try Descriptor(opening: path, O_RDONLY) } catch {
      throw SourceFailure(source: path, reason: "\(error)")
    }
    guard descriptor.kind != .folder else {
      throw SourceFailure(source: path, reason: "is a folder; a pipe belongs here")
    }
    return TimedLines(descriptor, parser)
  }

  private static func capture(
    _ path: String, _ board: String?
  ) throws(SourceFailure) -> CapturedRanges {
    guard let board else {
      throw SourceFailure(
        source: path,
        reason: "its board has no name; BOARD=\(path) names the board that recorded it")
    }
    do throws(CaptureError) { return try CapturedRanges(file: path, board: board) } catch {
      throw SourceFailure(
        source: path,
        reason: [error.description, error.recoverySuggestion].compactMap(\.self).joined(
          separator: " "))
    }
  }

  /// Divides `BOARD=SOURCE`. A path may contain the equals sign after its first slash.
  static func parts(_ argument: String) -> (board: String?, place: String) {
    guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex,
      !argument[..<sign].contains("/")
    else { return (nil, argument) }
    return (String(argument[..<sign]), String(argument[argument.index(after: sign)...]))
  }
}
