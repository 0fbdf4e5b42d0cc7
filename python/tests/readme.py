# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of README.md, in a folder with their files: see .ci/python.

readme.py README PROFILE
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile

import uwb

README, PROFILE = sys.argv[1:]
with open(README, encoding="utf-8") as file:
    programs = re.findall(r"^```python\n(.*?)^```", file.read(), re.S | re.M)

with uwb.connect() as service, tempfile.TemporaryDirectory() as folder:
    session = service.start(PROFILE)
    shutil.copy(PROFILE, os.path.join(folder, "session.json"))
    service.record(count=20).save(os.path.join(folder, "walk.jsonl"))
    for program in programs:
        with subprocess.Popen(
            [sys.executable, "-u", "-c", program], cwd=folder, stdout=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout is not None
            # Most of the examples end when their reader exits.
            lines = [line for _, line in zip(range(5), running.stdout)]
            running.stdout.close()
            if not lines and running.wait() != 0:
                sys.exit(f"python: a program of {README} fails:\n{program}")
            running.terminate()
print(f"uwb: {len(programs)} programs of README.md")
