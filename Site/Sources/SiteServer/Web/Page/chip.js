// SPDX-License-Identifier: Apache-2.0
// The ranges of one chip over time: lines of `uwbctl range --format json`.

import { get, openSession } from "./server.js";
import { element } from "./panel.js";
import { units } from "./units.js";

const $ = (id) => document.getElementById(id);
const most = 20000;
const font = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const peers = new Map();
const state = { next: 0, chosen: null, held: null, isBusy: false, failures: 0, isEnded: false };

setTheme(localStorage.getItem("theme"));
openSession().then(() => {
  setInterval(load, 100);
  setInterval(show, 300);
  requestAnimationFrame(frame);
});

// data

async function load() {
  if (state.isBusy) return;
  state.isBusy = true;
  try {
    const { value } = await get(`lines?after=${state.next}&run=${state.run ?? ""}`);
    if (value.run !== state.run) peers.clear();
    [state.run, state.next, state.isEnded, state.failures] = [value.run, value.next, value.ended, 0];
    for (const line of value.lines) add(line);
    if (value.lines.length) state.isDirty = true;
  } catch {
    state.failures++;
  }
  state.isBusy = false;
}

function number(line, ...keys) {
  for (const key of keys) if (Number.isFinite(line[key])) return line[key];
  return null;
}

/** Adds a round. */
function add(line) {
  const time = number(line, "time_s", "t");
  if (time === null) return;
  const name = String(line.peer ?? line.anchor ?? line.tag ?? "peer");
  let peer = peers.get(name);
  if (!peer) {
    peer = { name, rounds: [], lost: 0, count: 0 };
    peers.set(name, peer);
    if (state.chosen === null) state.chosen = name;
    showPeers();
  }
  const raw = number(line, "computed_m", "distance_m")
    ?? (Number.isFinite(line.distance_cm) ? line.distance_cm / 100 : null);
  const isFailed = Number.isFinite(line.status_code) && line.status_code !== 0;
  const lost = number(line, "lost_before") ?? 0;
  peer.count++;
  peer.lost += lost + (isFailed ? 1 : 0);
  peer.rounds.push({
    t: time, raw: isFailed ? null : raw, estimate: number(line, "estimate_m"),
    sd: number(line, "estimate_sd_m", "computed_sd_m", "sd_m"), isFailed, lost,
    azimuth: line.azimuth_fom === 0 ? null : number(line, "computed_azimuth_deg", "azimuth_deg"),
    azimuthSD: number(line, "computed_azimuth_sd_deg"),
    elevation: line.elevation_fom === 0 ? null : number(line, "computed_elevation_deg", "elevation_deg"),
    power: number(line, "rx_power_dbm", "rssi_dbm"),
    blocked: number(line, "nlos_probability") ?? (line.nlos === true ? 1 : line.nlos === false ? 0 : null),
    velocity: number(line, "velocity_m_s"),
  });
  if (peer.rounds.length > most) peer.rounds.splice(0, most / 4);
}

// texts

function showPeers() {
  $("peers").hidden = peers.size < 2;
  $("peers").replaceChildren(...[...peers.keys()].map((name) => {
    const button = element("button", { text: name });
    button.setAttribute("aria-pressed", name === state.chosen);
    button.addEventListener("click", () => {
      state.chosen = name;
      state.isDirty = true;
      showPeers();
      show();
    });
    return button;
  }));
}

/** A whole number, with a minus sign that is as wide as a digit. */
function signed(value) {
  return value.toFixed(0).replace(/^-0$/, "0").replace("-", "−");
}

