import type { Page } from "playwright-core";

/** A page of the site as the reader knows it: its address, and the heading that it has once it has come. */
export type Stop = { path: string; heading: string };

/** A way that leads from every stop to every other exactly once, and ends where it began. */
export function planTour(stops: readonly Stop[]): Stop[] {
  const pairs = stops.flatMap((stop, index) => stops.slice(index + 1).flatMap((later) => [stop, later]));
  return [...pairs, ...stops.slice(0, 1)];
}

/** The heading of the page that stands for one that broke. */
const errorHeading = "This page could not be shown";
const stepMsMax = 20_000;

/**
 * Goes from page to page as the site's own links do, without loading anything anew, so that each page finds what the
 * one before it left in memory. Returns what is wrong: a page that broke or did not come.
 */
export async function walk(page: Page, stops: readonly Stop[]): Promise<string[]> {
  // Text, because the test's types know nothing of the page's. One call for many steps: each costs the browser more
  // than the step does.
  return (await page.evaluate(`(async (stops) => {
    const problems = [];
    const isSettled = (heading) =>
      document.querySelector("h1")?.textContent === heading &&
      document.querySelector("[aria-busy=true], .animate-pulse") === null;
    let before = location.pathname;
    for (const { path, heading } of stops) {
      history.pushState({}, "", path);
      const givenUpAt = performance.now() + ${stepMsMax};
      const isBroken = () => document.querySelector("h1")?.textContent === ${JSON.stringify(errorHeading)};
      while (!isSettled(heading) && !isBroken() && performance.now() < givenUpAt) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      if (!isSettled(heading)) {
        problems.push(before + " → " + path + ": " + document.querySelector("main")?.innerText.slice(0, 200));
      }
      before = path;
    }
    return problems;
  })(${JSON.stringify(stops)})`)) as string[];
}
