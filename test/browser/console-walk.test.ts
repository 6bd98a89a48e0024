import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeMedia } from "../harness/media/media-files.ts";
import { type BrowsedSite, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { beginRequest } from "../harness/site/connect-program.ts";
import { createConsolePerson } from "../harness/site/console-person.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import {
  type ConsoleThings,
  furnishConsole,
  givePlan,
  multiplyThings,
  offerModelsAs,
} from "../harness/site/furnish-console.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { planRoundTrip, planTour, type Stop, walk } from "../harness/site/walk-console.ts";

const minuteMs = 60_000;
const stopsAtOnce = 20;
const many = 3_000;

const places: readonly Stop[] = [
  { path: "/console", heading: "Overview" },
  { path: "/console/playground", heading: "Playground" },
  { path: "/console/models", heading: "Models and prices" },
  { path: "/console/models/sandbox-image", heading: "Sandbox Image" },
  { path: "/console/keys", heading: "API keys" },
  { path: "/console/requests", heading: "Requests" },
  { path: "/console/tasks", heading: "Tasks" },
  { path: "/console/webhooks", heading: "Webhooks" },
  { path: "/console/usage", heading: "Usage" },
  { path: "/console/billing", heading: "Billing" },
  { path: "/console/settings", heading: "Settings" },
];

/** Every page. */
function listPages({ task, charge, endpoint, request, name, model }: ConsoleThings): Stop[] {
  return [
    ...places,
    { path: `/console/requests/${request}`, heading: `Images with ${model}` },
    { path: `/console/tasks/${task}`, heading: name.length <= 80 ? name : `${name.slice(0, 79)}…` },
    { path: `/console/usage/charges/${charge}`, heading: `Charge for ${model}` },
    { path: `/console/webhooks/${endpoint}`, heading: "Webhook endpoint" },
  ];
}

/** Every page, and other states of some. */
function listStops(things: ConsoleThings): Stop[] {
  const { key } = things;
  return [
    ...listPages(things),
    { path: "/console/nonsense", heading: "Page not found" },
    { path: `/console/keys?ended=1&key=${key}`, heading: "API keys" },
    { path: "/console/usage?bar=all", heading: "Usage" },
  ];
}

