// The connection to linkwise: views come in as server-sent events, commands go out. A command that
// could not be sent waits in the queue and is sent again, with the same id, once linkwise is back,
// so that it counts once.
import { say } from "./notices.js";
import { queue } from "./queue.js";
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
  #timer = 0; // of the next attempt to send what waits

  // Call onView(view) for each view, and onDown(down) when the connection breaks or returns.
  open({ onView, onDown }) {
    this.onView = onView;
    this.onDown = onDown;
    queue.changed.on(() => this.#resendSoon());
    this.listen();
  }

  // A message of the stream: whether it is down, and a view as JSON or null.
  hear({ down, data }) {
    this.setDown(down);
    if (data) this.take(JSON.parse(data));
  }

  take(view) {
    this.onView(view);
    queue.open(view.key);
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
      this.take(await get("/api/state"));
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
    this.setDown(false);
    this.onView(view);
    return view;
  }

  // Send a command that must not get lost; null: it waits until linkwise is back. The text says
  // what it does.
  async command(path, body, text) {
    const sent = { client: newId(), ...body };
    const first = queue.waiting.length === 0; // commands go in the order of the person
    try {
      if (first) return await this.post(path, sent);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.setDown(true);
    }
    queue.add(path, sent, text);
    if (!first) this.resend();
    return null;
  }

  #resendSoon() {
    clearTimeout(this.#timer);
    if (queue.waiting.length) this.#timer = setTimeout(() => this.resend(), RETRY);
  }

  // Send what waits; only one tab does.
  async resend() {
    if (this.resending || queue.waiting.length === 0) return;
    this.resending = true;
    if (navigator.locks) await navigator.locks.request("linkwise queue", () => this.#sendAll());
    else await this.#sendAll();
    this.resending = false;
    this.#resendSoon();
  }

  async #sendAll() {
    while (queue.waiting.length && (await this.#delivered(queue.waiting[0])));
  }

  // Whether a command has reached linkwise; one that linkwise refuses has.
  async #delivered(entry) {
    try {
      await this.post(entry.path, entry.body);
    } catch (error) {
      if (error instanceof Unreachable) return false;
      queue.mark(entry, error.message);
      return true;
    }
    queue.remove(entry);
    say(`Sent: ${entry.text}`);
    return true;
  }
}

export const connection = new Connection(); // a page has one
