/*
 * The photos as a grid. Only what can be seen is in the document: cards are placed by their number, and lists are fetched piece
 * by piece, so that twenty thousand photos scroll as well as twenty. The list stays as it is while a person works on it; only
 * other filters, or another model, make a new one.
 */
import { get, post } from "./api.js";
import { count, dialog, h, percent, plural, replace, toast } from "./dom.js";
import { state, changed, classes, classColour, verdict, reviewWords, review, undo } from "./state.js";
import { filterPanel, query } from "./filters.js";
import { openViewer } from "./viewer.js";
import { addButtons } from "./add.js";

const PIECE = 200;
const AHEAD = 3; /* rows above and below that are ready */

const grid = {
    total: 0, items: [], wanted: new Set(), cards: new Map(), number: 0,
    current: 0, anchor: null, selected: new Set(), columns: 1, size: 200, stale: false,
};
let box, sheet, bar, tools, view;

export const photoAt = (index) => grid.items[index];
export const currentIndex = () => grid.current;
export const total = () => grid.total;

/* ---- the list ---- */

async function fetchPiece(piece) {
    const own = grid.number;
    if (grid.wanted.has(piece)) return;
    grid.wanted.add(piece);
    try {
        const said = await get(`photos?${query()}&offset=${piece * PIECE}&limit=${PIECE}`);
        if (own !== grid.number) return;
        grid.total = said.total;
        said.photos.forEach((photo, i) => { grid.items[piece * PIECE + i] = photo; });
        paint();
    } catch (error) {
        grid.wanted.delete(piece);
        toast(error.message);
    }
}

export async function needPhoto(index) {
    if (!grid.items[index]) await fetchPiece(Math.floor(index / PIECE));
    return grid.items[index];
}

export async function reload({ keep = false } = {}) {
    const photo = keep ? grid.items[grid.current]?.id : null;
    grid.number += 1;
    grid.items = [];
    grid.wanted = new Set();
    grid.selected = new Set();
    grid.stale = false;
    grid.judged = state.status?.counts.judged;
    dropCards();
    if (!keep) grid.current = 0;
    await fetchPiece(0);
    if (photo) {
        const at = grid.items.findIndex((item) => item?.id === photo);
        grid.current = at >= 0 ? at : 0;
    }
    grid.current = Math.min(grid.current, Math.max(0, grid.total - 1));
    if (!keep && box) box.scrollTop = 0;
    paint();
}

/* Reviews of any person, where the photo is in the list. */
export function applyReview(done) {
    const by = new Map(done.photos.map((photo) => [photo.id, photo]));
    grid.items.forEach((photo) => {
        const now = photo && by.get(photo.id);
        if (now) Object.assign(photo, { review: now.review, human: now.human });
    });
    for (const [index, card] of grid.cards) if (by.has(grid.items[index]?.id)) dress(card, index);
    changed("photo");
    paintBar();
}

/* ---- cards ---- */

/* A card is made once and used again for other photos; only what differs is written. */
const spare = [];
const partsOf = new WeakMap();
const badges = { none: "", agreed: "✓", corrected: "✎" };

function describe(photo) {
    const said = verdict(photo);
    return [photo.name, said ? `${said}${photo.review === "none" && photo.certainty !== null ? ` ${percent(photo.certainty)}` : ""}` : "no verdict yet",
        reviewWords[photo.review], photo.unlike ? "not like the training photos" : "",
        photo.stacked > 1 ? `${photo.stacked} near-duplicates` : ""].filter(Boolean).join(", ");
}

function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

function makeCard() {
    const hidden = (className) => h("span", { className, "aria-hidden": "true", hidden: true });
    const parts = { words: h("span", { className: "words" }), stacked: hidden("stacked"), odd: hidden("odd"), badge: hidden("badge"),
        said: hidden("said"), dot: h("i", { className: "dot" }), name: h("b", {}), sure: h("span", { className: "sure" }), picture: null };
    parts.odd.textContent = "unlike";
    parts.odd.title = "not like the training photos";
    parts.said.append(parts.dot, parts.name, parts.sure);
    const card = h("div", { role: "option" }, parts.words, parts.stacked, parts.odd, parts.badge, parts.said);
    partsOf.set(card, parts);
    return card;
}

/* Another photo gets another element, so that the one before is never shown for it. */
function showPicture(card, parts, photo) {
    const source = photo ? `/api/v1/photos/${photo.id}/thumbnail` : "";
    if (parts.source === source) return;
    parts.source = source;
    parts.picture?.remove();
    parts.picture = photo ? h("img", { src: source, alt: "", decoding: "async", draggable: false }) : null;
    if (photo) parts.words.after(parts.picture);
}