describe.skipIf(!hasBrowser)("through the pages of the console", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function walkAll(email: string, tour: readonly Stop[]): Promise<string[]> {
    await using opened = await openSignedInPage(site, email);
    const { page, complaints } = opened;
    page.on("response", (answer) => {
      if (answer.status() >= 400) complaints.push(`${answer.status()} ${answer.url()}`);
    });
    await page.goto("/console");
    const problems: string[] = [];
    for (let done = 0; done < tour.length && problems.length === 0; done += stopsAtOnce) {
      problems.push(...(await walk(page, tour.slice(done, done + stopsAtOnce))));
      // Advances the clock past the rate limit, which so many pages would exceed.
      site.clock.advance(minuteMs);
    }
    return [...problems, ...complaints];
  }

  test("a control that is stored in the address responds before the address changes", {
    tags: "extended",
  }, async () => {
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    const controls = [
      ["/console/keys", "Show expired and revoked", true],
      ["/console/models", "Search models", "image"],
      ["/console/models", "Type", "image"],
      ["/console/tasks", "Status", "failed"],
      ["/console/usage", "Period", "7"],
      ["/console/billing", "First day", "2026-03-01"],
    ] as const;
    for (const [path, label, value] of controls) {
      await page.goto(path);
      const control = page.getByLabel(label, { exact: true });
      await control.waitFor();
      // A select exists before its options, which come from the server.
      const isChoice = await control.evaluate(({ tagName }: Control) => tagName === "SELECT");
      if (isChoice) await control.locator(`option[value="${value}"]`).waitFor({ state: "attached" });
      const before = page.url();
      expect(await control.evaluate(changeControl, String(value)), label).toBe(value);
      await expect.poll(() => page.url()).not.toBe(before);
    }
    expect(opened.complaints).toEqual([]);
  });

  test("a new account, there and back", async () => {
    expect(await walkAll(await site.createPerson(), planRoundTrip(places))).toEqual([]);
  });

  test("an account with one of everything, from every page to every other", { tags: "extended" }, async () => {
    const person = await createConsolePerson(site);
    const things = await furnishConsole(site, person, { name: "Harbour" });
    expect(await walkAll(person.email, planTour(listPages(things)))).toEqual([]);
  });

  test("an account with thousands of everything, there and back", { tags: "extended" }, async () => {
    const person = await createConsolePerson(site);
    const things = await furnishConsole(site, person, { name: "Harbour" });
    await multiplyThings(site, person, many);
    expect(await walkAll(person.email, planRoundTrip(listStops(things)))).toEqual([]);
  });

  test("names of a hundred unbroken characters break no layout, in a wide and a narrow window", async () => {
    const nameOf = (word: string) => word.padEnd(100, "W");
    const imageModel = nameOf("sandbox-image");
    const person = await createConsolePerson(site, { email: `${nameOf("e")}@example.com` });
    await offerModelsAs(site, nameOf);
    await givePlan(site, person, nameOf("plan"));
    const things = await furnishConsole(site, person, { name: nameOf("name"), imageModel });
    const question = { model: nameOf("sandbox-chat"), messages: [{ role: "user", content: "Hello" }] };
    await person.call("POST", "/chat/completions", question);
    const requestId = await beginRequest(site.gateway, { client: nameOf("client").slice(0, 64) });
    const stops = [
      ...listStops(things),
      { path: `/console/models/${imageModel}`, heading: imageModel },
      { path: `/console/playground?model=${imageModel}`, heading: "Playground" },
      { path: `/console/playground?model=${nameOf("sandbox-chat")}`, heading: "Playground" },
      { path: `/console/keys?key=${things.key}&do=edit`, heading: "API keys" },
      { path: `/console/keys?key=${things.key}&do=revoke`, heading: "API keys" },
      { path: `/console/webhooks/${things.endpoint}?do=delete`, heading: "Webhook endpoint" },
      { path: "/", heading: "One API for chat, images, video and speech" },
      { path: `/connect/requests/${requestId}`, heading: "Connect a program" },
    ];
    await using opened = await openSignedInPage(site, person.email);
    const { page } = opened;
    await page.goto("/console");
    const faults: string[] = [];
    const measure = async (place: string) => {
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        faults.push(...(await findLayoutFaults(page)).map((fault) => `${place} at ${width}: ${fault}`));
      }
    };
    for (const stop of stops) {
      expect(await walk(page, [stop])).toEqual([]);
      await measure(stop.path);
    }
    await walk(page, [{ path: "/console/webhooks", heading: "Webhooks" }]);
    await page.getByText("task.succeeded").click();
    await page.getByRole("region", { name: "Event", exact: true }).waitFor();
    await measure("an event");
    await walk(page, [{ path: `/console/playground?model=${imageModel}`, heading: "Playground" }]);
    const file = { name: `${nameOf("file")}.png`, mimeType: "image/png", buffer: await makeMedia("png") };
    await page.locator("input[type=file]").setInputFiles(file);
    await page.getByRole("button", { name: "Remove file" }).waitFor();
    await measure("an uploaded file");
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: /^Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    faults.push(...(await findLayoutFaults(page)).filter((fault) => !fault.includes(" lies on ")));
    expect(faults).toEqual([]);
  });
});

type Control = {
  type: string;
  tagName: string;
  checked: boolean;
  value: string;
  click(): void;
  dispatchEvent(event: Event): void;
};

/** Changes a control as a person does, and reads it before the browser does anything else. */
function changeControl(control: Control, value: string): string | boolean {
  if (control.type === "checkbox") {
    control.click();
    return control.checked;
  }
  // React ignores changes of the value that went through its own setter.
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), "value")?.set?.call(control, value);
  control.dispatchEvent(new Event(control.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
  return control.value;
}
