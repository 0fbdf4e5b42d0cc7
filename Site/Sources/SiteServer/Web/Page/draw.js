// SPDX-License-Identifier: Apache-2.0
// The picture of a site: plan, zones, doors, anchors, and tags with their uncertainty.

import { trailSeconds, quality } from "./model.js";
import { units } from "./units.js";
import { corners } from "./map.js";

/** The factor from a deviation to the ellipse that holds 95 of 100 places. */
const ellipse95 = 2.4477;
const font = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

export function drawMap(view) {
  const { context, model, colors } = view;
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(background(view), 0, 0);
  context.restore();
  const selected = model.tags.get(model.selected);
  if (selected?.shown) for (const range of model.ranges) drawRange(view, selected, range);
  const boxes = [];
  const anchors = model.site.anchors.filter((one) => one.position_m && model.isOnFloor(one.floor));
  for (const anchor of anchors) drawAnchor(view, anchor, boxes);
  const tags = [...model.tags.values()].filter((tag) => {
    return tag.shown && tag.place && model.isOnFloor(tag.place.floor);
  });
  drawTrails(view, tags.filter((tag) => tag !== selected), colors.trail, 2);
  drawTags(view, tags.filter((tag) => tag !== selected));
  if (tags.includes(selected)) {
    drawTrails(view, [selected], colors.accent, 3);
    drawTags(view, [selected]);
  }
  tags.sort((a, b) => (b === selected) - (a === selected));
  for (const tag of tags) {
    const [left, top] = view.toScreen(tag.shown.x, tag.shown.y);
    boxes.push([left - 6, top - 6, left + 6, top + 6]);
  }
  for (const tag of tags) drawName(view, tag, boxes);
  for (const anchor of anchors) drawAnchorName(view, anchor, boxes);
  for (const zone of model.site.zones) {
    if (model.isOnFloor(zone.floor)) drawZoneName(view, zone, boxes);
  }
  drawScale(view);
}

/** The part of the picture that seldom changes, drawn again only then. */
function background(view) {
  const { model } = view;
  const counts = model.site.zones.map((zone) => Math.min(model.count(zone.id), 1));
  const loaded = [...view.pictures.values()].filter((picture) => picture.complete).length;
  const key = [view.center.x, view.center.y, view.scale, view.canvas.width, view.canvas.height,
    view.colors.map, model.floor, model.siteChanges, units.name, loaded, ...counts].join(" ");
  if (view.backgroundKey === key) return view.background;
  view.backgroundKey = key;
  view.background ??= document.createElement("canvas");
  const { background: canvas, context: front } = view;
  [canvas.width, canvas.height] = [view.canvas.width, view.canvas.height];
  view.context = canvas.getContext("2d", { alpha: false });
  view.context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  view.context.fillStyle = view.colors.map;
  view.context.fillRect(0, 0, view.width, view.height);
  const { plans, zones, doors } = model.site;
  for (const plan of plans) if (model.isOnFloor(plan.floor)) drawPlan(view, plan);
  drawGrid(view);
  for (const zone of zones) if (model.isOnFloor(zone.floor)) drawZone(view, zone);
  for (const door of doors) if (model.isOnFloor(door.floor)) drawDoor(view, door);
  view.context = front;
  return canvas;
}

function drawPlan(view, plan) {
  const picture = view.picture(plan.image);
  if (!picture) return;
  const { context } = view;
  const [left, top] = view.toScreen(...plan.origin_m);
  const scale = plan.metres_per_pixel * view.scale;
  context.save();
  context.translate(left, top);
  context.rotate((-(plan.rotation_deg ?? 0) * Math.PI) / 180);
  context.scale(scale, scale);
  context.globalAlpha = 0.75;
  context.drawImage(picture, 0, 0);
  context.restore();
}

/** Metres between lines: 1, 2 or 5 times a power of ten of the unit. */
function gridStep(view, pixels) {
  const wanted = units.value(pixels / view.scale);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= wanted);
  return units.metres(step);
}

function drawGrid(view) {
  const { context, colors } = view;
  const step = gridStep(view, 48);
  const least = view.toMetres(0, view.height);
  const greatest = view.toMetres(view.width, 0);
  context.lineWidth = 1;
  for (const isAxis of [false, true]) {
    context.strokeStyle = isAxis ? colors.axis : colors.grid;
    context.beginPath();
    for (let n = Math.ceil(least.x / step); n * step <= greatest.x; n++) {
      if ((n === 0) !== isAxis) continue;
      const left = Math.round(view.toScreen(n * step, 0)[0]) + 0.5;
      context.moveTo(left, 0);
      context.lineTo(left, view.height);
    }
    for (let n = Math.ceil(least.y / step); n * step <= greatest.y; n++) {
      if ((n === 0) !== isAxis) continue;
      const top = Math.round(view.toScreen(0, n * step)[1]) + 0.5;
      context.moveTo(0, top);
      context.lineTo(view.width, top);
    }
    context.stroke();
  }
}