function dress(card, index) {
    const photo = grid.items[index], parts = partsOf.get(card), said = photo && verdict(photo);
    const selected = grid.selected.has(index);
    card.id = `photo-${index}`;
    card.setAttribute("aria-posinset", index + 1);
    card.setAttribute("aria-setsize", grid.total);
    card.setAttribute("aria-selected", selected ? "true" : "false");
    card.className = `card${photo ? "" : " empty"}${index === grid.current ? " current" : ""}${selected ? " selected" : ""}${photo ? ` ${photo.review}` : ""}`;
    showPicture(card, parts, photo);
    write(parts.words, photo ? describe(photo) : "loading");
    parts.stacked.hidden = !(photo?.stacked > 1);
    parts.odd.hidden = !photo?.unlike;
    parts.badge.hidden = !photo || photo.review === "none";
    parts.said.hidden = !photo;
    if (!photo) return;
    write(parts.stacked, `${photo.stacked}×`);
    parts.badge.className = `badge ${photo.review}`;
    write(parts.badge, badges[photo.review]);
    write(parts.name, said || "no verdict");
    write(parts.sure, photo.review === "none" ? percent(photo.certainty) : photo.review);
    const colour = classColour(said);
    if (parts.colour !== colour) parts.dot.style.background = parts.colour = colour;
}

function place(card, index) {
    const parts = partsOf.get(card), row = Math.floor(index / grid.columns), column = index % grid.columns;
    if (parts.size !== grid.size) {
        parts.size = grid.size;
        card.style.width = `${grid.size}px`;
        card.style.height = `${grid.height}px`;
    }
    card.style.transform = `translate(${column * (grid.size + grid.gap)}px, ${row * (grid.height + grid.gap)}px)`;
}

function takeCard(index) {
    const card = spare.pop() || makeCard();
    place(card, index);
    dress(card, index);
    grid.cards.set(index, card);
    sheet.append(card);
}

function giveBack(index) {
    const card = grid.cards.get(index);
    grid.cards.delete(index);
    card.remove();
    spare.push(card);
}

const dropCards = () => [...grid.cards.keys()].forEach(giveBack);

/* Which card an event is about. */
function indexOf(event) {
    const card = event.target.closest(".card");
    return card?.id ? Number(card.id.slice(6)) : -1;
}

let unmeasured = true;

/* Only when the size of the window has changed: to ask for sizes makes the browser lay out the page. */
function measure() {
    if (!unmeasured) return;
    unmeasured = false;
    const width = sheet.clientWidth;
    grid.gap = width < 500 ? 8 : 12;
    const wanted = width < 500 ? 150 : 190;
    const columns = Math.max(2, Math.floor((width + grid.gap) / (wanted + grid.gap)));
    const size = Math.floor((width + grid.gap) / columns - grid.gap);
    grid.above = sheet.offsetTop;
    grid.seen = box.clientHeight;
    if (columns !== grid.columns || size !== grid.size) {
        grid.columns = columns;
        grid.size = size;
        dropCards();
    }
    grid.height = Math.round(grid.size * 0.75);
}

let painting = false;

function paint() {
    if (painting || !box?.isConnected) return;
    painting = true;
    requestAnimationFrame(() => {
        painting = false;
        if (box?.isConnected) paintNow();
    });
}

function paintNow() {
    measure();
    const step = grid.height + grid.gap, rows = Math.ceil(grid.total / grid.columns), height = `${Math.max(0, rows * step - grid.gap)}px`;
    if (sheet.style.height !== height) sheet.style.height = height;
    const first = Math.max(0, Math.floor((box.scrollTop - grid.above) / step) - AHEAD) * grid.columns;
    const last = Math.min(grid.total, (Math.ceil((box.scrollTop + grid.seen) / step) + AHEAD) * grid.columns);
    for (const index of [...grid.cards.keys()]) if (index < first || index >= last) giveBack(index);
    for (let index = first; index < last; index++) {
        const card = grid.cards.get(index);
        if (!card) takeCard(index);
        else if (grid.items[index] && card.classList.contains("empty")) dress(card, index);
        if (!grid.items[index]) fetchPiece(Math.floor(index / PIECE));
    }
    nameCurrent();
    paintBar();
}

function nameCurrent() {
    const name = grid.cards.has(grid.current) ? `photo-${grid.current}` : "";
    if (sheet && sheet.getAttribute("aria-activedescendant") !== name) sheet.setAttribute("aria-activedescendant", name);
}

function redress(...indices) {
    for (const index of indices) if (grid.cards.has(index)) dress(grid.cards.get(index), index);
    nameCurrent();
}

/* ---- moving and choosing ---- */

