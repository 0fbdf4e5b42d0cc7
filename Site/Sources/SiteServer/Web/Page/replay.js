// SPDX-License-Identifier: Apache-2.0
// The clock: the present, a pause, and the past at any speed.

import { get } from "./server.js";
import { clock } from "./units.js";
import { corners } from "./map.js";

const $ = (id) => document.getElementById(id);
/** Seconds before a moment that its trails need, and seconds that are loaded ahead. */
const before = 13;
const ahead = 15;

export class Timeline {
  /** @param options isEmpty(), goLive(), changed() */
  constructor(model, options) {
    this.model = model;
    this.options = options;
    this.isLive = true;
    this.isPlaying = true;
    this.isRecording = false;
    this.range = { from: null, to: NaN };
    this.now = NaN;
    this.entries = [];
    this.generation = 0;
    this.arrived = performance.now();
    $("play").addEventListener("click", () => this.toggle());
    $("live").addEventListener("click", () => this.goLive());
    $("scrub").addEventListener("input", () => this.seek(this.scrubTime()));
    setInterval(() => this.step(), 100);
  }

  get speed() {
    return Number($("speed").value);
  }

  // the present

  /** Notes that the run has come to a time. */
  heard(time) {
    if (!(time > (this.newest ?? -Infinity))) return;
    this.newest = time;
    this.arrived = performance.now();
  }

  /** The time of the run now, also while no tag is there. */
  present() {
    const passed = (performance.now() - this.arrived) / 1000;
    return (this.newest ?? NaN) + (this.isPaced ? Math.min(passed, 3600) : 0);
  }

  /** The time that is shown. */
  get time() {
    return this.isLive ? this.present() : this.now;
  }

  goLive() {
    if (this.isRecording) return this.seek(this.range.from ?? 0, true);
    if (this.isLive) return;
    this.generation++;
    this.isLive = this.isPlaying = true;
    this.options.goLive();
    this.show();
  }

  // the past

  setRange(info) {
    this.isPaced = info.live !== false;
    this.range = { from: info.from, to: info.to };
    const isFirst = info.recording && !this.isRecording;
    this.isRecording = info.recording;
    if (isFirst && info.from !== null) this.seek(info.from, true);
    if (isFirst && info.from === null) this.isRecording = false;
    this.show();
  }

  scrubTime() {
    const { from, to } = this.limits();
    return from + (Number($("scrub").value) / 1000) * (to - from);
  }

  limits() {
    const to = this.isRecording ? this.range.to : this.present();
    return { from: this.range.from ?? to - 1, to };
  }

  toggle() {
    if (this.isLive) {
      this.hold();
      return;
    }
    this.isPlaying = !this.isPlaying;
    if (this.isPlaying && this.isRecording && this.now >= this.range.to) {
      this.seek(this.range.from, true);
    }
    this.show();
  }

  /** Stops the clock, and shows the present moment as long as wanted. */
  hold() {
    const now = this.present();
    this.isLive = false;
    this.isPlaying = false;
    [this.now, this.entries, this.loaded] = [now, [], now];
    this.generation++;
    this.model.ranges = [];
    this.show();
  }

  jump(seconds) {
    this.seek(this.time + seconds);
  }

  async seek(time, plays = this.isPlaying && !this.isLive) {
    const { from, to } = this.limits();
    const target = Math.min(Math.max(time, from), to);
    const generation = ++this.generation;
    this.isLive = false;
    this.isPlaying = plays;
    this.now = target;
    this.show();
    // While a knob is dragged, only its last position is loaded.
    await new Promise((done) => setTimeout(done, 40));
    if (generation !== this.generation) return;
    const entries = await this.load(target - before, target + ahead, generation);
    if (generation !== this.generation || !entries) return;
    this.model.clear();
    this.entries = entries;
    this.loaded = target + ahead;
    this.apply(target);
    this.guessZones();
    this.options.changed();
    this.show();
  }

