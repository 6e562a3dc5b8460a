/* What the page knows, shared by its views. */
import { get, post, person } from "./api.js";
import { toast, plural } from "./dom.js";

export const state = {
    status: null,
    filters: { sort: "uncertainty", stacks: "" },
    listeners: new Set(),
};

export function changed(what, data) {
    for (const listener of [...state.listeners]) listener(what, data);
}

let asked = null;

/* Many events in a moment cost one request. */
export function refreshStatus() {
    asked ??= new Promise((resolve) => setTimeout(resolve, 120)).then(async () => {
        asked = null;
        try {
            state.status = await get("status");
            changed("status");
        } catch (error) {
            changed("trouble", error.message);
        }
    });
    return asked;
}

export const classes = () => state.status?.classes || [];
/* The colour of a class: the normal one is calm, the others have colours that can be told apart. */
export function classColour(name) {
    const normal = state.status?.model?.normal;
    if (!name) return "var(--soft)";
    if (name === normal) return "var(--c0)";
    const others = classes().filter((other) => other !== normal);
    return `var(--c${1 + (Math.max(0, others.indexOf(name)) % 8)})`;
}
export const verdict = (photo) => (photo.review === "none" ? photo.label : photo.human);
export const reviewWords = { none: "not looked at", agreed: "agreed", corrected: "corrected" };

/* The photos have changed on the server; the answer comes when the change is on disk. */
export async function review(ids, how) {
    try {
        const done = await post("review", { photos: ids, who: person.name, ...how });
        return done;
    } catch (error) {
        toast(error.message);
        return null;
    }
}

export async function undo(action) {
    try {
        const done = await post("undo", { who: person.name, ...(action ? { action } : {}) });
        if (done.photos.length !== 1) toast(`Undone: ${plural(done.photos.length, "photo")}`);
        return done;
    } catch (error) {
        toast(error.message);
        return null;
    }
}