function set(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function show() {
  const isLost = state.failures > 10;
  $("banner").hidden = !isLost;
  if (isLost) set("banner", "The connection to uwbsite is lost. It connects again by itself.");
  const [word, kind] = isLost ? ["no connection", "lost"] : state.held !== null ? ["held", "past"]
    : state.isEnded ? ["ended", "past"] : ["live", "live"];
  set("state", word);
  $("state").className = `pill ${kind}`;
  const peer = peers.get(state.chosen);
  $("none").hidden = Boolean(peer);
  if (!peer) return;
  const end = now(peer);
  const recent = within(peer, end - 5, end);
  const last = recent.findLast((round) => round.raw !== null || round.estimate !== null);
  set("distance", last ? units.length(last.estimate ?? last.raw) : "no answer");
  set("deviation", last?.sd ? `± ${units.radius(1.96 * last.sd)} (95 %)` : "");
  const angle = recent.findLast((round) => round.azimuth !== null);
  set("angle", angle ? `${signed(angle.azimuth)}°` : "–");
  const parts = [];
  if (angle?.azimuthSD) parts.push(`± ${(1.96 * angle.azimuthSD).toFixed(0)}° (95 %)`);
  if (angle && angle.elevation !== null) parts.push(`${signed(angle.elevation)}° upwards`);
  set("elevation", angle ? parts.join(" · ") : "this chip reports none");
  set("power", Number.isFinite(last?.power) ? `${signed(last.power)} dBm` : "–");
  set("sight", !last || last.blocked === null ? "" : last.blocked < 0.5 ? "line of sight"
    : "the direct path is blocked");
  const span = recent.length > 1 ? recent.at(-1).t - recent[0].t : 0;
  set("rate", span > 0 ? `${((recent.length - 1) / span).toFixed(1)} /s` : "–");
  const total = peer.count + peer.rounds.reduce((sum, round) => sum + round.lost, 0);
  set("losses", `${peer.count} in all, ${((100 * peer.lost) / Math.max(1, total)).toFixed(1)} % lost`);
  const seen = within(peer, end - windowSeconds(), end);
  $("angles-part").hidden = !seen.some((round) => round.azimuth !== null);
  $("powers-part").hidden = !seen.some((round) => round.power !== null);
}

// pictures

const windowSeconds = () => Number($("window").value);

function now(peer) {
  return state.held ?? peer.rounds.at(-1).t;
}

/** The rounds of a time. */
function within(peer, from, to) {
  const { rounds } = peer;
  let [low, high] = [0, rounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rounds[middle].t < from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < rounds.length && rounds[end].t <= to) end++;
  return rounds.slice(low, end);
}

function frame() {
  requestAnimationFrame(frame);
  if (!state.isDirty) return;
  state.isDirty = false;
  const peer = peers.get(state.chosen);
  if (!peer) return;
  const end = now(peer);
  const rounds = within(peer, end - windowSeconds(), end);
  const metres = (value) => (value === null ? null : units.value(value));
  draw($("distances"), rounds, end, units.name, [
    { dots: (round) => metres(round.raw), line: (round) => metres(round.estimate),
      band: (round) => (round.sd === null ? null : metres(1.96 * round.sd)) },
  ], true);
  draw($("angles"), rounds, end, "°", [{ dots: (round) => round.azimuth }]);
  draw($("powers"), rounds, end, "dBm", [{ dots: (round) => round.power }]);
}

const colors = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["map", "grid", "text", "muted", "accent", "bad", "none"]) {
    colors[name] = style.getPropertyValue(`--${name}`).trim();
  }
  state.isDirty = true;
}

function step(range, count) {
  const wanted = range / count;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= wanted);
}

