// SPDX-License-Identifier: Apache-2.0
// The page: brings connection, model, map, lists, clock and editor together.

import { Stream, get, openSession } from "./server.js";
import { Model } from "./model.js";
import { MapView } from "./map.js";
import { Panel, element } from "./panel.js";
import { Timeline } from "./replay.js";
import { Editor } from "./edit.js";
import { units } from "./units.js";

const $ = (id) => document.getElementById(id);

setTheme(localStorage.getItem("theme"));
const model = new Model();
const view = new MapView($("map"), model);
const panel = new Panel(model, select);
const timeline = new Timeline(model, { goLive: () => stream.restart(), changed: () => panel.update() });
const editor = new Editor(view, model, { show, saved, opened: () => select(null), closed: () => loadSite() });
let stream;
let info = {};
let list = null;
let connection = "connecting";

view.onSelect = select;
view.onMove = (place) => {
  $("cursor").textContent = `${units.value(place.x).toFixed(2)}, ${units.value(place.y).toFixed(2)} ${units.name}`;
};
view.canvas.addEventListener("pointerleave", () => {
  $("cursor").textContent = "";
});
start();

async function start() {
  await openSession();
  stream = new Stream({ list: receiveList, update, state: setState });
  setInterval(() => loadInfo(), 2000);
  setInterval(() => loadLinks(), 250);
  setInterval(() => refresh(), 400);
}

// data

async function loadSite() {
  try {
    const { value } = await get("site");
    if (editor.isOpen) return;
    model.setSite(value);
    showFloors();
    if (!view.isMovedByHand) view.fit();
    $("title").textContent = value.name || "Site";
    document.title = `${value.name || "Site"} – uwbsite`;
    showHint();
  } catch (error) {
    if (error.status === 401) show(error.message);
  }
}

async function receiveList(state) {
  list = state;
  panel.epoch = timeline.epoch = state.info.live ? state.info.epoch_s : null;
  // At once: the changes after the list may arrive before the site.
  if (timeline.isLive) {
    model.clear();
    model.setList(state);
    if (Number.isFinite(model.time)) timeline.heard(model.time);
  }
  await loadSite();
  loadInfo();
}

function update(changes) {
  for (const place of changes.places) timeline.heard(place.t);
  if (!timeline.isLive || timeline.isRecording) return;
  for (const place of changes.places) model.addPlace(place);
  for (const event of changes.events) model.addEvent(event);
  if (changes.events.some((event) => event.event === "site_changed")) loadSite();
  if (changes.lost) show(`${changes.lost} events are missing: the connection was away for too long.`);
}

async function loadInfo() {
  if (connection !== "connected") return;
  try {
    info = (await get("info")).value;
    timeline.heard(info.to);
    timeline.setRange(info);
    $("edit").hidden = !info.may_edit;
    showHint();
  } catch {}
}

async function loadLinks() {
  if (connection !== "connected" || document.hidden || loadLinks.isBusy) return;
  loadLinks.isBusy = true;
  const tag = model.selected;
  const at = timeline.isLive ? "" : `&at=${timeline.time}`;
  try {
    const { value } = await get(`links?tag=${encodeURIComponent(tag ?? "")}${at}`);
    model.residuals = new Map(value.anchors.map((row) => [row.anchor, row]));
    model.counters = value.counters ?? model.counters;
    if (tag === model.selected) model.ranges = value.ranges;
    if (tag) model.changes++;
  } catch {}
  loadLinks.isBusy = false;
}

// what is shown

function refresh() {
  panel.update(timeline.time);
  for (const part of document.querySelectorAll("#legend .ranges")) part.hidden = !model.ranges.length;
  if (timeline.isLive && Number.isFinite(timeline.time)) model.time = timeline.time;
  const tags = [...model.tags.values()];
  const present = tags.filter((tag) => tag.state === "present");
  const sure = present.filter((tag) => !tag.refused).map((tag) => tag.place?.r95 ?? 0)
    .sort((a, b) => a - b);
  const radius = sure.length && units.radius(sure[Math.floor(sure.length / 2)]);
  const median = sure.length > 2 ? `, half of them within ${radius}` : radius ? `, within ${radius}` : "";
  $("summary").textContent = connection === "lost" ? ""
    : `${present.length} of ${tags.length} tags here${median}`;
  view.canvas.setAttribute("aria-label",
    `Map: ${present.length} of ${tags.length} tags, ${model.site.anchors.length} anchors. The table has the same.`);
  showState();
}

function setState(state) {
  connection = state;
  const isLost = state === "lost";
  if (isLost) showBanner("The connection to uwbsite is lost. The map shows the last known places.");
  else hideBanner("connection");
  showState();
}

