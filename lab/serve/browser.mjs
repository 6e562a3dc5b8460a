/*
 * The page in a real browser: first start, drop, gallery, keys, undo, learn, export, two tabs, phone, dark, keyboard alone, screen readers.
 *
 * node browser.mjs BROAD WORK PHOTOS [PICTURES]: the tool, an empty folder to work in, a folder of photos by class; with PICTURES,
 * screenshots for the documentation are written there. The packages of package.json are looked for in WORK/../node_modules.
 */
import { createRequire } from "node:module";
import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const [broad, work, photos, pictures] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(work, ".."), "x.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
const complaints = [], running = new Set(); /* running: servers */

/* ---- a server and a browser ---- */

async function serve(name, port, ...words) {
    const process_ = spawn(broad, ["serve", path.join(work, name), "--port", String(port), "--no-browser", ...words]);
    let said = "";
    running.add(process_);
    process_.on("exit", () => running.delete(process_));
    process_.stdout.on("data", (part) => { said += part; });
    process_.stderr.on("data", (part) => { said += part; });
    for (let i = 0; i < 400 && !said.includes("Ctrl-C"); i++) await new Promise((done) => setTimeout(done, 25));
    const url = said.match(/http:\S+token=\S+/)?.[0];
    assert(url, `the server did not start: ${said}`);
    return { url, token: url.split("token=")[1], port, end: () => new Promise((done) => { process_.on("exit", done); process_.kill("SIGTERM"); }),
        get: async (what) => (await fetch(`http://127.0.0.1:${port}/api/v1/${what}`, { headers: { Authorization: `Bearer ${url.split("token=")[1]}` } })).json() };
}

async function open(browser, server, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
    page.on("console", (message) => { if (message.type() === "error") complaints.push(`console: ${message.text()}`); });
    page.on("request", (request) => { if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) complaints.push(`asks elsewhere: ${request.url()}`); });
    await page.goto(server.url);
    assert(!page.url().includes("token"), "the token stays in the address");
    return page;
}

const shot = async (page, name) => pictures && page.screenshot({ path: path.join(pictures, `serve-${name}.jpg`), type: "jpeg", quality: 80 });
const cards = (page) => page.locator(".card:not(.empty)");
const settled = (page, text) => page.waitForFunction((wanted) => document.querySelector(".about")?.textContent.includes(wanted), text, { timeout: 60000 });
const state = (page, index) => page.locator(`#photo-${index} .words`).textContent();
const until = (page, index, words) => page.waitForFunction(([i, text]) => document.getElementById(`photo-${i}`)?.querySelector(".words")?.textContent?.includes(text), [index, words]);

async function accessible(page, where) {
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    for (const violation of found.violations)
        if (["serious", "critical"].includes(violation.impact)) complaints.push(`${where}: ${violation.id} at ${violation.nodes[0].html.slice(0, 120)}`);
}

function photoFiles(folder) {
    return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const file = path.join(folder, entry.name);
        return entry.isDirectory() ? photoFiles(file) : /\.(jpe?g|png)$/i.test(entry.name) ? [file] : [];
    }).sort();
}

/* Files as if they had been dropped. */
async function drop(page, files) {
    const list = files.map((file) => ({ name: path.basename(file), bytes: fs.readFileSync(file).toString("base64") }));
    const transfer = await page.evaluateHandle((given) => {
        const made = new DataTransfer();
        for (const { name, bytes } of given) made.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name, { type: "image/jpeg" }));
        return made;
    }, list);
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

/* ---- the tests ---- */

async function firstStart(browser, server) {
    const page = await open(browser, server);
    await page.getByRole("heading", { name: "Try it with drawn photos" }).waitFor();
    await shot(page, "start");
    await accessible(page, "start");
    await page.getByRole("button", { name: "Draw photos" }).click();
    await settled(page, "of 80");
    await page.waitForTimeout(800);
    assert(await cards(page).count() >= 12);
    await accessible(page, "photos");
    return page;
}

