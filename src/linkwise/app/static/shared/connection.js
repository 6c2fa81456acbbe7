// The connection to linkwise: views come in as server-sent events, commands go out. A command that
// could not be sent is sent again, with the same id, once linkwise is back, so that it counts once.
import { say } from "./notices.js";
import { get, post, Unreachable } from "./requests.js";

const RETRY = 1000; // milliseconds, as the server asks an open stream to wait

function newId() {
  if (crypto.randomUUID) return crypto.randomUUID(); // only on secure origins
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

class Connection {
  down = false;
  resending = false;
  pending = []; // [path, body] of commands that wait for linkwise to come back

  // Call onView(view) for each view, and onDown(down) when the connection breaks or returns.
  open({ onView, onDown }) {
    this.onView = onView;
    this.onDown = onDown;
    this.listen();
  }

  // A message of the stream: whether it is down, and a view as JSON or null.
  hear({ down, data }) {
    this.setDown(down);
    if (!data) return;
    this.onView(JSON.parse(data));
    this.resend();
  }

  // A browser opens at most six connections to a server, and a stream takes one. So one tab has the
  // stream and passes views on; when it closes, another tab takes over. Without locks, which
  // browsers offer on this machine and with https only, every tab has a stream of its own.
  listen() {
    if (!navigator.locks) {
      this.stream((message) => this.hear(message));
      return;
    }
    const channel = new BroadcastChannel("linkwise");
    channel.onmessage = ({ data }) => this.hear(data);
    const lead = () => {
      this.stream((message) => {
        channel.postMessage(message);
        this.hear(message);
      });
      return new Promise(() => {}); // holds the lock as long as the tab is open
    };
    navigator.locks.request("linkwise stream", lead);
    this.look();
  }

  // Get the first view; the tab with the stream has had it already.
  async look() {
    try {
      this.onView(await get("/api/state"));
    } catch (error) {
      if (error instanceof Unreachable) this.setDown(true);
    }
  }

  stream(tell) {
    const source = new EventSource("/api/events");
    source.onmessage = (event) => tell({ down: false, data: event.data });
    source.onopen = () => tell({ down: false, data: null });
    source.onerror = () => {
      tell({ down: true, data: null });
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.stream(tell), RETRY);
    };
  }

  setDown(down) {
    if (down === this.down) return;
    this.down = down;
    this.onDown(down);
  }

  // Send a request once, and show the view that comes back.
  async post(path, body) {
    const view = await post(path, body);
    this.onView(view);
    return view;
  }

  // Send a command that must not get lost; null: it waits until linkwise is back.
  async command(path, body) {
    const sent = { client: newId(), ...body };
    try {
      return await this.post(path, sent);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.pending.push([path, sent]);
      this.setDown(true);
      return null;
    }
  }

  async resend() {
    if (this.resending) return;
    this.resending = true;
    while (this.pending.length && (await this.delivered(...this.pending[0]))) this.pending.shift();
    this.resending = false;
  }

  // Whether a command has reached linkwise; one that linkwise refuses has, and the page says why.
  async delivered(path, body) {
    try {
      await this.post(path, body);
    } catch (error) {
      if (error instanceof Unreachable) return false;
      say(error.message, { error: true });
    }
    return true;
  }
}

export const connection = new Connection(); // a page has one
