/* Elements without HTML text: what comes from files and people is only ever text. */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
    for (const [name, value] of Object.entries(properties || {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "dataset") Object.assign(element.dataset, value);
        else if (name in element && !name.startsWith("aria") && name !== "list" && !(element instanceof SVGElement))
            element[name] = value;
        else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

export function h(tag, properties, ...children) {
    return fill(document.createElement(tag), properties, children);
}

export function svg(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (value !== undefined && value !== null) element.setAttribute(name, value);
    element.append(...children.flat(3).filter(Boolean));
    return element;
}

export function replace(element, ...children) {
    element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
}

export const count = (number) => number.toLocaleString("en");
export const percent = (part) => (part === null || part === undefined ? "" : `${Math.round(100 * part)} %`);
export const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many || `${one}s`}`;
export const when = (time) => (time ? time.replace("T", " ").slice(0, 16) : "");
export const moment = (milliseconds) =>
    new Date(milliseconds).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function toast(text, action) {
    const box = document.getElementById("toasts");
    const item = h("div", { className: "toast" }, h("span", {}, text),
        action && h("button", { type: "button", className: "link", onclick: () => { item.remove(); action.run(); } }, action.name));
    box.append(item);
    while (box.children.length > 1) box.firstChild.remove();
    setTimeout(() => item.remove(), 7000);
}

/* A dialog that takes the focus and gives it back. */
export function dialog(title, content, { wide = false } = {}) {
    const before = document.activeElement;
    const box = h("dialog", { className: wide ? "wide" : "", "aria-label": title },
        h("div", { className: "dialog-head" }, h("h2", {}, title),
            h("button", { type: "button", className: "quiet", "aria-label": "Close", onclick: () => box.close() }, "✕")),
        content);
    box.addEventListener("close", () => { box.remove(); before?.focus(); });
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    document.body.append(box);
    box.showModal();
    return box;
}