export function moveTo(index, { select = false } = {}) {
    if (!grid.total) return;
    const before = grid.current;
    grid.current = Math.max(0, Math.min(grid.total - 1, index));
    if (select) {
        grid.anchor ??= before;
        selectRange(grid.anchor, grid.current);
    } else grid.anchor = null;
    if (box?.isConnected) {
        const step = grid.height + grid.gap, top = Math.floor(grid.current / grid.columns) * step;
        if (top < box.scrollTop) box.scrollTop = top;
        else if (top + step > box.scrollTop + box.clientHeight) box.scrollTop = top + step - box.clientHeight + grid.gap;
    }
    redress(before, grid.current);
    paint();
    changed("photo");
}

function selectRange(from, to) {
    const before = [...grid.selected];
    grid.selected = new Set();
    for (let i = Math.min(from, to); i <= Math.max(from, to); i++) grid.selected.add(i);
    redress(...before, ...grid.selected);
    paintBar();
}

export function toggle(index) {
    if (grid.selected.has(index)) grid.selected.delete(index);
    else grid.selected.add(index);
    redress(index);
    paintBar();
}

export function clearSelection() {
    const before = [...grid.selected];
    grid.selected = new Set();
    grid.anchor = null;
    redress(...before);
    paintBar();
}

export async function selectAll() {
    for (let piece = 0; piece * PIECE < grid.total; piece++) await fetchPiece(piece);
    selectRange(0, grid.total - 1);
}

function choose(index, event) {
    sheet.focus({ preventScroll: true });
    if (event.shiftKey) moveTo(index, { select: true });
    else if (event.ctrlKey || event.metaKey || grid.choosing) {
        toggle(index);
        moveTo(index);
    } else if (grid.current === index && event.detail === 1 && matchMedia("(pointer: coarse)").matches) open(index);
    else moveTo(index);
}

const open = (index) => openViewer(index);
export const openCurrent = () => grid.total && open(grid.current);

/* ---- reviewing ---- */

/* The photos at these places, as they were when the key was pressed, however the list has changed since; with a photo that
 * stands for a stack, the whole stack. */
async function photosAt(indices, known, number) {
    const found = [];
    for (const [i, index] of indices.entries()) {
        if (!known[i] && number !== grid.number) throw new Error("The list has changed meanwhile. Press the key again.");
        const photo = known[i] || await needPhoto(index);
        if (photo?.stacked > 1) found.push(...(await get(`photos?stack=${photo.stack}&limit=1000`)).photos);
        else if (photo) found.push(photo);
    }
    return found;
}

/* Actions go to the server one after the other, in the order of the keys. */
let line = Promise.resolve();
const inLine = (what) => { line = line.then(what, what); return line; };

/* For the photos selected, else the current one. The next photo comes at once, however fast the keys are; the mark on this one
 * comes when the server has it on disk. */
export function reviewCurrent(how) {
    if (!grid.total) return undefined;
    const many = grid.selected.size > 0, indices = many ? [...grid.selected] : [grid.current], known = indices.map((index) => grid.items[index]), own = grid.number;
    if (many) clearSelection();
    else moveTo(grid.current + 1);
    return inLine(async () => {
        const found = await photosAt(indices, known, own).catch((error) => { toast(error.message); return []; });
        /* To agree with many does not take back what was corrected before. */
        const ids = found.filter((photo) => !(how.agree && found.length > 1 && photo.review !== "none")).map((photo) => photo.id);
        const done = ids.length ? await review(ids, how) : null;
        if (!done) return;
        if (!done.photos.length) return void toast("There is no verdict to agree with. Give a class by a key.");
        applyReview(done);
        if (ids.length > 1)
            toast(`${plural(done.photos.length, "photo")}: ${how.label || (how.clear ? "not looked at" : "agreed")}`,
                { name: "Undo", run: () => undoLast(done.action) });
    });
}

export function undoLast(action) {
    const from = grid.current;
    return inLine(async () => {
        const done = await undo(action);
        if (!done) return;
        applyReview(done);
        const at = grid.items.findIndex((photo) => photo && photo.id === done.photos[0]?.id);
        if (at >= 0 && grid.current === from) moveTo(at); /* unless there was another key meanwhile */
    });
}

/* ---- around the grid ---- */

function classButtons() {
    return classes().slice(0, 9).map((name, i) => {
        const dot = h("i", { className: "dot" });
        dot.style.background = classColour(name);
        return h("button", { type: "button", className: "class", title: `Key ${i + 1}`, onclick: () => reviewCurrent({ label: name }) },
            h("kbd", { "aria-hidden": "true" }, i + 1), dot, name);
    });
}

