import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEventInbox } from "../../src/features/webhooks/index.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../harness/servers/webhook-receiver.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { type ConsolePerson, createConsolePerson } from "../harness/site/console-person.ts";
import { openSignedInPage, signInByCookie } from "../harness/site/signed-in-page.ts";

type Opened = Awaited<ReturnType<BrowsedSite["openPage"]>>;
type Ids = Record<"done" | "failed" | "stuck" | "drama", string>;

const image = { model: "sandbox-image", size: "512x512" };
const video = { model: "sandbox-video", prompt: "A storm in a teacup" };
const wait = { prefer: "wait=60" };

/** Tasks with every outcome, run by the sandbox. */
async function makeTasks(person: ConsolePerson): Promise<Ids> {
  const images = "/images/generations";
  const done = { ...image, prompt: "A lighthouse", metadata: { order: "1234" } };
  const script = {
    model: "sandbox-drama",
    stage: "script",
    title: "The Lamp",
    script: "Anna climbs. The lamp is out.",
  };
  const { id: doneId } = await person.call("POST", images, done, wait);
  const { id: failedId } = await person.call("POST", images, { ...image, prompt: "[[fail:content_policy]]" }, wait);
  const { id: dramaId } = await person.call("POST", "/dramas/generations", script, wait);
  const { id: stuckId } = await person.call("POST", images, { ...image, prompt: "Endless [[stuck]]" });
  return { done: doneId, failed: failedId, drama: dramaId, stuck: stuckId };
}