async function keys(page, server) {
    await page.locator(".sheet").focus();
    for (const key of ["2", "1", "Space", "2", "1"]) await page.keyboard.press(key); /* as fast as they come */
    await until(page, 2, "agreed");
    for (let i = 0; i < 5; i++) await page.waitForFunction((n) => /agreed|corrected/.test(document.getElementById(`photo-${n}`)?.querySelector(".words")?.textContent), i);
    const words = await Promise.all([0, 1, 2, 3, 4].map((i) => state(page, i)));
    assert.match(words[0], /Dusty/);
    assert.match(words[1], /Clean/);
    assert.match(words[3], /Dusty/);
    assert.match(words[4], /Clean/);
    const status = await server.get("status");
    assert.equal(status.counts.agreed + status.counts.corrected, 5);
    await settled(page, "Photo 6 of 80");
    await page.keyboard.press("u");
    await page.waitForFunction(() => document.getElementById("photo-4")?.querySelector(".words")?.textContent.includes("not looked at"));
    await settled(page, "Photo 5 of 80");
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Space");
    await until(page, 6, "agreed");
    await page.keyboard.press("u");
    await until(page, 6, "not looked at");
    const corrected = (await server.get("status")).counts.corrected;
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Space"); /* agreeing with all leaves corrections alone */
    await page.getByText(/photos: agreed/).waitFor();
    assert.equal((await server.get("status")).counts.corrected, corrected);
    await page.keyboard.press("u");
    await until(page, 6, "not looked at");
    await settled(page, "Photo 5 of 80");
    await shot(page, "keys");
}

async function largeView(page) {
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.locator(".viewer .stage img").waitFor();
    await page.waitForFunction(() => document.querySelector(".stage img")?.naturalWidth > 0);
    await page.keyboard.press("h");
    await page.waitForFunction(() => document.querySelector(".stage img")?.src.includes("heatmap") && document.querySelector(".stage img").naturalWidth > 0);
    await page.waitForTimeout(400);
    await shot(page, "heatmap");
    await accessible(page, "large view");
    await page.keyboard.press("ArrowRight");
    await page.getByText("Photo 2 of 80").first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
}

async function learning(page, server) {
    const corrected = (await server.get("status")).pending;
    if (!corrected) { /* the first that would be right otherwise */
        const photo = (await server.get("photos?limit=1")).photos[0];
        await page.keyboard.press("Home");
        await page.keyboard.press(photo.label === "Clean" ? "2" : "1");
        await until(page, 0, "corrected");
    }
    await page.keyboard.press("l");
    await page.getByText(/Learned \d+ photo/).waitFor({ timeout: 30000 });
    assert.equal((await server.get("status")).model.version, 2);
    await page.getByRole("link", { name: "Learning" }).click();
    await page.getByRole("heading", { name: "Version 2: learned from corrections" }).waitFor();
    await page.getByText(/right on \d+ photos held out/).waitFor();
    await page.waitForTimeout(600);
    await shot(page, "learning");
    await accessible(page, "learning");
    await page.getByRole("row", { name: /trained from labels/ }).getByRole("button", { name: "Use" }).click();
    await page.getByText("Version 1 is in use.").waitFor();
    assert.equal((await server.get("status")).model.version, 1);
    await page.getByRole("row", { name: /learned from corrections/ }).getByRole("button", { name: "Use" }).click();
    await page.getByText("Version 2 is in use.").waitFor();
    await page.getByRole("row", { name: /learned from corrections/ }).getByRole("button", { name: "Check certificate" }).click();
    await page.getByText("the certificate holds").waitFor({ timeout: 30000 });
}

/* Two labels are decided on with keys, one is taken back, the other learned. */
async function doubts(page, server) {
    await page.getByRole("link", { name: "Doubts" }).click();
    await page.getByRole("button", { name: "Look for them" }).click();
    await page.getByText(/the most doubtful first/).waitFor({ timeout: 30000 });
    const [first, second] = (await server.get("doubts")).doubts.photos, before = (await server.get("status")).model.version;
    const decided = (index, text) => page.waitForFunction(([i, wanted]) => document.getElementById(`doubt-${i}`)?.querySelector(".decided")?.textContent.includes(wanted), [index, text]);
    /* A key that is pressed while the list comes once more, as it was before. */
    await page.route(/api\/v1\/doubts$/, async (route) => {
        if (route.request().method() !== "GET") return route.continue();
        const response = await route.fetch();
        await new Promise((done) => setTimeout(done, 1000));
        return route.fulfill({ response });
    });
    await Promise.all([page.waitForRequest((request) => /doubts$/.test(request.url()) && request.method() === "GET"), page.getByRole("button", { name: "Look for them" }).click()]);
    await page.waitForTimeout(200);
    await page.locator(".doubts").focus();
    await page.keyboard.press(first.verdict === "Clean" ? "1" : "2");
    await decided(0, `now ${first.verdict}`);
    await page.waitForTimeout(3000);
    await decided(0, `now ${first.verdict}`);
    await page.unroute(/api\/v1\/doubts$/);
    await page.locator(".doubts").focus();
    await page.keyboard.press("Space");
    await decided(1, "label kept");
    await page.waitForTimeout(800);
    await shot(page, "doubts");
    await accessible(page, "doubts");
    await page.keyboard.press("u");
    await page.waitForFunction(() => !document.querySelector("#doubt-1 .decided"));
    assert.equal((await server.get("doubts")).doubts.photos[0].human, first.verdict);
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("looks like").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("l");
    await page.getByText(/Learned 1 photo;/).waitFor({ timeout: 30000 });
    await page.waitForFunction(() => !document.querySelector(".decided"), null, { timeout: 30000 });
    assert.equal((await server.get("status")).model.version, before + 1);
    const now = (await server.get("doubts")).doubts.photos;
    assert(!now.some((photo) => photo.file === first.file && photo.label === first.label), "the label was not replaced");
    assert(second.file);
    assert.equal((await server.get("photos?limit=1")).total, 80, "training photos joined those of the project");
}