function trace(view, points, isClosed = true) {
  view.context.beginPath();
  points.forEach((point, index) => {
    const [left, top] = view.toScreen(point[0], point[1]);
    if (index) view.context.lineTo(left, top);
    else view.context.moveTo(left, top);
  });
  if (isClosed) view.context.closePath();
}

function drawZone(view, zone) {
  const { context, colors, model } = view;
  const points = corners(zone);
  if (points.length < 2) return;
  trace(view, points);
  context.fillStyle = colors.zone;
  context.globalAlpha = model.count(zone.id) ? 1 : 0.55;
  context.fill();
  context.globalAlpha = 1;
  const margin = (zone.margin_m ?? 0) * view.scale;
  if (margin > 1) {
    context.strokeStyle = colors.zone;
    context.lineWidth = margin;
    context.stroke();
  }
  context.strokeStyle = colors["zone-line"];
  context.lineWidth = 1.5;
  context.stroke();
}

function drawZoneName(view, zone, boxes) {
  const { context, colors, model } = view;
  const points = corners(zone);
  if (points.length < 2) return;
  const count = model.count(zone.id);
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const [left, top] = view.toScreen(Math.min(...xs), Math.max(...ys));
  const [right] = view.toScreen(Math.max(...xs), 0);
  if (right - left < 44) return;
  context.font = `600 12px ${font}`;
  context.fillStyle = colors["zone-line"];
  context.textAlign = "left";
  context.textBaseline = "top";
  const name = zone.label ?? zone.id;
  const texts = count ? [`${name} · ${count}`, name] : [name];
  for (const text of texts) {
    const width = context.measureText(text).width;
    for (const [x, y] of [[left + 9, top + 9], [left + 22, top + 9], [left + 9, top + 26]]) {
      const box = [x, y - 2, x + width, y + 14];
      if (box[2] > right || boxes.some((other) => overlaps(box, other))) continue;
      boxes.push(box);
      context.fillText(text, x, y);
      return;
    }
  }
}

function drawDoor(view, door) {
  const { context, colors } = view;
  trace(view, door.ends_m, false);
  context.strokeStyle = colors.door;
  context.lineWidth = 5;
  context.lineCap = "round";
  context.stroke();
  context.lineCap = "butt";
  const [first, second] = door.ends_m.map((end) => view.toScreen(...end));
  context.font = `11px ${font}`;
  context.fillStyle = colors.muted;
  context.textAlign = "center";
  context.textBaseline = "bottom";
  const middle = [(first[0] + second[0]) / 2, (first[1] + second[1]) / 2];
  context.fillText(door.label ?? door.id, middle[0], middle[1] - 6);
}

// anchors and ranges

/** The colour of a residual in metres. */
export function residualLevel(metres) {
  const size = Math.abs(metres);
  return size <= 0.2 ? "good" : size <= 0.5 ? "fair" : "bad";
}

export function anchorLevel(model, anchor) {
  const state = model.anchorStates.get(anchor.id) ?? "good";
  if (state !== "good") return "bad";
  const own = model.residuals.get(anchor.id);
  if (!own || !own.used) return "none";
  return residualLevel(own.rms_m);
}

function drawAnchor(view, anchor, boxes) {
  const { context, colors, model } = view;
  const [left, top] = view.toScreen(anchor.position_m[0], anchor.position_m[1]);
  const size = 7;
  context.beginPath();
  context.moveTo(left, top - size - 1);
  context.lineTo(left + size, top + size - 2);
  context.lineTo(left - size, top + size - 2);
  context.closePath();
  context.fillStyle = colors[anchorLevel(model, anchor)];
  context.strokeStyle = colors.map;
  context.lineWidth = 2;
  context.stroke();
  context.fill();
  boxes.push([left - 9, top - 9, left + 9, top + 8]);
}

function drawAnchorName(view, anchor, boxes) {
  const { context, colors } = view;
  const [left, top] = view.toScreen(anchor.position_m[0], anchor.position_m[1]);
  context.font = `11px ${font}`;
  const width = context.measureText(anchor.id).width;
  const box = [left - width / 2 - 2, top + 8, left + width / 2 + 2, top + 22];
  if (boxes.some((other) => overlaps(box, other))) return;
  boxes.push(box);
  context.fillStyle = colors.muted;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillText(anchor.id, left, top + 9);
}