describe.skipIf(!hasBrowser)("tasks in the console", () => {
  let site: BrowsedSite;
  let person: ConsolePerson;
  let receiver: WebhookReceiver;
  let ids: Ids;
  let opened: Opened;
  let page: Page;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
    receiver = await startWebhookReceiver();
    person = await createConsolePerson(site);
    const { database, parts } = site.gateway;
    await database
      .updateTable("accounts")
      .set({ time_zone: "Asia/Tokyo" })
      .where("id", "=", person.accountId)
      .execute();
    await openEventInbox(database, person.accountId, parts.clock.now());
    await person.call("POST", "/webhook_endpoints", { url: receiver.url });
    ids = await makeTasks(person);
    opened = await site.openPage({ timezoneId: "UTC" });
    page = opened.page;
    await signInByCookie(site, page, person.email);
    await page.goto("/console/tasks");
    await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const rowOf = (id: string) => page.getByRole("row").filter({ hasText: id });
  const cellOf = (prompt: string) => page.getByRole("gridcell").filter({ hasText: prompt });
  const section = (name: string) => page.getByRole("region", { name, exact: true });

  async function open(id: string): Promise<void> {
    await page.goto(`/console/tasks/${id}`);
    await page.getByText(id).first().waitFor();
  }

  test("the list is newest first, each task with its status, charge and local time", async () => {
    await page.goto("/console/tasks?view=table");
    await rowOf(ids.done).waitFor();
    const readRows = async (): Promise<string[]> => (await page.getByRole("row").allInnerTexts()).slice(1);
    const order = [ids.stuck, ids.drama, ids.failed, ids.done];
    const readOrder = (text: string): number => order.findIndex((id) => text.includes(id));
    await expect.poll(async () => (await readRows()).map(readOrder)).toEqual([0, 1, 2, 3]);
    const readState = (text: string): string | undefined => /Processing|Queued|Failed|Succeeded/.exec(text)?.[0];
    await expect
      .poll(async () => (await readRows()).map(readState))
      .toEqual([expect.stringMatching(/Processing|Queued/), "Succeeded", "Failed", "Succeeded"]);
    await expect.poll(async () => (await readRows())[3]).toContain("$0.02");
    const { created } = await person.call("GET", `/tasks/${ids.done}`);
    const tokyo = new Intl.DateTimeFormat("en", { timeZone: "Asia/Tokyo", dateStyle: "medium", timeStyle: "short" });
    await expect.poll(async () => (await readRows())[3]).toContain(tokyo.format(new Date(created * 1000)));
  });

  test("filters are in the address, and an empty list shows how to reset them", async () => {
    await page.goto("/console/tasks");
    await page.getByRole("button", { name: "Table" }).click();
    await rowOf(ids.done).waitFor();
    await page.getByLabel("Status").selectOption("failed");
    await rowOf(ids.done).waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("?view=table&status=failed");
    await page.reload();
    await rowOf(ids.failed).waitFor();
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await page.getByLabel("Model").selectOption("sandbox-video");
    await page.getByText("No tasks match.").first().waitFor();
    await page.getByRole("button", { name: "Show all tasks" }).click();
    await rowOf(ids.done).waitFor();
    await page.goto("/console/tasks?view=table&status=nonsense&type=drama");
    await rowOf(ids.drama).waitFor();
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
  });

  test("the gallery shows outputs as thumbnails with prompt and charge, and can be searched", async () => {
    await page.goto("/console/tasks");
    await cellOf("A lighthouse").getByText("$0.02").first().waitFor();
    const readImage = (name: string) =>
      page.evaluate(`document.querySelector('[role=gridcell] img[src*="/thumbnail?"]').${name}`);
    await expect.poll(() => readImage("naturalWidth")).toBe(512);
    await page.getByRole("button", { name: "All 4" }).waitFor();
    await page.getByRole("button", { name: "Drama 1" }).click();
    await cellOf("The Lamp").waitFor();
    await expect.poll(() => page.getByRole("gridcell").count()).toBe(1);
    await page.getByRole("button", { name: /^All/ }).click();
    await page.getByLabel("Search tasks").fill("LIGHT house");
    await page.waitForURL("**/console/tasks?q=LIGHT+house");
    await expect.poll(() => page.getByRole("gridcell").count()).toBe(1);
    await cellOf("A lighthouse").waitFor();
    await page.getByLabel("Created until").fill("2026-01-01");
    await page.getByText("No tasks match.").first().waitFor();
  });

  test("speech is shown as a waveform with its pauses and its peak", { tags: "extended" }, async () => {
    const spoken = { model: "sandbox-speech", input: "Wait. ... Listen! ... There.", voice: "nova" };
    await person.call("POST", "/audio/speech", spoken, { prefer: "respond-async, wait=60" });
    await page.goto("/console/tasks?type=speech");
    const readHeights = async (): Promise<number[]> => {
      const bars = cellOf("Wait. ... Listen!").locator('[style*="%"]');
      const styles = await bars.evaluateAll((elements) => elements.map((element) => element.getAttribute("style")));
      return styles.map((style) => Number(/height: (\d+)%/.exec(style ?? "")?.[1]));
    };
    await expect.poll(async () => Math.max(...(await readHeights()))).toBe(100);
    const heights = await readHeights();
    expect(heights).toHaveLength(28);
    expect(Math.min(...heights)).toBeLessThan(20);
    expect(new Set(heights).size).toBeGreaterThan(5);
    expect(opened.complaints).toEqual([]);
  });

  test("the gallery works by keyboard, and offers actions for the selected outputs", { tags: "extended" }, async () => {
    await page.goto("/console/tasks");
    await cellOf("Endless").focus();
    for (const key of ["ArrowRight", "ArrowLeft", "End", "Space"]) await page.keyboard.press(key);
    await expect.poll(() => cellOf("A lighthouse").getAttribute("aria-selected")).toBe("true");
    const bar = section("Selected tasks");
    await bar.getByText("1 selected").first().waitFor();
    await expect
      .poll(() => bar.getByRole("link", { name: "Run again" }).getAttribute("href"))
      .toBe(`/console/playground?model=sandbox-image&task=${ids.done}`);
    await expect
      .poll(() => bar.getByRole("link", { name: "Use as input" }).getAttribute("href"))
      .toMatch(/^\/console\/playground\?input=file_/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      bar.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^sandbox-image-a-lighthouse-\d{4}-\d\d-\d\d\.(png|webp|jpg)$/);
    await page.keyboard.press("Escape");
    await cellOf("A lighthouse").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/console/tasks/${ids.done}`);
  });

  test("a list of thousands of tasks renders the visible ones, and loads more before its end", {
    tags: "extended",
  }, async () => {
    const task = await person.call("GET", `/tasks/${ids.failed}`);
    const asked: string[] = [];
    await page.route("**/console/api/tasks?**", (route) => {
      const after = Number(new URL(route.request().url()).searchParams.get("after")?.slice("task_".length) ?? 0);
      asked.push(String(after));
      const data = Array.from({ length: 60 }, (_, index) => ({ ...task, id: `task_${after + index + 1}` }));
      const next = after + 60 < 3000 ? `task_${after + 60}` : null;
      return route.fulfill({ json: { object: "list", data, has_more: next !== null, next_cursor: next } });
    });
    await page.goto("/console/tasks");
    const grid = page.getByRole("grid", { name: "Tasks" });
    await grid.getByRole("gridcell").first().focus();
    // The loaded rows render a moment later; until then the list's end is where it was.
    const goToEnd = async (): Promise<string[]> => {
      await page.keyboard.press("End");
      return asked;
    };
    await expect.poll(goToEnd).toContain("180");
    await expect.poll(async () => Number(await grid.getAttribute("aria-rowcount"))).toBeGreaterThanOrEqual(45);
    await expect.poll(() => grid.getByRole("gridcell").count()).toBeLessThan(60);
    await page.unroute("**/console/api/tasks?**");
  });

  test("several tasks are canceled together, after one confirmation", async () => {
    const order = { ...image, prompt: "Unwanted [[stuck]]" };
    const made = await Promise.all([1, 2].map(() => person.call("POST", "/images/generations", order)));
    await page.goto("/console/tasks?view=table&q=unwanted");
    for (const { id } of made) await rowOf(id).getByRole("checkbox").check();
    await section("Selected tasks").getByRole("button", { name: "Cancel 2 tasks" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel 2 tasks" }).click();
    await page.getByText("2 of 2 canceled.").first().waitFor();
    for (const { id } of made) await rowOf(id).getByText("Canceled").first().waitFor();
  });

  test("a finished task shows its output, its cost, its request and its duration", async () => {
    await open(ids.done);
    await section("Result").getByRole("img").waitFor();
    await expect.poll(() => page.evaluate("document.querySelector('main img').naturalWidth")).toBe(512);
    await expect
      .poll(() => section("Result").getByRole("link", { name: "Download" }).getAttribute("href"))
      .toMatch(/^\/files\//);
    await expect.poll(() => section("Result").innerText()).toContain("Stored until");
    const request = JSON.parse(await section("Request").locator("code").last().innerText());
    expect(request).toEqual({ ...image, prompt: "A lighthouse", n: 1, metadata: { order: "1234" } });
    const readFacts = () => page.locator("main").innerText();
    // A task that ended before the first poll has no observed start.
    const times = /Created[\s\S]*(Started[\s\S]*Succeeded[\s\S]*took \d|Succeeded[\s\S]*after \d)/;
    await expect.poll(readFacts).toMatch(times);
    await expect.poll(readFacts).toContain("1234");
    const link = page.getByRole("link", { name: "Explain this charge" });
    await expect.poll(() => link.getAttribute("href")).toMatch(/^\/console\/usage\/charges\/txn_/);
  });

  test("a video takes its place before it has loaded", { tags: "extended" }, async () => {
    const { id } = await person.call("POST", "/videos/generations", { ...video, aspect_ratio: "9:16" }, wait);
    // The browser complains of what is aborted.
    await using own = await openSignedInPage(site, person.email);
    const measure = async () => {
      const shown = own.page.getByRole("region", { name: "Result", exact: true }).locator("video");
      await shown.waitFor();
      const { width, height } = (await shown.boundingBox()) ?? {};
      return { width, height };
    };
    await own.page.route(/\/files\//, (route) => route.abort());
    await own.page.goto(`/console/tasks/${id}`);
    const unloaded = await measure();
    await own.page.unroute(/\/files\//);
    await own.page.goto(`/console/tasks/${id}`);
    await expect
      .poll(() => own.page.evaluate("document.querySelector('main video')?.videoHeight ?? 0"))
      .toBeGreaterThan(0);
    expect(await measure()).toEqual(unloaded);
  });

  test("the receivers of a task's event are shown, and the event can be resent", async () => {
    await open(ids.done);
    await section("Webhooks").getByText("Delivered").first().waitFor();
    await expect.poll(() => section("Webhooks").innerText()).toContain(receiver.url);
    const count = () => receiver.deliveries.filter(({ body }) => body.includes(ids.done)).length;
    expect(count()).toBe(1);
    await section("Webhooks").getByRole("button", { name: "Resend" }).click();
    await expect.poll(count).toBe(2);
    await expect.poll(() => section("Webhooks").getByText("Delivered").count()).toBe(2);
  });

  test("a failed task shows the reason, whether a retry can help, and that it is free", async () => {
    await open(ids.failed);
    const alert = page.getByRole("alert");
    await alert.getByText("content_policy_violation").first().waitFor();
    await expect
      .poll(() => alert.innerText())
      .toMatch(/Change the request before you retry: it would fail again\. It costs nothing\./);
    await expect.poll(() => page.getByRole("link", { name: "Explain this charge" }).count()).toBe(0);
  });

  test("a task with a deleted request shows that, and cannot be run again", { tags: "extended" }, async () => {
    const { id } = await person.call("POST", "/images/generations", { ...image, prompt: "A secret" });
    const { database } = site.gateway;
    await expect
      .poll(
        async () => (await database.selectFrom("tasks").select("phase").where("id", "=", id).executeTakeFirst())?.phase,
      )
      .toBe("ended");
    const erased = { request: JSON.stringify({ type: "image" }), inputs: "[]", prompt_erased_at: new Date() };
    await database.updateTable("tasks").set(erased).where("id", "=", id).execute();
    await open(id);
    await section("Request").getByText("No longer stored. It was erased on").first().waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Run again" }).count()).toBe(0);
  });

  test("a drama shows its steps with their charges, and a document as text", async () => {
    await open(ids.drama);
    await expect
      .poll(async () => (await section("Steps").innerText()).replaceAll(/\s+/g, " "))
      .toMatch(/Script Succeeded.*\$0\.02/i);
    await section("Result").getByText("Script", { exact: true }).click();
    await section("Result").getByText('"object": "drama.script"').first().waitFor();
  });

  test("a drama's child task leads to the list and to its drama", { tags: "extended" }, async () => {
    const { id } = await person.call("POST", "/images/generations", { ...image, prompt: "A shot" });
    // A drama with images takes long; the page needs only the parent's ID.
    await page.route(`**/console/api/tasks/${id}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), parent_id: ids.drama } });
    });
    await open(id);
    const breadcrumbs = page.getByRole("navigation", { name: "Breadcrumbs" });
    await expect.poll(() => breadcrumbs.getByRole("link").allTextContents()).toEqual(["Tasks", "Drama"]);
    await expect.poll(() => breadcrumbs.locator("[aria-current=page]").textContent()).toBe("A shot");
    await breadcrumbs.getByRole("link", { name: "Drama" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/console/tasks/${ids.drama}`);
  });

  test("a page follows its task through the console's one change stream, and opens no other", {
    tags: "extended",
  }, async () => {
    const { id } = await person.call("POST", "/images/generations", { ...image, prompt: "Slow [[delay:3]]" });
    const asked: string[] = [];
    const note = (request: { url(): string }) => asked.push(new URL(request.url()).pathname);
    page.on("request", note);
    await open(id);
    await section("Result").getByText("updates automatically").first().waitFor();
    await section("Result").getByRole("img").waitFor();
    page.off("request", note);
    expect(asked.filter((path) => path === "/console/api/changes")).toHaveLength(1);
    expect(asked).not.toContain(`/console/api/tasks/${id}/events`);
    await expect.poll(() => page.getByRole("button", { name: "Cancel task" }).count()).toBe(0);
  });

  test("a task is canceled only after a confirmation, by keyboard alone, and the list is updated", async () => {
    await using second = await openSignedInPage(site, person.email);
    await second.page.goto("/console/tasks?view=table");
    const listed = second.page.getByRole("row").filter({ hasText: ids.stuck });
    await listed.getByText("Processing").first().waitFor();
    await open(ids.stuck);
    const button = page.getByRole("button", { name: "Cancel task" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Cancel this task?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await person.call("GET", `/tasks/${ids.stuck}`)).status).toBe("processing");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel task" }).focus();
    await page.keyboard.press("Enter");
    await section("Result").getByText("Canceled before any output.").first().waitFor();
    await listed.getByText("Canceled").first().waitFor();
    expect((await person.call("GET", `/tasks/${ids.stuck}`)).status).toBe("canceled");
  });

  test("another account's task is not found, like a missing one, and an empty list shows what to do", async () => {
    await using other = await openSignedInPage(site, await site.createPerson());
    await other.page.goto("/console/tasks");
    await other.page.getByText("No tasks yet").first().waitFor();
    await other.page.getByRole("link", { name: "Try it in the playground" }).waitFor();
    for (const id of [ids.done, "task_nobody"]) {
      await other.page.goto(`/console/tasks/${id}`);
      await other.page.getByRole("heading", { name: "Task not found" }).waitFor();
      await expect.poll(() => other.page.locator("main").innerText()).not.toContain("lighthouse");
    }
    expect(other.complaints).toEqual([]);
  });

  test.each(["gallery", "table", "done", "failed", "drama"] as const)(
    "the page of %s fits every window in both colour schemes, without axe or console errors",
    { tags: "extended" },
    async (which) => {
      const isList = which === "gallery" || which === "table";
      const path = isList ? `/console/tasks?view=${which}` : `/console/tasks/${ids[which]}`;
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize({ width: 1440, height: 900 });
      await openSettled(page, path);
      for (const [width, colorScheme] of [
        [1440, "light"],
        [768, "light"],
        [390, "dark"],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        if (width !== 768) await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
      expect(opened.complaints).toEqual([]);
      expect(opened.foreignRequests).toEqual([]);
    },
  );
});
