/* Requests to the server, and what it tells by itself. */

let pageToken = "", begun = null; /* begun: the request for the token */

export class Refused extends Error {
    constructor(code, message) {
        super(message);
        this.code = code;
    }
}

/* Messages begin small, as in a terminal; names of files stay as they are. */
export const sentence = (text) => text?.replace(/^[a-z]+(?=[ ,:])/, (word) => word[0].toUpperCase() + word.slice(1));

async function ask(method, path, body, type) {
    const headers = {};
    if (method === "POST") {
        await begun?.catch(() => {}); /* what is dropped while the page opens waits for the token */
        headers["X-Broad-Token"] = pageToken;
    }
    if (type) headers["Content-Type"] = type;
    let answer;
    try {
        answer = await fetch(`/api/v1/${path}`, { method, headers, body, credentials: "same-origin" });
    } catch {
        throw new Refused(0, "The server does not answer. Is 'broad serve' still running?");
    }
    const text = await answer.text();
    let said = {};
    try {
        said = text ? JSON.parse(text) : {};
    } catch { /* the code tells enough */ }
    if (!answer.ok) throw new Refused(answer.status, sentence(said.error?.message) || `The server answers ${answer.status}.`);
    return said;
}

export const get = (path) => ask("GET", path);
export const post = (path, body = {}) => ask("POST", path, JSON.stringify(body), "application/json");
export const send = (file, name) =>
    ask("POST", `photos?name=${encodeURIComponent(name)}`, file, "application/octet-stream");

/* What the server says of itself: its version, a server of map tiles or null. */
export const session = { tiles: null };

async function openSession() {
    const { page_token: token, ...others } = await get("session");
    pageToken = token;
    Object.assign(session, others);
}

export function begin() {
    begun = openSession();
    return begun;
}

/* who: the name of the person at this page, for the record. */
export const person = {
    get name() { return localStorage.getItem("broad-who") || "inspector"; },
    set name(value) { localStorage.setItem("broad-who", value); },
};

export function listen(handlers, onState) {
    const source = new EventSource("/api/v1/events");
    for (const [name, handler] of Object.entries(handlers))
        source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
    source.addEventListener("open", () => onState(true));
    source.addEventListener("error", () => onState(false));
    return source;
}
