// SPDX-License-Identifier: Apache-2.0
// The connection to uwbsite: requests, and the stream of places with its reconnections.

/** Exchanges the token behind the sign # for a cookie. */
export async function openSession() {
  const token = location.hash.slice(1) || sessionStorage.getItem("token");
  if (!token) return;
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  sessionStorage.setItem("token", token);
  await fetch("session", { method: "POST", body: token }).catch(() => {});
}

/** Requests JSON; throws an error with the sentence of the server. */
export async function get(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(10000) });
  if (!response.ok) throw new RequestError(response.status, await response.text());
  return { value: await response.json(), version: response.headers.get("ETag") };
}

export async function put(path, body, version) {
  const headers = version ? { "If-Match": version } : {};
  const response = await fetch(path, { method: "PUT", body, headers });
  if (!response.ok) throw new RequestError(response.status, await response.text());
  return response;
}

export class RequestError extends Error {
  constructor(status, text) {
    super(text.trim());
    this.status = status;
  }
}

const service = "org.swift-uwb.Site";
const pause = 50;

/**
 * Follows the places and events of a run. After a lost connection it connects again, and continues
 * after the last event that it has.
 */
export class Stream {
  /** @param handlers list(state), update(changes), state("connected" | "lost" | "refused", text) */
  constructor(handlers) {
    this.handlers = handlers;
    this.position = null;
    this.wait = 500;
    this.connect();
    // A cable that is cut closes no connection: ask, where nothing has arrived for a while.
    setInterval(() => this.check(), 2000);
  }

  connect() {
    clearTimeout(this.timer);
    this.steps = ["GetInfo", "List", "Watch"];
    this.parts = [];
    this.heard = performance.now();
    // A proxy may serve the page below a path.
    const address = new URL("ws", location.origin + location.pathname);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.onopen = () => this.call("GetInfo");
    socket.onmessage = (message) => {
      if (socket === this.socket) this.receive(JSON.parse(message.data));
    };
    socket.onclose = () => {
      if (socket === this.socket) this.retry();
    };
  }

  /** Connects anew, and begins with the present state. */
  restart() {
    this.position = null;
    if (this.socket) {
      this.socket.onclose = this.socket.onmessage = null;
      this.socket.close();
    }
    this.connect();
  }

  retry() {
    this.socket = null;
    this.handlers.state("lost");
    this.timer = setTimeout(async () => {
      await openSession();
      this.connect();
    }, this.wait);
    this.wait = Math.min(2 * this.wait, 5000);
  }

  async check() {
    if (!this.socket || performance.now() - this.heard < 4000) return;
    const socket = this.socket;
    try {
      await fetch("info", { signal: AbortSignal.timeout(3000) });
      this.heard = performance.now();
    } catch {
      if (this.socket !== socket) return;
      socket.onclose = socket.onmessage = null;
      socket.close();
      this.retry();
    }
  }

  call(method) {
    const message = { method: `${service}.${method}` };
    if (method === "List") message.more = true;
    if (method === "Watch") {
      message.more = true;
      message.parameters = { ...this.position, every_ms: pause };
    }
    this.method = method;
    this.socket.send(JSON.stringify(message));
  }

  receive(message) {
    this.heard = performance.now();
    if (message.error) return this.socket.close();
    const parameters = message.parameters;
    switch (this.method) {
      case "GetInfo":
        this.info = parameters;
        return this.call("List");
      case "List":
        this.parts.push(parameters);
        if (message.continues) return;
        return this.start();
      case "Watch":
        if (!message.continues) return;
        this.position = { run: parameters.run, after: parameters.sequence };
        this.handlers.update(parameters);
    }
  }

  start() {
    const parts = this.parts.filter((part) => part.tags);
    const state = { ...parts[0], tags: parts.flatMap((part) => part.tags), info: this.info };
    // Events since the last position follow with Watch; another run begins anew.
    if (this.position?.run !== state.run) {
      this.position = { run: state.run, after: Math.max(0, state.sequence - 200) };
    }
    this.wait = 500;
    this.handlers.list(state);
    this.handlers.state("connected");
    this.call("Watch");
  }
}
