/* Which photos are shown, and in which order. */
import { get } from "./api.js";
import { h, replace, count } from "./dom.js";
import { state, classes, classColour } from "./state.js";

const sorts = { uncertainty: "least certain first", severity: "worst first", time: "by time", place: "by place", name: "by name", added: "as they came" };

export function query() {
    return new URLSearchParams(Object.entries(state.filters).filter(([, value]) => value)).toString();
}

const anyFilter = () => Object.entries(state.filters).some(([name, value]) => value && !["sort", "stacks"].includes(name));

export function filterPanel(onChange) {
    const panel = h("aside", { className: "filters", "aria-label": "Filters" });
    const set = (name, value) => {
        state.filters[name] = value || "";
        draw();
        onChange();
    };
    const radio = (name, value, label, number, colour) => {
        const dot = colour && h("i", { className: "dot" });
        if (dot) dot.style.background = colour;
        return h("label", { className: "choice" },
            h("input", { type: "radio", name, checked: (state.filters[name] || "") === value, onchange: () => set(name, value) }),
            dot, h("span", {}, label), number !== undefined && h("small", {}, count(number)));
    };
    const check = (name, label, number) => h("label", { className: "choice" },
        h("input", { type: "checkbox", checked: state.filters[name] === "1", onchange: (event) => set(name, event.target.checked ? "1" : "") }),
        h("span", {}, label), number !== undefined && h("small", {}, count(number)));
    const field = (name, label, type) => h("label", { className: "field" }, label,
        h("input", { type, value: state.filters[name] || "", onchange: (event) => set(name, event.target.value) }));
    let folders = [];

    function draw() {
        const status = state.status, counts = status?.counts || {};
        if (!status || (panel.contains(document.activeElement) && ["text", "date", "search"].includes(document.activeElement.type))) return;
        const focus = panel.contains(document.activeElement) ? [...panel.querySelectorAll("input,select,button")].indexOf(document.activeElement) : -1;
        const reviewed = (counts.agreed || 0) + (counts.corrected || 0);
        replace(panel,
            h("label", { className: "field" }, "Order",
                h("select", { onchange: (event) => set("sort", event.target.value) },
                    Object.entries(sorts).map(([value, text]) => h("option", { value, selected: state.filters.sort === value }, text)))),
            check("stacks", "Stack near-duplicates"),
            h("fieldset", {}, h("legend", {}, "Review"),
                radio("review", "", "all", counts.judged),
                radio("review", "none", "not looked at", counts.judged - reviewed),
                radio("review", "agreed", "agreed", counts.agreed),
                radio("review", "corrected", "corrected", counts.corrected)),
            h("fieldset", {}, h("legend", {}, "Class"), radio("class", "", "all"),
                classes().map((name) => radio("class", name, name, status.verdicts[name] || 0, classColour(name)))),
            h("fieldset", {}, h("legend", {}, "Only"),
                check("unlike", "not like the training photos", counts.unlike),
                check("faults", "dark, bright, blurred or small", counts.faulty),
                status.pending > 0 && check("pending", "not learned yet", status.pending)),
            folders.length > 1 && h("label", { className: "field" }, "Folder",
                h("select", { onchange: (event) => set("folder", event.target.value) }, h("option", { value: "" }, "all folders"),
                    folders.map((own) => h("option", { value: own.folder, selected: state.filters.folder === own.folder }, `${own.folder || "(none)"} (${count(own.photos)})`)))),
            h("div", { className: "pair" }, field("from", "From", "date"), field("to", "To", "date")),
            field("text", "Name contains", "search"),
            anyFilter() && h("button", { type: "button", className: "link", onclick: () => {
                state.filters = { sort: state.filters.sort, stacks: state.filters.stacks };
                draw();
                onChange();
            } }, "Show all photos"));
        if (focus >= 0) panel.querySelectorAll("input,select,button")[focus]?.focus();
    }
    const refresh = async () => {
        folders = (await get("folders").catch(() => ({ folders: [] }))).folders;
        draw();
    };
    state.listeners.add((what) => { if (what === "status" && panel.isConnected) draw(); });
    draw();
    refresh();
    return panel;
}
