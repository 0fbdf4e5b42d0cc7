// SPDX-License-Identifier: Apache-2.0
// Editing: anchors, zones, doors and floor plans, with undo, into the site file.

import { get, put } from "./server.js";
import { corners, planCorners } from "./map.js";
import { element } from "./panel.js";
import { isInside } from "./replay.js";
import { units } from "./units.js";

const $ = (id) => document.getElementById(id);
const reach = 14;
const round = (value) => Math.round(value * 1000) / 1000;

export class Editor {
  /** @param options show(text), closed(site) */
  constructor(view, model, options) {
    Object.assign(this, { view, model, options, isOpen: false, past: [], future: [] });
    for (const button of document.querySelectorAll("[data-tool]")) {
      button.addEventListener("click", () => this.setTool(button.dataset.tool));
    }
    $("undo").addEventListener("click", () => this.undo());
    $("redo").addEventListener("click", () => this.redo());
    $("save").addEventListener("click", () => this.save());
    $("cancel").addEventListener("click", () => this.close());
    $("file").addEventListener("change", () => this.addPicture($("file").files[0]));
    $("item").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("beforeunload", (event) => {
      if (this.isOpen && this.isChanged) event.preventDefault();
    });
  }

  async open() {
    if (!(await this.load())) return;
    this.isOpen = true;
    this.options.opened();
    $("tools").hidden = false;
    $("edit").setAttribute("aria-pressed", true);
    this.view.overlay = () => this.draw();
    this.setTool("move");
  }

  async load() {
    try {
      const { value, version } = await get("site");
      [this.version, this.past, this.future, this.isChanged] = [version, [], [], false];
      this.item = null;
      /** The names of anchors that are not in the site file yet. */
      this.added = new Set();
      this.model.setSite(value);
      this.showItem();
      this.showButtons();
      return true;
    } catch (error) {
      this.options.show(error.message);
      return false;
    }
  }

  close() {
    if (this.isChanged && !confirm("Close without saving the changes?")) return;
    this.isOpen = false;
    $("tools").hidden = $("item").hidden = true;
    $("edit").setAttribute("aria-pressed", false);
    [this.view.tool, this.view.overlay, this.corners] = [null, null, null];
    $("map").classList.remove("tool");
    this.hint("");
    this.options.closed();
  }

  hint(text) {
    $("hint").hidden = !text;
    $("hint").textContent = text;
    $("hint").classList.toggle("top", Boolean(text));
  }

  // undo

  get site() {
    return this.model.site;
  }

  /** Performs a change, which can be undone. */
  change(body) {
    this.past.push(JSON.stringify(this.site));
    if (this.past.length > 200) this.past.shift();
    this.future = [];
    body(this.site);
    this.changed();
  }

