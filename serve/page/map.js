/*
 * Photos with a position: north is up, an outline encloses the photos of a site: those of a folder that lie near each other. A plain drawing, in Mercator's projection;
 * below it map tiles where the server was started with a tile server.
 */
import { get, session } from "./api.js";
import { dialog, h, plural, replace, svg, toast } from "./dom.js";
import { classColour, classes, state, verdict } from "./state.js";
import { query } from "./filters.js";

const WIDTH = 1000, HEIGHT = 640, EDGE = 50, FOCUSED_MOST = 300, TILE = 256, CLOSEST = 19, TILES_MOST = 64, EARTH = 40075017, SITE = 300;

/* A place as parts of the world's width, from the west and from the north. */
function world({ latitude, longitude }) {
    const s = Math.sin(Math.max(-85, Math.min(85, latitude)) * Math.PI / 180);
    return [(longitude + 180) / 360, 0.5 - Math.log((1 + s) / (1 - s)) / (4 * Math.PI)];
}

/* scale: the world's width in the drawing; x0, y0: where its north-western corner is. */
function projection(photos) {
    const places = photos.map(world), xs = places.map((p) => p[0]), ys = places.map((p) => p[1]);
    const ends = (list) => list.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    const [west, east] = ends(xs), [north, south] = ends(ys);
    const scale = Math.min((WIDTH - 2 * EDGE) / Math.max(1e-8, east - west), (HEIGHT - 2 * EDGE) / Math.max(1e-8, south - north));
    const x0 = WIDTH / 2 - (west + east) / 2 * scale, y0 = HEIGHT / 2 - (north + south) / 2 * scale;
    const middle = photos.reduce((sum, photo) => sum + photo.latitude, 0) / photos.length;
    return { scale, x0, y0, at: (photo) => { const [x, y] = world(photo); return [x0 + x * scale, y0 + y * scale]; },
        metres: EARTH * Math.cos(middle * Math.PI / 180) / scale };
}

/* The tiles of the part that is seen, as large as the screen needs them. */
function drawTiles(layer, address, { scale, x0, y0 }, [x, y, w, ht], pixels) {
    const zoom = Math.max(0, Math.min(CLOSEST, Math.round(Math.log2(scale * pixels / w / TILE)))), side = 2 ** zoom, step = scale / side;
    const first = (from, zero) => Math.max(0, Math.floor((from - zero) / step)), last = (to, zero) => Math.min(side - 1, Math.floor((to - zero) / step));
    const tiles = [];
    for (let i = first(x, x0); i <= last(x + w, x0); i++)
        for (let j = first(y, y0); j <= last(y + ht, y0) && tiles.length < TILES_MOST; j++)
            tiles.push(svg("image", { href: address.replace("{z}", zoom).replace("{x}", i).replace("{y}", j), x: x0 + i * step, y: y0 + j * step, width: step, height: step }));
    layer.replaceChildren(...tiles);
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

/* Photos of a folder that lie near each other: cells of SITE metres, with those that touch them. */
function sites(photos, { at, metres }) {
    const cells = new Map(), found = [];
    for (const photo of photos) {
        const point = at(photo), place = point.map((value) => Math.floor(value * metres / SITE)), key = `${photo.folder}\n${place}`;
        if (!cells.has(key)) cells.set(key, { place, folder: photo.folder, points: [] });
        cells.get(key).points.push(point);
    }
    while (cells.size) {
        const points = [], open = [cells.keys().next().value];
        while (open.length) {
            const key = open.pop(), cell = cells.get(key);
            if (!cell) continue;
            cells.delete(key);
            points.push(...cell.points);
            for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) open.push(`${cell.folder}\n${[cell.place[0] + dx, cell.place[1] + dy]}`);
        }
        found.push(points);
    }
    return found;
}

/* In the corner of the part that is seen. */
function drawScale(group, metres, [x, y, w]) {
    const size = w / WIDTH, wanted = 160 * metres * size, power = 10 ** Math.floor(Math.log10(wanted)), step = [1, 2, 5].filter((n) => n * power <= wanted).pop() * power;
    const text = step >= 1000 ? `${step / 1000} km` : step >= 1 ? `${step} m` : `${(100 * step).toPrecision(1)} cm`;
    group.setAttribute("transform", `translate(${x} ${y}) scale(${size})`);
    group.replaceChildren(svg("path", { d: `M${EDGE} ${HEIGHT - 20}h${step / metres / size}` }), svg("text", { x: EDGE, y: HEIGHT - 28 }, text));
}