/* An EXIF block with a position, as cameras write it, behind the first two bytes of a JPEG. */
function placed(file, latitude, longitude, time) {
    const rationals = (value) => [Math.floor(value), 1, Math.floor(value * 60 % 60), 1, Math.round(value * 3600 % 60 * 1e6), 1e6];
    const gps = Buffer.alloc(2 + 4 * 12 + 4 + 48), head = Buffer.alloc(8 + 2 + 2 * 12 + 4 + 20), base = head.length;
    const entry = (to, at, tag, type, count, value) => { to.writeUInt16LE(tag, at); to.writeUInt16LE(type, at + 2); to.writeUInt32LE(count, at + 4); to.writeUInt32LE(value, at + 8); };
    head.write("II*\0", 0, "latin1");
    head.writeUInt32LE(8, 4);
    head.writeUInt16LE(2, 8);
    entry(head, 10, 0x0132, 2, 20, 38); /* time */
    entry(head, 22, 0x8825, 4, 1, base);
    head.write(`${time}\0`, 38, "latin1");
    gps.writeUInt16LE(4, 0);
    entry(gps, 2, 1, 2, 2, (latitude < 0 ? "S" : "N").charCodeAt(0));
    entry(gps, 14, 2, 5, 3, base + 54);
    entry(gps, 26, 3, 2, 2, (longitude < 0 ? "W" : "E").charCodeAt(0));
    entry(gps, 38, 4, 5, 3, base + 78);
    [...rationals(Math.abs(latitude)), ...rationals(Math.abs(longitude))].forEach((value, i) => gps.writeUInt32LE(value, 54 + 4 * i));
    const body = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), head, gps]), mark = Buffer.from([0xff, 0xe1, 0, 0]);
    mark.writeUInt16BE(body.length + 2, 2);
    return Buffer.concat([file.subarray(0, 2), mark, body, file.subarray(2)]);
}

