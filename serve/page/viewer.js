/* One photo, as large as the screen, with what is known of it. */
import { get } from "./api.js";
import { h, replace, percent, when, count } from "./dom.js";
import { state, classes, classColour, verdict, reviewWords } from "./state.js";
import { currentIndex, moveTo, needPhoto, reviewCurrent, total, undoLast } from "./gallery.js";

let box = null, heat = false, own = 0;

export const viewerIsOpen = () => box !== null;

function bars(photo) {
    return h("dl", { className: "bars" }, Object.entries(photo.probabilities || {}).sort((a, b) => b[1] - a[1]).map(([name, part]) => {
        const bar = h("i", {});
        bar.style.width = `${100 * part}%`;
        bar.style.background = classColour(name);
        return h("div", {}, h("dt", {}, name), h("dd", {}, h("span", { className: "rail" }, bar), percent(part)));
    }));
}

function facts(photo) {
    const list = [["Folder", photo.folder], ["Taken", when(photo.time)], ["Size", `${photo.width} × ${photo.height} pixels`],
        ["Place", photo.latitude !== null ? `${photo.latitude.toFixed(5)}, ${photo.longitude.toFixed(5)}` : ""],
        ["Quality", (photo.faults || []).join(", ")], ["Reviewed by", photo.review !== "none" ? photo.who : ""]];
    return h("dl", { className: "facts" }, list.filter(([, text]) => text).map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text))));
}

function picture(photo) {
    const address = heat && state.status?.model
        ? `/api/v1/photos/${photo.id}/heatmap?side=1280&v=${photo.version}` : `/api/v1/photos/${photo.id}/image?side=1600`;
    return h("img", { src: address, alt: `${photo.name}${heat ? ", with a heat map" : ""}` });
}

function side(photo, full) {
    const said = verdict(photo), dot = h("i", { className: "dot" });
    dot.style.background = classColour(said);
    return h("div", { className: "side" },
        h("p", { className: "where" }, `Photo ${count(currentIndex() + 1)} of ${count(total())}`),
        h("h2", {}, photo.name),
        h("p", { className: "verdict" }, dot, h("b", {}, said || "no verdict yet"),
            photo.certainty !== null && photo.review === "none" && h("span", { className: "part" }, percent(photo.certainty)),
            h("span", { className: `state ${photo.review}` }, reviewWords[photo.review])),
        photo.review === "corrected" && photo.label && h("p", { className: "soft" }, `The model says ${photo.label}.`),
        photo.unlike && h("p", { className: "warn" }, "This photo is not like those the model was trained on: do not rely on its verdict."),
        h("div", { className: "choose" },
            classes().slice(0, 9).map((name, i) => h("button", { type: "button", className: "class", onclick: () => reviewCurrent({ label: name }) },
                h("kbd", { "aria-hidden": "true" }, i + 1), name)),
            h("button", { type: "button", className: "agree", disabled: !photo.label, onclick: () => reviewCurrent({ agree: true }) }, h("kbd", { "aria-hidden": "true" }, "Space"), "Agree"),
            h("button", { type: "button", className: "quiet", onclick: () => undoLast() }, h("kbd", { "aria-hidden": "true" }, "U"), "Undo"),
            h("button", { type: "button", className: `quiet${heat ? " on" : ""}`, "aria-pressed": heat, disabled: !state.status?.model, onclick: toggleHeat },
                h("kbd", { "aria-hidden": "true" }, "H"), "Heat map")),
        heat && h("p", { className: "soft" }, "Warm: evidence that something is wrong. Blue: evidence against it."),
        full && bars(full), facts(full || photo));
}

async function draw() {
    if (!box) return;
    const mine = ++own;
    const photo = await needPhoto(currentIndex());
    if (!photo || mine !== own || !box) return;
    const stage = box.querySelector(".stage"), panel = box.querySelector(".panel");
    if (stage.dataset.shown !== `${photo.id}${heat}${photo.version}`) {
        stage.dataset.shown = `${photo.id}${heat}${photo.version}`;
        replace(stage, picture(photo));
    }
    replace(panel, side(photo, null));
    const full = await get(`photos/${photo.id}`).catch(() => null);
    if (full && mine === own && box) replace(panel, side(photo, full));
}

export function toggleHeat() {
    heat = !heat;
    draw();
}

function close() {
    box?.close();
}

export async function openViewer(index) {
    moveTo(index);
    if (box) return draw();
    const before = document.activeElement;
    box = h("dialog", { className: "viewer", "aria-label": "Photo" },
        h("div", { className: "stage", tabIndex: -1, autofocus: true }), h("div", { className: "panel", "aria-live": "polite" }),
        h("button", { type: "button", className: "turn left", "aria-label": "Previous photo", onclick: () => moveTo(currentIndex() - 1) }, "‹"),
        h("button", { type: "button", className: "turn right", "aria-label": "Next photo", onclick: () => moveTo(currentIndex() + 1) }, "›"),
        h("button", { type: "button", className: "close", "aria-label": "Close", onclick: close }, "✕"));
    box.addEventListener("close", () => { box.remove(); box = null; before?.focus?.(); });
    let touched = null;
    box.addEventListener("touchstart", (event) => { touched = event.touches[0].clientX; }, { passive: true });
    box.addEventListener("touchend", (event) => {
        const by = touched === null ? 0 : event.changedTouches[0].clientX - touched;
        if (Math.abs(by) > 60) moveTo(currentIndex() + (by < 0 ? 1 : -1));
        touched = null;
    });
    document.body.append(box);
    box.showModal();
    return draw();
}

state.listeners.add((what) => { if (what === "photo") draw(); });

export function viewerKey(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by) moveTo(currentIndex() + by);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(total() - 1);
    else if (event.key.toLowerCase() === "h") toggleHeat();
    else return false;
    return true;
}
