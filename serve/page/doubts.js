/* What to be doubtful of: labels of training photos, which are put right here, and photos unlike them. */
import { get, person, post } from "./api.js";
import { dialog, h, plural, replace, toast } from "./dom.js";
import { classColour, classes, refreshStatus, state } from "./state.js";
import { undoLast } from "./gallery.js";
import { learn } from "./learning.js";

const SHOWN_MOST = 300;
const list = { said: null, current: 0 };
let sheet = null, bar = null;

/* ---- cards ---- */

const coloured = (name) => {
    const dot = h("i", { className: "dot" });
    dot.style.background = classColour(name);
    return [dot, h("b", {}, name)];
};

/* Where it is from: a photo of the project by the name that it came with, another one by the folder that it lies in. */
const placeOf = (photo) => (photo.name === photo.file.split("/").pop() ? photo.file.split("/").slice(-2).join("/") : photo.folder ? `${photo.folder}/${photo.name}` : photo.name);

function stateOf(photo) {
    if (!photo.review) return null;
    return photo.human === photo.label ? ["kept", "✓ label kept"] : ["changed", `✎ now ${photo.human}`];
}

function card(photo, i) {
    const decided = stateOf(photo);
    return h("li", { id: `doubt-${i}`, role: "option", className: `${i === list.current ? "current" : ""} ${decided ? decided[0] : ""}`, "aria-selected": i === list.current ? "true" : "false",
        onclick: () => moveTo(i), ondblclick: () => enlarge(i) },
    h("img", { src: `/api/v1/doubts/${i}/image?side=320&v=${list.said.version}`, alt: "", loading: "lazy" }),
    h("span", { className: "words" }, photo.name),
    h("span", {}, "labelled ", h("b", {}, photo.label), h("br"), "looks like ", coloured(photo.verdict)),
    decided && h("span", { className: "decided" }, decided[1]),
    h("small", { className: "path", title: photo.file }, placeOf(photo)));
}

function redress(...indices) {
    for (const i of indices) document.getElementById(`doubt-${i}`)?.replaceWith(card(list.said.photos[i], i));
    sheet.setAttribute("aria-activedescendant", `doubt-${list.current}`);
}

const shown = () => Math.min(SHOWN_MOST, list.said?.photos.length || 0);

function moveTo(index) {
    const before = list.current;
    list.current = Math.max(0, Math.min(shown() - 1, index));
    redress(before, list.current);
    sheet.focus({ preventScroll: true });
    document.getElementById(`doubt-${list.current}`)?.scrollIntoView({ block: "nearest" });
}

function enlarge(index) {
    const photo = list.said.photos[index];
    dialog(photo.name, h("div", {}, h("img", { className: "shown", src: `/api/v1/doubts/${index}/image?side=1280&v=${list.said.version}`, alt: photo.name }),
        h("p", {}, "labelled ", h("b", {}, photo.label), ", looks like ", coloured(photo.verdict), h("small", { className: "path" }, placeOf(photo)))), { wide: true });
}

/* ---- deciding ---- */

let line = Promise.resolve();

/* What is asked of the server goes one after the other, so that an older list never replaces what was decided meanwhile. */
function next(work) {
    const done = line.then(work);
    line = done.catch(() => {});
    return done;
}

/* The next one comes at once; the mark comes when the server has the decision on disk. */
function decide(how) {
    const index = list.current, own = list.said?.photos[index];
    if (!shown()) return;
    moveTo(index + 1);
    next(async () => {
        const photo = list.said?.photos[index];
        if (photo?.file !== own.file) throw new Error("The list is another one now, and nothing was changed. Decide again.");
        const done = await post(`doubts/${index}/review`, { who: person.name, ...how });
        Object.assign(photo, { review: done.photos[0]?.review, human: done.photos[0]?.human });
        if (sheet?.isConnected) redress(index);
        drawBar();
    }).catch((error) => toast(error.message));
}

function drawBar() {
    if (!bar || !list.said?.photos.length) return;
    const decided = list.said.photos.filter((photo) => photo.review).length;
    const pending = state.status?.pending || list.said.photos.some((photo) => photo.review && photo.human !== photo.label);
    replace(bar, h("span", { className: "about" }, `${decided} of ${plural(list.said.photos.length, "photo")} decided`),
        h("div", { className: "keys", role: "group", "aria-label": "Give another class" }, classes().slice(0, 9).map((name, i) =>
            h("button", { type: "button", className: "class", title: `Key ${i + 1}`, onclick: () => decide({ label: name }) }, h("kbd", { "aria-hidden": "true" }, i + 1), coloured(name)))),
        h("button", { type: "button", className: "agree", onclick: () => decide({ keep: true }) }, h("kbd", { "aria-hidden": "true" }, "Space"), "The label is right"),
        h("button", { type: "button", className: "quiet", onclick: () => undoLast() }, h("kbd", { "aria-hidden": "true" }, "U"), "Undo"),
        h("button", { type: "button", className: pending ? "primary" : "quiet", disabled: !pending, onclick: () => learn() }, "Learn now", h("kbd", { "aria-hidden": "true" }, "L")));
}

