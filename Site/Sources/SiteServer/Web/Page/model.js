// SPDX-License-Identifier: Apache-2.0
// What the page shows: tags with trails, anchors, zones, doors and events at one moment.

/** Seconds of a trail. */
export const trailSeconds = 12;
const trailPoints = 150;
/** Metres between two points of a trail that moves. */
const trailStep = 0.25;
const mostEvents = 200;

export class Model {
  constructor() {
    this.site = { anchors: [], zones: [], doors: [], floors: [], plans: [], tags: [] };
    this.tags = new Map();
    this.residuals = new Map();
    this.anchorStates = new Map();
    this.events = [];
    this.ranges = [];
    this.selected = null;
    this.floor = null;
    /** The time of what is shown, in seconds of the run. */
    this.time = NaN;
    this.changes = 0;
    /** Changes of the site itself. */
    this.siteChanges = 0;
  }

  setSite(site) {
    this.site = { anchors: [], zones: [], doors: [], floors: [], plans: [], tags: [], ...site };
    const known = new Set(this.site.tags.map((tag) => tag.id));
    for (const name of this.tags.keys()) if (!known.has(name)) this.tags.delete(name);
    for (const tag of this.site.tags) {
      const own = this.tag(tag.id);
      own.label = tag.label ?? tag.id;
    }
    this.siteChanges++;
    this.changes++;
  }

  tag(name) {
    let tag = this.tags.get(name);
    if (!tag) {
      tag = { name, label: name, state: "silent", zones: [], trail: [], place: null, rate: 0 };
      this.tags.set(name, tag);
    }
    return tag;
  }

  /** Forgets places and events, for another time or another run. */
  clear() {
    for (const tag of this.tags.values()) {
      Object.assign(tag, { state: "silent", zones: [], trail: [], place: null, rate: 0 });
      tag.refused = undefined;
    }
    this.events = [];
    this.ranges = [];
    this.anchorStates.clear();
    this.time = NaN;
    this.changes++;
  }

  /** The reply of List. */
  setList(list) {
    for (const row of list.tags) {
      const tag = this.tag(row.tag);
      tag.label = row.label ?? row.tag;
      if (row.place) this.addPlace(row.place);
      tag.state = row.state;
      tag.zones = row.zones;
    }
    for (const row of list.anchors) this.anchorStates.set(row.anchor, row.state);
    this.counters = list.counters;
    this.changes++;
  }

  /** A place as Watch and the record have it. */
  addPlace(place) {
    const tag = this.tag(place.tag);
    if (tag.place && place.t <= tag.place.t) return;
    if (tag.state !== "present") tag.trail = [];
    tag.state = "present";
    tag.refused = place.refused;
    this.time = Number.isFinite(this.time) ? Math.max(this.time, place.t) : place.t;
    this.changes++;
    if (place.refused) {
      tag.refusedTime = place.t;
      return;
    }
    const [x, y, z] = place.position_m;
    const gap = tag.place ? place.t - tag.place.t : 0;
    if (gap > 0 && gap < 60) tag.rate += (1 / gap - tag.rate) * (tag.rate ? 0.1 : 1);
    const [xx, xy, , yy] = place.covariance_m2;
    tag.former = tag.shown ?? { x, y };
    tag.arrived = performance.now();
    tag.place = {
      t: place.t, x, y, z, xx, xy, yy, r95: place.r95_m, velocity: place.velocity_m_s,
      motion: place.motion, floor: place.floor,
    };
    const last = tag.trail.at(-1);
    if (!last || place.t - last.t > 0.9 || Math.hypot(x - last.x, y - last.y) > trailStep) {
      tag.trail.push({ t: place.t, x, y });
    }
    const oldest = place.t - trailSeconds;
    let first = Math.max(0, tag.trail.length - trailPoints);
    while (first < tag.trail.length && tag.trail[first].t < oldest) first++;
    if (first > 0) tag.trail.splice(0, first);
  }

  addEvent(event) {
    this.changes++;
    const tag = event.tag && this.tags.get(event.tag);
    switch (event.event) {
      case "entered":
        if (tag && !tag.zones.includes(event.zone)) tag.zones = [...tag.zones, event.zone];
        break;
      case "left":
        if (tag) tag.zones = tag.zones.filter((zone) => zone !== event.zone);
        break;
      case "lost":
        if (tag) tag.state = "lost";
        break;
      case "found":
        if (tag) tag.state = "present";
        break;
      case "anchor_moved":
        this.anchorStates.set(event.anchor, "moved");
        break;
      case "anchor_doubtful":
        this.anchorStates.set(event.anchor, "doubtful");
        break;
      case "anchor_restored":
        this.anchorStates.set(event.anchor, "good");
        break;
    }
    this.events.unshift(event);
    if (this.events.length > mostEvents) this.events.length = mostEvents;
  }

  zoneName(id) {
    return this.site.zones.find((zone) => zone.id === id)?.label ?? id;
  }

  tagName(name) {
    return this.tags.get(name)?.label ?? name;
  }

  /** The number of tags in a zone. */
  count(zone) {
    let count = 0;
    for (const tag of this.tags.values()) if (tag.zones.includes(zone)) count++;
    return count;
  }

  isOnFloor(floor) {
    return this.floor === null || floor === undefined || floor === null || floor === this.floor;
  }
}

/** A word for the quality of a place. */
export function quality(tag, time) {
  if (tag.state === "lost") return { word: "lost", level: "bad" };
  if (tag.state === "silent" || !tag.place) return { word: "no place", level: "none" };
  if (tag.refused) return { word: tag.refused, level: "bad" };
  if (time - tag.place.t > 5) return { word: "old", level: "fair" };
  if (tag.place.r95 <= 0.5) return { word: "good", level: "good" };
  return tag.place.r95 <= 1.5 ? { word: "fair", level: "fair" } : { word: "rough", level: "bad" };
}

/** An event as a sentence. */
export function sentence(event, model) {
  const tag = event.tag && model.tagName(event.tag);
  const zone = event.zone && model.zoneName(event.zone);
  const door = model.site.doors.find((one) => one.id === event.door)?.label ?? event.door;
  switch (event.event) {
    case "entered": return `${tag} entered ${zone}`;
    case "left": return `${tag} left ${zone}`;
    case "lost": return `${tag} is lost`;
    case "found": return `${tag} is back`;
    case "floor": return `${tag} is on floor ${event.floor}`;
    case "inside": return `${tag} is inside of ${door}`;
    case "outside": return `${tag} is outside of ${door}`;
    case "unlocks": return `${door} may unlock for ${tag}`;
    case "anchor_moved": return `Anchor ${event.anchor} was moved`;
    case "anchor_doubtful": return `Anchor ${event.anchor} is doubtful`;
    case "anchor_restored": return `Anchor ${event.anchor} is good again`;
    case "source_connected": return `Source ${event.identity ?? event.source} is connected`;
    case "source_interrupted": return `Source: ${event.reason}`;
    case "source_ended": return `Source ${event.source} has ended`;
    case "unknown_address": return `Unknown board ${event.address}`;
    case "clock_set": return `The clock of ${event.source} was set`;
    case "site_changed": return "The site file has changed";
    case "bad_input": return `Bad input: ${event.reason}`;
    default: return event.event;
  }
}
