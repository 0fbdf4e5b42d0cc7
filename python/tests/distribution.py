# SPDX-License-Identifier: Apache-2.0
"""Checks the files and the description in the built packages: see .ci/python.

distribution.py WHEEL SOURCE WHEEL-OF-SOURCE
"""

from __future__ import annotations

import email
import os
import re
import sys
import tarfile
import zipfile

WHEEL, SOURCE, FROM_SOURCE = sys.argv[1:]


def files(path: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def check(holds: object, text: str) -> None:
    if not holds:
        sys.exit(f"python: {text}")


wheel = files(WHEEL)
with tarfile.open(SOURCE) as archive:
    source = {name.partition("/")[2] for name in archive.getnames()}
check(wheel == files(FROM_SOURCE), "the wheel of the source distribution differs")
tracked = ["LICENSE", "README.md", "pyproject.toml"]
for folder in ["src/uwb", "examples", "tests"]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        tracked += [f"{parent}/{name}" for name in names]
missing = set(tracked) - source
check(not missing, f"the source distribution has no {missing}")
modules = {name for name in tracked if name.startswith("src/uwb/")}
check({f"src/{name}" for name in wheel} >= modules, "the wheel lacks a module")
check("uwb/py.typed" in wheel, "the wheel has no py.typed")
licences = [text for name, text in wheel.items() if name.endswith("dist-info/licenses/LICENSE")]
check(licences and b"Apache License" in licences[0], "the wheel has no licence")
metadata = email.message_from_bytes(next(v for k, v in wheel.items() if k.endswith("/METADATA")))
check(metadata["License-Expression"] == "Apache-2.0", "the description has no licence")
links = {value.partition(",")[0] for value in metadata.get_all("Project-URL", [])}
check({"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= links, f"links are missing: {links}")
needed = [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need]
check(not needed, f"it has dependencies: {needed}")
extras = metadata.get_all("Provides-Extra", [])
programs = next(v for k, v in wheel.items() if k.endswith("/entry_points.txt")).decode()
check({f"uwb-{extra}" for extra in extras} == set(re.findall(r"^(uwb-\w+) =", programs, re.M)), "an extra has no program")
readme = metadata.get_payload()
check("pip install" in str(readme), "the description has no command for installing")
# On the page of a package, relative links lead nowhere.
check("](https://" in str(readme) and not re.search(r"\]\((?!https://)", str(readme)), "a link is relative")
print(f"uwb: {len(wheel)} files in the wheel, {len(source)} in the source distribution")
