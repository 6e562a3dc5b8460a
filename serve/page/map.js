/* Photos with a position, in a plain drawing: north is up, the outline encloses all photos of a folder. */
import { get } from "./api.js";
import { h, plural, replace, svg, toast } from "./dom.js";
import { classColour, classes, state, verdict } from "./state.js";
import { query } from "./filters.js";

const WIDTH = 1000, HEIGHT = 640, EDGE = 50, FOCUSED_MOST = 300;

function projection(photos) {
    const latitudes = photos.map((p) => p.latitude), longitudes = photos.map((p) => p.longitude);
    const south = Math.min(...latitudes), north = Math.max(...latitudes), west = Math.min(...longitudes), east = Math.max(...longitudes);
    const stretch = Math.cos(((south + north) / 2) * Math.PI / 180) || 1;
    const scale = Math.min((WIDTH - 2 * EDGE) / Math.max(1e-6, (east - west) * stretch), (HEIGHT - 2 * EDGE) / Math.max(1e-6, north - south));
    const x0 = WIDTH / 2 - ((west + east) / 2) * stretch * scale, y0 = HEIGHT / 2 + ((south + north) / 2) * scale;
    return { at: (p) => [x0 + p.longitude * stretch * scale, y0 - p.latitude * scale], metres: 111320 / scale };
}

/* The convex hull (Andrew's monotone chain). */
function hull(points) {
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const cross = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    const half = (list) => list.reduce((chain, point) => {
        while (chain.length > 1 && cross(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
        chain.push(point);
        return chain;
    }, []);
    return sorted.length < 3 ? sorted : [...half(sorted).slice(0, -1), ...half(sorted.reverse()).slice(0, -1)];
}

function scaleBar(metres) {
    const wanted = 160 * metres, power = 10 ** Math.floor(Math.log10(wanted)), step = [1, 2, 5].filter((n) => n * power <= wanted).pop() * power;
    const text = step >= 1000 ? `${step / 1000} km` : `${step} m`;
    return svg("g", { class: "scale" }, svg("path", { d: `M${EDGE} ${HEIGHT - 20}h${step / metres}` }), svg("text", { x: EDGE, y: HEIGHT - 28 }, text));
}

function draw(photos, onOpen) {
    const { at, metres } = projection(photos), folders = new Map();
    for (const photo of photos) folders.set(photo.folder, [...(folders.get(photo.folder) || []), at(photo)]);
    const outlines = [...folders.values()].filter((points) => points.length > 2).map((points) => svg("polygon", { class: "outline", points: hull(points).map((p) => p.join(",")).join(" ") }));
    const focusable = photos.length <= FOCUSED_MOST;
    const points = photos.map((photo) => {
        const [cx, cy] = at(photo), said = verdict(photo) || "no verdict";
        const point = svg("circle", { cx, cy, r: 7, class: "point", role: "button", tabindex: focusable ? 0 : undefined, "aria-label": `${photo.name}, ${said}`,
            onclick: () => onOpen(photo), onkeydown: (event) => { if (event.key === "Enter") onOpen(photo); } }, svg("title", {}, `${photo.name}: ${said}`));
        point.style.fill = classColour(verdict(photo));
        return point;
    });
    return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "map", role: "group", "aria-label": "Map of the photos" }, outlines, points, scaleBar(metres));
}

/* The wheel and two buttons change the part that is seen. */
function zoomable(picture) {
    let [x, y, w, ht] = [0, 0, WIDTH, HEIGHT];
    const apply = () => picture.setAttribute("viewBox", `${x} ${y} ${w} ${ht}`);
    const zoom = (factor, cx = x + w / 2, cy = y + ht / 2) => {
        const to = Math.max(WIDTH / 200, Math.min(WIDTH, w * factor)), f = to / w;
        x = cx - (cx - x) * f; y = cy - (cy - y) * f; w *= f; ht *= f;
        for (const point of picture.querySelectorAll(".point")) point.setAttribute("r", 7 * w / WIDTH);
        apply();
    };
    picture.addEventListener("wheel", (event) => {
        event.preventDefault();
        const place = picture.getBoundingClientRect();
        zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, x + w * (event.clientX - place.left) / place.width, y + ht * (event.clientY - place.top) / place.height);
    }, { passive: false });
    let from = null;
    picture.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; });
    picture.addEventListener("pointerup", () => { from = null; });
    picture.addEventListener("pointermove", (event) => {
        if (!from || !event.buttons) return;
        const place = picture.getBoundingClientRect();
        x -= (event.clientX - from[0]) * w / place.width;
        y -= (event.clientY - from[1]) * ht / place.height;
        from = [event.clientX, event.clientY];
        apply();
    });
    return zoom;
}

export function mapView() {
    const box = h("div", { className: "page" });
    const open = async (photo) => {
        const { dialog } = await import("./dom.js");
        dialog(photo.name, h("div", {}, h("img", { className: "shown", src: `/api/v1/photos/${photo.id}/image?side=1024`, alt: photo.name }),
            h("p", {}, `${verdict(photo) || "no verdict"} at ${photo.latitude.toFixed(5)}, ${photo.longitude.toFixed(5)}`)), { wide: true });
    };
    async function refresh() {
        const { photos } = await get(`places?${query()}`);
        if (!photos.length) {
            replace(box, h("section", { className: "panel-card" }, h("h2", {}, "Map"), h("p", {}, "No photo says where it was taken, or none of those that the filters show.")));
            return;
        }
        const picture = draw(photos, open), zoom = zoomable(picture);
        const legend = h("ul", { className: "legend" }, classes().map((name) => {
            const dot = h("i", { className: "dot" });
            dot.style.background = classColour(name);
            return h("li", {}, dot, name);
        }));
        replace(box, h("section", { className: "panel-card" }, h("div", { className: "row" }, h("h2", {}, "Map"), h("span", { className: "soft" }, plural(photos.length, "photo")),
            h("span", { className: "space" }), h("button", { type: "button", "aria-label": "Closer", onclick: () => zoom(1 / 1.5) }, "+"),
            h("button", { type: "button", "aria-label": "Farther", onclick: () => zoom(1.5) }, "−")), legend, picture));
    }
    refresh().catch((error) => toast(error.message));
    return box;
}