/* Photos of two sites, which say where they were taken. */
async function fillMap(server) {
    const files = photoFiles(photos).slice(0, 36), headers = { Authorization: `Bearer ${server.token}` };
    for (const [i, file] of files.entries()) {
        const site = i % 2, row = Math.floor(i / 12), column = Math.floor(i / 2) % 6;
        const bytes = placed(fs.readFileSync(file), 48.2631 + site * 0.0016 + row * 0.00021 + column * 0.00004, 11.4342 + site * 0.0011 + column * 0.00029, `2026:05:14 09:${String(i).padStart(2, "0")}:00`);
        const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/photos?name=${encodeURIComponent(`${site ? "north field" : "south field"}/${path.basename(file)}`)}`, { method: "POST", headers, body: bytes });
        assert.equal(answer.status, 201);
    }
    for (let i = 0; i < 400 && (await server.get("status")).counts.placed < files.length; i++) await new Promise((done) => setTimeout(done, 50));
    assert.equal((await server.get("places")).photos.length, files.length);
    return files.length;
}

/* Without a tile server it is a plain drawing; with one, tiles of that server lie below it. */
async function maps(browser, name, port, tileServer) {
    fs.mkdirSync(path.join(work, name));
    fs.copyFileSync(path.join(work, "drawn", "model.broad"), path.join(work, name, "model.broad"));
    const server = await serve(name, port, ...(tileServer ? ["--tiles", tileServer.address] : []));
    const number = await fillMap(server), page = await open(browser, server);
    await page.getByRole("link", { name: "Map" }).click();
    await page.locator(".map .point").nth(number - 1).waitFor();
    assert.equal(await page.locator(".map .outline").count(), 2);
    const [at] = (await server.get("places")).photos;
    assert(Math.abs(at.latitude - 48.2631) < 0.01 && Math.abs(at.longitude - 11.4342) < 0.01, JSON.stringify(at));
    if (tileServer) {
        await page.waitForFunction(() => document.querySelectorAll(".tiles image").length > 3);
        await page.waitForTimeout(500);
        assert(tileServer.asked.length > 3 && tileServer.asked.every((address) => /^\/\d+\/\d+\/\d+\.svg$/.test(address)), tileServer.asked.join());
        await shot(page, "map-tiles");
    } else {
        assert.equal(await page.locator(".tiles image").count(), 0);
        await accessible(page, "map");
        await shot(page, "map");
        await page.getByRole("button", { name: "Closer" }).click();
        await page.locator(".map .point").first().focus();
        await page.keyboard.press("Enter");
        await page.getByRole("dialog").getByText(/at 48\.26/).waitFor();
        await page.keyboard.press("Escape");
        await page.goto(`http://127.0.0.1:${server.port}/#/photos`);
        await settled(page, `of ${number}`);
        await page.locator(".filters select").first().selectOption("place");
        await settled(page, `of ${number}`);
    }
    await page.context().close();
    await server.end();
}

/* A server of map tiles that draws them, and remembers what it was asked for. */
async function tiles(port) {
    const asked = [];
    const server = http.createServer((request, response) => {
        asked.push(request.url);
        response.writeHead(200, { "Content-Type": "image/svg+xml" });
        response.end(`<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="256" height="256" fill="#dfe8d6" stroke="#b9c9aa" stroke-width="2"/><path d="M0 170Q90 120 256 190" stroke="#fff" stroke-width="14" fill="none"/></svg>`);
    });
    await new Promise((done) => server.listen(port, "127.0.0.1", done));
    return { asked, address: `http://127.0.0.1:${port}/{z}/{x}/{y}.svg`, end: () => new Promise((done) => { server.close(done); server.closeAllConnections(); }) };
}

async function exporting(page) {
    await page.getByRole("link", { name: "Export" }).click();
    await accessible(page, "export");
    for (const [label, starts] of [["Table for programs", "file,"], ["Report", "<!doctype html>"], ["Places, GeoJSON", "{"]]) {
        const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: `Download: ${label}` }).click()]);
        assert(fs.readFileSync(await download.path(), "utf8").startsWith(starts), label);
    }
}

async function twoTabs(browser, server, first) {
    const second = await open(browser, server);
    await settled(second, "of 80");
    await first.getByRole("link", { name: "Photos", exact: true }).click();
    await settled(first, "of 80");
    await second.locator(".sheet").focus();
    await second.keyboard.press("End");
    await second.keyboard.press("1");
    await first.locator(".sheet").focus();
    await first.keyboard.press("End");
    await until(first, 79, "Clean");
    await first.waitForFunction(() => /agreed|corrected/.test(document.getElementById("photo-79")?.querySelector(".words")?.textContent));
    await second.context().close();
}

async function looks(browser, server) {
    const dark = await open(browser, server, { colorScheme: "dark" });
    await settled(dark, "of 80");
    await dark.waitForTimeout(500);
    await shot(dark, "dark");
    await accessible(dark, "dark");
    await dark.context().close();
    const phone = await open(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await settled(phone, "of 80");
    await phone.waitForTimeout(500);
    await shot(phone, "phone");
    assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390, "the phone's page is too wide");
    const before = (await server.get("status")).counts;
    await phone.locator("#photo-3").tap();
    await phone.getByRole("button", { name: "Agree" }).tap();
    await until(phone, 3, "agreed");
    assert((await server.get("status")).counts.agreed + (await server.get("status")).counts.corrected >= before.agreed + before.corrected);
    await accessible(phone, "phone");
    await phone.context().close();
}

