import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listAxeFindings } from "../harness/site/browsed-site.ts";
import { hasBrowser, launchBrowser } from "../harness/site/browser.ts";

const page = (body: string): string =>
  `<html lang="en"><title>Axe</title><main style="color: black; background: white"><h1>Axe</h1>${body}</main></html>`;

const legible = "<p>legible</p>".repeat(50);
const faint = (id: string, style: string): string => `<p id="${id}" style="${style}">hard to read</p>`;

describe.skipIf(!hasBrowser)("axe's findings", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test.for([
    ["its colour", `${legible}${faint("x", "color: #bbb")}${legible}`],
    ["its surface", `${legible}<div style="background: #333">${faint("x", "")}</div>`],
    ["a translucent surface", `${legible}<div style="background: rgb(0 0 0 / 0.8)">${faint("x", "")}</div>`],
    ["the opacity of its parent", `${legible}<div style="opacity: 0.3">${faint("x", "")}</div>`],
    [
      "its size, where larger text of that colour is legible",
      `<h2 style="color: #888">large</h2>${faint("x", "color: #888")}`,
    ],
    [
      "its weight, where bold text of that colour is legible",
      `<p style="color: #888; font: bold 19px serif">bold</p>${faint("x", "color: #888; font-size: 19px")}`,
    ],
    [
      "what lies under it",
      `${legible}<div style="position: relative; background: #222; height: 3em"></div>${faint("x", "position: relative; top: -3em")}`,
    ],
  ] as const)("name a text that is hard to read because of %s", async ([, body]) => {
    const opened = await browser.newPage();
    await opened.setContent(page(body));
    await expect.poll(() => listAxeFindings(opened)).toEqual(["serious color-contrast: #x"]);
  });

  test("are none for legible text, judged again after a change", async () => {
    const opened = await browser.newPage();
    await opened.setContent(page(legible));
    await expect.poll(() => listAxeFindings(opened)).toEqual([]);
    await opened.evaluate("document.querySelector('p:last-child').style.color = '#bbb'");
    await expect.poll(() => listAxeFindings(opened)).toEqual([expect.stringContaining("color-contrast")]);
  });
});
