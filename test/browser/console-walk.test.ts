import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, startBrowsedSite } from "../harness/browsed-site.ts";
import { hasBrowser } from "../harness/browser.ts";
import { createConsolePerson } from "../harness/console-person.ts";
import { type ConsoleThings, furnishConsole, multiplyThings } from "../harness/furnish-console.ts";
import { openSignedInPage } from "../harness/signed-in-page.ts";
import { planTour, type Stop, walk } from "../harness/walk-console.ts";

const minuteMs = 60_000;
const stopsAtOnce = 20;
const many = 3_000;

const places: readonly Stop[] = [
  { path: "/console", heading: "Overview" },
  { path: "/console/playground", heading: "Playground" },
  { path: "/console/models", heading: "Models and prices" },
  { path: "/console/models/sandbox-image", heading: "Sandbox Image" },
  { path: "/console/keys", heading: "API keys" },
  { path: "/console/tasks", heading: "Tasks" },
  { path: "/console/webhooks", heading: "Webhooks" },
  { path: "/console/usage", heading: "Usage" },
  { path: "/console/billing", heading: "Billing" },
  { path: "/console/settings", heading: "Settings" },
];

function listStops({ task, charge, endpoint, key }: ConsoleThings): Stop[] {
  return [
    ...places,
    { path: `/console/tasks/${task}`, heading: "Image task" },
    { path: `/console/usage/charges/${charge}`, heading: "Charge" },
    { path: `/console/webhooks/${endpoint}`, heading: "Webhook endpoint" },
    { path: `/console/keys?ended=1&key=${key}`, heading: "API keys" },
    { path: "/console/usage?bar=all", heading: "Usage" },
  ];
}

describe.skipIf(!hasBrowser)("from every page of the console to every other, and back", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function walkAll(email: string, stops: readonly Stop[]): Promise<string[]> {
    await using opened = await openSignedInPage(site, email);
    const { page, complaints } = opened;
    page.on("response", (answer) => {
      if (answer.status() >= 400) complaints.push(`${answer.status()} ${answer.url()}`);
    });
    await page.goto("/console");
    const tour = planTour(stops);
    const problems: string[] = [];
    for (let done = 0; done < tour.length && problems.length === 0; done += stopsAtOnce) {
      problems.push(...(await walk(page, tour.slice(done, done + stopsAtOnce))));
      // Nobody looks at so many pages in a minute, and who does is slowed down.
      site.clock.advance(minuteMs);
    }
    return [...problems, ...complaints];
  }

  test("a new account", async () => {
    expect(await walkAll(await site.createPerson(), places)).toEqual([]);
  });

  test("an account that has one of everything", async () => {
    const person = await createConsolePerson(site);
    const things = await furnishConsole(site, person, "Harbour");
    expect(await walkAll(person.email, listStops(things))).toEqual([]);
  });

  test("an account that has thousands of everything", async () => {
    const person = await createConsolePerson(site);
    const things = await furnishConsole(site, person, "Harbour");
    await multiplyThings(site, person, many);
    expect(await walkAll(person.email, listStops(things))).toEqual([]);
  });
});