/* A photo that comes before the page may write: the answer that lets it is held back. */
async function droppedEarly(browser, name, port) {
    const server = await serve(name, port), page = await open(browser, server);
    await page.getByRole("heading", { name: "Drop your photos" }).waitFor();
    let release = null;
    const held = new Promise((done) => { release = done; });
    await page.route(/api\/v1\/session$/, (route) => held.then(() => route.continue()));
    await Promise.all([page.waitForRequest(/api\/v1\/session$/), page.reload()]);
    await drop(page, photoFiles(photos).slice(0, 2));
    await page.waitForTimeout(300);
    release();
    await page.getByText("2 photos came in").waitFor();
    await settled(page, "of 2"); /* they are listed once they have been looked at */
    assert.equal((await server.get("photos")).photos.length, 2);
    await page.context().close();
    await server.end();
}

/* From nothing, with the keyboard alone: photos are dropped, then labelled until there is a model. */
async function fromNothing(browser, server) {
    const page = await open(browser, server);
    await page.getByRole("heading", { name: "Drop your photos" }).waitFor();
    const all = photoFiles(photos).sort((a, b) => path.basename(a).localeCompare(path.basename(b))), bad = path.join(work, "bad.jpg");
    fs.writeFileSync(bad, "no picture");
    await drop(page, [...all, bad]);
    await settled(page, `of ${all.length}`);
    await page.getByRole("button", { name: "1 photo cannot be read" }).click();
    await page.getByRole("dialog").getByText("bad.jpg").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Make at least two classes").waitFor();
    await page.locator(".sheet").focus();
    await page.keyboard.press("1");
    await page.getByText("There is no class 1 yet").waitFor();
    await page.keyboard.press("Space");
    await page.getByText("There is no verdict to agree with").waitFor();
    assert.deepEqual((await server.get("actions")).actions, []);
    await page.getByRole("link", { name: "Doubts" }).click();
    await page.getByText("There is no model yet that photos could be unlike.").waitFor();
    await page.getByRole("link", { name: "Photos", exact: true }).click();
    await settled(page, `of ${all.length}`);
    const truth = new Map((await server.get("photos?limit=1000")).photos.map((photo) => [photo.id, all.find((file) => path.basename(file) === photo.name)]));
    for (const name of ["Clean", "Dusty"]) {
        await page.getByRole("button", { name: "+ class" }).focus();
        await page.keyboard.press("Enter");
        await page.getByLabel("Name", { exact: true }).waitFor();
        await page.keyboard.type(name);
        await page.keyboard.press("Enter");
        await page.getByRole("button", { name }).first().waitFor();
    }
    await page.getByText("Give classes to about twenty photos by the keys 1 to 9: 0 so far").waitFor();
    await page.locator(".sheet").focus();
    const shown = (await server.get("photos?limit=1000")).photos;
    await page.keyboard.press("Home");
    for (const photo of shown.slice(0, 20)) await page.keyboard.press(truth.get(photo.id).includes("Clean") ? "1" : "2");
    await page.waitForFunction(() => /corrected/.test(document.getElementById("photo-19")?.querySelector(".words")?.textContent));
    await page.keyboard.press("l");
    await page.getByText(/Learned 20 photos/).waitFor({ timeout: 30000 });
    /* Certainty is shown of photos that nobody has looked at; the most doubtful one may be among those that were labelled. */
    await page.waitForFunction(() => [...document.querySelectorAll(".card:not(.empty)")].some((card) =>
        /not looked at/.test(card.querySelector(".words")?.textContent) && /\d %/.test(card.textContent)), null, { timeout: 30000 });
    const right = (await server.get("photos?limit=1000")).photos.filter((photo) => truth.get(photo.id).includes(`/${photo.label}/`)).length;
    assert(right > 0.7 * all.length, `${right} of ${all.length} are right`);
    await page.context().close();
}

/* What is refused is said with the reason; a server with another token is told apart from one that does not answer; "back" leaves the
 * large view. The browser's own complaints belong to it. */
