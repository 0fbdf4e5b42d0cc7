#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the pages of uwbsite in headless Chromium, by Playwright.

page.py UWBSITE [--minutes N] [--shots FOLDER] [--docs] [NAME...]

Each test starts the program with lines of its own, so that no chip takes part. --minutes is the
time of the load test (default: a quarter of a minute). --shots writes a picture of each test, and
--docs the pictures of the documentation.
"""
import argparse
import contextlib
import json
import math
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

SIZES = [(1920, 1080), (1280, 800), (768, 1024), (375, 667)]
ANCHORS = [(0, 0, 2.5), (12, 0, 3), (12, 8, 2.5), (0, 8, 3)]
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def site(tags=("cat",), labels=None, **more):
    """The text of a site file."""
    labels = labels or {}
    return json.dumps({
        "version": 1, "name": "Home", "gauge": {"kind": "measured"},
        "anchors": [{"id": f"A{index}", "position_m": place, "position_sd_m": [0.02] * 3}
                    for index, place in enumerate(ANCHORS)],
        "tags": [{"id": tag, "label": labels.get(tag, tag.title()), "height_m": 0.4}
                 for tag in tags],
        "zones": [{"id": "kitchen", "label": "Kitchen", "margin_m": 0.2,
                   "polygon_m": [[0.2, 0.2], [5.8, 0.2], [5.8, 7.8], [0.2, 7.8]]},
                  {"id": "lounge", "label": "Living room",
                   "polygon_m": [[6.2, 0.2], [11.8, 0.2], [11.8, 7.8], [6.2, 7.8]]}],
        "doors": [{"id": "flap", "label": "Cat flap", "ends_m": [[5, 8], [5.6, 8]]}], **more})


def place(number, seconds):
    """The place of a tag on its round."""
    angle = 0.25 * seconds + 2.4 * number
    return 6 + (4.8 - 0.03 * number) * math.cos(angle), 4 + 2.9 * math.sin(1.3 * angle), 0.4


def lines(tags, seconds, noise, anchors=range(4)):
    """One round of all tags."""
    for number, tag in enumerate(tags):
        here = place(number, seconds)
        for anchor in anchors:
            distance = math.dist(here, ANCHORS[anchor]) + noise.gauss(0, 0.05)
            if noise.random() < 0.02:
                distance += noise.uniform(1, 3)
            yield json.dumps({"t": round(seconds + number * 0.0005, 4), "tag": tag, "anchor": f"A{anchor}",
                              "distance_m": round(distance, 3), "sd_m": 0.08}) + "\n"


class Run:
    """A running program, and the browser's address of its page."""

    def __init__(self, program, *arguments, port=None, text=None):
        if port:
            arguments += ("--web", str(port))
        self.process = subprocess.Popen([program, *arguments, "--page"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        while True:
            line = self.process.stderr.readline()
            if not line:
                raise SystemExit(f"uwbsite has ended: {arguments}")
            if match := re.search(r"http://\S+", line):
                self.url = match[0]
                break
        # The rest is read, so that the program never waits.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.stop = threading.Event()

    @property
    def port(self):
        return int(re.search(r":(\d+)/", self.url)[1])

    def feed(self, tags, rate, anchors=range(4)):
        """Sends rounds from a thread until the end."""
        noise = random.Random(1)

        def send():
            start = time.monotonic()
            number = 0
            with contextlib.suppress(OSError, ValueError):
                while not self.stop.is_set():
                    seconds = number / rate
                    self.process.stdin.write("".join(lines(tags, seconds, noise, anchors)))
                    self.process.stdin.flush()
                    number += 1
                    self.stop.wait(max(0, start + number / rate - time.monotonic()))

        self.thread = threading.Thread(target=send, daemon=True)
        self.thread.start()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Scene:
    """A browser, and what a test may use."""

    def __init__(self, options, browser, folder):
        self.program, self.minutes, self.shots = options.program, options.minutes, options.shots
        self.browser, self.folder = browser, folder
        self.messages = []
        self.contexts = []

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def open(self, url, size=SIZES[1], **options):
        context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", lambda dialog: (self.messages.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(url)
        return page

    def shot(self, page, name):
        if self.shots:
            page.screenshot(path=os.path.join(self.shots, f"{name}.png"))

    def close(self):
        for context in self.contexts:
            context.close()
        self.contexts = []


def wait(page, expression, seconds=20):
    """Waits for a condition. The page's own policy allows no functions from texts."""
    until = time.monotonic() + seconds
    while not page.evaluate(f"Boolean({expression})"):
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s: {expression}")
        page.wait_for_timeout(50)


def fits(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the window"


COVERED = """(() => {
    const box = part => document.querySelector(part).getBoundingClientRect();
    const covers = [...document.querySelectorAll("#legend, #zoom button")];
    const isAt = (box, left, top, room) => left > box.left - room && left < box.right + room
        && top > box.top - room && top < box.bottom + room;
    return uwb.model.site.anchors.filter(({position_m: [x, y]}) => {
        const [left, top] = uwb.view.toScreen(x, y);
        const at = [left + box("#map").left, top + box("#map").top];
        return !isAt(box("#map"), ...at, 0)
            || covers.some(part => isAt(part.getBoundingClientRect(), ...at, 6));
    }).map(anchor => anchor.id);
})()"""


def uncovered(page):
    """No anchor of the whole site is below the legend or a button of the map."""
    page.wait_for_timeout(150)  # the size of the legend is followed by a drawing
    covered = page.evaluate(COVERED)
    assert not covered, f"anchors are covered: {covered}"


def silent(scene, allowed=""):
    bad = [text for text in scene.messages if not (allowed and re.search(allowed, text))]
    assert not bad, f"console: {bad[:3]}"


def accessible(page):
    found = Axe().run(page).response["violations"]
    assert not found, [(one["id"], one["nodes"][0]["html"][:120]) for one in found]


PLACED = "uwb.model.tags.size && [...uwb.model.tags.values()].every(t => t.state === 'present')"


@test
def empty(scene):
    """A page of an empty site names the missing parts, at each size."""
    path = scene.file("site.json", json.dumps({"version": 1, "name": "New", "gauge": {"kind": "measured"}}))
    with Run(scene.program, "run", path, "-") as run:
        for size in SIZES:
            page = scene.open(run.url, size)
            page.wait_for_selector("#hint:not([hidden])")
            assert "empty" in page.inner_text("#hint")
            page.wait_for_selector("#state.live")
            fits(page)
        scene.shot(page, "empty")
        silent(scene)


@test
def one(scene):
    """The name, the zone and the radius of the cat are visible at each size, dark and light."""
    with Run(scene.program, "run", scene.file("site.json", site()), "-").feed(["cat"], 5) as run:
        for number, size in enumerate(SIZES):
            page = scene.open(run.url, size, color_scheme="dark" if number % 2 else "light")
            wait(page, PLACED)
            wait(page, "document.querySelector('#title').textContent === 'Home'")
            page.locator("#rows tr").first.click()
            page.wait_for_selector("#detail tbody tr")
            wait(page, "uwb.model.ranges.length === 4")
            text = page.inner_text("#detail")
            assert "Cat" in text and "Within" in text and "95 %" in text, text
            fits(page)
            uncovered(page)
            wait(page, "document.querySelector('#detail .where').textContent.startsWith('In ')", 40)
            accessible(page)
            scene.shot(page, f"one-{size[0]}")
        silent(scene)


@test
def keyboard(scene):
    """The keys select, zoom, change units and theme, hold the clock, and return."""
    with Run(scene.program, "run", scene.file("site.json", site(["cat", "dog"])), "-").feed(["cat", "dog"], 5) as run:
        page = scene.open(run.url)
        wait(page, PLACED)
        page.keyboard.press("n")
        assert page.evaluate("uwb.model.selected") == "cat"
        page.keyboard.press("n")
        assert page.evaluate("uwb.model.selected") == "dog"
        page.keyboard.press("u")
        wait(page, "document.querySelector('#detail').innerText.includes('ft')")
        page.keyboard.press("u")
        theme = page.evaluate("document.documentElement.dataset.theme")
        page.keyboard.press("d")
        assert page.evaluate("document.documentElement.dataset.theme") != theme
        page.focus("#map")
        scale = page.evaluate("uwb.view.scale")
        page.keyboard.press("+")
        assert page.evaluate("uwb.view.scale") > scale
        page.keyboard.press("0")
        page.keyboard.press(" ")
        wait(page, "document.querySelector('#state').textContent === 'past'")
        held = page.evaluate("uwb.timeline.time")
        page.wait_for_timeout(600)
        assert page.evaluate("uwb.timeline.time") == held
        page.keyboard.press("l")
        page.wait_for_selector("#state.live")
        wait(page, PLACED)
        page.keyboard.press("Escape")
        assert page.evaluate("uwb.model.selected") is None
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        accessible(page)
        silent(scene)


def resident(process):
    """Returns the bytes of a process in memory."""
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@test
def hundred(scene):
    """100 tags with 10 places a second: frames, processor and memory."""
    tags = [f"tag{number:02}" for number in range(100)]
    with Run(scene.program, "run", scene.file("site.json", site(tags)), "-").feed(tags, 10, range(3)) as run:
        page = scene.open(run.url)
        wait(page, "[...uwb.model.tags.values()].filter(t => t.state === 'present').length > 90", 60)
        tools = page.context.new_cdp_session(page)
        tools.send("Performance.enable")

        def metrics():
            tools.send("HeapProfiler.collectGarbage")
            found = {row["name"]: row["value"] for row in tools.send("Performance.getMetrics")["metrics"]}
            return found["JSHeapUsedSize"], found["TaskDuration"], found["Nodes"]

        seconds = scene.minutes * 60
        page.wait_for_timeout(min(15, seconds) * 1000)
        heap, task, nodes = metrics()
        frames, places = page.evaluate("[uwb.view.frames, uwb.model.counters?.places ?? 0]")
        start = time.monotonic()
        memory = []
        while (passed := time.monotonic() - start) < seconds:
            page.wait_for_timeout(min(60, seconds - passed) * 1000)
            heap2, task2, nodes2 = metrics()
            memory.append((heap2, resident(run.process.pid)))
            print(f"  {time.monotonic() - start:.0f} s: heap {heap2 / 1e6:.2f} MB, server "
                  f"{memory[-1][1] / 1e6:.1f} MB", flush=True)
        frames2, places2 = page.evaluate("[uwb.view.frames, uwb.model.counters?.places ?? 0]")
        rate, load = (frames2 - frames) / passed, (task2 - task) / passed
        print(f"  {rate:.1f} frames/s, {100 * load:.0f} % of a core, {(places2 - places) / passed:.0f} places/s, heap "
              f"{heap / 1e6:.1f} to {heap2 / 1e6:.1f} MB, nodes {nodes:.0f} to {nodes2:.0f}, {passed:.0f} s")
        scene.shot(page, "hundred")
        assert rate >= 20, "fewer than 20 frames a second"
        assert heap2 < heap + 3e6 and nodes2 < nodes + 500, "memory grows"
        silent(scene)


@test
def lost(scene):
    """A lost connection is visible, and the page comes back by itself, with the next run."""
    path = scene.file("site.json", site())
    with Run(scene.program, "run", path, "-").feed(["cat"], 5) as run:
        page = scene.open(run.url)
        wait(page, PLACED)
        port = run.port
    page.wait_for_selector("#state.lost")
    assert "lost" in page.inner_text("#banner")
    scene.shot(page, "lost")
    with Run(scene.program, "run", path, "-", port=port).feed(["cat"], 5):
        page.wait_for_selector("#state.live", timeout=20000)
        assert page.is_hidden("#banner")
        wait(page, PLACED)
        silent(scene, "ERR_CONNECTION|WebSocket|ERR_EMPTY|401")


@test
def hostile(scene):
    """Names of tags, zones and anchors are texts, whatever they contain."""
    evil = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=2</script>\u202e\"'&"
    path = scene.file("site.json", site(["cat"], {"cat": evil}, zones=[
        {"id": "z", "label": evil, "polygon_m": [[0, 0], [12, 0], [12, 8], [0, 8]]}], name=evil))
    with Run(scene.program, "run", path, "-").feed(["cat", f"{evil}?"], 5) as run:
        page = scene.open(run.url)
        wait(page, PLACED)
        page.locator("#rows tr").first.click()
        page.click("#tab-events")
        page.wait_for_timeout(800)
        page.click("#tab-anchors")
        page.wait_for_timeout(500)
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('aside img, aside script, h1 img').length") == 0
        assert page.inner_text("#detail h2 span") == evil
        scene.shot(page, "hostile")
        silent(scene)


@test
def replay(scene):
    """A recording plays from its start, at any speed, forwards and backwards, with its ranges."""
    noise = random.Random(2)
    walk = "".join("".join(lines(["cat"], number / 5, noise)) for number in range(600))
    with Run(scene.program, "run", scene.file("site.json", site()), scene.file("walk.jsonl", walk)) as run:
        page = scene.open(run.url)
        page.wait_for_selector("#state.past")
        assert page.inner_text("#state") == "recording"
        wait(page, PLACED)
        page.keyboard.press("n")
        first = page.evaluate("uwb.timeline.time")
        wait(page, f"uwb.timeline.time > {first} + 1")
        page.select_option("#speed", "20")
        wait(page, f"uwb.timeline.time > {first} + 30")
        page.keyboard.press(" ")
        wait(page, "uwb.timeline.range.to > 61")
        page.evaluate("uwb.timeline.seek(60)")
        wait(page, "Math.abs(uwb.timeline.time - 60) < 0.01 && uwb.model.ranges.length === 4")
        wait(page, "uwb.model.tags.get('cat').place")
        here = page.evaluate("uwb.model.tags.get('cat').place")
        x, y, _ = place(0, here["t"])
        assert math.dist((here["x"], here["y"]), (x, y)) < 0.5, (here, x, y)
        assert 59 < here["t"] <= 60
        assert all(abs(row["t"] - 60) < 3 for row in page.evaluate("uwb.model.ranges"))
        page.keyboard.press(",")
        wait(page, "Math.abs(uwb.timeline.time - 55) < 0.01 && uwb.model.tags.get('cat').place?.t <= 55")
        scene.shot(page, "replay")
        silent(scene)


@test
def differences(scene):
    """Differences are hyperbolas, and a rejected one is named; a range of a tag has its legend."""
    noise, rows = random.Random(5), []
    for number in range(300):
        seconds = number / 5
        here = place(0, seconds)
        for anchor in range(1, 4):
            value = math.dist(here, ANCHORS[anchor]) - math.dist(here, ANCHORS[0]) + noise.gauss(0, 0.05)
            if anchor == 2 and number % 10 == 9:
                value += 2.5
            rows.append(json.dumps({"t": seconds + anchor / 1000, "tag": "cat", "anchor_a": "A0", "anchor_b": f"A{anchor}",
                                    "difference_m": round(value, 3), "sd_m": 0.1}))
    with Run(scene.program, "run", scene.file("site.json", site()), scene.file("rows.jsonl", "\n".join(rows))) as run:
        page = scene.open(run.url)
        page.wait_for_selector("#state.past")
        wait(page, PLACED)
        page.keyboard.press("n")
        page.keyboard.press(" ")
        wait(page, "uwb.timeline.range.to > 32")  # on a slow machine, the file is still being read
        page.evaluate("uwb.timeline.seek(31.9)")
        wait(page, "uwb.timeline.time === 31.9 && uwb.model.ranges.length === 3"
             " && uwb.model.ranges.every(range => range.t > 31.7 && range.difference_m !== undefined)")
        found = {row["anchor"]: row["result"] for row in page.evaluate("uwb.model.ranges")}
        assert found == {"A1": "used", "A2": "rejected", "A3": "used"}, found
        page.wait_for_selector("#legend .ranges:visible")
        wait(page, "document.querySelector('#detail tbody')?.innerText.includes('Δ')")
        wait(page, "document.querySelector('#detail tr.rejected')?.innerText.includes('rejected')")
        curve = page.evaluate("import('./draw.js').then(m => m.hyperbola(1.5, [0, 0, 2.5], [12, 8, 2.5]))")
        assert len(curve) > 50
        assert all(abs(math.dist(one, (12, 8)) - math.dist(one, (0, 0)) - 1.5) < 1e-6 for one in curve)
        scene.shot(page, "differences")
        silent(scene)


@test
def prefix(scene):
    """Behind a proxy, the page may be below a path: all its requests are."""
    with Run(scene.program, "run", scene.file("site.json", site()), "-") as run:
        base = run.url.split("#")[0]
        page, sockets = scene.browser.new_context().new_page(), []
        scene.contexts.append(page.context)
        page.route(f"{base}uwb/**", lambda route: route.fulfill(
            response=route.fetch(url=route.request.url.replace("/uwb/", "/"))))
        page.route_web_socket(re.compile("^ws"), lambda socket: sockets.append(socket.url))
        page.on("request", lambda request: scene.messages.append(request.url))
        page.goto(f"{base}uwb/")
        page.wait_for_selector("#state")
        until = time.monotonic() + 10
        while not sockets and time.monotonic() < until:
            page.wait_for_timeout(50)
        assert sockets == [f"{base}uwb/ws".replace("http", "ws")], sockets
        silent(scene, "/uwb/")


@test
def history(scene):
    """A history plays without a run, with its days, zones and events."""
    begin, noise = 1795773600, random.Random(4)
    walk = "".join("".join(lines(["cat"], begin + number / 5, noise)) for number in range(600))
    path, folder = scene.file("site.json", site()), os.path.join(scene.folder, "history")
    subprocess.run([scene.program, "run", path, scene.file("walk.jsonl", walk), "--history", folder], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with Run(scene.program, "replay", path, folder, "--to", str(begin + 100)) as run:
        page = scene.open(run.url, timezone_id="UTC", locale="en-GB")
        page.wait_for_selector("#state.past")
        wait(page, PLACED)
        assert page.inner_text("#clock").startswith("27/11/2026 10:00:"), page.inner_text("#clock")
        low, high = page.evaluate("[uwb.timeline.range.from, uwb.timeline.range.to]")
        assert begin <= low < begin + 3 and begin + 95 < high < begin + 100, (low, high)
        page.keyboard.press("n")
        page.keyboard.press(" ")
        page.evaluate(f"uwb.timeline.seek({begin + 60})")
        wait(page, f"uwb.timeline.time === {begin + 60} && uwb.model.tags.get('cat').place?.t > {begin + 57}")
        here = page.evaluate("uwb.model.tags.get('cat').place")
        x, y, _ = place(0, here["t"])
        assert math.dist((here["x"], here["y"]), (x, y)) < 0.5, (here, x, y)
        wait(page, "document.querySelector('#detail .where').textContent.startsWith('In')")
        page.click("#tab-events")
        wait(page, "document.querySelector('#list li') && !document.querySelector('#events').hidden")
        assert page.inner_text("#list time >> nth=0").startswith("27/11/2026 10:00:")
        accessible(page)
        scene.shot(page, "history")
        page.set_viewport_size({"width": 375, "height": 667})
        fits(page)
        scene.shot(page, "history-375")
        silent(scene)


def drag(page, start, end):
    from_, to = (page.evaluate("([x, y]) => uwb.view.toScreen(x, y)", list(point)) for point in (start, end))
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + from_[0], box["y"] + from_[1])
    page.mouse.down()
    page.mouse.move(box["x"] + to[0], box["y"] + to[1], steps=5)
    page.mouse.up()


def click(page, point):
    left, top = page.evaluate("([x, y]) => uwb.view.toScreen(x, y)", list(point))
    page.locator("#map").click(position={"x": left, "y": top})


def picture(width, height):
    """A PNG with a grey frame."""
    rows = b"".join(b"\0" + bytes(90 if min(x, y, width - 1 - x, height - 1 - y) < 4 else 235 for x in range(width))
                    for y in range(height))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@test
def editing(scene):
    """The site file has the edited anchors, zones and plan, and keeps the changes of others."""
    path = scene.file("site.json", site())
    read = lambda: json.load(open(path))
    with Run(scene.program, "run", path, "-").feed(["cat"], 5) as run:
        page, other = scene.open(run.url, (1280, 900)), scene.open(run.url)
        for one in (page, other):
            wait(one, PLACED)
            one.click("#edit")
            one.wait_for_selector("#tools:not([hidden])")
        # A click that trembles moves nothing.
        left, top = page.evaluate("uwb.view.toScreen(12, 8)")
        box = page.locator("#map").bounding_box()
        page.mouse.move(box["x"] + left, box["y"] + top)
        page.mouse.down()
        page.mouse.move(box["x"] + left + 2, box["y"] + top + 1)
        page.mouse.up()
        assert page.evaluate("uwb.model.site.anchors[2].position_m") == [12, 8, 2.5]
        drag(page, (12, 8), (11, 7.5))
        moved = page.evaluate("uwb.model.site.anchors[2].position_m")
        assert math.dist(moved[:2], (11, 7.5)) < 0.1 and moved[2] == 2.5, moved
        page.keyboard.press("Control+z")
        assert page.evaluate("uwb.model.site.anchors[2].position_m") == [12, 8, 2.5]
        page.keyboard.press("Control+Shift+Z")
        page.fill("#item label:has-text('height') >> nth=0 >> input", "2.8")
        page.keyboard.press("Enter")
        page.click("[data-tool=anchor]")
        click(page, (7, 5))
        page.keyboard.type("0x0009")
        page.keyboard.press("Enter")
        assert page.inner_text("#item h2 span") == "Anchor 0x0009"
        page.click("[data-tool=zone]")
        for corner in [(1, 1), (3, 1), (3, 4), (1, 4), (1, 1)]:
            click(page, corner)
        wait(page, "uwb.model.site.zones.length === 3")
        # Delete belongs to the text, and saving commits it.
        page.fill("#item label:has-text('label') input", "Basket")
        page.keyboard.press("Home")
        page.keyboard.press("Delete")
        page.keyboard.type("B")
        assert page.evaluate("uwb.model.site.zones.length") == 3
        scene.shot(page, "edit")
        accessible(page)
        page.keyboard.press("Control+s")
        page.wait_for_selector("#banner:has-text('Saved')")
        saved = read()
        assert saved["anchors"][2]["position_m"] == [*moved[:2], 2.8]
        added = saved["anchors"][4]
        assert added["id"] == "0x0009" and math.dist(added["position_m"], (7, 5, 2.5)) < 0.1, added
        assert saved["zones"][2]["label"] == "Basket" and len(saved["zones"][2]["polygon_m"]) == 4
        # The other editor has read the former file.
        drag(other, (0, 0), (0.5, 0.5))
        other.click("#save")
        other.wait_for_selector("#banner:has-text('Another editor')")
        assert read() == saved
        other.click("#banner button:has-text('Load')")
        wait(other, "uwb.model.site.zones.length === 3")
        plan(page, scene)
        page.click("#save")
        page.wait_for_selector("#banner:has-text('Saved')")
        found = read()["plans"][0]
        assert os.path.exists(os.path.join(scene.folder, found["image"]))
        silent(scene, "412|dialog Length")


def plan(page, scene):
    """Adds a picture with 400 pixels, whose left edge is the wall of 8 m."""
    page.keyboard.press("Escape")
    page.set_input_files("#file", {"name": "plan.png", "mimeType": "image/png", "buffer": picture(600, 400)})
    wait(page, "uwb.model.site.plans.length === 1")
    page.evaluate("window.prompt = () => '8'")
    page.evaluate("uwb.view.zoom(0.6)")
    get = lambda: page.evaluate("uwb.model.site.plans[0]")
    before = get()
    left, top = before["origin_m"]
    bottom = top - 400 * before["metres_per_pixel"]
    page.wait_for_timeout(300)
    click(page, (left, top))
    click(page, (left, bottom))
    assert abs(get()["metres_per_pixel"] - 0.02) < 0.0005, get()
    click(page, (left + 3, top + 1))
    angle = math.degrees(math.atan2(1, 3))
    assert abs(get()["rotation_deg"] + angle) < 1, get()


@test
def locked(scene):
    """Without the token, a page of this machine reads and cannot change."""
    with Run(scene.program, "run", scene.file("site.json", site()), "-").feed(["cat"], 5) as run:
        page = scene.open(run.url.split("#")[0])
        wait(page, PLACED)
        wait(page, "document.querySelector('#edit').hidden")
        status = page.evaluate("fetch('site', {method: 'PUT', body: '{}'}).then(r => r.status)")
        assert status == 401, status
        silent(scene, "401")


@test
def chip(scene):
    """The ranges of one chip over time, with losses, at each size."""
    noise = random.Random(3)
    rows = []
    for number in range(400):
        distance = 3 + 1.5 * math.sin(number / 40)
        rows.append(json.dumps({
            "time_s": number / 10, "peer": "0x0001" if number % 4 else "<b>two</b>", "status_code": 0,
            "distance_cm": round(100 * (distance + noise.gauss(0, 0.04))), "estimate_m": distance, "estimate_sd_m": 0.1,
            "azimuth_deg": 30 * math.sin(number / 60), "azimuth_fom": 90, "rssi_dbm": -70 - noise.random(),
            "nlos_probability": 0.1, "lost_before": int(number % 50 == 0)}))
    path = scene.file("rows.jsonl", "\n".join(rows) + "\n{\n")
    with Run(scene.program, "ranges", path) as run:
        for size in SIZES:
            page = scene.open(run.url, size)
            wait(page, "chip.peers.size === 2 && document.querySelector('#distance').textContent.includes(' m')")
            page.click("#peers button >> nth=1")
            wait(page, "document.querySelector('#losses').textContent.includes('300 in all')")
            fits(page)
            accessible(page)
            scene.shot(page, f"chip-{size[0]}")
        silent(scene)


def docs(scene):
    """Writes the pictures of the documentation: the demo, and the ranges of a chip."""
    scene.shots = os.path.join(os.path.dirname(__file__), "../../../Documentation/swift-uwb.docc/Resources")
    with Run(scene.program, "demo") as run:
        for name, theme in [("page", "light"), ("page~dark", "dark")]:
            page = scene.open(run.url, (1280, 760), color_scheme=theme)
            wait(page, PLACED)
            page.evaluate("uwb.model.selected = null")
            page.fill("#filter", "Cat")
            page.keyboard.press("Enter")
            page.fill("#filter", "")
            page.locator("#filter").blur()
            wait(page, "uwb.model.ranges.length >= 5")
            wait(page, "uwb.model.tags.get('T01').trail.length > 12", 60)
            scene.shot(page, name)
    noise = random.Random(3)
    rows = []
    for number in range(600):
        distance = 3 + 1.5 * math.sin(number / 40)
        rows.append(json.dumps({
            "time_s": number / 10, "peer": "0x0001", "status_code": 0,
            "distance_cm": round(100 * (distance + noise.gauss(0, 0.06))), "estimate_m": distance, "estimate_sd_m": 0.1,
            "azimuth_deg": 30 * math.sin(number / 60) + noise.gauss(0, 2), "azimuth_fom": 90,
            "rssi_dbm": -70 - 6 * math.sin(number / 40) + noise.gauss(0, 0.7), "nlos_probability": 0.1,
            "lost_before": int(number % 97 == 0)}))
    with Run(scene.program, "ranges", scene.file("rows.jsonl", "\n".join(rows))) as run:
        page = scene.open(run.url, (1280, 760), color_scheme="light")
        wait(page, "document.querySelector('#distance').textContent.includes(' m')")
        page.wait_for_timeout(800)
        scene.shot(page, "ranges-page")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float, default=0.25)
    parser.add_argument("--shots")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    options.program = os.path.abspath(options.program)
    failed = 0
    chosen = [one for one in TESTS if not options.names or one.__name__ in options.names]
    if options.docs:
        chosen = [docs]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        for one in chosen:
            with tempfile.TemporaryDirectory() as folder:
                scene = Scene(options, browser, folder)
                start = time.monotonic()
                try:
                    one(scene)
                    print(f"{one.__name__}: passed in {time.monotonic() - start:.0f} s", flush=True)
                except Exception as error:  # a test that fails does not end the others
                    failed += 1
                    print(f"{one.__name__}: FAILED: {error}\n  console: {scene.messages[:3]}", flush=True)
                    if scene.shots and scene.contexts and scene.contexts[-1].pages:
                        scene.shot(scene.contexts[-1].pages[0], f"failed-{one.__name__}")
                finally:
                    scene.close()
        browser.close()
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
