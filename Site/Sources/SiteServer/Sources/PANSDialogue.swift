// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// The dialogue with the shell of a PANS board. Time is an input.
///
/// It first waits for output, since the board may already print ranges. Enter and `lec` would end
/// them: Enter in the shell repeats the last command, and `lec` switches the output on and off. Two
/// Enters within a second open the shell of a silent board. `si` requests its address, and `lec`
/// starts the output.
package struct PANSDialogue {
  package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case noShell

    package var description: String {
      "no shell of PANS answers; check the firmware and that no other program uses the port"
    }
  }

  private enum Step: Hashable {
    case listening
    case entering(attempt: Int)
    case asking(attempt: Int)
    /// Enter may have repeated `lec`, so the dialogue waits for output.
    case settling
    case streaming
  }

  /// Time limits in seconds.
  private enum Patience {
    static let listening = 1.5
    /// The shell takes a second to start.
    static let shell = (first: 0.5, second: 2.0)
    static let answer = 2.0
    /// A tag at rest may send once a minute.
    static let silence = 90.0
  }

  private static let mostAttempts = 3
  /// The length beyond which a line cannot be from this shell.
  private static let longestLine = 4096

  /// The name of the board, if the argument has one.
  private let board: String?
  private let names: SiteNames
  private var step = Step.listening
  private var deadline: Double
  private var text: [UInt8] = []
  private var line = 0
  private var isStreaming = false
  /// Whether this dialogue has started the output.
  private(set) var hasStarted = false
  private var address: UInt64?
  private var label: String?
  private var hasIntroduced = false
  private var hasAnswered = false

  package init(board: String?, _ names: SiteNames, at now: Double) {
    (self.board, self.names) = (board, names)
    deadline = now + Patience.listening
  }

  /// The name for the engine: the address or the label, whichever is in the site.
  var name: String? {
    if let board { return board }
    guard let address else { return nil }
    let short = Address(UInt16(truncatingIfNeeded: address)).description
    let candidates = [short, Address(extended: address).description] + [label].compactMap(\.self)
    return names.first(of: candidates) ?? short
  }

  // MARK: input

  /// Handles bytes from the board; returns items, and bytes for the board.
  package mutating func receive(_ bytes: [UInt8], at now: Double) -> (
    items: [SourceItem], output: String
  ) {
    var (items, output) = ([SourceItem](), "")
    for byte in bytes {
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || text.count > Self.longestLine {
        handleLine(now, &items, &output)
      } else {
        text.append(byte)
        // The prompt is not followed by an end of line.
        if byte == UInt8(ascii: ">"), text.count <= 8 { handlePrompt(now, &output) }
      }
    }
    return (items, output)
  }

  private mutating func handleLine(
    _ now: Double, _ items: inout [SourceItem], _ output: inout String
  ) {
    defer { text.removeAll(keepingCapacity: true) }
    guard text.contains(where: { $0 > 32 }) else { return }
    line += 1
    let parsed: PANSLine
    do throws(PANSLine.Problem) { parsed = try PANSLine(text) } catch {
      return items.append(.bad("line \(line): \(error)"))
    }
    switch parsed {
    case .round(let ranges, _):
      noteOutput(now, &output)
      items += ranges.map { item($0, now) }
    case .position: noteOutput(now, &output)
    case .address(let address): (self.address, hasAnswered) = (address, true)
    case .label(let label):
      self.label = label
      introduce(now, &items, &output)
    case .prompt: handlePrompt(now, &output)
    case .other: break
    }
  }

  private func item(_ range: PANSLine.Range, _ now: Double) -> SourceItem {
    // The board prints a failed range as 0.
    guard range.distance > 0, let name else { return .failed }
    let fields: [String: RangeLine.Field] = [
      "t": .number(now), "tag": .text(name), "anchor": .text(range.anchor),
      "distance_m": .number(range.distance),
    ]
    do throws(RangeLine.Problem) {
      return try RangeLine(device: nil, { fields[$0] }).map(SourceItem.measurement) ?? .failed
    } catch { return .bad("\(error)") }
  }

  /// Notes that the board prints ranges or places.
  private mutating func noteOutput(_ now: Double, _ output: inout String) {
    isStreaming = true
    switch step {
    case .listening, .entering: ask(1, now, &output)
    case .asking: break
    case .settling, .streaming:
      step = .streaming
      deadline = now + Patience.silence
    }
  }

  private mutating func handlePrompt(_ now: Double, _ output: inout String) {
    if case .entering = step { ask(1, now, &output) }
  }

  /// Completes the questions about the board's identity.
  private mutating func introduce(
    _ now: Double, _ items: inout [SourceItem], _ output: inout String
  ) {
    guard case .asking = step, hasAnswered else { return }
    if !hasIntroduced {
      let words = [address.map { Address(extended: $0).description }, label].compactMap(\.self)
      items.append(.state(.connected(identity: words.joined(separator: " "))))
      hasIntroduced = true
    }
    step = isStreaming ? .streaming : .settling
    deadline = now + (isStreaming ? Patience.silence : Patience.listening)
  }

  private mutating func ask(_ attempt: Int, _ now: Double, _ output: inout String) {
    step = .asking(attempt: attempt)
    deadline = now + Patience.answer
    output += "si\r"
  }

  private mutating func stream(_ now: Double, _ output: inout String) {
    step = .streaming
    deadline = now + Patience.silence
    guard !isStreaming else { return }
    output += "lec\r"
    hasStarted = true
  }

  // MARK: time

  /// Performs what is due; the output goes to the board.
  mutating func tick(
    at now: Double
  ) throws(Failure) -> (items: [SourceItem], output: String) {
    guard now >= deadline else { return ([], "") }
    var (items, output) = ([SourceItem](), "")
    switch step {
    case .listening: enter(1, now, &output)
    case .entering(let attempt):
      guard attempt < 2 * Self.mostAttempts else { throw .noShell }
      enter(attempt + 1, now, &output)
    case .asking(let attempt):
      if hasAnswered {
        // Some versions print no label.
        introduce(now, &items, &output)
      } else if attempt < Self.mostAttempts {
        ask(attempt + 1, now, &output)
      } else if isStreaming {
        // Ranges prove that the board is present. A name in the argument may be enough.
        stream(now, &output)
      } else {
        enter(1, now, &output)
      }
    case .settling: stream(now, &output)
    case .streaming:
      (isStreaming, hasAnswered) = (false, false)
      ask(1, now, &output)
    }
    return (items, output)
  }

  private mutating func enter(_ attempt: Int, _ now: Double, _ output: inout String) {
    step = .entering(attempt: attempt)
    // The second Enter must follow within a second, unless the board answers the first Enter.
    deadline = now + (attempt % 2 == 1 ? Patience.shell.first : Patience.shell.second)
    output += "\r"
  }
}
