/* How photos come in: dropped, chosen, or from a folder of this machine. */
import { get, post, send } from "./api.js";
import { dialog, h, plural, replace, toast } from "./dom.js";
import { changed, refreshStatus } from "./state.js";

const AT_ONCE = 4;
const sending = { files: [], total: 0, done: 0, failed: [], under: 0 };

export const uploadState = () => sending;

function pump() {
    while (sending.under < AT_ONCE && sending.files.length) {
        const { file, name } = sending.files.shift();
        sending.under += 1;
        send(file, name).catch((error) => {
            sending.failed.push({ name, reason: error.message });
        }).finally(() => {
            sending.under -= 1;
            sending.done += 1;
            changed("sending");
            if (sending.done === sending.total) finish();
            else pump();
        });
    }
}

const refusedTable = (list) => h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Photo"), h("th", {}, "Why"))),
    h("tbody", {}, list.map(({ name, reason }) => h("tr", {}, h("td", {}, name), h("td", {}, reason)))));

function finish() {
    const failed = sending.failed, came = plural(sending.total - failed.length, "photo");
    if (failed.length === 1) toast(`${came} came in; ${failed[0].name} did not: ${failed[0].reason}`);
    else if (failed.length) toast(`${came} came in, ${failed.length} did not`, { name: "Why", run: () => dialog("Photos that did not come in", refusedTable(failed), { wide: true }) });
    else toast(`${came} came in`);
    Object.assign(sending, { total: 0, done: 0, failed: [] });
    changed("sending");
    refreshStatus();
}

export function addFiles(list) {
    const photos = list.filter(({ file }) => !file.name.startsWith("."));
    if (!photos.length) return;
    sending.files.push(...photos);
    sending.total += photos.length;
    changed("sending");
    pump();
}

const named = (files) => [...files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));

/* Files of a dropped folder, however deep. */
async function walk(entry, path, out) {
    if (entry.isFile) out.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), name: path + entry.name });
    else if (entry.isDirectory) {
        const reader = entry.createReader();
        for (;;) {
            const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
            if (!part.length) break;
            for (const inner of part) await walk(inner, `${path}${entry.name}/`, out);
        }
    }
}

export function acceptDrops(target) {
    let depth = 0;
    const show = (shown) => document.body.classList.toggle("dropping", shown);
    target.addEventListener("dragenter", (event) => { event.preventDefault(); depth += 1; show(true); });
    target.addEventListener("dragover", (event) => event.preventDefault());
    target.addEventListener("dragleave", () => { depth -= 1; if (depth <= 0) show(false); });
    target.addEventListener("drop", async (event) => {
        event.preventDefault();
        depth = 0;
        show(false);
        const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
        if (!entries.length) return addFiles(named(event.dataTransfer.files));
        const out = [];
        for (const entry of entries) await walk(entry, "", out);
        return addFiles(out);
    });
}

export function pick(folder) {
    const input = h("input", { type: "file", multiple: true, accept: "image/*" });
    if (folder) input.webkitdirectory = true;
    input.addEventListener("change", () => addFiles(named(input.files)));
    input.click();
}

async function watchedList(box) {
    const { folders } = await get("watch");
    replace(box, folders.length ? h("ul", { className: "plain" }, folders.map((folder) => h("li", {}, h("code", {}, folder), " ",
        h("button", { type: "button", className: "link", onclick: async () => { await post("watch/stop", { folder }); watchedList(box); } }, "Stop watching")))) : null);
}

export function watchForm() {
    const list = h("div", {}), input = h("input", { type: "text", placeholder: "/media/camera", "aria-label": "Folder on this machine", required: true });
    const form = h("form", { className: "row", onsubmit: async (event) => {
        event.preventDefault();
        try {
            await post("watch", { folder: input.value.trim() });
            input.value = "";
            toast("The folder is watched. New photos come in by themselves.");
        } catch (error) {
            toast(error.message);
        }
        watchedList(list);
    } }, input, h("button", { type: "submit" }, "Watch"));
    watchedList(list).catch(() => {});
    return h("div", { className: "watch" }, h("p", { className: "soft" }, "A folder of this machine, whose photos come in by themselves:"), form, list);
}

export function addButtons() {
    return h("button", { type: "button", className: "primary", onclick: () => {
        const box = dialog("Add photos", h("div", { className: "adding" },
            h("p", {}, "Drop photos or folders anywhere on this page, or choose them:"),
            h("div", { className: "row" },
                h("button", { type: "button", className: "primary", onclick: () => { pick(false); box.close(); } }, "Choose photos"),
                h("button", { type: "button", onclick: () => { pick(true); box.close(); } }, "Choose a folder")),
            watchForm()));
    } }, "Add", h("span", { className: "wide-only" }, "photos"));
}

/* ---- the first start ---- */

export function startView() {
    const wait = h("p", { className: "soft" });
    return h("div", { className: "start" },
        h("h2", {}, "Judge photos, correct with one key"),
        h("p", { className: "lead" }, "Photos go in, verdicts come out, and the model learns from what you put right. Everything stays on this machine."),
        h("div", { className: "offers" },
            h("section", { className: "offer drop" },
                h("h3", {}, "Drop your photos"),
                h("p", {}, "Files or whole folders. With a model, they are judged at once. Without one, label about twenty, and the first model is made from these."),
                h("div", { className: "row" },
                    h("button", { type: "button", className: "primary", onclick: () => pick(false) }, "Choose photos"),
                    h("button", { type: "button", onclick: () => pick(true) }, "Choose a folder")),
                watchForm()),
            h("section", { className: "offer" },
                h("h3", {}, "Try it with drawn photos"),
                h("p", {}, "80 drawn photos of solar panels, clean and dusty, and a model that was trained on 160 others. It takes a few seconds."),
                h("button", { type: "button", onclick: async (event) => {
                    event.currentTarget.disabled = true;
                    wait.textContent = "Drawing photos and training a model …";
                    try {
                        await post("demo");
                    } catch (error) {
                        toast(error.message);
                        wait.textContent = "";
                    }
                } }, "Draw photos"), wait)));
}

/* What cannot be read. */
export async function showUnreadable() {
    const { photos } = await get("unreadable");
    dialog("Photos that cannot be read", refusedTable(photos.map((photo) => ({ name: photo.folder ? `${photo.folder}/${photo.name}` : photo.name, reason: photo.reason }))), { wide: true });
}
