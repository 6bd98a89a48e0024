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
    const clip = (rect, element) => {
      let { left, right, top, bottom } = rect;
      for (let box = element; box !== null; box = box.parentElement) {
        const style = getComputedStyle(box);
        if (style.visibility === "hidden" || style.opacity === "0") return null;
        if (style.overflowX === "visible" && style.overflowY === "visible") continue;
        const limits = box.getBoundingClientRect();
        left = Math.max(left, limits.left);
        right = Math.min(right, limits.right);
        top = Math.max(top, limits.top);
        bottom = Math.min(bottom, limits.bottom);
      }
      return right - left > 2 && bottom - top > 2 ? { left, right, top, bottom } : null;
    };
    const dialog = document.querySelector("dialog[open]");
    const walker = document.createTreeWalker(dialog ?? document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.data.trim() === "" || !node.parentElement.checkVisibility()) continue;
      const range = document.createRange();
      for (const { 0: word, index } of node.data.matchAll(/[^\\s/_.-]+/g)) {
        if (word.length > ${shortWordMax}) continue;
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1 && node.parentElement.closest("pre") === null) faults.push("breaks the word " + word);
      }
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const seen = clip(rect, node.parentElement);
        if (seen !== null) texts.push({ ...seen, words: node.data.trim().slice(0, 30), node });
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
