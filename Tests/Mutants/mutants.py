#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: changes one expression at a time and checks that a test fails.

    Tests/Mutants/mutants.py Sources/Driver/Ranging --target RangingTests --count 100 --seed 1

Copies the tree (without build products) to a scratch folder, and reduces the package there to the
given test targets and what they depend on. As many mutants as can be are built together, each behind
a switch that an environment variable turns; those that do not compile this way, because they are in
inlinable code or in a place that takes no call, are built one by one, unless --together leaves them
out. The tests run once for each mutant. A mutant is

    killed     a test fails, crashes or does not end in time
    unbuilt    it does not compile, and does not count
    SURVIVED   all tests pass: printed with file, line and change

Kinds of mutants: comparison operators and their boundaries, arithmetic and logical operators,
constants, Boolean literals, min and max, ranges, and dropped statements. Comments and strings are
left alone. The same seed on the same sources chooses the same mutants. The scratch folder is kept
between runs (its build products save time); --scratch chooses another one.

Exit status: 0 if no mutant survived, 1 if some did, 2 if the unchanged tests fail.
Needs Python 3.9 or later and a Swift toolchain, nothing else.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

OPERATORS = [
    # (pattern, replacements); patterns need the spaces that the formatter guarantees.
    (r" < ", [" <= ", " > "]),
    (r" > ", [" >= ", " < "]),
    (r" <= ", [" < ", " > "]),
    (r" >= ", [" > ", " < "]),
    (r" == ", [" != "]),
    (r" != ", [" == "]),
    (r" && ", [" || "]),
    (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]),
    (r" - ", [" + "]),
    (r" \* ", [" / "]),
    (r" / ", [" * "]),
    (r" \+= ", [" -= "]),
    (r" -= ", [" += "]),
    (r" \*= ", [" /= "]),
    (r" << ", [" >> "]),
    (r" >> ", [" << "]),
    (r" & ", [" | "]),
    (r" \| ", [" & "]),
    (r"\bmin\(", ["max("]),
    (r"\bmax\(", ["min("]),
    (r"\btrue\b", ["false"]),
    (r"\bfalse\b", ["true"]),
    (r"\.\.<", ["..."]),
    (r"(?<![\w.)])!(?=[\w(.])", [""]),
]
NUMBER = re.compile(r"(?<![\w.$#])(0x[0-9A-Fa-f_]+|\d[\d_]*(?:\.\d+)?(?:e-?\d+)?)(?![\w.])")
# Statements that stand alone on a line: assignments to members, and calls whose result is not used.
STATEMENT = re.compile(
    r"^\s+(?:(?:self\.)?[\w.\[\]?]+ [-+*/|&]?= [^{]*|[\w.]+\([^{]*\)|return|break|continue)$")


def code_spans(text):
    """Marks the characters that are code: neither comment nor string."""
    code = bytearray(b"\x01" * len(text))
    for found in re.finditer(
            r'//[^\n]*|/\*.*?\*/|"""(?:.|\n)*?"""|#?"(?:\\.|[^"\\\n])*"#?', text, re.S):
        code[found.start():found.end()] = b"\x00" * (found.end() - found.start())
    return code


def constants(number):
    """Replacements for a numeric literal."""
    if number.startswith("0x"):
        value = int(number.replace("_", ""), 16)
        return [hex(value ^ 1)]
    if re.fullmatch(r"[\d_]+", number):
        value = int(number.replace("_", ""))
        return [str(value + 1)] + ([str(value - 1)] if value > 0 else [])
    return [f"({number} * 2)", f"({number} / 2)"]


def mutants(path, text):
    """All mutants of a source: (start, end, replacement)."""
    code = code_spans(text)
    found = []

    def add(start, end, replacement):
        if all(code[start:end]):
            found.append((path, start, end, replacement))

    for pattern, replacements in OPERATORS:
        for match in re.finditer(pattern, text):
            for replacement in replacements:
                add(match.start(), match.end(), replacement)
    for match in NUMBER.finditer(text):
        for replacement in constants(match.group(1)):
            add(match.start(), match.end(), replacement)
    offset = 0
    before = ""
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\n")
        # An empty case exits the switch with and without its `break`.
        is_whole_case = body.strip() == "break" and before.endswith(":")
        before = body
        if STATEMENT.match(body) and not is_whole_case:
            indent = len(body) - len(body.lstrip())
            add(offset + indent, offset + len(body), "()")
        offset += len(line)
    return found