  changed() {
    this.isChanged = true;
    this.model.siteChanges++;
    this.model.changes++;
    this.showButtons();
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  step(from, to) {
    if (!from.length) return;
    to.push(JSON.stringify(this.site));
    this.model.setSite(JSON.parse(from.pop()));
    if (this.item && !this.target()) this.item = null;
    this.changed();
    this.showItem();
  }

  showButtons() {
    $("undo").disabled = !this.past.length;
    $("redo").disabled = !this.future.length;
    $("save").disabled = !this.isChanged;
  }

  async save() {
    // A field notes its text when it loses the focus.
    if ($("item").contains(document.activeElement)) document.activeElement.blur();
    if (!this.isChanged || this.isSaving) return;
    this.isSaving = true;
    try {
      const text = JSON.stringify(this.site);
      const response = await put("site", text, this.version);
      this.version = response.headers.get("ETag");
      // Changes during the request are not saved yet.
      this.isChanged = JSON.stringify(this.site) !== text;
      this.showButtons();
      this.options.saved();
    } catch (error) {
      if (error.status === 412) {
        this.options.show("Another editor has saved the site file meanwhile. Nothing was written.",
          { text: "Load that version", run: () => this.load() });
      } else {
        this.options.show(`Not saved: ${error.message}`);
      }
    } finally {
      this.isSaving = false;
    }
  }

  // tools

  setTool(name) {
    if (name === "plan") {
      if (this.site.plans.length) {
        this.item = { kind: "plan", index: 0 };
        this.setTool("move");
        this.showItem();
      } else {
        $("file").click();
      }
      return;
    }
    for (const button of document.querySelectorAll("[data-tool]")) {
      button.setAttribute("aria-pressed", button.dataset.tool === name);
    }
    this.corners = null;
    $("map").classList.toggle("tool", name !== "move");
    const hints = {
      zone: "Click the corners of the zone; click the first one again to end.",
      anchor: "Click the place of the anchor.",
    };
    const tools = { zone: () => this.zoneTool(), anchor: () => this.anchorTool() };
    this.view.tool = (tools[name] ?? (() => this.moveTool()))();
    this.hint(hints[name] ?? "");
    this.view.request();
  }

  anchorTool() {
    return {
      click: ({ x, y }) => {
        const id = this.freeName("anchor", this.site.anchors);
        this.added.add(id);
        this.change((site) => site.anchors.push({
          id, position_m: [round(x), round(y), 2.5], position_sd_m: [0.1, 0.1, 0.1],
        }));
        this.item = { kind: "anchor", index: this.site.anchors.length - 1 };
        this.setTool("move");
        this.showItem();
        const name = $("item").querySelector("input");
        name.focus();
        name.select();
        return true;
      },
      cancel: () => this.setTool("move"),
    };
  }

  moveTool() {
    let grip = null;
    let isMoved = false;
    return {
      down: (place, point) => {
        grip = this.grip(point);
        if (!grip) return false;
        this.item = grip.item;
        isMoved = false;
        this.showItem();
        return true;
      },
      move: (place) => {
        if (!isMoved) this.past.push(JSON.stringify(this.site));
        isMoved = true;
        grip.move(place);
        this.future = [];
        this.changed();
        this.showNumbers();
      },
      up: () => this.view.request(),
      click: (place) => {
        this.item = this.itemAt(place);
        this.showItem();
        this.view.request();
        return true;
      },
    };
  }

  zoneTool() {
    this.corners = [];
    const end = () => {
      if (this.corners.length < 3) return;
      const polygon = this.corners;
      const id = this.freeName("zone", this.site.zones);
      this.change((site) => site.zones.push({ id, polygon_m: polygon }));
      this.item = { kind: "zone", index: this.site.zones.length - 1 };
      this.setTool("move");
      this.showItem();
    };
    return {
      click: (place, point) => {
        const first = this.corners[0] && this.view.toScreen(...this.corners[0]);
        if (first && Math.hypot(first[0] - point.left, first[1] - point.top) < reach) {
          end();
        } else {
          this.corners.push([round(place.x), round(place.y)]);
        }
        this.view.request();
        return true;
      },
      hover: (place) => {
        this.next = [place.x, place.y];
        this.view.request();
      },
      finish: end,
      cancel: () => this.setTool("move"),
    };
  }

  freeName(word, items) {
    const names = new Set(items.map((item) => item.id));
    let number = items.length + 1;
    while (names.has(`${word} ${number}`)) number++;
    return `${word} ${number}`;
  }

  /** What a pointer holds: an anchor, a corner, or all of the selected item. */
  grip(point) {
    const { view, site } = this;
    const isNear = ([x, y]) => {
      const [left, top] = view.toScreen(x, y);
      return Math.hypot(left - point.left, top - point.top) < reach;
    };
    for (const [index, anchor] of site.anchors.entries()) {
      if (!anchor.position_m || !isNear(anchor.position_m)) continue;
      return {
        item: { kind: "anchor", index },
        move: (place) => {
          const own = this.site.anchors[index].position_m;
          [own[0], own[1]] = [round(place.x), round(place.y)];
        },
      };
    }
    const lists = [["door", site.doors.map((door) => door.ends_m)],
      ["zone", site.zones.map((zone) => zone.polygon_m ?? [zone.circle.center_m])]];
    for (const [kind, items] of lists) {
      for (const [index, points] of items.entries()) {
        const corner = points.findIndex(isNear);
        if (corner < 0) continue;
        return { item: { kind, index }, move: (place) => {
          const own = kind === "door" ? this.site.doors[index].ends_m
            : this.site.zones[index].polygon_m ?? [this.site.zones[index].circle.center_m];
          own[corner].splice(0, 2, round(place.x), round(place.y));
        } };
      }
    }
    return this.wholeGrip(view.toMetres(point.left, point.top));
  }

  wholeGrip(place) {
    const { item } = this;
    if (!item || JSON.stringify(this.itemAt(place)) !== JSON.stringify(item)) return null;
    let last = place;
    return { item, move: (next) => {
      const points = item.kind === "plan" ? [this.site.plans[item.index].origin_m]
        : this.site.zones[item.index].polygon_m ?? [this.site.zones[item.index].circle.center_m];
      for (const own of points) {
        own.splice(0, 2, round(own[0] + next.x - last.x), round(own[1] + next.y - last.y));
      }
      last = next;
    } };
  }

  itemAt(place) {
    const zone = this.site.zones.findIndex((one) => isInside(corners(one), place));
    if (this.item?.kind === "plan") {
      if (this.planAt(place) === this.item.index) return this.item;
    }
    if (zone >= 0) return { kind: "zone", index: zone };
    const plan = this.planAt(place);
    return plan >= 0 ? { kind: "plan", index: plan } : null;
  }

  planAt(place) {
    return this.site.plans.findIndex((plan) => {
      const picture = this.view.picture(plan.image);
      return picture
        && isInside(planCorners(plan, picture.naturalWidth, picture.naturalHeight), place);
    });
  }

  target() {
    const lists = { anchor: "anchors", zone: "zones", door: "doors", plan: "plans" };
    return this.item ? this.site[lists[this.item.kind]][this.item.index] : null;
  }

  // floor plans

  async addPicture(file) {
    if (!file) return;
    $("file").value = "";
    const index = this.item?.kind === "plan" ? this.item.index : 0;
    try {
      const { image } = await (await put("plans", file)).json();
      const width = 0.8 * this.view.width / this.view.scale;
      const bitmap = await createImageBitmap(file);
      const scale = width / bitmap.width;
      const { x, y } = this.view.center;
      this.change((site) => {
        const former = site.plans[index];
        // A new picture has the place of the former one.
        if (former) former.image = image;
        else {
          site.plans.push({
            image, origin_m: [round(x - width / 2), round(y + (bitmap.height * scale) / 2)],
            metres_per_pixel: scale,
          });
        }
      });
      this.item = { kind: "plan", index: Math.min(index, this.site.plans.length - 1) };
      this.showItem();
      this.startScale();
    } catch (error) {
      this.options.show(error.message);
    }
  }

  /** Two clicks for the scale, and a third one for the rotation. */
  startScale() {
    const points = [];
    const texts = ["Click one end of a wall whose length you know.", "Click its other end.",
      "Click a point that lies to the right of the first one, along the x axis. Esc keeps the rotation."];
    this.hint(texts[0]);
    $("map").classList.add("tool");
    this.corners = points;
    this.view.tool = {
      click: (place) => {
        points.push([place.x, place.y]);
        this.view.request();
        if (points.length === 2) this.setScale(points);
        if (points.length === 3) {
          this.setRotation(points);
          return this.setTool("move") ?? true;
        }
        this.hint(texts[points.length]);
        return true;
      },
      cancel: () => this.setTool("move"),
    };
  }

  setScale(points) {
    const [[ax, ay], [bx, by]] = points;
    const shown = Math.hypot(bx - ax, by - ay);
    const answer = prompt(`Length of this wall in ${units.name}`, units.value(shown).toFixed(2));
    const length = units.metres(Number(String(answer ?? "").replace(",", ".")));
    if (!(length > 0) || !(shown > 0)) return;
    const factor = length / shown;
    this.change((site) => {
      const plan = site.plans[this.item.index];
      plan.metres_per_pixel *= factor;
      plan.origin_m = [ax + (plan.origin_m[0] - ax) * factor, ay + (plan.origin_m[1] - ay) * factor]
        .map(round);
    });
    points[1] = [ax + (bx - ax) * factor, ay + (by - ay) * factor];
  }

  setRotation([[ax, ay], , [cx, cy]]) {
    const angle = Math.atan2(cy - ay, cx - ax);
    this.change((site) => {
      const plan = site.plans[this.item.index];
      const [x, y] = [plan.origin_m[0] - ax, plan.origin_m[1] - ay];
      plan.origin_m = [
        ax + x * Math.cos(angle) + y * Math.sin(angle), ay - x * Math.sin(angle) + y * Math.cos(angle),
      ].map(round);
      const degrees = (plan.rotation_deg ?? 0) - (angle * 180) / Math.PI;
      plan.rotation_deg = round(((degrees + 540) % 360) - 180);
    });
    this.showItem();
  }

  // numbers

  showItem() {
    const form = $("item");
    const target = this.isOpen || this.version ? this.target() : null;
    const unplaced = this.site.anchors.filter((anchor) => !anchor.position_m);
    form.hidden = !target && !unplaced.length;
    this.inputs = [];
    if (!target) {
      form.replaceChildren(element("h2", { text: "Anchors without a place" }),
        ...unplaced.map((anchor) => this.placeButton(anchor)));
      return;
    }
    const close = element("button", { text: "×", type: "button" });
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => {
      this.item = null;
      this.showItem();
      this.view.request();
    });
    const words = { anchor: "Anchor", zone: "Zone", door: "Door", plan: "Floor plan" };
    const title = () => {
      const [word, own] = [words[this.item.kind], this.target()];
      const name = own.label ?? own.id ?? "";
      return name.toLowerCase().startsWith(word.toLowerCase()) ? name : `${word} ${name}`;
    };
    const heading = element("span", { text: title() });
    this.inputs.push(() => { heading.textContent = title(); });
    form.replaceChildren(element("h2", {}, heading, close),
      ...this.fields(target), element("div", { className: "buttons" }, ...this.buttons()));
  }