function draw(photos, onOpen) {
    const place = projection(photos), { at, metres } = place, tiles = svg("g", { class: "tiles", "aria-hidden": "true" }), scale = svg("g", { class: "scale" });
    const outlines = sites(photos, place).filter((points) => points.length > 2).map((points) => svg("polygon", { class: "outline", points: hull(points).map((p) => p.join(",")).join(" ") }));
    const focusable = photos.length <= FOCUSED_MOST;
    const points = photos.map((photo) => {
        const [cx, cy] = at(photo), said = verdict(photo) || "no verdict";
        const point = svg("circle", { cx, cy, r: 7, class: "point", role: "button", tabindex: focusable ? 0 : undefined, "aria-label": `${photo.name}, ${said}`,
            onclick: () => onOpen(photo), onkeydown: (event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault(); /* or the key would press the button that gets the focus */
                onOpen(photo);
            } }, svg("title", {}, `${photo.name}: ${said}`));
        point.style.fill = classColour(verdict(photo));
        return point;
    });
    const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "map", role: "group", "aria-label": "Map of the photos" }, tiles, outlines, points, scale);
    return { picture, points: photos.map(at), seen: (part) => {
        drawScale(scale, metres, part);
        if (session.tiles) drawTiles(tiles, session.tiles, place, part, picture.clientWidth || WIDTH);
    } };
}

/* The wheel and two buttons change the part that is seen. */
function zoomable({ picture, seen, points }, part) {
    let [x, y, w, ht] = part;
    const apply = () => {
        [part[0], part[1], part[2], part[3]] = [x, y, w, ht];
        picture.setAttribute("viewBox", `${x} ${y} ${w} ${ht}`);
        for (const point of picture.querySelectorAll(".point")) point.setAttribute("r", 7 * w / WIDTH);
        seen([x, y, w, ht]);
    };
    requestAnimationFrame(apply);
    /* The middle, or the point nearest to it where the part that will be seen would have none but at its edge. */
    const middle = (factor) => {
        const cx = x + w / 2, cy = y + ht / 2, far = ([px, py]) => Math.max(Math.abs(px - cx) / w, Math.abs(py - cy) / ht);
        const nearest = points.reduce((best, point) => (far(point) < far(best) ? point : best), points[0]);
        return far(nearest) * 2 < 0.8 * factor ? [cx, cy] : nearest;
    };
    const toMiddle = (factor) => {
        const [cx, cy] = middle(factor);
        x += cx - x - w / 2; y += cy - y - ht / 2;
        zoom(factor);
    };
    const zoom = (factor, cx = x + w / 2, cy = y + ht / 2) => {
        const to = Math.max(WIDTH / 200, Math.min(WIDTH, w * factor)), f = to / w;
        x = cx - (cx - x) * f; y = cy - (cy - y) * f; w *= f; ht *= f;
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
    return toMiddle;
}

export function mapView() {
    const box = h("div", { className: "page" });
    let part = [0, 0, WIDTH, HEIGHT], places = 0, known = "";
    const open = (photo) => dialog(photo.name, h("div", {}, h("img", { className: "shown", src: `/api/v1/photos/${photo.id}/image?side=1024`, alt: photo.name }),
        h("p", {}, `${verdict(photo) || "no verdict"} at ${photo.latitude.toFixed(5)}, ${photo.longitude.toFixed(5)}`)), { wide: true });
    async function refresh() {
        const { photos } = await get(`places?${query()}`);
        if (!photos.length) {
            replace(box, h("section", { className: "panel-card" }, h("h2", {}, "Map"), h("p", {}, "No photo says where it was taken, or none of those that the filters show.")));
            return;
        }
        if (photos.length !== places) part = [0, 0, WIDTH, HEIGHT];
        places = photos.length;
        const drawn = draw(photos, open), zoom = zoomable(drawn, part);
        const legend = h("ul", { className: "legend" }, classes().map((name) => {
            const dot = h("i", { className: "dot" });
            dot.style.background = classColour(name);
            return h("li", {}, dot, name);
        }));
        replace(box, h("section", { className: "panel-card" }, h("div", { className: "row" }, h("h2", {}, "Map"), h("span", { className: "soft" }, plural(photos.length, "photo")),
            h("span", { className: "space" }), h("button", { type: "button", "aria-label": "Closer", onclick: () => zoom(1 / 1.5) }, "+"),
            h("button", { type: "button", "aria-label": "Farther", onclick: () => zoom(1.5) }, "−")), legend, drawn.picture,
            session.tiles && h("p", { className: "soft" }, `Map tiles: ${new URL(session.tiles).host}`)));
    }
    const again = () => refresh().catch((error) => toast(error.message));
    state.listeners.add((what) => {
        if (!box.isConnected) return;
        const now = JSON.stringify([classes(), state.status?.counts.placed]);
        if (what === "model" || what === "reviewed" || (what === "status" && now !== known)) again();
        if (what === "status") known = now;
    });
    again();
    return box;
}
