/* Learning from corrections, and every model there has been. */
import { get, post, person, sentence } from "./api.js";
import { count, h, moment, percent, plural, replace, toast } from "./dom.js";
import { classColour, refreshStatus, state } from "./state.js";
import { undoLast } from "./gallery.js";

export async function learn(agreed = true) {
    try {
        await post("learn", { agreed });
        refreshStatus();
    } catch (error) {
        toast(error.message);
    }
}

const kinds = { given: "given", trained: "trained from labels", learned: "learned from corrections" };

function figure(label, before, after, rows) {
    const better = after !== undefined && before !== undefined && after !== null && before !== null ? after - before : 0;
    return h("div", { className: "figure" },
        h("p", { className: "big" }, before !== undefined && before !== null && h("span", { className: "before" }, percent(before), h("span", { "aria-label": "becomes" }, " → ")),
            h("b", { className: better > 0 ? "up" : better < 0 ? "down" : "" }, after === undefined || after === null ? "not known" : percent(after))),
        h("p", { className: "soft" }, label.replace("#", rows ? plural(rows, "photo") : "photos")));
}

const mini = (photo, before, after) => {
    const dot = h("i", { className: "dot" });
    dot.style.background = classColour(after);
    return h("li", {}, h("img", { src: `/api/v1/photos/${photo.id}/thumbnail`, alt: photo.name, loading: "lazy" }),
        h("span", {}, h("s", {}, before), " ", dot, h("b", {}, after)));
};

async function changesOf(version, box) {
    const { photos } = await get(`versions/${version}/changes`);
    replace(box, photos.length > 0 && h("ul", { className: "minis", "aria-label": "Photos whose verdict changed" },
        photos.slice(0, 60).map((photo) => mini(photo, photo.before, photo.after))));
}

const leftOut = (photos) => photos.slice(0, 20).map((photo) => `${photo.name} (${photo.reason})`).join(", ") + (photos.length > 20 ? ` and ${count(photos.length - 20)} more` : "");

function result(version) {
    const said = version.result || {}, list = h("div", {});
    changesOf(version.id, list).catch(() => {});
    const held = said.held_out, before = said.held_out_before;
    return h("section", { className: "panel-card" },
        h("h3", {}, `Version ${version.id}: ${kinds[version.kind] || version.kind}`),
        h("div", { className: "figures" },
            held ? figure("right on # held out", before?.accuracy, held.accuracy, held.rows) : null,
            said.estimate ? figure("estimated for new photos, by leaving each of # out", undefined, said.estimate.accuracy, said.estimate.rows) : null,
            h("div", { className: "figure" }, h("p", { className: "big" }, h("b", {}, count(version.changed))), h("p", { className: "soft" }, "verdicts changed")),
            said.seconds !== undefined && h("div", { className: "figure" }, h("p", { className: "big" }, h("b", {}, `${said.seconds.toFixed(2)} s`)), h("p", { className: "soft" }, "to learn"))),
        held && held.rows < 30 && h("p", { className: "soft" }, "So few photos were held out that a difference of some percent means little."),
        said.left_out?.length > 0 && h("p", { className: "warn" }, `${plural(said.left_out.length, "photo was", "photos were")} left out: ${leftOut(said.left_out)}.`),
        said.wrong > 0 && h("p", { className: "warn" }, `${plural(said.wrong, "correction")} could not be learned: are the labels correct?`),
        list);
}

