import type { Page } from "playwright-core";

/** A page of the site: its address, and its heading once it is loaded. */
export type Stop = { path: string; heading: string };

/** A path that goes from every stop to every other exactly once, and ends where it began. */
export function planTour(stops: readonly Stop[]): Stop[] {
  const pairs = stops.flatMap((stop, index) => stops.slice(index + 1).flatMap((later) => [stop, later]));
  return [...pairs, ...stops.slice(0, 1)];
}

/** Each page once without anything in memory, and once with what the pages after it left there. */
export function planRoundTrip(stops: readonly Stop[]): Stop[] {
  return [...stops, ...stops.slice(0, -1).reverse()];
}

/** The heading of the error page. */
const errorHeading = "This page could not be shown";
const stepMsMax = 20_000;

/**
 * Navigates by the site's own links without a reload, so that each page finds the memory of the one before. Returns the
 * failures: a page that broke or did not load.
 */
export async function walk(page: Page, stops: readonly Stop[]): Promise<string[]> {
  // As text, because the test's types do not include the page's. One call for many steps: each call costs the browser
  // more than a step.
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