COMPARABLE = "<T: Comparable>(a: T, b: T) -> Bool"
EQUATABLE = "<T: Equatable>(a: T, b: T) -> Bool"
ADDITIVE = ["<T: AdditiveArithmetic>(a: T, b: T) -> T"]
NUMERIC = ["<T: BinaryInteger>(a: T, b: T) -> T", "<T: FloatingPoint>(a: T, b: T) -> T"]
BITS = ["<T: BinaryInteger>(a: T, b: T) -> T"]
SHIFT = ["<T: BinaryInteger, U: BinaryInteger>(a: T, b: U) -> T"]
LOGIC = ["(a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool"]
# For the infix operators: precedence, and the signatures of their replacements.
INFIX = {
    **{name: ("Comparison", [COMPARABLE]) for name in ("<", ">", "<=", ">=")},
    **{name: ("Comparison", [EQUATABLE]) for name in ("==", "!=")},
    **{name: ("Addition", ADDITIVE) for name in ("+", "-")},
    **{name: ("Multiplication", NUMERIC) for name in ("*", "/")},
    "&&": ("LogicalConjunction", LOGIC), "||": ("LogicalDisjunction", LOGIC),
    "<<": ("BitwiseShift", SHIFT), ">>": ("BitwiseShift", SHIFT),
    "&": ("Multiplication", BITS), "|": ("Addition", BITS),
    "+=": ("Assignment", ["<T: AdditiveArithmetic>(a: inout T, b: T)"]),
    "-=": ("Assignment", ["<T: AdditiveArithmetic>(a: inout T, b: T)"]),
    "*=": ("Assignment", ["<T: Numeric>(a: inout T, b: T)"]),
}
# The text that Swift Testing prints at the first failure: there is no need to wait for the others.
FAILED = b" recorded an issue "
SWITCHES = """// What stands in for the changed expressions.
import Glibc

let activeMutant: Int = unsafe getenv("UWB_MUTANT").flatMap { unsafe Int(String(cString: $0)) } ?? -1
func mutated<T>(_ number: Int, _ original: T, _ changed: T) -> T {
  activeMutant == number ? changed : original
}
"""


def switched(number, old, new):
    """What stands in for an expression, and the declarations that this needs; None if there is none."""
    name = "".join("~^"[number >> bit & 1] for bit in range(12))
    o, n = old.strip(), new.strip()
    if o in INFIX:
        precedence, signatures = INFIX[o]
        declared = f"infix operator {name}: {precedence}Precedence\n"
        for signature in signatures:
            body = f"a {n} b" if o not in ("&&", "||") else f"try a {n} b()"
            other = f"a {o} b" if o not in ("&&", "||") else f"try a {o} b()"
            declared += (
                f"func {name} {signature} "
                f"{{ if activeMutant == {number} {{ return {body} }}; return {other} }}\n")
        return f" {name} ", declared
    if o == "..<":
        return f" {name} ", (
            f"infix operator {name}: RangeFormationPrecedence\n"
            f"func {name} <T: FixedWidthInteger>(a: T, b: T) -> Range<T> "
            f"{{ a..<(activeMutant == {number} ? b + 1 : b) }}\n")
    if o in ("min(", "max("):
        return f"mutated{number}(", (
            f"func mutated{number}<T: Comparable>(_ a: T, _ b: T) -> T "
            f"{{ activeMutant == {number} ? {n}a, b) : {o}a, b) }}\n")
    if o == "!":
        return f"!{name}", (
            f"prefix operator !{name}\nprefix func !{name} (a: Bool) -> Bool "
            f"{{ activeMutant == {number} ? a : !a }}\n")
    if new == "()":
        return f"if activeMutant != {number} {{ {old} }}", ""
    return f"mutated({number}, {o}, {n})", ""