  placeButton(anchor) {
    const button = element("button", { text: `Place ${anchor.id} here`, type: "button" });
    button.addEventListener("click", () => {
      const { x, y } = this.view.center;
      this.change(() => {
        anchor.position_m = [round(x), round(y), anchor.height_m ?? 2.5];
        anchor.position_sd_m = [0.1, 0.1, anchor.height_sd_m ?? 0.1];
        delete anchor.height_m;
      });
      this.item = { kind: "anchor", index: this.site.anchors.indexOf(anchor) };
      this.showItem();
    });
    return button;
  }

  fields(target) {
    const { kind } = this.item;
    const length = (list, index) => ({
      read: () => round(units.value(list()[index])), write: (value) => {
        list()[index] = round(units.metres(value));
      },
    });
    const own = () => this.target();
    const fields = [];
    const add = (name, access) => fields.push(this.field(name, access, "number"));
    const unit = units.name;
    // Other programs have the name of an anchor of the file.
    if (kind === "anchor" && this.added.has(target.id)) {
      fields.push(this.field("name", {
        read: () => own().id, write: (text) => {
          if (!text || this.site.anchors.some((anchor) => anchor.id === text)) return;
          this.added.add(text);
          own().id = text;
        },
      }, "text"));
    }
    if (kind === "anchor") {
      ["x", "y", "height"].forEach((name, index) => {
        add(`${name} (${unit})`, length(() => own().position_m, index));
      });
      ["sd x", "sd y", "sd height"].forEach((name, index) => {
        add(`${name} (${unit})`, length(() => own().position_sd_m, index));
      });
    }
    if (kind === "zone" || kind === "door") {
      fields.push(this.field("label", {
        read: () => own().label ?? "", write: (text) => {
          if (text) own().label = text;
          else delete own().label;
        },
      }, "text"));
    }
    if (kind === "zone") {
      add(`margin (${unit})`, {
        read: () => round(units.value(own().margin_m ?? 0)),
        write: (value) => { own().margin_m = Math.max(0, round(units.metres(value))); },
      });
      if (target.circle) {
        add(`radius (${unit})`, {
          read: () => round(units.value(own().circle.radius_m)),
          write: (value) => { own().circle.radius_m = Math.max(0.01, round(units.metres(value))); },
        });
      }
    }
    if (kind === "plan") {
      add(`left (${unit})`, length(() => own().origin_m, 0));
      add(`top (${unit})`, length(() => own().origin_m, 1));
      add("rotation (°)", {
        read: () => own().rotation_deg ?? 0, write: (value) => { own().rotation_deg = value; },
      });
      add("mm a pixel", {
        read: () => round(1000 * own().metres_per_pixel),
        write: (value) => { if (value > 0) own().metres_per_pixel = value / 1000; },
      });
    }
    return fields;
  }