export function learningView() {
    const box = h("div", { className: "page" });
    let versions = [], actions = [], checking = null;

    async function refresh() {
        try {
            versions = (await get("versions")).versions;
            actions = (await get("actions?limit=12")).actions;
        } catch (error) {
            toast(error.message);
        }
        draw();
    }

    function now() {
        const status = state.status, counts = status.counts, work = status.work;
        const busy = work.task !== null, labelled = counts.agreed + counts.corrected;
        const agreed = h("input", { type: "checkbox", checked: true });
        return h("section", { className: "panel-card" },
            h("h2", {}, "Learning"),
            status.model
                ? h("p", {}, status.pending ? `${plural(status.pending, "correction has", "corrections have")} not been learned yet.` : "The model knows every correction.")
                : h("p", {}, `There is no model yet. Label about twenty photos of at least two classes: ${plural(labelled, "is", "are")} labelled so far.`),
            h("div", { className: "row" },
                h("button", { type: "button", className: "primary", disabled: busy, onclick: () => learn(agreed.checked) },
                    busy && ["learn", "train"].includes(work.task) ? "Learning …" : status.model ? "Learn now" : "Make a first model", h("kbd", { "aria-hidden": "true" }, "L")),
                status.model && h("label", { className: "choice inline" }, agreed, h("span", {}, "also what was agreed to"))),
            status.model && h("label", { className: "field inline" }, "By itself after",
                h("input", { type: "number", min: 0, max: 1000, value: status.learn_after, onchange: async (event) => {
                    await post("settings", { learn_after: Number(event.target.value) }).catch((error) => toast(error.message));
                    refreshStatus();
                } }), h("span", {}, "corrections (0: only when told)")),
            work.last?.state === "failed" && h("p", { className: "warn", role: "alert" }, sentence(work.last.message)));
    }

    function table() {
        return h("section", { className: "panel-card" }, h("h2", {}, "Versions"),
            h("div", { className: "wide-table" }, h("table", {},
                h("thead", {}, h("tr", {}, ["Version", "Made", "From", "Photos", "Held-out accuracy", "Actions"].map((text) => h("th", {}, text)))),
                h("tbody", {}, versions.map((version) => h("tr", { className: version.in_use ? "in-use" : "" },
                    h("td", {}, h("b", {}, version.id), version.in_use && h("span", { className: "tag" }, "in use")),
                    h("td", {}, moment(version.made)), h("td", {}, kinds[version.kind] || version.kind), h("td", {}, count(version.rows || 0)),
                    h("td", {}, version.result?.held_out ? percent(version.result.held_out.accuracy) : ""),
                    h("td", {}, h("div", { className: "acts" },
                        !version.in_use && h("button", { type: "button", onclick: () => use(version.id) }, "Use"),
                        h("a", { className: "button", href: `/api/v1/versions/${version.id}/model`, download: "" }, "Download"),
                        h("button", { type: "button", onclick: () => verify(version.id) }, checking === version.id ? "Checking …" : "Check certificate")))))))));
    }

    async function use(id) {
        try {
            await post(`versions/${id}/use`);
            toast(`Version ${id} is in use.`);
        } catch (error) {
            toast(error.message);
        }
        refresh();
    }

    async function verify(id) {
        checking = id;
        draw();
        await post(`versions/${id}/verify`).catch((error) => { checking = null; toast(error.message); draw(); });
    }

    function history() {
        const words = { label: "labelled", agree: "agreed with", clear: "cleared", undo: "undid" };
        return h("section", { className: "panel-card" }, h("h2", {}, "Who did what"),
            h("label", { className: "field inline" }, "Your name", h("input", { type: "text", maxLength: 60, value: person.name, onchange: (event) => { person.name = event.target.value.trim() || "inspector"; } })),
            actions.length > 0 && h("ul", { className: "plain actions" }, actions.map((action) => h("li", { className: action.undone ? "undone" : "" },
                h("span", {}, `${action.who} ${words[action.kind] || action.kind} ${plural(action.photos, "photo")}${action.label ? ` as ${action.label}` : ""}`),
                h("small", {}, moment(action.made)),
                !action.undone && h("button", { type: "button", className: "link", onclick: async () => { await undoLast(action.id); refresh(); } }, "Undo")))));
    }

    function draw() {
        if (!state.status) return;
        const used = versions.find((version) => version.in_use);
        replace(box, now(), used?.result && result(used), versions.length > 0 && table(), history());
    }
    state.listeners.add((what, data) => {
        if (!box.isConnected) return;
        if (what === "model" || what === "reviewed") refresh();
        if (what === "work" && data.state !== "begun") {
            if (data.task === "verify") {
                checking = null;
                toast(data.state === "done" ? `Version ${data.result.version}: the certificate ${data.result.holds ? "holds" : "does NOT hold"}.` : sentence(data.message));
            }
            refresh();
        }
        if (what === "status" && !box.contains(document.activeElement)) draw();
    });
    draw();
    refresh();
    return box;
}