def build_together(scratch, folder, chosen, build, log):
    """Builds as many mutants as can be with switches; returns their numbers, or None if none can."""
    sources = {mutant[0]: (scratch / mutant[0]).read_text() for mutant in chosen}
    inside, taken = set(), set()
    for number, (path, start, end, _) in enumerate(chosen):
        if not any((path, place) in taken for place in range(start, end)):
            inside.add(number)
            taken |= {(path, place) for place in range(start, end)}
    switches = scratch / folder / "Mutants.swift"
    while inside:
        declared = SWITCHES
        for path, text in sources.items():
            here = sorted(
                (n for n in inside if chosen[n][0] == path), key=lambda n: -chosen[n][1])
            for number in here:
                _, start, end, new = chosen[number]
                standin, more = switched(number, text[start:end], new)
                text = text[:start] + standin + text[end:]
                declared += more
            (scratch / path).write_text(text)
        switches.write_text(declared)
        if run(build, scratch, None, log) == 0:
            return inside
        lines = {
            (str(pathlib.Path(found[1]).relative_to(scratch)), int(found[2]))
            for found in re.finditer(
                r"^(/\S+\.swift):(\d+):\d+: error:", log.read_text(errors="replace"), re.M)
            if pathlib.Path(found[1]).is_relative_to(scratch)}
        files = {path for path, _ in lines}
        wrong = {
            number for number in inside
            if (str(chosen[number][0]),
                sources[chosen[number][0]].count("\n", 0, chosen[number][1]) + 1) in lines}
        # An error on a line that was not changed is caused by any mutant of the file, and another
        # error by any mutant.
        wrong = wrong or {n for n in inside if str(chosen[n][0]) in files} or set(inside)
        inside -= wrong
    for path, text in sources.items():
        (scratch / path).write_text(text)
    switches.unlink(missing_ok=True)
    return None


def run(command, folder, timeout, log, mutant=None, enough=None):
    """Runs a command in a session of its own; returns its status, or None after a time-out or as
    soon as `enough` stands in what it prints."""
    environment = {**os.environ, **({} if mutant is None else {"UWB_MUTANT": str(mutant)})}
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            env=environment)
        end = time.monotonic() + (timeout or float("inf"))
        try:
            while time.monotonic() < end and not (enough and enough in log.read_bytes()):
                try:
                    return process.wait(0.25)
                except subprocess.TimeoutExpired:
                    pass
            kill_session(process.pid)
            process.wait()
            return None
        except BaseException:
            kill_session(process.pid)
            raise


def kill_session(leader):
    """Ends all processes of a session: `swift test` runs the tests in a process group of their own."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == leader:
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except (OSError, IndexError):
            pass


def copy_tree(root, scratch):
    """Brings the copy up to date with the files that Git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
        check=True, capture_output=True).stdout.split(b"\0")
    # Snippets import libraries that the reduced package does not have.
    wanted = {os.fsdecode(name) for name in listed if name and not name.startswith(b"Snippets/")}
    for name in wanted:
        source, target = root / name, scratch / name
        if not source.is_file():
            continue
        data = source.read_bytes()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(source.stat().st_mode)
    for target in scratch.rglob("*"):
        name = target.relative_to(scratch)
        if target.is_file() and name.parts[0] != ".build" and str(name) not in wanted:
            target.unlink()


def reduce_package(scratch, tests):
    """Leaves only these test targets and what they depend on, so that a mutant builds in seconds."""
    dump = json.loads(subprocess.run(
        ["swift", "package", "dump-package"], cwd=scratch, check=True, capture_output=True).stdout)
    dependencies = {
        target["name"]: [
            kind[0] for entry in target["dependencies"] for key, kind in entry.items()
            if key in ("byName", "target")]
        for target in dump["targets"]}
    kept, waiting = set(), list(tests)
    while waiting:
        name = waiting.pop()
        if name in dependencies and name not in kept:
            kept.add(name)
            waiting += dependencies[name]
    with open(scratch / "Package.swift", "a") as manifest:
        names = ", ".join(f'"{name}"' for name in sorted(kept))
        manifest.write(
            f"\nlet kept: Set<String> = [{names}]\n"
            "package.targets.removeAll { !kept.contains($0.name) }\npackage.products = []\n")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        epilog="See the comment at the top of this file.")
    parser.add_argument("folder", help="sources to change, like Sources/Driver/Ranging")
    parser.add_argument(
        "--target", action="append", required=True, help="test target to build and run; repeatable")
    parser.add_argument("--filter", help="run only these tests, as swift test takes it")
    parser.add_argument("--count", type=int, default=50, help="number of mutants (default 50)")
    parser.add_argument("--seed", type=int, default=1, help="choice of mutants (default 1)")
    parser.add_argument("--skip", type=int, default=0, help="skip this many of the chosen mutants")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for the tests of a mutant")
    parser.add_argument("--minutes", type=float, help="stop after this many minutes")
    parser.add_argument("--scratch", default="/tmp/swift-uwb-mutants", help="folder of the copy")
    parser.add_argument("--prefix", default="", help="command in front of each swift command")
    parser.add_argument(
        "--together", action="store_true", help="leave out what cannot be built with the others")
    parser.add_argument("--list", action="store_true", help="print the chosen mutants, and stop")
    return parser.parse_args()


