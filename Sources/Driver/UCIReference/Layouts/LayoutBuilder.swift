// SPDX-License-Identifier: Apache-2.0

import UCI

/// A layout that the tables for Wireshark cannot express.
package struct UnsupportedLayout: Error, CustomStringConvertible {
  let message: String
  let step: Int
  package var description: String { "The layout of \(message) cannot be written: step \(step)." }
}

/// Finds the layout of a message by running its `visit` with many values, and writes it as a table
/// of Lua.
///
/// A value that changes the calls after it becomes a branch. A number that depends on values
/// becomes a table of them, or a line `a * value + b`.
final class LayoutBuilder {
  private let message: String
  private let probe: (LayoutScript, Int) -> [LayoutStep]
  private let detailed: (LayoutScript) -> [LayoutStep]
  private var runs: [LayoutScript: [LayoutStep]] = [:]
  private var influences: [Context: [Int: [Int: UInt64]]] = [:]

  init(
    _ payload: any FieldGroup.Type, _ opcode: Opcode, _ dialect: Dialect,
    _ notes: LayoutProbe.Notes
  ) {
    message = "\(payload)"
    func steps(_ probe: LayoutProbe) -> [LayoutStep] {
      var (probe, value) = (probe, payload.init())
      // Only reading throws.
      try? value.visit(&probe)
      return probe.steps
    }
    probe = { steps(LayoutProbe($0, opcode, dialect, notes, scale: $1)) }
    detailed = { steps(LayoutProbe($0, opcode, dialect, notes, isDetailed: true)) }
  }

  func layout() throws(UnsupportedLayout) -> String { Lua.list(try nodes([:], from: 0).nodes) }

  /// Returns the steps that a dialect can change: the steps with all values 0, and the steps after
  /// each decision.
  func signature() -> [[LayoutStep]] {
    let usual = run([:])
    let decisions = usual.indices.filter {
      switch usual[$0].call {
      case .form, .attempt, .holds, .optional: true
      default: false
      }
    }
    return [usual] + decisions.flatMap { [run([$0: 0]), run([$0: 1])] }
  }

  private func run(_ script: LayoutScript) -> [LayoutStep] {
    if let known = runs[script] { return known }
    let steps = probe(script, 0)
    runs[script] = steps
    return steps
  }

  /// Returns the nodes of a level, and the index of the step that ends it.
  private func nodes(
    _ script: LayoutScript, from start: Int
  ) throws(UnsupportedLayout) -> (nodes: [String], end: Int) {
    let steps = run(script)
    var (nodes, index): ([String], Int) = ([], start)
    while index < steps.count, steps[index].call != .end {
      if steps[index].call.opens {
        let (node, next) = try part(script, at: index)
        nodes.append(node)
        guard let next else { return (nodes, steps.endOfLevel(from: index)) }
        index = next
        continue
      }
      if let node = try leaf(script, at: index) { nodes.append(node) }
      if let branch = try branch(script, at: index) {
        nodes.append(branch)
        return (nodes, steps.endOfLevel(from: index))
      }
      index += 1
    }
    return (nodes, index)
  }

  /// Returns a node without a body; nil where nothing has to be read.
  private func leaf(_ script: LayoutScript, at index: Int) throws(UnsupportedLayout) -> String? {
    let number = try number(of: index, script)
    switch detailed(script)[index].call {
    case .integer(let name, let form, let isSigned):
      return Lua.list([
        isSigned ? "\"i\"" : "\"u\"", Lua.string(name), form, number, "\(index)",
      ])
    case .code(let name, let table):
      return Lua.list(["\"c\"", Lua.string(name), Lua.string(table), number, "\(index)"])
    case .bytes(let name, let form, let count):
      return Lua.list(["\"b\"", Lua.string(name), form, Self.count(count, number)])
    case .parameters(let name, let space):
      return Lua.list(["\"p\"", Lua.string(name), space])
    case .parameterID(let space, let longIDs): return Lua.list(["\"d\"", space, longIDs])
    case .require(let field):
      return number == "1" ? nil : Lua.list(["\"r\"", Lua.string(field), number])
    default: return nil
    }
  }

  private static func count(_ kind: String, _ number: String) -> String {
    switch kind {
    case "": number
    case "fit": "{fit=\(number)}"
    default: Lua.string(kind)
    }
  }