/** A measurement of the selected tag: a circle, a hyperbola or a ray. */
function drawRange(view, tag, range) {
  const { context, colors, model } = view;
  const find = (id) => model.site.anchors.find((one) => one.id === id)?.position_m;
  const anchor = find(range.anchor);
  if (!anchor || view.model.time - range.t > 3) return;
  const isRejected = range.result === "rejected";
  const level = isRejected ? "bad" : residualLevel(range.residual_m ?? 0);
  context.save();
  context.strokeStyle = colors[level];
  context.lineWidth = 1.5;
  if (isRejected) context.setLineDash([6, 5]);
  const [left, top] = view.toScreen(anchor[0], anchor[1]);
  const [x, y] = view.toScreen(tag.shown.x, tag.shown.y);
  context.globalAlpha = 0.9;
  context.beginPath();
  context.moveTo(left, top);
  context.lineTo(x, y);
  context.stroke();
  context.globalAlpha = 0.55;
  if (range.distance_m !== undefined) drawCircle(view, tag, range, anchor);
  const reference = range.reference && find(range.reference);
  if (range.difference_m !== undefined && reference) drawHyperbola(view, range, reference, anchor);
  if (range.azimuth_deg !== undefined) {
    const angle = (range.azimuth_deg * Math.PI) / 180;
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(left + 3000 * Math.cos(angle), top - 3000 * Math.sin(angle));
    context.stroke();
  }
  context.restore();
}

function drawCircle(view, tag, range, anchor) {
  const own = view.model.site.anchors.find((one) => one.id === range.anchor);
  const distance = range.distance_m - (own.delay_m ?? 0);
  const height = anchor[2] - (tag.place.z ?? anchor[2]);
  const radius = Math.sqrt(Math.max(0, distance * distance - height * height));
  const [left, top] = view.toScreen(anchor[0], anchor[1]);
  const { context } = view;
  context.beginPath();
  context.arc(left, top, radius * view.scale, 0, 2 * Math.PI);
  context.stroke();
  context.globalAlpha = 0.08;
  context.lineWidth = Math.min(60, Math.max(2, 2 * (range.sd_m ?? 0.15) * view.scale));
  context.setLineDash([]);
  context.stroke();
}

function drawHyperbola(view, range, first, second) {
  const points = hyperbola(range.difference_m, first, second);
  if (!points.length) return;
  trace(view, points, false);
  view.context.stroke();
}

/** The points whose distance to the second anchor is longer by the difference. */
export function hyperbola(difference, first, second) {
  const half = Math.hypot(second[0] - first[0], second[1] - first[1]) / 2;
  const a = difference / 2;
  if (Math.abs(a) >= half || half < 1e-6) return [];
  const b = Math.sqrt(half * half - a * a);
  const u = [(second[0] - first[0]) / (2 * half), (second[1] - first[1]) / (2 * half)];
  const middle = [(first[0] + second[0]) / 2, (first[1] + second[1]) / 2];
  const points = [];
  for (let s = -4; s <= 4; s += 0.1) {
    const [along, across] = [-a * Math.cosh(s), b * Math.sinh(s)];
    points.push([
      middle[0] + u[0] * along - u[1] * across, middle[1] + u[1] * along + u[0] * across,
    ]);
  }
  return points;
}

// tags