/* Keys of the list; true: it was one. */
export function doubtKey(event) {
    if (!sheet?.isConnected || !shown()) return false;
    const width = document.getElementById("doubt-0")?.offsetWidth || 1, columns = Math.max(1, Math.round(sheet.clientWidth / (width + 14)));
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    const onControl = event.target.closest("button, a");
    if (/^[1-9]$/.test(event.key) && classes()[Number(event.key) - 1]) decide({ label: classes()[Number(event.key) - 1] });
    else if (event.key === " " && !onControl) decide({ keep: true });
    else if (by) moveTo(list.current + by);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(shown() - 1);
    else if (event.key === "Enter" && !onControl) enlarge(list.current);
    else return false;
    return true;
}

/* ---- the page ---- */

function unlikeCards(photos) {
    return h("ul", { className: "minis" }, photos.map((photo) => h("li", {}, h("img", { src: `/api/v1/photos/${photo.id}/thumbnail`, alt: photo.name, loading: "lazy" }),
        h("span", {}, photo.name, h("small", {}, ` distance ${photo.distance.toFixed(2)}`)))));
}

function doubtCards() {
    sheet = h("ul", { className: "minis doubts", role: "listbox", tabIndex: 0, "aria-label": "Doubtful labels" }, list.said.photos.slice(0, SHOWN_MOST).map(card));
    sheet.setAttribute("aria-activedescendant", `doubt-${list.current}`);
    bar = h("div", { className: "bar", role: "toolbar", "aria-label": "Decide" });
    drawBar();
    return [sheet, bar];
}

export function doubtsView() {
    const unlike = h("section", { className: "panel-card" }), doubts = h("section", { className: "panel-card" });
    const box = h("div", { className: "page" }, doubts, unlike);

    async function drawUnlike() {
        const { count: number, photos } = await get("unlike");
        replace(unlike, h("h2", {}, "Photos unlike the training photos"),
            !state.status?.model ? h("p", {}, "There is no model yet that photos could be unlike.") : number ? h("p", {}, `${plural(number, "photo is", "photos are")} not like those that the model was trained on. Their verdicts mean little. If such photos are to be judged, label some and let the model learn them.`)
                : h("p", {}, "All photos look like those that the model was trained on."),
            number > 0 && unlikeCards(photos));
    }

    const look = () => post("doubts").then(refreshStatus);

    const drawDoubts = () => next(async () => {
        const said = (await get("doubts")).doubts, busy = state.status?.work.task === "doubts", focused = sheet?.contains(document.activeElement);
        if (said?.version !== list.said?.version) list.current = 0;
        list.said = said;
        replace(doubts, h("h2", {}, "Labels to look at again"),
            h("p", {}, "Training photos that the model would judge differently, had it not seen them (leave-one-out). Some are hard, some are labelled incorrectly."),
            h("button", { type: "button", className: "primary", disabled: busy || !state.status?.model, onclick: () => look().catch((error) => toast(error.message)) }, busy ? "Looking …" : "Look for them"),
            !state.status?.model && h("p", { className: "soft" }, "There is no model yet. Label photos first, and let it learn."),
            said && h("p", {}, said.photos.length ? `${plural(said.photos.length, "photo")}, the most doubtful first. Give one that is labelled incorrectly its class by a key, or say that the label is right. Learning then replaces the labels; the files stay where they are.` : "There is none."),
            said?.photos.length > 0 && doubtCards());
        if (focused) sheet?.focus({ preventScroll: true });
    });
    const draw = () => Promise.all([drawUnlike(), drawDoubts()]).catch((error) => toast(error.message));
    state.listeners.add((what, data) => {
        if (!box.isConnected) return;
        if (what === "status") drawBar();
        if (what === "reviewed" && data.kind === "undo") drawDoubts().catch((error) => toast(error.message));
        if (what === "model" || (what === "work" && data.task === "doubts")) {
            if (data?.state === "failed") toast(data.message);
            draw();
        }
        /* What has been learned may clear up other doubts; another page may have asked already. */
        if (what === "work" && data.task === "learn" && data.state === "done" && list.said?.photos.length) look().catch(() => {});
    });
    draw();
    return box;
}