  field(name, { read, write }, type) {
    const input = element("input", { type, value: read() });
    if (type === "number") input.step = "any";
    input.addEventListener("change", () => {
      const value = type === "number" ? Number(input.value) : input.value.trim();
      if (type === "number" && (input.value === "" || !Number.isFinite(value))) {
        input.value = read();
        return;
      }
      this.change(() => write(value));
      this.showNumbers();
    });
    this.inputs.push(() => {
      if (document.activeElement !== input) input.value = read();
    });
    return element("label", {}, element("span", { text: name }), input);
  }

  showNumbers() {
    for (const update of this.inputs ?? []) update();
  }

  buttons() {
    const made = [];
    const add = (text, run) => {
      const button = element("button", { text, type: "button" });
      button.addEventListener("click", run);
      made.push(button);
    };
    if (this.item.kind === "plan") {
      add("Scale and rotation…", () => this.startScale());
      add("Other picture…", () => $("file").click());
    }
    if (this.isRemovable) add("Delete", () => this.remove());
    return made;
  }

  /** Whether the selected item may be deleted: an anchor only before it was in the file. */
  get isRemovable() {
    const kind = this.item?.kind;
    return kind === "zone" || kind === "plan"
      || (kind === "anchor" && this.added.has(this.target()?.id));
  }

