// SPDX-License-Identifier: Apache-2.0
// Lengths and times as texts, in metres or feet.

const feet = 1 / 0.3048;

export const units = {
  isFeet: localStorage.getItem("units") === "ft",

  toggle() {
    this.isFeet = !this.isFeet;
    localStorage.setItem("units", this.isFeet ? "ft" : "m");
  },

  get name() {
    return this.isFeet ? "ft" : "m";
  },

  /** Metres in the unit that is shown. */
  value(metres) {
    return this.isFeet ? metres * feet : metres;
  },

  metres(value) {
    return this.isFeet ? value / feet : value;
  },

  /** A length with its unit; a short one in centimetres or inches. */
  length(metres, decimals = 2) {
    if (metres === null || metres === undefined || !Number.isFinite(metres)) return "–";
    return `${this.value(metres).toFixed(decimals)} ${this.name}`;
  },

  /** A deviation or a radius, with two digits that count. */
  radius(metres) {
    if (metres === null || metres === undefined || !Number.isFinite(metres)) return "–";
    if (this.isFeet) {
      return metres * feet < 1 ? `${(metres * feet * 12).toFixed(0)} in` : this.length(metres, 1);
    }
    return metres < 1 ? `${(metres * 100).toFixed(0)} cm` : this.length(metres, 1);
  },

  /** A difference, with its sign unless it is shown as zero. */
  signedRadius(metres) {
    const text = this.radius(Math.abs(metres));
    return /[1-9]/.test(text) ? `${metres >= 0 ? "+" : "−"}${text}` : text;
  },

  speed(metres) {
    return `${this.value(metres).toFixed(1)} ${this.name}/s`;
  },
};

/** Seconds as words, such as "12 s" or "3 min". */
export function age(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 1.5) return "now";
  if (seconds < 90) return `${seconds.toFixed(0)} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(0)} min`;
  if (seconds < 129600) return `${(seconds / 3600).toFixed(0)} h`;
  return `${(seconds / 86400).toFixed(0)} d`;
}

/** A time of the run: the clock of a live run, also with its day, or the seconds of a recording. */
export function clock(seconds, epoch) {
  if (!Number.isFinite(seconds)) return "–";
  if (epoch === null || epoch === undefined) {
    if (Math.abs(seconds) > 1e9) epoch = 0;
    else {
      const whole = Math.max(0, seconds);
      const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, Math.floor(whole % 60)];
      return parts.map((part) => String(part).padStart(2, "0")).join(":");
    }
  }
  const date = new Date((seconds + epoch) * 1000);
  const time = date.toLocaleTimeString([], { hour12: false });
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${date.toLocaleDateString()} ${time}`;
}