function draw(canvas, rounds, end, unit, series, showsLosses = false) {
  const box = canvas.getBoundingClientRect();
  if (!box.width) return;
  const ratio = Math.min(devicePixelRatio || 1, 2);
  if (canvas.width !== Math.round(box.width * ratio) || canvas.height !== Math.round(box.height * ratio)) {
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  const [{ dots, line, band }] = series;
  const values = rounds.flatMap((round) => {
    const center = line?.(round) ?? null;
    const width = band?.(round) ?? 0;
    return [dots(round), center === null ? null : center - width, center === null ? null : center + width];
  }).filter((value) => value !== null);
  if (!values.length) return;
  let [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const room = Math.max((high - low) * 0.12, unit === "dBm" || unit === "°" ? 2 : 0.1);
  [low, high] = [low - room, high + room];
  const frame = { left: 60, right: box.width - 12, top: 8, bottom: box.height - 24 };
  const x = (time) => frame.right - ((end - time) / windowSeconds()) * (frame.right - frame.left);
  const y = (value) => frame.bottom - ((value - low) / (high - low)) * (frame.bottom - frame.top);
  drawAxes(context, frame, { x, y, low, high, end, unit });
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  context.clip();
  if (band) drawBand(context, rounds, x, y, line, band);
  context.fillStyle = line ? colors.none : colors.accent;
  const size = line ? 3 : 4;
  for (const round of rounds) {
    const value = dots(round);
    if (value === null) continue;
    context.fillRect(x(round.t) - size / 2, y(value) - size / 2, size, size);
  }
  if (line) {
    context.strokeStyle = colors.accent;
    context.lineWidth = 2.5;
    strokeLine(context, rounds, x, y, line);
  }
  if (showsLosses) {
    context.fillStyle = colors.bad;
    for (const round of rounds) {
      if (round.isFailed || round.lost) context.fillRect(x(round.t) - 1, frame.bottom - 9, 2, 9);
    }
  }
  context.restore();
}

function drawAxes(context, frame, { x, y, low, high, end, unit }) {
  context.font = `11px ${font}`;
  context.strokeStyle = colors.grid;
  context.fillStyle = colors.muted;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const gap = step(high - low, Math.max(2, (frame.bottom - frame.top) / 20));
  const decimals = Math.max(0, -Math.floor(Math.log10(gap) + 1e-9));
  for (let n = Math.ceil(low / gap); n * gap <= high; n++) {
    const top = Math.round(y(n * gap)) + 0.5;
    context.beginPath();
    context.moveTo(frame.left, top);
    context.lineTo(frame.right, top);
    context.stroke();
    const text = `${(n * gap).toFixed(decimals)} ${unit}`.replace(" °", "°").replace("-", "−");
    context.fillText(text, frame.left - 6, top);
  }
  context.textAlign = "center";
  const seconds = windowSeconds();
  const pause = step(seconds, Math.max(2, (frame.right - frame.left) / 90));
  for (let ago = 0; ago <= seconds; ago += pause) {
    const left = x(end - ago);
    const last = state.isEnded || state.held !== null ? "end" : "now";
    const text = ago === 0 ? last : ago >= 120 ? `−${(ago / 60).toFixed(0)} min` : `−${ago} s`;
    context.fillText(text, Math.min(Math.max(left, frame.left + 14), frame.right - 12), frame.bottom + 13);
  }
}

function drawBand(context, rounds, x, y, line, band) {
  const known = rounds.filter((round) => line(round) !== null && band(round) !== null);
  if (known.length < 2) return;
  context.beginPath();
  for (const round of known) context.lineTo(x(round.t), y(line(round) + band(round)));
  for (const round of known.toReversed()) context.lineTo(x(round.t), y(line(round) - band(round)));
  context.closePath();
  context.fillStyle = colors.accent;
  context.globalAlpha = 0.16;
  context.fill();
  context.globalAlpha = 1;
}

function strokeLine(context, rounds, x, y, line) {
  context.beginPath();
  let last = null;
  for (const round of rounds) {
    const value = line(round);
    if (value === null) continue;
    if (last !== null && round.t - last < 3) context.lineTo(x(round.t), y(value));
    else context.moveTo(x(round.t), y(value));
    last = round.t;
  }
  context.stroke();
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
  readColors();
}

function toggleUnits() {
  units.toggle();
  set("units", units.name);
  state.isDirty = true;
  show();
}

function toggleHold() {
  const peer = peers.get(state.chosen);
  state.held = state.held === null && peer ? peer.rounds.at(-1).t : null;
  $("pause").setAttribute("aria-pressed", state.held !== null);
  state.isDirty = true;
  show();
}

readColors();
set("units", units.name);
$("units").addEventListener("click", toggleUnits);
$("theme").addEventListener("click", toggleTheme);
$("pause").addEventListener("click", toggleHold);
$("window").addEventListener("change", () => {
  state.isDirty = true;
  show();
});
addEventListener("resize", () => {
  state.isDirty = true;
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  const keys = { u: toggleUnits, d: toggleTheme };
  if (!event.target.matches("button")) keys[" "] = toggleHold;
  const run = keys[event.key.toLowerCase()];
  if (!run) return;
  event.preventDefault();
  run();
});

/** For tests. */
window.chip = { peers, state };
