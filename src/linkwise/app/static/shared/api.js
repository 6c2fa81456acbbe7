// Requests to the program, and its news. A command that could not be sent is sent again with the
// same id once the program is back, so that it counts once.

export class Refused extends Error {}

export async function get(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Refused(await sentence(response));
  return response.json();
}

export async function numbers(path, Type) {
  const response = await fetch(path);
  if (!response.ok) throw new Refused(await sentence(response));
  const version = Number(response.headers.get("X-Version"));
  return { values: new Type(await response.arrayBuffer()), version };
}

async function sentence(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).error;
  } catch {
    return text || `The program answered ${response.status}.`;
  }
}

export function newId() {
  return crypto.randomUUID ? crypto.randomUUID() : Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

export class Line {
  // onView(view), onDown(bool)
  constructor(onView, onDown) {
    this.onView = onView;
    this.onDown = onDown;
    this.down = false;
    this.pending = [];
    this.open();
  }

  open() {
    const source = new EventSource("/api/events");
    source.onmessage = (event) => {
      this.isDown(false);
      this.onView(JSON.parse(event.data));
      this.resend();
    };
    source.onopen = () => this.isDown(false);
    source.onerror = () => {
      this.isDown(true);
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.open(), 1000);
    };
  }

  isDown(down) {
    if (down !== this.down) {
      this.down = down;
      this.onDown(down);
    }
  }

  async post(path, body) {
    const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (!response.ok) throw new Refused(await sentence(response));
    const view = await response.json();
    this.onView(view);
    return view;
  }

  async command(path, body) {
    const sent = { client: newId(), ...body };
    try {
      return await this.post(path, sent);
    } catch (error) {
      if (error instanceof Refused) throw error;
      this.pending.push([path, sent]);
      this.isDown(true);
      return null;
    }
  }

  async resend() {
    while (this.pending.length) {
      const [path, sent] = this.pending[0];
      try {
        await this.post(path, sent);
      } catch (error) {
        if (!(error instanceof Refused)) return;
      }
      this.pending.shift();
    }
  }
}

export async function upload(file) {
  const path = `/api/import?name=${encodeURIComponent(file.name)}`;
  const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
  if (!response.ok) throw new Refused(await sentence(response));
  return response.json();
}