/** Draws trails in parts of different age. One path each: paths that cross take long to stroke. */
function drawTrails(view, tags, color, width) {
  const { context, model } = view;
  context.strokeStyle = color;
  context.lineWidth = width;
  context.lineJoin = "bevel";
  const parts = 3;
  for (let part = 0; part < parts; part++) {
    const [from, to] = [trailSeconds * (1 - part / parts), trailSeconds * (1 - (part + 1) / parts)];
    context.globalAlpha = (0.7 * (part + 1)) / parts;
    for (const tag of tags) {
      context.beginPath();
      traceTrail(view, tag, model.time - from, model.time - to);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** Adds the part of a trail between two times to the path. */
function traceTrail(view, tag, from, to) {
  const { trail, shown } = tag;
  let isDrawing = false;
  for (let index = 0; index <= trail.length; index++) {
    const isEnd = index === trail.length;
    const point = isEnd ? shown : trail[index];
    if (!isEnd && point.t < from) continue;
    const [left, top] = view.toScreen(point.x, point.y);
    if (isDrawing) view.context.lineTo(left, top);
    else view.context.moveTo(left, top);
    isDrawing = true;
    if (!isEnd && point.t > to) return;
  }
}

/** The half axes of the ellipse of a tag in pixels, and its direction. */
function ellipse(view, { xx, xy, yy }) {
  const mean = (xx + yy) / 2;
  const gap = Math.sqrt(((xx - yy) / 2) ** 2 + xy * xy);
  return {
    long: Math.max(1, ellipse95 * Math.sqrt(Math.max(mean + gap, 0)) * view.scale),
    short: Math.max(1, ellipse95 * Math.sqrt(Math.max(mean - gap, 0)) * view.scale),
    angle: 0.5 * Math.atan2(2 * xy, xx - yy),
  };
}

/** Draws tags with their ellipses; the ones that look alike together. */
function drawTags(view, tags) {
  const { context, colors, model } = view;
  const groups = new Map();
  for (const tag of tags) {
    const isSelected = tag.name === model.selected;
    const isGone = tag.state !== "present";
    const { level } = quality(tag, model.time);
    const isDashed = isGone || Boolean(tag.refused);
    const key = `${isSelected} ${isGone} ${isDashed} ${level}`;
    if (!groups.has(key)) groups.set(key, { isSelected, isGone, isDashed, level, tags: [] });
    groups.get(key).tags.push(tag);
  }
  for (const group of groups.values()) drawEllipses(view, group);
  for (const { isSelected, isGone, tags: alike } of groups.values()) {
    context.beginPath();
    for (const tag of alike) {
      const [left, top] = view.toScreen(tag.shown.x, tag.shown.y);
      const radius = isSelected ? 7 : 5;
      context.moveTo(left + radius, top);
      context.arc(left, top, radius, 0, 2 * Math.PI);
    }
    context.fillStyle = isGone ? colors.map : colors.accent;
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = isGone ? colors.none : colors.map;
    context.stroke();
  }
}

/** One path each: the union of many ellipses takes a hundred times as long to fill. */
function drawEllipses(view, { isSelected, isGone, isDashed, level, tags }) {
  const { context, colors } = view;
  context.fillStyle = context.strokeStyle = isGone ? colors.none : colors[level];
  context.lineWidth = isSelected ? 2 : 1;
  for (const tag of tags) {
    const [left, top] = view.toScreen(tag.shown.x, tag.shown.y);
    const { long, short, angle } = ellipse(view, tag.place);
    context.beginPath();
    context.ellipse(left, top, long, short, -angle, 0, 2 * Math.PI);
    context.globalAlpha = isSelected ? 0.3 : 0.16;
    if (!isDashed || isSelected) context.fill();
    context.globalAlpha = isSelected ? 1 : 0.65;
    // At most 50 dashes: a rough place has a long edge.
    const dash = Math.max(4, (long + short) / 16);
    if (isDashed) context.setLineDash([dash, dash]);
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function overlaps(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

function drawName(view, tag, boxes) {
  const { context, colors, model } = view;
  const isSelected = tag.name === model.selected;
  const [left, top] = view.toScreen(tag.shown.x, tag.shown.y);
  let text = tag.label.length > 24 ? `${tag.label.slice(0, 23)}…` : tag.label;
  if (isSelected && tag.state === "present") text += ` · within ${units.radius(tag.place.r95)}`;
  context.font = `${isSelected ? "700 13px" : "600 12px"} ${font}`;
  if (tag.width?.text !== text || tag.width?.font !== context.font) {
    tag.width = { text, font: context.font, value: context.measureText(text).width };
  }
  const width = tag.width.value + 10;
  const places = [[left + 9, top - 9], [left - 9 - width, top - 9], [left - width / 2, top - 28],
    [left - width / 2, top + 10]];
  const boxOf = ([x, y]) => [x, y, x + width, y + 18];
  const isOwn = (other) => other[0] === left - 6 && other[1] === top - 6;
  const isInside = (one) => one[0] >= 0 && one[1] >= 0 && one[2] <= view.width && one[3] <= view.height;
  const isFree = (one) => !boxes.some((other) => !isOwn(other) && overlaps(one, other));
  const inside = places.map(boxOf).filter(isInside);
  const box = inside.find(isFree) ?? (isSelected ? inside[0] ?? boxOf(places[0]) : null);
  if (!box) return;
  boxes.push(box);
  context.fillStyle = isSelected ? colors.accent : colors.plate;
  context.globalAlpha = isSelected ? 1 : 0.82;
  context.beginPath();
  context.roundRect(box[0], box[1], width, 18, 5);
  context.fill();
  context.globalAlpha = 1;
  context.fillStyle = isSelected ? "#fff" : tag.state === "present" ? colors.text : colors.muted;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, box[0] + 5, box[1] + 9.5);
}

function drawScale(view) {
  const { context, colors } = view;
  const step = gridStep(view, 80);
  const width = step * view.scale;
  const [left, top] = [16, view.height - 18];
  context.strokeStyle = colors.text;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(left, top - 5);
  context.lineTo(left, top);
  context.lineTo(left + width, top);
  context.lineTo(left + width, top - 5);
  context.stroke();
  context.font = `11px ${font}`;
  context.fillStyle = colors.text;
  context.textAlign = "left";
  context.textBaseline = "bottom";
  const value = units.value(step);
  const text = `${Number(value.toPrecision(3))} ${units.name}`;
  context.fillText(text, left + 5, top - 4);
}
