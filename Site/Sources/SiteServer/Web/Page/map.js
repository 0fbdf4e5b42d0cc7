// SPDX-License-Identifier: Apache-2.0
// The canvas: its section of the plane, pointer and keyboard, and when it is drawn.

import { drawMap } from "./draw.js";

/** Milliseconds in which a tag glides to its new place, and between two drawings. */
const glide = 180;
const interval = 44;
const reach = 22;

export class MapView {
  constructor(canvas, model) {
    this.canvas = canvas;
    this.model = model;
    this.context = canvas.getContext("2d", { alpha: false });
    this.center = { x: 0, y: 0 };
    this.scale = 40;
    this.isFitted = false;
    this.hover = null;
    this.pictures = new Map();
    /** An editor's tool: down, move and up with places; it returns whether it takes the event. */
    this.tool = null;
    this.overlay = null;
    this.onSelect = () => {};
    this.onMove = () => {};
    this.onView = () => {};
    this.frames = 0;
    this.pointers = new Map();
    this.isStill = matchMedia("(prefers-reduced-motion: reduce)");
    this.readColors();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readColors());
    this.legend = document.getElementById("legend");
    const observer = new ResizeObserver(() => this.resize());
    for (const part of [canvas, this.legend]) observer.observe(part);
    this.listen();
    requestAnimationFrame((time) => this.frame(time));
  }

  // section of the plane

  toScreen(x, y) {
    return [
      this.width / 2 + (x - this.center.x) * this.scale,
      this.height / 2 - (y - this.center.y) * this.scale,
    ];
  }

  toMetres(left, top) {
    return {
      x: this.center.x + (left - this.width / 2) / this.scale,
      y: this.center.y - (top - this.height / 2) / this.scale,
    };
  }

  /** Shows all of the site. */
  fit() {
    const points = [];
    const { site } = this.model;
    for (const anchor of site.anchors) if (anchor.position_m) points.push(anchor.position_m);
    for (const zone of site.zones) points.push(...corners(zone));
    for (const door of site.doors) points.push(...door.ends_m);
    for (const tag of this.model.tags.values()) {
      if (tag.place && !site.anchors.length) points.push([tag.place.x, tag.place.y]);
    }
    for (const plan of site.plans) {
      const picture = this.pictures.get(plan.image);
      if (picture?.naturalWidth) {
        points.push(...planCorners(plan, picture.naturalWidth, picture.naturalHeight));
      }
    }
    if (!points.length || !this.width) return;
    const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
    const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const { left, right, top, bottom } = this.margins();
    this.scale = Math.min(
      (this.width - left - right) / Math.max(box[1] - box[0], 1),
      (this.height - top - bottom) / Math.max(box[3] - box[2], 1));
    this.clampScale();
    this.center = {
      x: (box[0] + box[1] + (right - left) / this.scale) / 2,
      y: (box[2] + box[3] + (top - bottom) / this.scale) / 2,
    };
    this.isFitted = true;
    this.request();
  }

  /** The free space at the edges in pixels, where the buttons and the legend are. */
  margins() {
    const isNarrow = this.width < 500;
    const margin = isNarrow ? 36 : 64;
    const legend = this.legend.offsetHeight && this.legend.offsetHeight + 44;
    return {
      left: margin, right: isNarrow ? 58 : margin, top: margin, bottom: Math.max(margin, legend),
    };
  }

  clampScale() {
    this.scale = Math.min(Math.max(this.scale, 0.5), 4000);
  }

  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const fixed = this.toMetres(left, top);
    this.scale *= factor;
    this.clampScale();
    const moved = this.toMetres(left, top);
    this.center.x += fixed.x - moved.x;
    this.center.y += fixed.y - moved.y;
    this.onView();
    this.request();
  }

  pan(right, down) {
    this.center.x -= right / this.scale;
    this.center.y += down / this.scale;
    this.onView();
    this.request();
  }

  show(place) {
    const [left, top] = this.toScreen(place.x, place.y);
    if (left > 40 && top > 40 && left < this.width - 40 && top < this.height - 40) return;
    this.center = { x: place.x, y: place.y };
    this.request();
  }

  // pictures of floors

  picture(name) {
    let picture = this.pictures.get(name);
    if (!picture) {
      picture = new Image();
      picture.onload = () => {
        if (this.model.changes < 50) this.fit();
        this.request();
      };
      picture.src = `plans/${encodeURIComponent(name)}`;
      this.pictures.set(name, picture);
    }
    return picture.complete && picture.naturalWidth ? picture : null;
  }

  // drawing

  readColors() {
    const style = getComputedStyle(document.documentElement);
    const names = [
      "map", "grid", "axis", "text", "muted", "accent", "good", "fair", "bad", "none", "zone",
      "zone-line", "door", "plate", "trail",
    ];
    this.colors = {};
    for (const name of names) this.colors[name] = style.getPropertyValue(`--${name}`).trim();
    this.request();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    [this.width, this.height] = [box.width, box.height];
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.ratio = ratio;
    if (!this.isMovedByHand) this.fit();
    this.request();
  }

  request() {
    this.isDirty = true;
  }

  frame(time) {
    requestAnimationFrame((next) => this.frame(next));
    if (time - (this.drawn ?? 0) < interval) return;
    if (this.seen !== this.model.changes) {
      this.seen = this.model.changes;
      this.isDirty = true;
      this.gliding = time + glide;
    }
    if (!this.isDirty && time > (this.gliding ?? 0)) return;
    this.isDirty = false;
    // The rest of an interval counts for the next one.
    this.drawn = Math.max(time - interval, (this.drawn ?? 0) + interval);
    this.frames++;
    const now = performance.now();
    for (const tag of this.model.tags.values()) {
      if (!tag.place) continue;
      const part = this.isStill.matches ? 1 : Math.min(1, (now - tag.arrived) / glide);
      const from = tag.former ?? tag.place;
      const isFar = Math.hypot(tag.place.x - from.x, tag.place.y - from.y) > 5;
      const share = isFar ? 1 : part;
      tag.shown = {
        x: from.x + (tag.place.x - from.x) * share, y: from.y + (tag.place.y - from.y) * share,
      };
    }
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    drawMap(this);
    this.overlay?.(this);
  }

  // pointer and keyboard

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.isMovedByHand = true;
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("dblclick", (event) => this.tool?.finish?.(event));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const point = { left: event.offsetX, top: event.offsetY, moved: 0 };
    this.pointers.set(event.pointerId, point);
    const place = this.toMetres(point.left, point.top);
    point.isTool = this.pointers.size === 1 && this.tool?.down?.(place, point) === true;
  }

  move(event) {
    const place = this.toMetres(event.offsetX, event.offsetY);
    this.onMove(place);
    const point = this.pointers.get(event.pointerId);
    if (!point) {
      this.tool?.hover?.(place, { left: event.offsetX, top: event.offsetY });
      return;
    }
    const [right, down] = [event.offsetX - point.left, event.offsetY - point.top];
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    point.moved += Math.abs(right) + Math.abs(down);
    if (others.length === 1) {
      const other = others[0][1];
      const before = Math.hypot(point.left - other.left, point.top - other.top);
      const after = Math.hypot(event.offsetX - other.left, event.offsetY - other.top);
      if (before > 0) this.zoom(after / before, other.left, other.top);
    } else if (point.isTool) {
      // A click is not steady, and does not move an anchor.
      if (point.moved > 4) this.tool.move?.(place, point);
      this.request();
    } else if (point.moved > 4) {
      this.isMovedByHand = true;
      this.pan(right, down);
    }
    [point.left, point.top] = [event.offsetX, event.offsetY];
  }

  up(event) {
    const point = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (!point) return;
    const place = this.toMetres(event.offsetX, event.offsetY);
    if (point.isTool) {
      this.tool?.up?.(place, point);
    } else if (point.moved <= 4) {
      if (this.tool?.click?.(place, point)) return;
      this.onSelect(this.nearest(event.offsetX, event.offsetY));
    }
  }

  /** The tag at a point; null where there is none. */
  nearest(left, top) {
    let best = null;
    let least = reach;
    for (const tag of this.model.tags.values()) {
      if (!tag.shown || !this.model.isOnFloor(tag.place?.floor)) continue;
      const [x, y] = this.toScreen(tag.shown.x, tag.shown.y);
      const distance = Math.hypot(x - left, y - top);
      if (distance < least) [best, least] = [tag.name, distance];
    }
    return best;
  }

  key(event) {
    const step = event.shiftKey ? 120 : 40;
    const keys = {
      ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step), ArrowDown: () => this.pan(0, -step),
      "+": () => this.zoom(1.25), "=": () => this.zoom(1.25), "-": () => this.zoom(0.8),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.isMovedByHand = true;
    keys[event.key]();
  }
}

/** The corners of a zone; a circle as a polygon. */
export function corners(zone) {
  if (zone.polygon_m) return zone.polygon_m;
  const { center_m: center, radius_m: radius } = zone.circle;
  return Array.from({ length: 48 }, (_, index) => {
    const angle = (2 * Math.PI * index) / 48;
    return [center[0] + radius * Math.cos(angle), center[1] + radius * Math.sin(angle)];
  });
}

/** The corners of a picture with a size in pixels. */
export function planCorners(plan, width, height) {
  const angle = ((plan.rotation_deg ?? 0) * Math.PI) / 180;
  const [right, down] = [width * plan.metres_per_pixel, height * plan.metres_per_pixel];
  return [[0, 0], [right, 0], [right, down], [0, down]].map(([x, y]) => [
    plan.origin_m[0] + x * Math.cos(angle) + y * Math.sin(angle),
    plan.origin_m[1] + x * Math.sin(angle) - y * Math.cos(angle),
  ]);
}
