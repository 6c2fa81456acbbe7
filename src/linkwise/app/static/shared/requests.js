// Requests to linkwise. A request fails in one of two ways: linkwise refuses it and says why, or
// linkwise cannot be reached.

export class Refused extends Error {}

export class Unreachable extends Error {
  constructor() {
    super("linkwise does not respond. Check that it is still running.");
  }
}

async function reached(promise) {
  try {
    return await promise;
  } catch {
    throw new Unreachable();
  }
}

function reasonOf(status, text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return text || `linkwise answered with status ${status}.`;
  }
}

async function request(path, read, options = {}) {
  const response = await reached(fetch(path, options));
  if (!response.ok) throw new Refused(reasonOf(response.status, await reached(response.text())));
  return reached(read(response));
}

function send(path, type, body) {
  const options = { method: "POST", headers: { "Content-Type": type }, body };
  return request(path, (response) => response.json(), options);
}

export function get(path) {
  return request(path, (response) => response.json());
}

// Return an array of numbers and its version.
export function numbers(path, Type) {
  return request(path, async (response) => ({
    values: new Type(await response.arrayBuffer()),
    version: Number(response.headers.get("X-Version")),
  }));
}

export function post(path, body) {
  return send(path, "application/json", JSON.stringify(body));
}

export function upload(file) {
  const path = `/api/import?name=${encodeURIComponent(file.name)}`;
  return send(path, "application/octet-stream", file);
}