  remove() {
    if (!this.isRemovable) return;
    const { kind, index } = this.item;
    this.change((site) => site[`${kind}s`].splice(index, 1));
    this.item = null;
    this.showItem();
  }

  /** Handles a key; returns whether it was one of the editor's. */
  key(event) {
    if (!this.isOpen) return false;
    const isControl = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    // The keys of text belong to a field.
    if (event.target.matches("input") && (key === "delete" || (isControl && "zy".includes(key)))) return false;
    if (isControl && key === "s") this.save();
    else if (isControl && (key === "y" || (key === "z" && event.shiftKey))) this.redo();
    else if (isControl && key === "z") this.undo();
    else if (key === "escape" && this.view.tool?.cancel) this.view.tool.cancel();
    else if (key === "delete") this.remove();
    else return false;
    return true;
  }

  // handles

  draw() {
    const { context, colors } = this.view;
    const handle = ([x, y], isRound = false) => {
      const [left, top] = this.view.toScreen(x, y);
      context.beginPath();
      if (isRound) context.arc(left, top, 6, 0, 2 * Math.PI);
      else context.rect(left - 5, top - 5, 10, 10);
      context.fill();
      context.stroke();
    };
    context.fillStyle = colors.plate;
    context.strokeStyle = colors.accent;
    context.lineWidth = 2;
    for (const zone of this.site.zones) for (const corner of zone.polygon_m ?? []) handle(corner);
    for (const door of this.site.doors) for (const end of door.ends_m) handle(end, true);
    const target = this.target();
    if (this.item?.kind === "anchor" && target) {
      const [left, top] = this.view.toScreen(target.position_m[0], target.position_m[1]);
      context.beginPath();
      context.arc(left, top, 15, 0, 2 * Math.PI);
      context.stroke();
    }
    const outline = this.item?.kind === "zone" ? corners(target) : this.outline(target);
    if (outline) this.line([...outline, outline[0]], 3);
    if (this.corners?.length) {
      this.line([...this.corners, ...(this.next && this.view.tool?.finish ? [this.next] : [])], 2);
      for (const corner of this.corners) handle(corner, true);
    }
  }

  outline(target) {
    if (this.item?.kind !== "plan" || !target) return null;
    const picture = this.view.picture(target.image);
    return picture && planCorners(target, picture.naturalWidth, picture.naturalHeight);
  }

  line(points, width) {
    const { context } = this.view;
    context.lineWidth = width;
    context.beginPath();
    points.forEach(([x, y], index) => {
      const [left, top] = this.view.toScreen(x, y);
      if (index) context.lineTo(left, top);
      else context.moveTo(left, top);
    });
    context.stroke();
    context.lineWidth = 2;
  }
}