async function refusals(browser, name, port) {
    fs.mkdirSync(path.join(work, name));
    fs.copyFileSync(path.join(work, "drawn", "model.broad"), path.join(work, name, "model.broad"));
    const server = await serve(name, port), empty = ["one.jpg", "two.jpg"].map((file) => path.join(work, file));
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } }), page = await context.newPage();
    for (const file of empty) fs.writeFileSync(file, "");
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Drop your photos" }).waitFor();
    await drop(page, [...empty, ...photoFiles(photos).slice(0, 3)]);
    await page.getByText("3 photos came in, 2 did not").waitFor();
    await page.getByRole("button", { name: "Why" }).click();
    for (const file of ["one.jpg", "two.jpg"]) await page.getByRole("dialog").getByText(file).waitFor();
    await page.keyboard.press("Escape");
    await settled(page, "of 3");
    await page.getByRole("link", { name: "Map" }).click();
    await page.getByRole("link", { name: "Photos", exact: true }).click();
    await settled(page, "of 3");
    await page.locator(".sheet").focus();
    await page.keyboard.press("Enter");
    await page.locator(".viewer .stage img").waitFor();
    await page.goBack();
    await page.waitForFunction(() => !document.querySelector("dialog[open]") && document.querySelector("[aria-current]").hash === "#/map");
    await server.end();
    await page.getByText("The server does not answer").waitFor();
    const again = await serve(name, port);
    await page.getByText("The server was started again").waitFor({ timeout: 30000 });
    await context.close();
    await again.end();
}

/* Every control can be reached by Tab, and shows that it is. */
async function keyboardAlone(browser, server) {
    const page = await open(browser, server);
    await settled(page, "of 80");
    const seen = new Set();
    await page.evaluate(() => document.activeElement?.blur());
    for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        seen.add(await page.evaluate(() => {
            const at = document.activeElement, style = getComputedStyle(at);
            return `${at.tagName} ${at.className || at.id} ${at.matches(":focus-visible") && (style.outlineStyle !== "none" || at.className === "sheet" || at.id === "main") || at.type === "date"}`;
        }));
    }
    assert([...seen].some((what) => what.includes("sheet")), "the photos cannot be reached");
    assert([...seen].some((what) => what.includes("SELECT")), "the order cannot be reached");
    assert([...seen].some((what) => what.includes("class")), "the classes cannot be reached");
    assert(![...seen].some((what) => /^(BUTTON|A|INPUT|SELECT).*false$/.test(what)), `no focus is shown: ${[...seen]}`);
    await page.context().close();
}

/* What comes from files and people never becomes part of the page. */
async function scripts(browser, server) {
    const evil = '<img src=x onerror="document.title=1">';
    const file = photoFiles(photos)[0];
    const headers = { Authorization: `Bearer ${server.token}` };
    const api = (what, body) => fetch(`http://127.0.0.1:${server.port}/api/v1/${what}`, { method: "POST", headers, body });
    const added = await (await api(`photos?name=${encodeURIComponent(`${evil}/${evil}.jpg`)}`, Buffer.concat([fs.readFileSync(file), Buffer.from("x")]))).json();
    await api(`photos?name=${encodeURIComponent(evil)}`, "no picture either");
    await api("settings", JSON.stringify({ title: evil }));
    await api("classes", JSON.stringify({ name: "<b onclick=1>" }));
    const page = await open(browser, server);
    await page.waitForTimeout(1500);
    await page.goto(`http://127.0.0.1:${server.port}/#/photos`);
    await page.locator(".filters input[type=search]").fill("onerror");
    await page.keyboard.press("Enter");
    await settled(page, "of 1");
    await page.locator("#photo-0").dblclick();
    await page.getByRole("heading", { name: `${evil}.jpg` }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /cannot be read/ }).click();
    await page.getByRole("dialog").getByText("onerror").waitFor();
    assert.equal(await page.evaluate(() => document.querySelectorAll("img[onerror], b[onclick]").length), 0);
    assert.notEqual(await page.title(), "1");
    assert(added.id > 0);
    await page.context().close();
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const tileServer = await tiles(18614);
const drawn = await serve("drawn", 18610), nothing = await serve("nothing", 18611);
try {
    const page = await firstStart(browser, drawn);
    await keys(page, drawn);
    await largeView(page);
    await learning(page, drawn);
    await doubts(page, drawn);
    await exporting(page);
    await twoTabs(browser, drawn, page);
    await looks(browser, drawn);
    await keyboardAlone(browser, drawn);
    await refusals(browser, "refused", 18615);
    await droppedEarly(browser, "early", 18616);
    await fromNothing(browser, nothing);
    await scripts(browser, nothing);
    await maps(browser, "plain", 18612, null);
    await maps(browser, "tiled", 18613, tileServer);
    assert.deepEqual([...new Set(complaints)], []);
    console.log("the page does all of it");
} finally {
    await browser.close();
    for (const server of running) server.kill("SIGTERM"); /* also those of a part that has failed */
    await tileServer.end();
}