function addClass() {
    const input = h("input", { type: "text", maxLength: 79, required: true, autofocus: true });
    const box = dialog("New class", h("form", { onsubmit: async (event) => {
        event.preventDefault();
        try {
            await post("classes", { name: input.value.trim() });
            box.close();
        } catch (error) {
            toast(error.message);
        }
    } }, h("label", { className: "field" }, "Name", input), h("button", { type: "submit", className: "primary" }, "Add")));
}

/* Buttons stay as they are, with the focus, while what they say stays the same. */
function paintBar() {
    if (!bar) return;
    const many = grid.selected.size, needs = JSON.stringify([classes(), state.status?.model?.normal, many > 0]);
    if (bar.dataset.needs !== needs) {
        bar.dataset.needs = needs;
        replace(bar, tools.about,
            h("div", { className: "keys", role: "group", "aria-label": "Give a class" }, classButtons(),
                h("button", { type: "button", className: "class", onclick: addClass }, "+ class")),
            h("button", { type: "button", className: "agree", disabled: !state.status?.model, onclick: () => reviewCurrent({ agree: true }) },
                h("kbd", { "aria-hidden": "true" }, "Space"), "Agree"),
            h("button", { type: "button", className: "quiet", onclick: () => undoLast() }, h("kbd", { "aria-hidden": "true" }, "U"), "Undo"),
            many > 0 && h("button", { type: "button", className: "quiet", onclick: clearSelection }, "Clear selection"));
    }
    write(tools.about, many ? `${plural(many, "photo")} selected` : grid.total ? `Photo ${count(grid.current + 1)} of ${count(grid.total)}` : "");
    tools.notice.hidden = !grid.stale;
    write(tools.count, plural(grid.total, state.filters.stacks ? "stack" : "photo"));
    const { judged = 0, waiting = 0 } = state.status?.counts || {};
    write(tools.nothing, judged ? "No photo fits these filters." : waiting ? "The first photos are being read …" : "No photo could be read so far. Add others; at the top it says why.");
    view.classList.toggle("nothing", grid.total === 0);
}

export function galleryView() {
    sheet = h("div", { className: "sheet", role: "listbox", "aria-multiselectable": "true", "aria-label": "Photos", tabIndex: 0,
        onclick: (event) => { if (indexOf(event) >= 0) choose(indexOf(event), event); },
        ondblclick: (event) => { if (indexOf(event) >= 0) open(indexOf(event)); } });
    dropCards();
    tools = { about: h("span", { className: "about" }), count: h("b", {}), nothing: h("p", { className: "no-photos" }),
        notice: h("button", { type: "button", className: "pill", hidden: true, onclick: () => reload() }, "New photos have come. Show them") };
    box = h("div", { className: "scroll", onscroll: paint }, sheet,
        tools.nothing);
    bar = h("div", { className: "bar", role: "toolbar", "aria-label": "Review" });
    const filters = filterPanel(() => reload());
    const head = h("div", { className: "tools" },
        h("button", { type: "button", className: "quiet narrow", "aria-expanded": "false", onclick: (event) => {
            const shown = view.classList.toggle("filtering");
            event.currentTarget.setAttribute("aria-expanded", shown);
        } }, "Filters"),
        tools.count, tools.notice,
        h("span", { className: "space" }),
        h("button", { type: "button", className: "quiet narrow", onclick: (event) => {
            grid.choosing = !grid.choosing;
            event.currentTarget.classList.toggle("on", grid.choosing);
        } }, "Select"),
        h("button", { type: "button", className: "quiet wide-only", onclick: selectAll }, "Select all"),
        addButtons());
    view = h("div", { className: "gallery" }, filters, h("section", { className: "photos", "aria-label": "Photos" }, head, box, bar));
    new ResizeObserver(() => { unmeasured = true; paint(); }).observe(box);
    reload({ keep: true }).then(() => { if (document.activeElement === document.body) sheet.focus({ preventScroll: true }); });
    return view;
}

/* New photos join the list by themselves until a person works on it; then a button says that they are there. */
state.listeners.add((what) => {
    if (what !== "status" || !box?.isConnected) return;
    const untouched = grid.current === 0 && !grid.selected.size && box.scrollTop === 0;
    grid.stale = state.status.counts.judged !== grid.judged;
    if (grid.stale && untouched) reload();
    else paintBar();
});

/* Keys of the grid; true: it was one. */
export function galleryKey(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid.columns, ArrowUp: -grid.columns, PageDown: 4 * grid.columns, PageUp: -4 * grid.columns }[event.key];
    if (by) moveTo(grid.current + by, { select: event.shiftKey });
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(grid.total - 1);
    else if (event.key === "Enter") openCurrent();
    else if (event.key === "Escape") clearSelection();
    else if (event.key.toLowerCase() === "x" && !event.ctrlKey && !event.metaKey) toggle(grid.current);
    else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey)) selectAll();
    else return false;
    return true;
}
