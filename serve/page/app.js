/* Begins, chooses the view, and hands keys and events on. */
import { begin, listen, sentence } from "./api.js";
import { count, dialog, h, plural, replace, toast } from "./dom.js";
import { acceptDrops, showUnreadable, startView, uploadState } from "./add.js";
import { doubtKey, doubtsView } from "./doubts.js";
import { exportsView } from "./exports.js";
import { applyReview, galleryKey, galleryView, reload, reviewCurrent, undoLast } from "./gallery.js";
import { learn, learningView } from "./learning.js";
import { mapView } from "./map.js";
import { changed, classes, refreshStatus, state } from "./state.js";
import { viewerIsOpen, viewerKey } from "./viewer.js";

const views = { photos: ["Photos", galleryView], map: ["Map", mapView], learning: ["Learning", learningView], doubts: ["Doubts", doubtsView], export: ["Export", exportsView] };
const main = document.getElementById("main");
const TROUBLE_SHOWN = 20000; /* ms */
let shown = null, online = true, anew = false; /* anew: with another token */

const isEmpty = () => state.status && !state.status.counts.judged && !state.status.counts.waiting && !state.status.counts.unreadable && state.status.work.task === null;

/* ---- views ---- */

function show() {
    const name = views[location.hash.slice(2)] ? location.hash.slice(2) : "photos";
    const start = name === "photos" && isEmpty();
    if (shown === `${name}${start}`) return;
    shown = `${name}${start}`;
    replace(main, start ? startView() : views[name][1]());
    for (const link of document.querySelectorAll("#views a"))
        if (link.hash === `#/${name}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    document.title = `${views[name][0]} – ${state.status?.title || "broad"}`;
}

function drawTop() {
    const status = state.status, sending = uploadState();
    if (!status) return;
    document.getElementById("title").textContent = status.title;
    const pending = document.querySelector("#views a[href='#/learning'] .tag");
    if (pending) pending.textContent = status.pending ? count(status.pending) : "";
    const { waiting, judged, unreadable } = status.counts, parts = [];
    if (sending.total) parts.push(`sending ${count(sending.done)} of ${count(sending.total)}`);
    if (waiting) parts.push(`${plural(waiting, "photo")} to judge`);
    if (status.work.task) parts.push({ learn: "learning …", train: "training …", demo: "drawing photos …", verify: "checking …", doubts: "looking for doubts …" }[status.work.task]);
    const bar = h("i", {});
    const part = sending.total ? sending.done / sending.total : waiting ? judged / (judged + waiting) : null;
    if (part !== null) bar.style.width = `${100 * part}%`;
    replace(document.getElementById("progress"), parts.length > 0 && h("span", {}, parts.join(", ")), part !== null && h("span", { className: "rail" }, bar),
        unreadable > 0 && h("button", { type: "button", className: "link", onclick: showUnreadable }, `${plural(unreadable, "photo")} cannot be read`));
}

/* Without a model: what to do, until there is one. */
function firstSteps() {
    const { model, counts, classes: names, work } = state.status || {};
    if (!counts?.judged || model || work.task) return null;
    const labelled = counts.agreed + counts.corrected, given = names.filter((name) => state.status.verdicts[name]);
    return names.length < 2 ? "There is no model yet. Make at least two classes with “+ class” below, and give them to about twenty photos by the keys 1 to 9."
        : labelled < 20 ? `There is no model yet. Give classes to about twenty photos by the keys 1 to 9: ${count(labelled)} so far. Then press L.`
            : given.length < 2 ? `All ${count(labelled)} photos with a class are ${given[0]}. Look for photos of another class; then press L.`
                : `${plural(labelled, "photo has", "photos have")} a class. Press L to make a first model of them.`;
}

let trouble = { text: "", until: 0 };

function drawBanners(message) {
    const unlike = state.status?.counts.unlike || 0, judged = state.status?.counts.judged || 0;
    const odd = unlike >= 5 && unlike > 0.1 * judged, steps = firstSteps();
    if (message) {
        trouble = { text: sentence(message), until: Date.now() + TROUBLE_SHOWN };
        setTimeout(drawBanners, TROUBLE_SHOWN + 100);
    }
    replace(document.getElementById("banners"),
        !online && h("p", { className: "banner bad", role: "alert" }, anew ? "The server was started again. Open the address that it has printed; nothing that was confirmed is lost."
            : "The server does not answer. Nothing that was confirmed is lost. This page goes on as soon as it is back."),
        state.status?.trouble && h("p", { className: "banner bad", role: "alert" }, sentence(state.status.trouble)),
        Date.now() < trouble.until && h("p", { className: "banner bad", role: "alert" }, trouble.text),
        steps && h("p", { className: "banner" }, steps),
        odd && h("p", { className: "banner" }, `${plural(unlike, "photo")} of ${count(judged)} are not like those that the model was trained on. `, h("a", { href: "#/doubts" }, "See which")));
}

/* ---- keys ---- */

function showKeys() {
    const rows = [["1 – 9", "give a class, and go on"], ["Space", "agree with the verdict, and go on"], ["← → ↑ ↓", "go to another photo"], ["X, Shift + arrows", "select photos; Ctrl + A: all of them"],
        ["Enter", "large view"], ["Esc", "close, or clear the selection"], ["H", "heat map, in the large view"], ["1 – 9, Space", "on the page Doubts: give another class, or say that the label is right"], ["0", "as if it had not been looked at"], ["U", "undo"], ["L", "learn now"], ["?", "these keys"]];
    dialog("Keys", h("dl", { className: "keylist" }, rows.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)))));
}

function onKey(event) {
    const target = event.target;
    if (target.closest("input, select, textarea") && target.type !== "radio" && target.type !== "checkbox") return;
    if (event.altKey || document.querySelector("dialog[open]:not(.viewer)")) return;
    const plain = !event.ctrlKey && !event.metaKey, key = event.key.toLowerCase();
    const photos = (location.hash.slice(2) || "photos") === "photos";
    let taken = true;
    if (plain && key === "?") showKeys();
    else if (plain && key === "u") undoLast();
    else if (plain && key === "l") learn();
    else if (!photos && !viewerIsOpen()) taken = plain && location.hash === "#/doubts" && doubtKey(event);
    else if (plain && /^[1-9]$/.test(key) && classes()[Number(key) - 1]) reviewCurrent({ label: classes()[Number(key) - 1] });
    else if (plain && /^[1-9]$/.test(key)) toast(`There is no class ${key} yet. “+ class” makes one.`);
    else if (plain && key === "0") reviewCurrent({ clear: true });
    else if (plain && key === " " && !target.closest("button, a, summary, label, .filters")) reviewCurrent({ agree: true });
    else if (viewerIsOpen()) taken = viewerKey(event);
    else taken = !target.closest("button, a, .filters, nav") || /^arrow|page|home|end/.test(key) ? !target.closest(".filters") && galleryKey(event) : false;
    if (taken) event.preventDefault();
}

/* ---- the beginning ---- */

const handlers = {
    added: () => refreshStatus(),
    judged: () => refreshStatus(),
    reviewed: (data) => { applyReview(data); refreshStatus(); changed("reviewed", data); },
    settings: () => refreshStatus(),
    model: async (data) => { await refreshStatus(); reload({ keep: true }); changed("model", data); },
    trouble: (data) => drawBanners(data.message),
    work: async (data) => {
        await refreshStatus();
        changed("work", data);
        if (!["learn", "train", "demo"].includes(data.task) || data.state === "begun") return;
        if (data.state === "failed") toast(sentence(data.message));
        else if (data.task === "train") toast(`A model was trained on ${plural(data.result.learned, "photo")}.`, { name: "See", run: () => { location.hash = "#/learning"; } });
        else if (data.task === "learn") toast(`Learned ${plural(data.result.learned, "photo")}; ${plural(data.result.changed, "verdict")} changed.`, { name: "See", run: () => { location.hash = "#/learning"; } });
    },
};

async function start() {
    const nav = document.getElementById("views");
    replace(nav, Object.entries(views).map(([name, [label]]) => h("a", { href: `#/${name}` }, label, name === "learning" && h("span", { className: "tag" }))));
    document.getElementById("help").addEventListener("click", showKeys);
    document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); (document.querySelector(".sheet") || main).focus(); });
    document.addEventListener("keydown", onKey);
    addEventListener("hashchange", () => {
        for (const open of document.querySelectorAll("dialog[open]")) open.close(); /* "back" leaves the large view as well */
        show();
    });
    acceptDrops(document.body);
    state.listeners.add((what) => {
        if (what === "status" || what === "sending") drawTop();
        if (what === "status") { show(); drawBanners(); }
    });
    try {
        await begin();
        await refreshStatus();
    } catch (error) {
        replace(main, h("p", { className: "alone" }, error.code === 401 ? "This page needs the address that 'broad serve' has printed: open that one." : error.message));
        return;
    }
    let first = true;
    listen(handlers, async (now) => {
        if (now && !first && !online) {
            await begin().catch(() => {});
            refreshStatus();
        }
        first = false;
        online = now;
        if (!now) anew = (await begin().catch((error) => error))?.code === 401;
        drawBanners();
    });
}

start();
