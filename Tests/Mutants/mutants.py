#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: changes one expression at a time and checks that a test fails.

    Tests/Mutants/mutants.py Sources/Ranging --target RangingTests --count 100 --seed 1

Copies the tree (without build products) to a scratch folder, reduces the package there to the given
test targets and what they depend on, builds once, and then, for each mutant, applies one change to
one source file of the given folder, builds, and runs the tests. A mutant is

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
# Statements that stand alone on a line: assignments to members and calls of which nothing is used.
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
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\n")
        if STATEMENT.match(body):
            indent = len(body) - len(body.lstrip())
            add(offset + indent, offset + len(body), "()")
        offset += len(line)
    return found


def run(command, folder, timeout, log):
    """Runs a command in a process group of its own; returns its status, or None after a time-out."""
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
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
    parser.add_argument("folder", help="sources to change, like Sources/Ranging")
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
    parser.add_argument("--list", action="store_true", help="print the chosen mutants, and stop")
    return parser.parse_args()


def main():
    options = arguments()
    root = pathlib.Path(subprocess.run(
        ["git", "rev-parse", "--show-toplevel"], check=True, capture_output=True,
        text=True).stdout.strip())
    folder = pathlib.Path(options.folder)
    sources = sorted((root / folder).rglob("*.swift"))
    everything = []
    for source in sources:
        everything += mutants(source.relative_to(root), source.read_text())
    if not everything:
        sys.exit(f"no mutants in {folder}")
    chosen = random.Random(options.seed).sample(
        everything, min(options.count, len(everything)))[options.skip:]

    def describe(mutant):
        path, start, end, replacement = mutant
        text = (root / path).read_text()
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
    start = time.monotonic()
    for number, mutant in enumerate(chosen, 1):
        if options.minutes and time.monotonic() - start > 60 * options.minutes:
            print(f"stopped after {options.minutes:g} minutes, {number - 1} mutants")
            break
        path, first, last, replacement = mutant
        target = scratch / path
        original = target.read_text()
        try:
            target.write_text(original[:first] + replacement + original[last:])
            if run(build, scratch, 900, log) != 0:
                verdict = "unbuilt"
            else:
                verdict = "SURVIVED" if run(test, scratch, options.timeout, log) == 0 else "killed"
        finally:
            target.write_text(original)
        counts[verdict] += 1
        if verdict == "SURVIVED":
            print(f"SURVIVED {describe(mutant)}", flush=True)
        elif number % 10 == 0:
            print(f"{number}: {counts}", flush=True)
    print(f"{counts['killed']} killed, {counts['SURVIVED']} survived, {counts['unbuilt']} unbuilt")
    return 1 if counts["SURVIVED"] else 0


if __name__ == "__main__":
    sys.exit(main())
