/* What goes out. */
import { post } from "./api.js";
import { h, replace, toast } from "./dom.js";
import { query } from "./filters.js";
import { refreshStatus, state } from "./state.js";

const files = [
    ["report", "Report", "A page with every photo and its verdict, for the archive. Open it and print it to a file to have it as PDF."],
    ["spreadsheet", "Table for spreadsheets", "CSV that Excel and LibreOffice open safely: no name can become a formula."],
    ["csv", "Table for programs", "CSV with everything as it is; 'broad learn --corrections' reads it."],
    ["geojson", "Places, GeoJSON", "Photos with a position, for QGIS and other maps."],
    ["kml", "Places, KML", "The same for Google Earth."],
    ["tree", "Folders", "All photos in folders of their classes, as a tar archive, ready for 'broad fit'."],
    ["model", "Model", "The model in use, for 'broad predict' and programs."],
    ["onnx", "Model as ONNX", "For other programs that run models."],
];

export function exportsView() {
    const box = h("div", { className: "page" });
    function draw() {
        const status = state.status;
        if (!status) return;
        const filtered = [...new URLSearchParams(query()).keys()].some((name) => !["sort", "stacks"].includes(name));
        const title = h("input", { type: "text", value: status.title, maxLength: 120, onchange: async (event) => {
            await post("settings", { title: event.target.value }).catch((error) => toast(error.message));
            refreshStatus();
        } });
        replace(box, h("section", { className: "panel-card" }, h("h2", {}, "Export"),
            h("label", { className: "field" }, "Title", title),
            h("p", { className: "soft" }, filtered ? "Lists have the photos that the filters show." : "Lists have all photos.", " A class that a person gave counts before that of the model."),
            h("ul", { className: "exports" }, files.map(([name, label, text]) => {
                const missing = (name === "model" && !status.model) || (name === "onnx" && (!status.onnx || !status.model));
                return h("li", {}, h("div", {}, h("b", {}, label), h("p", { className: "soft" }, text)),
                    missing ? h("span", { className: "soft" }, "not available") : h("a", { className: "button", href: `/api/v1/export/${name}?${query()}`, download: "", "aria-label": `Download: ${label}` }, "Download"));
            })),
            h("p", { className: "soft" }, "On the command line: ", h("code", {}, `broad predict ${status.folder}/model.broad photos/`))));
    }
    state.listeners.add((what) => { if (what === "status" && box.isConnected && !box.contains(document.activeElement)) draw(); });
    draw();
    return box;
}