def main():
    options = arguments()
    root = pathlib.Path(subprocess.run(
        ["git", "rev-parse", "--show-toplevel"], check=True, capture_output=True,
        text=True).stdout.strip())
    folder = pathlib.Path(options.folder)
    sources = sorted((root / folder).rglob("*.swift"))
    # Kept, because they may have been edited meanwhile.
    texts = {source.relative_to(root): source.read_text() for source in sources}
    everything = []
    for path, text in texts.items():
        everything += mutants(path, text)
    if not everything:
        sys.exit(f"no mutants in {folder}")
    chosen = random.Random(options.seed).sample(
        everything, min(options.count, len(everything)))[options.skip:]

    def describe(mutant):
        path, start, end, replacement = mutant
        text = texts[path]
        number = text.count("\n", 0, start) + 1
        before = text[start:end].strip()
        after = "(dropped)" if replacement == "()" else replacement.strip() or "(nothing)"
        line = text.splitlines()[number - 1].strip()
        return f"{path}:{number}: {before} -> {after}    in: {line}"

    if options.list:
        for mutant in chosen:
            print(describe(mutant))
        return 0

    scratch = pathlib.Path(options.scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    copy_tree(root, scratch)
    log = scratch.parent / (scratch.name + ".log")
    prefix = options.prefix.split()
    reduce_package(scratch, options.target)
    build = prefix + ["swift", "build", "--build-tests"]
    test = prefix + ["swift", "test", "--skip-build"]
    test += ["--filter", options.filter] if options.filter else []
    print(f"{len(everything)} mutants possible, {len(chosen)} chosen; building", flush=True)
    if run(build, scratch, None, log) != 0 or run(test, scratch, 900, log) != 0:
        print(f"the unchanged tests fail: see {log}")
        return 2

    counts = {"killed": 0, "SURVIVED": 0, "unbuilt": 0}
    begin = time.monotonic()

    def judge(number, status):
        verdict = "SURVIVED" if status == 0 else "killed"
        counts[verdict] += 1
        if verdict == "SURVIVED":
            print(f"SURVIVED {describe(chosen[number])}", flush=True)
        elif sum(counts.values()) % 10 == 0:
            print(f"{sum(counts.values())}: {counts}", flush=True)

    def is_late():
        return options.minutes and time.monotonic() - begin > 60 * options.minutes

    together = build_together(scratch, folder, chosen, build, log) or set()
    print(f"{len(together)} built together", flush=True)
    for number in sorted(together):
        if is_late():
            break
        judge(number, run(test, scratch, options.timeout, log, mutant=number, enough=FAILED))
    copy_tree(root, scratch)
    reduce_package(scratch, options.target)
    apart = [] if options.together else [n for n in range(len(chosen)) if n not in together]
    for number in apart:
        if is_late():
            break
        path, first, last, replacement = chosen[number]
        target = scratch / path
        original = target.read_text()
        try:
            target.write_text(original[:first] + replacement + original[last:])
            if run(build, scratch, 900, log) != 0:
                counts["unbuilt"] += 1
                continue
            judge(number, run(test, scratch, options.timeout, log, enough=FAILED))
        finally:
            target.write_text(original)
    if is_late():
        print(f"stopped after {options.minutes:g} minutes, {sum(counts.values())} mutants")
    print(f"{counts['killed']} killed, {counts['SURVIVED']} survived, {counts['unbuilt']} unbuilt")
    return 1 if counts["SURVIVED"] else 0


if __name__ == "__main__":
    sys.exit(main())
