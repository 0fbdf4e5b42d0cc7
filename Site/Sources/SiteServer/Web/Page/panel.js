// SPDX-License-Identifier: Apache-2.0
// The lists beside the map: tags, events, anchors, and one tag in detail.

import { quality, sentence } from "./model.js";
import { anchorLevel } from "./draw.js";
import { age, clock, units } from "./units.js";

const $ = (id) => document.getElementById(id);

/** Creates an element; texts are never read as HTML. */
export function element(name, { text, ...properties } = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

const collator = new Intl.Collator(undefined, { numeric: true });

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export class Panel {
  constructor(model, select) {
    this.model = model;
    this.select = select;
    this.sort = { key: "label", sign: 1 };
    this.rows = new Map();
    this.epoch = null;
    for (const button of document.querySelectorAll("[data-sort]")) {
      button.addEventListener("click", () => this.setSort(button));
    }
    $("filter").addEventListener("input", () => this.update());
    $("filter").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.select(this.sorted()[0]?.name ?? null);
    });
    const tabs = [...document.querySelectorAll("[role=tab]")];
    for (const [index, tab] of tabs.entries()) {
      tab.addEventListener("click", () => this.open(tab, tabs));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(index + step + tabs.length) % tabs.length];
        this.open(next, tabs);
        next.focus();
      });
    }
  }

  open(tab, tabs) {
    for (const other of tabs) {
      const isOpen = other === tab;
      other.setAttribute("aria-selected", isOpen);
      other.tabIndex = isOpen ? 0 : -1;
      $(other.getAttribute("aria-controls")).hidden = !isOpen;
    }
    this.update();
  }

  setSort(button) {
    const key = button.dataset.sort;
    this.sort = { key, sign: this.sort.key === key ? -this.sort.sign : 1 };
    for (const other of document.querySelectorAll("[data-sort]")) {
      other.parentElement.removeAttribute("aria-sort");
    }
    button.parentElement.setAttribute("aria-sort", this.sort.sign > 0 ? "ascending" : "descending");
    this.update();
  }

  /** The tags in the order of the table. */
  sorted() {
    const text = $("filter").value.trim().toLowerCase();
    const { model, sort } = this;
    const keys = {
      label: (tag) => tag.label, zone: (tag) => this.zones(tag) || "\uffff",
      r95: (tag) => tag.place?.r95 ?? Infinity, age: (tag) => -(tag.place?.t ?? -Infinity),
    };
    const key = keys[sort.key];
    return [...model.tags.values()]
      .filter((tag) => {
        return !text || `${tag.label} ${tag.name} ${this.zones(tag)}`.toLowerCase().includes(text);
      })
      .sort((a, b) => {
        const [one, other] = [key(a), key(b)];
        const order = typeof one === "string"
          ? collator.compare(one, other) : one - other;
        return sort.sign * (order || 0) || collator.compare(a.label, b.label);
      });
  }

  zones(tag) {
    return tag.zones.map((zone) => this.model.zoneName(zone)).join(", ");
  }

  /** The seconds since the last place of a tag. */
  age(tag, now) {
    return tag.place ? Math.max(0, now - tag.place.t) : NaN;
  }

  update(now = this.now ?? this.model.time) {
    this.now = now;
    if (!$("tags").hidden) this.updateTags(now);
    if (!$("events").hidden) this.updateEvents();
    if (!$("anchors").hidden) this.updateAnchors();
    this.updateDetail(now);
  }

  // tags

  updateTags(now) {
    const sorted = this.sorted();
    const body = $("rows");
    for (const [name, row] of this.rows) {
      if (!this.model.tags.has(name)) {
        row.line.remove();
        this.rows.delete(name);
      }
    }
    const shown = new Set(sorted.map((tag) => tag.name));
    sorted.forEach((tag, index) => {
      const row = this.row(tag);
      if (body.children[index] !== row.line) body.insertBefore(row.line, body.children[index] ?? null);
      const { level } = quality(tag, now);
      setText(row.name, tag.label);
      setText(row.zone, this.zones(tag) || "–");
      setText(row.radius, this.radius(tag));
      setText(row.age, tag.state === "silent" ? "never" : age(this.age(tag, now)));
      row.dot.className = `dot ${level}`;
      row.line.className = (tag.name === this.model.selected ? "selected " : "")
        + (tag.state === "present" ? "" : "gone");
    });
    for (const [name, row] of this.rows) if (!shown.has(name)) row.line.remove();
    $("none").hidden = sorted.length > 0;
    setText($("none"), this.model.tags.size ? "No tag matches." : "The site has no tags.");
  }

  radius(tag) {
    if (tag.state === "lost") return "lost";
    if (tag.refused) return tag.refused;
    return tag.place ? units.radius(tag.place.r95) : "–";
  }

  row(tag) {
    let row = this.rows.get(tag.name);
    if (row) return row;
    const name = element("button", { className: "name" });
    const dot = element("i", { className: "dot" });
    const radius = element("span");
    row = {
      name, dot, radius, zone: element("td"), age: element("td", { className: "number" }),
    };
    row.line = element("tr", {}, element("td", {}, name), row.zone,
      element("td", { className: "number" }, dot, radius), row.age);
    row.line.dataset.tag = tag.name;
    row.line.addEventListener("click", () => this.select(tag.name));
    this.rows.set(tag.name, row);
    return row;
  }

  // one tag

  updateDetail(now) {
    const tag = this.model.tags.get(this.model.selected);
    const part = $("detail");
    part.hidden = !tag;
    if (!tag) {
      this.detail = null;
      return;
    }
    if (this.detail?.tag !== tag.name) this.buildDetail(part, tag);
    const parts = this.detail;
    const { word, level } = quality(tag, now);
    setText(parts.name, tag.label);
    const zones = this.zones(tag);
    setText(parts.where, zones ? `In ${zones}` : tag.place ? "In no zone" : "Nowhere yet");
    parts.sure.className = `sure ${level}`;
    setText(parts.sure, this.sureness(tag, word));
    const place = tag.place;
    setText(parts.place, place
      ? `x ${units.length(place.x)}, y ${units.length(place.y)}, height ${units.length(place.z)}` : "");
    const speed = place?.velocity ? Math.hypot(place.velocity[0], place.velocity[1]) : 0;
    const motion = !place ? "" : place.motion === "rest" ? "at rest" : place.velocity
      ? `moves at ${units.speed(speed)}` : "";
    const rate = tag.rate ? `${tag.rate.toFixed(1)} places a second` : "";
    setText(parts.motion, [motion, rate, `seen ${age(this.age(tag, now))}`.replace("now", "just now")
      + (this.age(tag, now) >= 1.5 ? " ago" : "")].filter(Boolean).join(" · "));
    this.updateRanges(parts);
  }

  sureness(tag, word) {
    if (tag.state === "silent") return "No measurements yet";
    if (tag.state === "lost") return "Lost: this is its last place";
    if (tag.refused) return `Not sure enough: ${tag.refused}`;
    return `Within ${units.radius(tag.place.r95)} (95 %) · ${word}`;
  }

  buildDetail(part, tag) {
    const close = element("button", { text: "×", title: "Close (Esc)" });
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => this.select(null));
    const parts = {
      tag: tag.name, name: element("span"), where: element("p", { className: "where" }),
      sure: element("p"), place: element("p", { className: "muted" }),
      motion: element("p", { className: "muted" }), ranges: element("tbody"), table: element("table"),
    };
    const notes = {
      Residual: "The measured range minus the one to the place", Effect: "Whether the place uses the range",
    };
    const head = element("tr", {}, ...["Anchor", "Range", "Residual", "Effect"].map((text) => {
      return element("th", { text, scope: "col", title: notes[text] ?? "" });
    }));
    parts.table.append(element("thead", {}, head), parts.ranges);
    part.replaceChildren(element("h2", {}, parts.name, close), parts.where, parts.sure, parts.place,
      parts.motion, parts.table);
    this.detail = parts;
  }

  updateRanges(parts) {
    const ranges = this.model.ranges;
    parts.table.hidden = !ranges.length;
    while (parts.ranges.children.length > ranges.length) parts.ranges.lastChild.remove();
    ranges.forEach((range, index) => {
      let row = parts.ranges.children[index];
      if (!row) {
        row = element("tr", {}, ...[0, 1, 2, 3].map(() => element("td")));
        parts.ranges.append(row);
      }
      const isOld = this.model.time - range.t > 3;
      row.className = range.result === "rejected" ? "rejected" : "";
      const value = range.distance_m !== undefined ? units.length(range.distance_m)
        : range.difference_m !== undefined ? `Δ ${units.length(range.difference_m)}`
          : `${(range.azimuth_deg ?? range.elevation_deg)?.toFixed(0)}°`;
      const names = range.reference ? `${range.reference} → ${range.anchor}` : range.anchor;
      const residual = range.residual_m === null ? "" : units.signedRadius(range.residual_m);
      [names, value, residual, isOld ? "silent" : range.result].forEach((text, column) => {
        setText(row.children[column], text);
      });
    });
  }

  // events and anchors

  updateEvents() {
    const { events } = this.model;
    $("no-events").hidden = events.length > 0;
    const head = events[0];
    const unit = `${events.length} ${this.epoch}`;
    if (this.newestEvent === head && this.eventCount === unit) return;
    [this.newestEvent, this.eventCount] = [head, unit];
    $("list").replaceChildren(...events.map((event) => {
      const time = element("time", { text: clock(event.t ?? event.decided, this.epoch) });
      const isWarning = /lost|moved|doubtful|interrupted|bad|unknown/.test(event.event);
      return element("li", { className: isWarning ? "warning" : "" }, time,
        element("span", { text: sentence(event, this.model) }));
    }));
  }

  updateAnchors() {
    const { model } = this;
    const words = { good: "good", moved: "was moved", doubtful: "doubtful" };
    const rows = model.site.anchors.map((anchor) => {
      const own = model.residuals.get(anchor.id);
      const total = own ? own.used + own.rejected : 0;
      const isSilent = own?.t != null && model.time - own.t > 5;
      const state = !anchor.position_m ? "no place" : !total ? "no ranges"
        : isSilent ? "silent" : words[model.anchorStates.get(anchor.id) ?? "good"];
      return element("tr", {}, element("td", { text: anchor.id }), element("td", { text: state }),
        element("td", { className: "number" },
          element("i", { className: `dot ${anchorLevel(model, anchor)}` }),
          element("span", { text: own?.used ? units.radius(own.rms_m) : "–" })),
        element("td", {
          className: "number", text: total ? `${((100 * own.rejected) / total).toFixed(1)} %` : "–",
        }));
    });
    $("anchor-rows").replaceChildren(...rows);
    const c = model.counters;
    if (!c) return;
    const words2 = [`${c.measurements} measurements`, `${c.places} places`];
    for (const [key, word] of [["outliers", "outliers"], ["failed", "failed rounds"],
      ["lost", "lost"], ["unknown_boards", "of unknown boards"], ["bad", "bad lines"]]) {
      if (c[key]) words2.push(`${c[key]} ${word}`);
    }
    setText($("counters"), words2.join(" · "));
  }
}