function showState() {
  let [text, kind] = ["connecting", ""];
  if (connection === "lost") [text, kind] = ["no connection", "lost"];
  else if (timeline.isRecording) [text, kind] = ["recording", "past"];
  else if (!timeline.isLive) [text, kind] = ["past", "past"];
  else if (connection === "connected") [text, kind] = ["live", "live"];
  if ($("state").textContent !== text) $("state").textContent = text;
  $("state").className = `pill ${kind}`;
}

function showBanner(text) {
  $("banner").dataset.kind = "connection";
  $("banner").textContent = text;
  $("banner").hidden = false;
}

function hideBanner(kind) {
  if ($("banner").dataset.kind === kind) $("banner").hidden = true;
}

/** Shows a sentence until it is closed, with an action. */
function show(text, action) {
  $("banner").dataset.kind = "message";
  $("banner").replaceChildren(element("span", { text: `${text} ` }));
  const add = (label, run) => {
    const button = element("button", { text: label });
    button.addEventListener("click", () => {
      $("banner").hidden = true;
      run?.();
    });
    $("banner").append(button, " ");
  };
  if (action) add(action.text, action.run);
  add("Close");
  $("banner").hidden = false;
}

function saved() {
  const where = info.is_file ? "in the site file" : "until this run ends";
  show(`Saved ${where}.`);
}

function showHint() {
  if (editor.isOpen) return;
  const { anchors, tags } = model.site;
  let text = "";
  if (!anchors.some((anchor) => anchor.position_m)) {
    text = anchors.length
      ? "No anchor has a place yet.\nEdit places them, and uwbsite survey measures them."
      : info.may_edit ? "This site is empty.\nEdit adds anchors; add tags to the site file."
      : "This site is empty.\nAdd anchors and tags to the site file.";
  } else if (!tags.length) {
    text = "This site has no tags yet.\nAdd them to the site file.";
  }
  $("hint").classList.remove("top");
  $("hint").hidden = !text;
  $("hint").textContent = text;
}

function showFloors() {
  const { floors } = model.site;
  const choice = $("floor");
  choice.hidden = floors.length < 2;
  if (choice.children.length === floors.length + 1) return;
  choice.replaceChildren(element("option", { value: "", text: "all floors" }),
    ...floors.map((floor) => element("option", { value: floor.id, text: floor.label ?? floor.id })));
}

function select(name) {
  model.selected = name;
  model.ranges = [];
  model.changes++;
  const tag = model.tags.get(name);
  if (tag?.place) view.show(tag.place);
  panel.update(timeline.time);
  loadLinks();
}

function selectNext(step) {
  const tags = panel.sorted();
  if (!tags.length) return;
  const index = tags.findIndex((tag) => tag.name === model.selected);
  select(tags[(index + step + tags.length + (index < 0 && step < 0 ? 1 : 0)) % tags.length].name);
}

// theme, units, keys

function setTheme(theme) {
  const isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

function toggleTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  setTheme(next);
  view.readColors();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  setTheme(localStorage.getItem("theme"));
  view.readColors();
});

function toggleUnits() {
  units.toggle();
  $("units").textContent = units.name;
  if (editor.isOpen) editor.showItem();
  refresh();
  view.request();
}

const fit = () => {
  view.isMovedByHand = false;
  view.fit();
};
const toggleEdit = () => {
  if ($("edit").hidden) return;
  if (editor.isOpen) editor.close();
  else editor.open();
};
$("units").textContent = units.name;
$("theme").addEventListener("click", toggleTheme);
$("units").addEventListener("click", toggleUnits);
$("edit").addEventListener("click", toggleEdit);
$("fit").addEventListener("click", fit);
$("in").addEventListener("click", () => view.zoom(1.4));
$("out").addEventListener("click", () => view.zoom(1 / 1.4));
$("help").addEventListener("click", () => $("keys").showModal());
$("floor").addEventListener("change", () => {
  model.floor = $("floor").value || null;
  model.changes++;
});

addEventListener("keydown", (event) => {
  if (editor.key(event)) return event.preventDefault();
  const isText = event.target.matches("input:not([type=range]), select, textarea");
  if (event.key === "Escape") {
    if (isText) event.target.blur();
    else select(null);
    return;
  }
  if (isText || event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const isButton = event.target.matches("button");
  const keys = {
    "0": fit, n: () => selectNext(1), p: () => selectNext(-1), "/": () => $("filter").focus(),
    ",": () => timeline.jump(-5), ".": () => timeline.jump(5), l: () => timeline.goLive(),
    e: toggleEdit, u: toggleUnits, d: toggleTheme, "?": () => $("keys").showModal(),
  };
  if (!isButton) keys[" "] = () => timeline.toggle();
  const run = keys[event.key] ?? keys[event.key.toLowerCase()];
  if (!run) return;
  event.preventDefault();
  run();
});

/** For tests: what the page holds, and how often the map was drawn. */
window.uwb = { model, view, timeline, editor };
