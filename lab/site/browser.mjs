/*
 * The site in a real browser, from a folder: every page at two widths, dark and light, without a script, and the search.
 *
 * node browser.mjs PACKAGES SITE [PICTURES]: a folder with node_modules, the site; with PICTURES, screenshots are written there.
 */
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [packages, site, pictures] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(packages), "x.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = { wide: 1280, phone: 390 };
const SHOWN = ["index.html", "five-minutes.html", "getting-started.html", "mathematics.html", "commands.html", "api.html", "gallery.html"];
const complaints = [];

const address = (name) => pathToFileURL(path.join(site, name)).href;
const pages = fs.readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
/* Reports of the tool have a look and tests of their own. */
const own = pages.filter((name) => fs.readFileSync(path.join(site, name), "utf8").includes('data-root="'));

async function open(browser, options) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const told = (what) => complaints.push(`${path.relative(site, decodeURIComponent(new URL(page.url()).pathname))}: ${what}`);
    page.on("pageerror", (error) => told(error.message));
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) told(message.text()); });
    /* A page that is left before its icon came is no fault. */
    page.on("requestfailed", (request) => { if (request.failure().errorText !== "net::ERR_ABORTED") told(`${request.url()} failed`); });
    page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) told(`asks for ${request.url()}`); });
    return page;
}

/* Nothing is wider than the window, and every picture is there. */
async function look(page, name, width) {
    await page.goto(address(name));
    const found = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        blank: [...document.images].filter((image) => image.getAttribute("src") && image.complete && !image.naturalWidth).map((image) => image.src),
    }));
    if (found.wide > 0) complaints.push(`${name}: ${found.wide} pixels too wide for ${width}`);
    for (const source of found.blank) complaints.push(`${name}: ${source} cannot be shown`);
}

async function everyPage(browser) {
    for (const [kind, width] of Object.entries(WIDTHS)) {
        const page = await open(browser, { viewport: { width, height: 900 } });
        for (const name of pages) await look(page, name, width);
        for (const name of SHOWN.filter((one) => pictures && pages.includes(one))) {
            await page.goto(address(name));
            await page.screenshot({ path: path.join(pictures, `${name.replace(".html", "")}-${kind}.png`) });
        }
        await page.context().close();
    }
}

async function accessible(browser) {
    for (const colorScheme of ["light", "dark"]) {
        const page = await open(browser, { colorScheme, bypassCSP: true });
        for (const name of SHOWN.filter((one) => pages.includes(one))) {
            await page.goto(address(name));
            await page.evaluate(axe);
            const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], preload: false }));
            for (const one of violations.filter(({ impact }) => ["serious", "critical"].includes(impact)))
                complaints.push(`${name}, ${colorScheme}: ${one.id} at ${one.nodes[0].html.slice(0, 160)}`);
        }
        await page.context().close();
    }
}

const first = (page) => page.locator("#site-found a").first();

async function search(browser) {
    const page = await open(browser);
    await page.goto(address("index.html"));
    await page.keyboard.press("/");
    await page.keyboard.type("heat map");
    await first(page).waitFor();
    assert.match(await first(page).getAttribute("href"), /^(glossary|photos[\w-]*|commands|json|gallery)\.html#/);
    await page.getByRole("combobox").fill("broad_predictor_row");
    await page.waitForFunction(() => document.querySelector("#site-found a b")?.textContent.startsWith("broad_predictor_row"));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/api\.html#broad_predictor_row/);
    const top = await page.locator("#broad_predictor_row").evaluate((node) => node.getBoundingClientRect().top);
    assert(top >= 40 && top < 500, `the place that was found is at ${top}`);
    await page.goto(address("experiments/tables.html"));
    await page.getByRole("combobox").fill("--supervise gcv");
    await first(page).click();
    await page.waitForFunction(() => !location.pathname.endsWith("experiments/tables.html") || location.hash);
    await page.getByRole("combobox").fill("no-such-word-anywhere");
    await page.getByText("Nothing has all of these words.").waitFor();
    await page.keyboard.press("Escape");
    assert(await page.locator("#site-found").isHidden());
    await page.getByRole("combobox").fill("<img src=x onerror=alert(1)> (\\");
    await page.getByText("Nothing has all of these words.").waitFor();
    await page.context().close();
}

async function withoutScripts(browser) {
    const page = await open(browser, { javaScriptEnabled: false, viewport: { width: WIDTHS.phone, height: 800 } });
    await page.goto(address("photos.html"));
    assert(await page.locator("#site-search").isHidden());
    await page.getByText("All pages").click();
    await page.locator("#site-contents").getByRole("link", { name: "Glossary" }).click();
    await page.waitForURL(/glossary\.html/);
    await page.context().close();
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
    for (const test of [everyPage, accessible, search, withoutScripts]) {
        const begin = Date.now();
        await test(browser);
        console.log(`${test.name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
    }
} finally {
    await browser.close();
}
assert.deepEqual(complaints, []);
console.log(`${pages.length} pages, ${own.length} of them of the site: nothing wrong at ${Object.values(WIDTHS).join(" and ")} pixels`);
