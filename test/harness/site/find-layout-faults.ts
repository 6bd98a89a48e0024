import type { Page } from "playwright-core";

const shortWordMax = 16;

/**
 * Layout errors of a page, as sentences: it scrolls sideways, a text leaves the window, two texts overlap, or a short
 * word is broken, also inside a code or path (`_`, `/`, `.` and `-` separate words). Only the visible part of a text
 * counts.
 */
export async function findLayoutFaults(page: Page): Promise<string[]> {
  // As text, because the test's types do not include the page's.
  return (await page.evaluate(`(() => {
    const faults = [];
    const width = document.documentElement.clientWidth;
    const excess = document.documentElement.scrollWidth - width;
    if (excess > 0) faults.push("scrolls sideways by " + excess);
    // What hides and clips the texts of an element; null if nothing of them is seen.
    const windows = new Map([[null, { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity }]]);
    const intersect = (one, other) => ({
      left: Math.max(one.left, other.left),
      right: Math.min(one.right, other.right),
      top: Math.max(one.top, other.top),
      bottom: Math.min(one.bottom, other.bottom),
    });
    const findWindow = (element) => {
      const known = windows.get(element);
      if (known !== undefined) return known;
      const { visibility, opacity, overflowX, overflowY } = getComputedStyle(element);
      const isHidden = visibility === "hidden" || opacity === "0";
      const outer = isHidden ? null : findWindow(element.parentElement);
      const isOpen = outer === null || (overflowX === "visible" && overflowY === "visible");
      const found = isOpen ? outer : intersect(outer, element.getBoundingClientRect());
      windows.set(element, found);
      return found;
    };
    const clip = (rect, element) => {
      const limits = findWindow(element);
      if (limits === null) return null;
      const seen = intersect(rect, limits);
      return seen.right - seen.left > 2 && seen.bottom - seen.top > 2 ? seen : null;
    };
    const dialog = document.querySelector("dialog[open]");
    const walker = document.createTreeWalker(dialog ?? document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    const countLines = (rects) => new Set(rects.map(({ top }) => Math.round(top))).size;
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.data.trim() === "" || !node.parentElement.checkVisibility()) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const rects = [...range.getClientRects()];
      for (const rect of rects) {
        const seen = clip(rect, node.parentElement);
        if (seen !== null) texts.push({ ...seen, words: node.data.trim().slice(0, 30), node });
      }
      // Only a text of several lines breaks words.
      if (countLines(rects) < 2 || node.parentElement.closest("pre") !== null) continue;
      for (const { 0: word, index } of node.data.matchAll(/[^\\s/_.-]+/g)) {
        if (word.length > ${shortWordMax}) continue;
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (countLines([...range.getClientRects()]) > 1) faults.push("breaks the word " + word);
      }
    }
    for (const { right, words } of texts) if (right > width + 1) faults.push(words + " leaves the window");
    for (const [index, one] of texts.entries()) {
      for (const other of texts.slice(index + 1)) {
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        // Lines of one text may touch; so may the ascenders of one line and the descenders of another.
        if (one.node !== other.node && across > 2 && down > 6) faults.push(one.words + " lies on " + other.words);
      }
    }
    return [...new Set(faults)];
  })()`)) as string[];
}