  /// Returns a node with a body, and the index of the step after the body; nil for the index if the
  /// node contains the rest of its level.
  private func part(
    _ script: LayoutScript, at index: Int
  ) throws(UnsupportedLayout) -> (node: String, next: Int?) {
    let number = try number(of: index, script)
    let (body, end) = try nodes(script, from: index + 1)
    let inner = Lua.list(body)
    switch detailed(script)[index].call {
    case .list(let name, let count, let view, let isPlain):
      let count = Self.count(count, number)
      return (
        Lua.list([
          isPlain ? "\"v\"" : "\"l\"", Lua.string(name), count, inner, Lua.string(view),
        ]), end + 1
      )
    case .group(let name, let view):
      return (Lua.list(["\"g\"", Lua.string(name), inner, Lua.string(view)]), end + 1)
    case .afterStatus(let isMandatory):
      return (Lua.list(["\"a\"", "\(isMandatory)", inner]), end + 1)
    case .form(let count):
      var forms = [inner]
      for form in 1..<count {
        let script = script.merging([index: UInt64(form)]) { $1 }
        forms.append(Lua.list(try nodes(script, from: index + 1).nodes))
      }
      return (Lua.list(["\"f\"", Lua.list(forms)]), end + 1)
    case .optional(let name, let isListed, let comparison):
      let head = ["\"o\"", Lua.string(name), "\(isListed)", "\"\(comparison)\"", number, inner]
      return try alternatives(head, script, at: index, end)
    default: return try alternatives(["\"t\"", inner], script, at: index, end)
    }
  }

  /// Adds the two continuations of a part that may be absent, where they differ.
  private func alternatives(
    _ head: [String], _ script: LayoutScript, at index: Int, _ end: Int
  ) throws(UnsupportedLayout) -> (node: String, next: Int?) {
    let absent = script.merging([index: 0]) { $1 }
    let (with, without) = (run(script), run(absent))
    let absentEnd = without.endOfLevel(from: index + 1)
    guard with[(end + 1)...] != without[(absentEnd + 1)...] else {
      return (Lua.list(head), end + 1)
    }
    let rest = try nodes(script, from: end + 1).nodes
    let other = try nodes(absent, from: absentEnd + 1).nodes
    return (Lua.list(head + [Lua.list(rest), Lua.list(other)]), nil)
  }

  /// Returns a branch on the value of a step; nil if the value does not change the rest of the
  /// level.
  ///
  /// The branch contains the rest of the level.
  private func branch(
    _ script: LayoutScript, at index: Int
  ) throws(UnsupportedLayout) -> String? {
    let step = run(script)[index]
    if case .holds(let comparison) = step.call {
      let yes = script.merging([index: 1]) { $1 }
      guard run(script)[(index + 1)...] != run(yes)[(index + 1)...] else { return nil }
      return Lua.list([
        "\"h\"", "\"\(comparison)\"", try number(of: index, script),
        Lua.list(try nodes(yes, from: index + 1).nodes),
        Lua.list(try nodes(script, from: index + 1).nodes),
      ])
    }
    guard step.isChoice, script[index] == nil else { return nil }
    let groups = try groups(script, at: index, width: step.number)
    guard groups.count > 1 else { return nil }
    var (cases, bodies): ([(key: UInt64, value: String)], [String]) = ([], [])
    for (number, group) in groups.enumerated() {
      let script = script.merging([index: group[0]]) { $1 }
      bodies.append(Lua.list(try nodes(script, from: index + 1).nodes))
      if number > 0 { cases += group.map { ($0, "\(number + 1)") } }
    }
    return Lua.list(["\"s\"", "\(index)", Lua.map(cases), Lua.list(bodies)])
  }

  /// Groups the values of a step by the calls that follow, the largest group first.
  private func groups(
    _ script: LayoutScript, at index: Int, width: Int
  ) throws(UnsupportedLayout) -> [[UInt64]] {
    func calls(_ value: UInt64) -> [LayoutCall] {
      probe(script.merging([index: value]) { $1 }, 0)[(index + 1)...].map(\.call)
    }
    let usual = calls(0)
    let few = (0..<min(8 * width, 64)).map { UInt64(1) << UInt64($0) } + [3]
    guard few.contains(where: { calls($0) != usual }) else { return [] }
    guard width == 1 else { throw UnsupportedLayout(message: message, step: index) }
    let groups = Dictionary(grouping: UInt64(0)...255, by: calls)
    return groups.values.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
  }
}

