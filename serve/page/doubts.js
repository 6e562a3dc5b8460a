/* What to be doubtful of: labels of training photos, and photos unlike them. */
import { get, post } from "./api.js";
import { count, h, percent, plural, replace, toast } from "./dom.js";
import { classColour, refreshStatus, state } from "./state.js";

function unlikeCards(list) {
    return h("ul", { className: "minis" }, list.map((photo) => h("li", {}, h("img", { src: `/api/v1/photos/${photo.id}/thumbnail`, alt: photo.name, loading: "lazy" }),
        h("span", {}, photo.name, h("small", {}, ` distance ${photo.distance.toFixed(2)}`)))));
}

function doubtCards(list) {
    return h("ul", { className: "minis" }, list.slice(0, 120).map((photo, i) => {
        const dot = h("i", { className: "dot" });
        dot.style.background = classColour(photo.verdict);
        return h("li", {}, h("img", { src: `/api/v1/doubts/${i}/image?side=320`, alt: photo.file.split("/").pop(), loading: "lazy" }),
            h("span", {}, "labelled ", h("b", {}, photo.label), h("br"), "looks like ", dot, h("b", {}, photo.verdict), h("small", { className: "path" }, photo.file)));
    }));
}

export function doubtsView() {
    const unlike = h("section", { className: "panel-card" }), doubts = h("section", { className: "panel-card" });
    const box = h("div", { className: "page" }, doubts, unlike);

    async function drawUnlike() {
        const { count: number, photos } = await get("unlike");
        replace(unlike, h("h2", {}, "Photos unlike the training photos"),
            number ? h("p", {}, `${plural(number, "photo is", "photos are")} not like those that the model was trained on. Their verdicts mean little. If such photos are to be judged, label some and let the model learn them.`)
                : h("p", {}, "All photos look like those that the model was trained on."),
            number > 0 && unlikeCards(photos));
    }

    async function drawDoubts() {
        const said = (await get("doubts")).doubts, busy = state.status?.work.task === "doubts";
        replace(doubts, h("h2", {}, "Labels to look at again"),
            h("p", {}, "Training photos that the model would judge differently, had it not seen them (leave-one-out). Some are hard, some are labelled incorrectly."),
            h("button", { type: "button", className: "primary", disabled: busy || !state.status?.model, onclick: async () => {
                await post("doubts").catch((error) => toast(error.message));
                refreshStatus();
            } }, busy ? "Looking …" : "Look for them"),
            said && h("p", {}, said.photos.length ? `${plural(said.photos.length, "photo")}, the most doubtful first. Correct a label where the photo lies: move the file, or edit its list.` : "There is none."),
            said?.photos.length > 0 && doubtCards(said.photos));
    }
    const draw = () => Promise.all([drawUnlike(), drawDoubts()]).catch((error) => toast(error.message));
    state.listeners.add((what, data) => {
        if (!box.isConnected) return;
        if (what === "model" || (what === "work" && data.task === "doubts")) {
            if (data?.state === "failed") toast(data.message);
            draw();
        }
    });
    draw();
    return box;
}