  async load(from, to, generation) {
    const entries = [];
    let start = from;
    try {
      while (start !== null && start < to && generation === this.generation) {
        const { value } = await get(`record?from=${start}&to=${to}`);
        for (const row of value.places) entries.push({ t: row[1], row, tag: value.tags[row[0]] });
        for (const event of value.events) entries.push({ t: event.t ?? event.decided ?? start, event });
        start = value.next !== null && value.next <= start ? start + 0.001 : value.next;
      }
    } catch {
      return null;
    }
    return entries.sort((a, b) => a.t - b.t);
  }

  /** Applies what has happened until a time. */
  apply(time) {
    let count = 0;
    for (const { t, row, tag, event } of this.entries) {
      if (t > time) break;
      count++;
      if (event) {
        this.model.addEvent(event);
        continue;
      }
      this.model.addPlace({
        tag, t: row[1], position_m: [row[2], row[3], row[4]],
        covariance_m2: [row[5], row[6], 0, row[7], 0, 0], r95_m: row[8],
        refused: row[9] ? "not sure" : undefined,
      });
    }
    if (count) this.entries.splice(0, count);
    this.model.time = time;
  }

  /** Zones at the beginning, from the places. */
  guessZones() {
    for (const tag of this.model.tags.values()) {
      if (!tag.place || tag.zones.length) continue;
      tag.zones = this.model.site.zones
        .filter((zone) => isInside(corners(zone), tag.place)).map((zone) => zone.id);
    }
  }

  async step() {
    const passed = (performance.now() - (this.stepped ?? performance.now())) / 1000;
    this.stepped = performance.now();
    if (!this.isLive && this.isPlaying) {
      this.now += Math.min(passed, 0.5) * this.speed;
      const { to } = this.limits();
      if (this.now >= to) {
        this.now = to;
        if (!this.isRecording) return this.goLive();
        this.isPlaying = false;
      }
      this.apply(this.now);
      this.model.changes++;
      if (this.loaded < this.now + ahead / 2 * Math.max(1, this.speed / 4) && !this.isLoading) {
        this.loadMore();
      }
    }
    this.show();
  }

  async loadMore() {
    const generation = this.generation;
    const [from, to] = [this.loaded, this.now + ahead * Math.max(1, this.speed)];
    this.isLoading = true;
    const more = await this.load(from, to, generation);
    this.isLoading = false;
    if (generation !== this.generation || !more) return;
    this.loaded = Math.min(to, this.limits().to);
    // Places at the border may be loaded twice: the model ignores old ones.
    this.entries.push(...more.filter(({ t, event }) => !event || t >= from));
  }

  show() {
    const { from, to } = this.limits();
    const time = this.time;
    const scrub = $("scrub");
    const share = to > from ? (1000 * (time - from)) / (to - from) : 1000;
    if (document.activeElement !== scrub || !scrub.matches(":active")) {
      scrub.value = Number.isFinite(share) ? share : 1000;
    }
    scrub.disabled = !(to > from);
    const text = clock(time, this.epoch);
    if ($("clock").textContent !== text) $("clock").textContent = text;
    scrub.setAttribute("aria-valuetext", text);
    const icon = $("play").firstElementChild;
    const isPlaying = this.isLive || this.isPlaying;
    icon.className = isPlaying ? "pause" : "play";
    $("play").setAttribute("aria-label", isPlaying ? "Pause" : "Play");
    $("live").setAttribute("aria-pressed", this.isLive);
    $("live").hidden = this.isRecording;
    $("speed").disabled = this.isLive;
  }
}

/** Whether a place is inside of a polygon. */
export function isInside(points, place) {
  let isIn = false;
  for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
    const [a, b] = [points[i], points[j]];
    const isBetween = a[1] > place.y !== b[1] > place.y;
    if (isBetween && place.x < ((b[0] - a[0]) * (place.y - a[1])) / (b[1] - a[1]) + a[0]) isIn = !isIn;
  }
  return isIn;
}