// Numbers that depend on values.
extension LayoutBuilder {
  /// Returns the number of a step: a constant, a line or a table of Lua.
  ///
  /// - Parameter fixed: The steps whose values a table has looked up already.
  private func number(
    of index: Int, _ script: LayoutScript, fixed: Set<Int> = []
  ) throws(UnsupportedLayout) -> String {
    guard case let influence? = influence(script, fixed)[index] else {
      return "\(run(script)[index].number)"
    }
    let lines = influence.keys.sorted().map { ($0, line(of: index, script, by: $0)) }
    if lines.count == 1, let line = lines[0].1 { return line }
    // A table is made for the value with the fewest bits, preferably a value on which the number
    // does not depend linearly.
    let candidates = lines.filter { $0.1 == nil }.map(\.0)
    let field = (candidates.isEmpty ? lines.map(\.0) : candidates).min {
      influence[$0]!.nonzeroBitCount < influence[$1]!.nonzeroBitCount
    }!
    let shift = influence[field]!.trailingZeroBitCount
    let width = 64 - influence[field]!.leadingZeroBitCount - shift
    guard width <= 8 else { throw UnsupportedLayout(message: message, step: index) }
    let others = (script[field] ?? 0) & ~((1 << UInt64(width) - 1) << UInt64(shift))
    var cases: [(key: Int, value: String)] = []
    for value in 0..<1 << width {
      let looked = script.merging([field: others | UInt64(value) << UInt64(shift)]) { $1 }
      guard sameCalls(run(looked), run(script), from: field) > index else { continue }
      let number =
        lines.count == 1
        ? "\(run(looked)[index].number)"
        : try number(of: index, looked, fixed: fixed.union([field]))
      cases.append((value, number))
    }
    let counts = Dictionary(grouping: cases, by: \.value)
    let usual = counts.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }!.key
    let rare = cases.filter { $0.value != usual }.map { "[\($0.key)]=\($0.value)" }
    return Lua.list(
      ["sel=\(field)", "shift=\(shift)", "size=\(1 << width)", "usual=\(usual)"] + rare)
  }

  /// Returns the first step whose call differs between two runs.
  ///
  /// - Parameter start: The first step whose call may differ.
  private func sameCalls(_ a: [LayoutStep], _ b: [LayoutStep], from start: Int) -> Int {
    let count = min(a.count, b.count)
    var index = min(start, count)
    while index < count, a[index].call == b[index].call { index += 1 }
    return index
  }

  private struct Context: Hashable {
    var script: LayoutScript
    var fixed: Set<Int>
  }

  /// Returns the values and their bits that change numbers, by the indices of the numbers.
  private func influence(_ script: LayoutScript, _ fixed: Set<Int>) -> [Int: [Int: UInt64]] {
    let context = Context(script: script, fixed: fixed)
    if let known = influences[context] { return known }
    var influence: [Int: [Int: UInt64]] = [:]
    let usual = run(script)
    let integers = usual.indices.filter { usual[$0].isChoice }
    let ones = integers.reduce(into: script) { if $0[$1] == nil { $0[$1] = 1 } }
    for (base, field) in [script, ones].flatMap({ base in integers.map { (base, $0) } })
    where !fixed.contains(field) {
      let bits = UInt64(8 * usual[field].number)
      // Some bits matter only beside others, so they are changed from all ones as well.
      for start in [base[field] ?? 0, UInt64.max >> (64 - bits)] {
        let before = probe(base.merging([field: start]) { $1 }, 0)
        let end = sameCalls(before, usual, from: 0)
        for bit in 0..<bits {
          let steps = probe(base.merging([field: start ^ 1 << bit]) { $1 }, 0)
          // Both runs make the same calls up to the value. The loop ends at the first different
          // call, after which numbers do not correspond.
          var index = field + 1
          while index < min(end, steps.count), steps[index].call == before[index].call {
            if steps[index].number != before[index].number {
              influence[index, default: [:]][field, default: 0] |= 1 << bit
            }
            index += 1
          }
        }
      }
    }
    influences[context] = influence
    return influence
  }

  /// Returns the number as `a * value + b`; nil if it is not linear. `rest` marks a number from
  /// which the bytes since the beginning of the element are subtracted.
  private func line(of index: Int, _ script: LayoutScript, by field: Int) -> String? {
    func number(_ value: UInt64, scale: Int = 0) -> Int {
      let steps = probe(script.merging([field: value]) { $1 }, scale)
      return index < steps.count ? steps[index].number : -1
    }
    let (b, first) = (number(0), number(1))
    let a = first - b
    let width = run(script)[field].number
    let values: [UInt64] = [2, 3, 64, 200, 255] + (width > 1 ? [1_000, 30_000] : [])
    guard values.allSatisfy({ number($0) == Int($0) * a + b }) else { return nil }
    let isRest = number(255, scale: 1) != number(255)
    return Lua.list(["line=\(field)", "a=\(a)", "b=\(b)"] + (isRest ? ["rest=1"] : []))
  }
}

extension LayoutCall {
  fileprivate var opens: Bool {
    switch self {
    case .list, .group, .optional, .afterStatus, .form, .attempt: true
    default: false
    }
  }
}

extension LayoutStep {
  /// Whether the value of the step may decide about other steps: it is a code, or a number of at
  /// most two bytes.
  fileprivate var isChoice: Bool {
    switch call {
    case .integer: number <= 2
    case .code: true
    default: false
    }
  }
}

extension [LayoutStep] {
  /// Returns the index of the step that ends the level of a step.
  fileprivate func endOfLevel(from start: Int) -> Int {
    var depth = 0
    for index in start..<count {
      if self[index].call.opens { depth += 1 }
      if self[index].call == .end {
        if depth == 0 { return index }
        depth -= 1
      }
    }
    return count
  }
}
