/* The search. Its index is a script that is loaded when the field is first used, so that it works from a folder too. */
"use strict";
(() => {
    const root = document.currentScript.dataset.root;
    const box = document.getElementById("site-search"), field = box.querySelector("input"), list = document.getElementById("site-found");
    const MOST = 12, AROUND = 70;
    let sections = null, chosen = -1;

    function prepare(index) {
        return index.sections.map(([page, anchor, title, text], order) => ({
            address: index.pages[page][0] + "#" + anchor, page: index.pages[page][1], title, text, order,
            first: order === 0 || index.sections[order - 1][0] !== page,
            lowTitle: title.toLowerCase(), lowPage: index.pages[page][1].toLowerCase(), lowText: text.toLowerCase(),
        }));
    }

    function load() {
        if (sections) return;
        sections = [];
        const script = document.createElement("script");
        script.src = root + "search-index.js";
        script.onload = () => { sections = prepare(window.broadIndex); show(); };
        script.onerror = () => { list.hidden = false; list.replaceChildren(element("p", "search-index.js is missing beside this page.")); };
        document.head.append(script);
    }

    const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const starts = (text, word) => new RegExp("(?<![\\p{L}\\p{N}_-])" + escaped(word), "u").test(text);

    /* How well a word fits a section; 0: not at all. Titles before text, beginnings of words before the middle of them. */
    function fit(section, word) {
        let score = 0;
        if (section.lowTitle === word) score += 60;
        if (starts(section.lowTitle, word)) score += 30;
        else if (section.lowTitle.includes(word)) score += 12;
        if (starts(section.lowPage, word)) score += 8;
        const count = section.lowText.split(word).length - 1;
        if (count) score += Math.min(count, 6) / (section.text.length > 4000 ? 2 : 1) + (starts(section.lowText, word) ? 4 : 0);
        return score;
    }

    function find(words) {
        const phrase = words.join(" "), found = [];
        for (const section of sections) {
            const scores = words.map((word) => fit(section, word));
            if (scores.includes(0)) continue;
            let score = scores.reduce((a, b) => a + b) / words.length + (section.first ? 4 : 0);
            if (words.length > 1 && section.lowTitle.includes(phrase)) score += 30;
            if (words.length > 1 && section.lowText.includes(phrase)) score += 10;
            found.push({ section, score });
        }
        return found.sort((a, b) => b.score - a.score || a.section.order - b.section.order).slice(0, MOST).map((one) => one.section);
    }

    function element(name, text, kind) {
        const made = document.createElement(name);
        if (text) made.textContent = text;
        if (kind) made.className = kind;
        return made;
    }

    /* The text around the first word that is in it, with all of them marked. */
    function excerpt(section, words) {
        const place = Math.min(...words.map((word) => section.lowText.indexOf(word)).filter((at) => at >= 0), section.text.length);
        let begin = place === section.text.length ? 0 : Math.max(0, place - AROUND);
        if (begin) begin = section.text.indexOf(" ", begin) + 1;
        const cut = (begin ? "\u2026 " : "") + section.text.slice(begin, begin + 3 * AROUND);
        const made = element("span"), pattern = new RegExp("(" + words.map(escaped).join("|") + ")", "iu");
        for (const piece of cut.split(pattern)) made.append(pattern.test(piece) ? element("mark", piece) : piece);
        return made;
    }

    function entry(section, words, number) {
        const link = element("a");
        link.href = root + section.address;
        link.id = "site-found-" + number;
        link.setAttribute("role", "option");
        link.append(element("b", section.title));
        if (!section.first) link.append(element("i", " \u00b7 " + section.page));
        link.append(excerpt(section, words));
        return link;
    }

    function show() {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        chosen = -1;
        field.removeAttribute("aria-activedescendant");
        list.hidden = !words.length || !sections.length;
        field.setAttribute("aria-expanded", String(!list.hidden));
        if (list.hidden) return;
        const found = find(words);
        list.replaceChildren(...(found.length ? found.map((section, i) => entry(section, words, i)) : [element("p", "Nothing has all of these words.")]));
        list.scrollTop = 0;
    }

    function choose(step) {
        const links = list.querySelectorAll("a");
        if (!links.length) return;
        if (links[chosen]) links[chosen].removeAttribute("aria-selected");
        chosen = (chosen + step + links.length + (chosen < 0 && step < 0 ? 1 : 0)) % links.length;
        links[chosen].setAttribute("aria-selected", "true");
        links[chosen].scrollIntoView({ block: "nearest" });
        field.setAttribute("aria-activedescendant", links[chosen].id);
    }

    function close() {
        list.hidden = true;
        field.setAttribute("aria-expanded", "false");
    }

    field.addEventListener("focus", () => { load(); show(); });
    field.addEventListener("input", show);
    field.addEventListener("keydown", (event) => {
        const links = list.querySelectorAll("a");
        if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(event.key === "ArrowDown" ? 1 : -1);
        else if (event.key === "Enter" && links.length) { links[Math.max(chosen, 0)].click(); close(); }
        else if (event.key === "Escape") { if (list.hidden) field.value = ""; close(); }
        else return;
        event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
        if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea")) return;
        event.preventDefault();
        field.focus();
        field.select();
    });
    document.addEventListener("pointerdown", (event) => { if (!box.contains(event.target)) close(); });
    list.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
    box.hidden = false;
    field.placeholder = "Search (press /)";
})();
