/*
 * How fast the page is, measured by the browser. node page_speed.mjs ADDRESS NODE_MODULES [CORRECTIONS]: prints one JSON object.
 *
 * Without CORRECTIONS: seconds to the first paint and to the first photos, and, while it scrolls through all of them: frames per second,
 * milliseconds that the page's thread works for a frame (which other work on the machine hardly changes) and its tasks above 50 ms. With
 * CORRECTIONS, a JSON list of [number, key], each photo is found in the list as it is shown and the key is pressed: milliseconds from the key
 * to the mark on the photo, which comes when the server has it on disk; then all others are agreed to, and the model learns.
 */
import { createRequire } from "node:module";
import path from "node:path";

const [address, modules, given] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules, ".."), "x.js"));
const { chromium } = require("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();

async function speed() {
    const started = Date.now();
    await page.goto(address);
    await page.waitForFunction(() => [...document.querySelectorAll(".card img")].filter((img) => img.complete && img.naturalWidth).length >= 12, null, { polling: "raf", timeout: 60000 });
    const photos = (Date.now() - started) / 1000;
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime / 1000);
    const client = await page.context().newCDPSession(page);
    await client.send("Performance.enable", { timeDomain: "threadTicks" });
    const spent = async () => Object.fromEntries((await client.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
    const before = await spent();
    await page.evaluate(() => {
        window.longTasks = 0;
        new PerformanceObserver((list) => { window.longTasks += list.getEntries().length; }).observe({ entryTypes: ["longtask"] });
    });
    const frames = await page.evaluate(() => new Promise((done) => {
        const box = document.querySelector(".scroll"), times = [], began = performance.now();
        const step = (now) => {
            times.push(now);
            box.scrollTop += 60;
            if (now - began < 8000) requestAnimationFrame(step);
            else done(times.slice(1).map((time, i) => time - times[i]));
        };
        requestAnimationFrame(step);
    }));
    const after = await spent(), long = await page.evaluate(() => window.longTasks);
    const per = (name) => 1000 * (after[name] - before[name]) / frames.length;
    frames.sort((a, b) => a - b);
    const all = frames.reduce((sum, time) => sum + time, 0);
    return { first_paint: paint, first_photos: photos, frames_per_second: 1000 * frames.length / all, frame_95: frames[Math.floor(0.95 * frames.length)],
        work_per_frame: per("TaskDuration"), script_per_frame: per("ScriptDuration"), style_and_layout_per_frame: per("RecalcStyleDuration") + per("LayoutDuration"), long_tasks: long };
}

async function session(list) {
    await page.goto(address);
    await page.waitForFunction(() => document.querySelectorAll(".card:not(.empty)").length > 0);
    await page.locator(".sheet").focus();
    const order = await page.evaluate(async () => (await (await fetch("/api/v1/photos?sort=uncertainty&limit=1000")).json()).photos.map((photo) => photo.id));
    const keys = new Map(list), times = [], began = Date.now();
    let at = 0;
    for (const [index, id] of order.entries()) {
        if (!keys.has(id)) continue;
        for (; at < index; at++) await page.keyboard.press("ArrowRight");
        const from = await page.evaluate(() => performance.now());
        await page.keyboard.press(keys.get(id));
        at += 1;
        const to = await page.evaluate((i) => new Promise((done) => {
            const look = () => (/corrected/.test(document.getElementById(`photo-${i}`)?.textContent) ? done(performance.now()) : requestAnimationFrame(look));
            look();
        }), index);
        times.push(to - from);
    }
    const seconds = (Date.now() - began) / 1000;
    times.sort((a, b) => a - b);
    await page.keyboard.press("Control+a"); /* the others are right */
    await page.keyboard.press("Space");
    await page.getByText(/photos: agreed/).waitFor({ timeout: 30000 });
    const learned = page.getByText(/Learned \d+ photo/);
    const learning = Date.now();
    await page.keyboard.press("l");
    await learned.waitFor({ timeout: 60000 });
    return { corrected: times.length, looked_through: order.length, seconds, mark_median: times[times.length >> 1], mark_95: times[Math.floor(0.95 * times.length)], key_to_learned: (Date.now() - learning) / 1000 };
}

console.log(JSON.stringify(given ? await session(JSON.parse(given)) : await speed()));
await browser.close();
