import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { makeMedia } from "../harness/media/media-files.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import {
  type BrowsedSite,
  expireSessionAtNextChange,
  fillSignIn,
  forgetSession,
  listAxeFindings,
  signInByPage,
  startBrowsedSite,
} from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { waitUntil } from "../harness/wait-until.ts";

describe.skipIf(!hasBrowser)("the playground", () => {
  let site: BrowsedSite;
  let email: string;
  /** One person with money is signed in once; each test has its own window. */
  let signedIn: Awaited<ReturnType<BrowserContext["storageState"]>>;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
    await offerLesserModels(site);
    email = await site.createPerson({ credit: "20.00" });
    await using opened = await openSignedInPage(site, email);
    signedIn = await opened.page.context().storageState();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function openPlayground(model: string, { width = 1440 } = {}) {
    const opened = await site.openPage({ viewport: { width, height: 900 }, storageState: signedIn });
    await opened.page.goto(`/console/playground?model=${model}`);
    await opened.page.getByRole("combobox", { name: "Model", exact: true }).waitFor();
    return opened;
  }

  test("an answer has its cost, its tokens and its speed, and the balance is updated", async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    await say(page, "What is 6 * 7?");
    const answer = answers(page).last();
    await answer.getByText("Cost").first().waitFor();
    await expect
      .poll(() => answer.textContent())
      .toMatch(/42.*Cost ?\$0\.0\d+.*Input tokens ?\d+.*Output tokens ?\d+.*Time to first token ?[\d.]+ m?s/s);
    await answer.getByRole("button", { name: "Regenerate" }).click();
    await answer.getByText("Cost").first().waitFor();
    await expect.poll(() => answers(page).count()).toBe(1);
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("a message has its price before it is sent, in a line that was there before", async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    const note = page.getByRole("note", { name: "Price of this message" });
    const message = page.getByLabel("Message", { exact: true });
    await message.waitFor();
    const place = await note.boundingBox();
    await message.fill("What is 6 * 7?");
    await expect.poll(() => note.textContent()).toMatch(/^Costs about \$0\.\d+, at most \$0\.\d+$/);
    expect(await note.boundingBox()).toEqual(place);
    await page.route("**/console/api/quote", (route) => route.fulfill({ status: 503, json: {} }));
    await message.fill("What is 7 * 8?");
    await expect.poll(() => note.textContent()).toBe("The price cannot be shown right now.");
    await page.unroute("**/console/api/quote");
    const error = {
      code: "context_length_exceeded",
      message: "The prompt is too long.",
      type: "invalid_request_error",
    };
    const json = { error: { ...error, param: "messages" }, request_id: "req_1" };
    await page.route("**/console/api/quote", (route) => route.fulfill({ status: 400, json }));
    await message.fill("What is 8 * 9?");
    await expect.poll(() => note.textContent()).toBe("The prompt is too long.");
    await message.fill("");
    await expect.poll(() => note.textContent()).toBe("");
    expect(await note.boundingBox()).toEqual(place);
  });

  test("a run costs at most what its quote has said", async () => {
    await using opened = await openPlayground("sandbox-image");
    const { page } = opened;
    const quoted = page.waitForResponse((response) => response.url().endsWith("/quote"));
    await page.getByLabel("Prompt").fill("A lighthouse");
    const quote = await (await quoted).json();
    await page
      .getByText(/^Costs \$0\.\d+$/)
      .first()
      .waitFor();
    const sending = page.waitForRequest((request) => request.url().endsWith("/images/generations"));
    await page.getByRole("button", { name: "Generate" }).click();
    expect((await sending).headers()["x-quote-id"]).toBe(quote.id);
    await page
      .getByText(/^Cost \$0\.\d+$/)
      .first()
      .waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("model output is rendered as text only, and its code can be copied", async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    await say(page, '<img src="/x" onerror="alert(1)"> and `code`');
    await answers(page).last().getByText("Cost").first().waitFor();
    await expect.poll(() => answers(page).locator("img").count()).toBe(0);
    await expect.poll(() => answers(page).last().textContent()).toContain("<img");
    expect(opened.complaints).toEqual([]);
  });

  test("Stop ends an answer, keeps the received part, and the gateway stops the upstream", async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    await say(page, "[[slow:0.2]] [[long:2000]] Tell me everything.");
    const answer = answers(page).last();
    await answer.getByText("This is one").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await answer.getByText("You stopped this response.").first().waitFor();
    await expect.poll(() => answer.textContent()).toContain("This is one");
    await waitUntil("the work is stopped", () =>
      site.gateway.logs.some((line) => line.aborted === true && String(line.route).endsWith("/chat/completions")),
    );
    await answer.getByText("Cost").first().waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });

  test("a reload or an expired session loses neither input nor conversation", { tags: "extended" }, async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    await say(page, "Remember the lighthouse.");
    await answers(page).last().getByText("Cost").first().waitFor();
    await page.getByLabel("System message").fill("Be brief.");
    await messageField(page).fill("Half a sen");
    await page.reload();
    await answers(page).last().getByText("Cost").first().waitFor();
    await expect.poll(() => messageField(page).inputValue()).toBe("Half a sen");
    await expect.poll(() => page.getByLabel("System message").inputValue()).toBe("Be brief.");
    await expireSessionAtNextChange(page);
    await say(page, "And now a whole one.");
    await page.waitForURL(/\/sign-in\?next=/);
    await fillSignIn(page, email);
    await page.getByRole("article", { name: "You" }).getByText("And now a whole one.").first().waitFor();
    await page.getByRole("button", { name: "Generate response" }).click();
    await answers(page).nth(1).getByText("Cost").first().waitFor();
    const stranger = await site.createPerson();
    await forgetSession(page);
    await signInByPage(page, stranger, "/console/playground");
    await page.getByText("Send a message").first().waitFor();
  });

  test("tools are offered, their calls are shown, and a typed result continues the conversation", {
    tags: "extended",
  }, async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    await page.getByLabel("Enable tools").check();
    await say(page, "What is the weather in Oslo?");
    await answers(page).last().getByText("get_weather").first().waitFor();
    await page.getByLabel("Result of get_weather").fill("Rain, 4 degrees");
    await page.getByRole("button", { name: "Send the result" }).click();
    await page.getByRole("article", { name: "Result of get_weather" }).waitFor();
    await answers(page).nth(1).getByText("Cost").first().waitFor();
    await expect.poll(() => answers(page).last().textContent()).toMatch(/Rain, 4 degrees/);
  });

  test("errors are shown at their fields: before sending where the page can check, afterwards otherwise", async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    await page.getByLabel("Temperature").fill("9");
    await say(page, "Hello");
    await expect.poll(() => describedBy(page, page.getByLabel("Temperature"))).toContain("from 0 to 2");
    await expect.poll(() => messageField(page).inputValue()).toBe("Hello");
    await page.getByLabel("Temperature").fill("");
    await page.getByLabel("Enable tools").check();
    const tools = page.getByLabel("Tools (JSON)");
    await tools.fill('[{"type": "function", "function": {"name": "no spaces allowed"}}]');
    await messageField(page).press("Enter");
    await page.locator("textarea[name=tools][aria-invalid=true]").waitFor();
    await expect.poll(() => describedBy(page, tools)).toMatch(/name/);
    await page.getByRole("article", { name: "You" }).getByRole("button", { name: "Edit" }).click();
    await expect.poll(() => messageField(page).inputValue()).toBe("Hello");
  });

  test("a low balance, an upstream failure and a lost connection each have an error with a retry", async () => {
    const poor = await site.createPerson();
    await using opened = await openSignedInPage(site, poor);
    const { page } = opened;
    await page.goto("/console/playground");
    await say(page, "Hello");
    await page.getByRole("alert").getByText("Insufficient balance", { exact: true }).first().waitFor();
    await expect
      .poll(() => page.getByRole("link", { name: "Go to billing" }).getAttribute("href"))
      .toBe("/console/billing");
    await page.getByRole("link", { name: "Balance" }).waitFor();
    await using rich = await openPlayground("sandbox-chat");
    await say(rich.page, "[[503]] Hello");
    await rich.page.getByRole("alert").getByText("Model unavailable").first().waitFor();
    await rich.page.getByRole("button", { name: "Edit" }).click();
    await rich.page.context().setOffline(true);
    await say(rich.page, "Hello again");
    await rich.page.getByRole("alert").getByText("No connection").first().waitFor();
    await rich.page.context().setOffline(false);
    await rich.page.getByRole("button", { name: "Try again" }).click();
    await answers(rich.page).last().getByText("Cost").first().waitFor();
    await expect.poll(() => rich.page.getByRole("alert").count()).toBe(0);
  });

  test("an image in a message is sent to a vision model, and one that is too large is rejected at once", {
    tags: "extended",
  }, async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    const chooser = page.locator("input[type=file]");
    await chooser.setInputFiles({ name: "huge.png", mimeType: "image/png", buffer: Buffer.alloc(5_000_000) });
    await page.getByRole("alert").getByText("huge.png is too large").first().waitFor();
    await chooser.setInputFiles({ name: "sea.png", mimeType: "image/png", buffer: await makeMedia("png") });
    await page.getByRole("button", { name: "Remove sea.png" }).waitFor();
    await say(page, "What is this?");
    await page.getByRole("article", { name: "You" }).getByRole("img", { name: "sea.png" }).waitFor();
    await answers(page).last().getByText("Cost").first().waitFor();
    await page.getByRole("button", { name: "Show code" }).click();
    await page.getByRole("button", { name: "Hide code" }).waitFor();
    await expect
      .poll(() => page.getByRole("region", { name: "Code", exact: true }).textContent())
      .toContain("YOUR_IMAGE");
  });

  test("images start from a dropped file, cost the announced price, are shown, and survive a reload", {
    tags: "extended",
  }, async () => {
    await using opened = await openPlayground("sandbox-image");
    const { page } = opened;
    const drop = page.getByRole("group", { name: "Start images" }).locator("[data-drop-area]");
    await dropFile(drop, { name: "notes.txt", type: "text/plain", content: Buffer.from("no image") });
    await page.getByRole("alert").getByText("notes.txt has the wrong type").first().waitFor();
    await dropFile(drop, { name: "liar.png", type: "image/png", content: Buffer.from("no image either") });
    await page.getByRole("alert").waitFor();
    await dropFile(drop, { name: "start.png", type: "image/png", content: await makeMedia("png") });
    await waitUntilLoaded(drop.getByRole("img", { name: "start.png" }));
    await page.getByRole("button", { name: "Generate" }).click();
    await expect.poll(() => describedBy(page, page.getByLabel("Prompt"))).toContain("This field is required.");
    await page.getByLabel("Prompt").fill("A lighthouse at dusk");
    await page.getByLabel("Size").selectOption("512x512");
    await page.getByLabel("Number of images").fill("2");
    await page.getByText("Costs $0.04").first().waitFor();
    await page.getByRole("button", { name: "Generate" }).click();
    const result = page.getByRole("region", { name: "Result" });
    await waitUntilLoaded(result.getByRole("img", { name: "image 2" }));
    await result.getByText("Cost $0.04").first().waitFor();
    await page.reload();
    await waitUntilLoaded(result.getByRole("img", { name: "image 1" }));
    await expect.poll(() => page.getByLabel("Prompt").inputValue()).toBe("A lighthouse at dusk");
    await expect.poll(() => drop.getByRole("img", { name: "start.png" }).count()).toBe(1);
    const path = await result.getByRole("link", { name: "Open task" }).getAttribute("href");
    const fileId = /file_\w+/.exec((await result.getByRole("img", { name: "image 1" }).getAttribute("src")) ?? "")?.[0];
    await page.getByLabel("Prompt").fill("Something else");
    await result.getByRole("button", { name: "Edit and run again" }).click();
    await expect.poll(() => page.getByLabel("Prompt").inputValue()).toBe("A lighthouse at dusk");
    await page.getByRole("button", { name: "Recent files: Start images" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /^Use / }).first().click();
    await expect.poll(() => drop.getByRole("button", { name: /^Remove / }).count()).toBe(2);
    await result.getByRole("button", { name: "Use image 1 as input" }).click();
    await page.getByRole("menuitem", { name: "Person for an avatar" }).click();
    await page.waitForURL(/model=sandbox-avatar/);
    await waitUntilLoaded(page.getByRole("group", { name: "Person" }).getByRole("img", { name: "image 1" }));
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
    await opensFromAddress({ taskId: path?.split("/").at(-1) ?? "", fileId: fileId ?? "" });
  });

  /** In a new window without any earlier state. */
  async function opensFromAddress({ taskId, fileId }: { taskId: string; fileId: string }): Promise<void> {
    await using opened = await site.openPage({ storageState: signedIn });
    const { page } = opened;
    await page.goto(`/console/playground?task=${taskId}`);
    await page.waitForURL(/\?model=sandbox-image$/);
    await expect.poll(() => page.getByLabel("Prompt").inputValue()).toBe("A lighthouse at dusk");
    await expect.poll(() => page.getByLabel("Size").inputValue()).toBe("512x512");
    await page.getByRole("button", { name: "Remove start.png" }).waitFor();
    await page.getByRole("region", { name: "Result" }).getByRole("img", { name: "image 1" }).waitFor();
    await page.getByRole("region", { name: "History" }).getByRole("button", { pressed: true }).waitFor();
    await page.goto(`/console/playground?input=${fileId}`);
    await page.getByRole("button", { name: "Start image for a video" }).click();
    await page.waitForURL(/\?model=sandbox-video$/);
    await page
      .getByRole("group", { name: "Start image" })
      .getByRole("button", { name: /^Remove / })
      .waitFor();
    await page.goto("/console/playground?task=task_nobody");
    await page.getByText("Could not load the task's request.").first().waitFor();
    expect(opened.complaints).toEqual([]);
  }

  test("speech is generated in the chosen voice, plays in the page, and speaks for an avatar", {
    tags: "extended",
  }, async () => {
    await using opened = await openPlayground("sandbox-speech");
    const { page } = opened;
    await page.getByLabel("Text").fill("The gate is open.");
    await page.getByLabel("Voice").selectOption("nova");
    await page.getByLabel("Format").selectOption("wav");
    await page.getByRole("button", { name: "Generate" }).click();
    const audio = page.getByRole("region", { name: "Result" }).locator("audio");
    await audio.waitFor();
    await audio.evaluate((player: { play(): Promise<void> }) => player.play());
    await waitUntil(
      "it plays",
      async () => Number(await audio.evaluate((player: { currentTime: number }) => player.currentTime)) > 0,
    );
    await page
      .getByText(/^Cost \$0\.000255$/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Use audio as input" }).click();
    await page.getByRole("menuitem", { name: "Voice for an avatar" }).click();
    await page.getByRole("group", { name: "Voice" }).getByRole("button", { name: "Remove audio" }).waitFor();
    const place = page.getByText("Output appears here");
    await dropFile(place, { name: "face.png", type: "image/png", content: await makeMedia("png") });
    await waitUntilLoaded(page.getByRole("group", { name: "Person" }).getByRole("img", { name: "face.png" }));
    await page.getByText("Costs at most $0.15").first().waitFor();
  });

  test("an avatar starts with one of the sample faces and voices", { tags: "extended" }, async () => {
    await using opened = await openPlayground("sandbox-avatar");
    const { page } = opened;
    const samples = page.getByRole("region", { name: "Samples" });
    await expect.poll(() => samples.getByRole("img").count()).toBe(3);
    await page.getByRole("button", { name: "Use this face and voice: Woman with glasses" }).click();
    await waitUntilLoaded(page.getByRole("group", { name: "Person" }).getByRole("img", { name: "sample-face.webp" }));
    await page.getByRole("group", { name: "Voice" }).getByRole("button", { name: "Remove sample-voice.mp3" }).waitFor();
    await page
      .getByText(/^Costs at most \$0\.\d+$/)
      .first()
      .waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("a running video shows its progress and can be canceled", { tags: "extended" }, async () => {
    await using opened = await openPlayground("sandbox-video");
    const { page } = opened;
    await page.getByLabel("Prompt").fill("[[stuck]] Waves at night");
    await page.getByLabel("Duration").selectOption("10");
    await page.getByText("Costs $0.50").first().waitFor();
    await page.getByRole("button", { name: "Generate" }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByRole("progressbar").waitFor();
    await result.getByRole("button", { name: "Cancel" }).click();
    await result.getByText("Canceled").first().waitFor();
    await result.getByText("Cost $0.00").first().waitFor();
    await result.getByRole("link", { name: "Open task" }).click();
    await page.waitForURL(/\/console\/tasks\/task_/);
  });

  test("a drama runs without a webhook, shows its steps, and its hold follows the script", {
    tags: "extended",
  }, async () => {
    await using opened = await openPlayground("sandbox-drama");
    const { page } = opened;
    await page.getByLabel("Title").fill("The Lighthouse");
    await page.getByLabel("Story or script").fill("Anna climbs the stairs. The lamp is out.");
    await page.getByLabel("Stop after").selectOption("script");
    await page.getByRole("button", { name: "Generate" }).click();
    const steps = page.getByRole("list", { name: "Steps" });
    await steps.getByText("Succeeded").first().waitFor();
    await steps.locator("summary").click();
    await steps.getByText("drama.script").first().waitFor();
    await page.getByText("Cost $0.02").first().waitFor();
    await page.getByLabel("Stop after").selectOption("video");
    await page
      .getByText(/Costs about \$\d/)
      .first()
      .waitFor();
    await page
      .getByText(/Estimated from the script: \d+ shots.*At most \$2\.53 for 30 s/)
      .first()
      .waitFor();
    await page.getByLabel("Stop after").selectOption("storyboard");
    await page.getByRole("button", { name: "Generate" }).click();
    await editsStoryboard(page);
  });

  /** Changes, moves and redraws a shot, then requests the video from the edited storyboard. */
  async function editsStoryboard(page: Page): Promise<void> {
    const board = page.getByRole("region", { name: "Storyboard" });
    const shots = board.getByRole("list", { name: "Shots" }).getByRole("button");
    await shots.first().click();
    await board.getByRole("button", { name: "Add a shot" }).click();
    await shots.nth(1).getByText("Drawn with the video").first().waitFor();
    await board.getByLabel("What the shot shows").fill("A lamp that is out");
    await board.getByRole("button", { name: "Move left" }).click();
    await shots.first().getByText("A lamp that is out").first().waitFor();
    await board.getByLabel("Image model").selectOption("small-image");
    await board.getByText("Costs $0.01").first().waitFor();
    await board.getByRole("button", { name: "Re-shoot" }).click();
    await waitUntilLoaded(shots.first().locator("img"));
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    const asked = page.waitForRequest(
      (request) => request.method() === "POST" && request.url().endsWith("/dramas/generations"),
    );
    await board.getByRole("button", { name: "Make the video" }).click();
    const { script, stage } = (await asked).postDataJSON();
    expect(stage).toBe("video");
    expect(script.shots[0]).toMatchObject({ id: "shot-2", prompt: "A lamp that is out" });
    expect(script.shots[0].image_file_id).toMatch(/^file_/);
    expect(script.shots[1].id).toBe("shot-1");
    const result = page.getByRole("region", { name: "Result" });
    await result.getByRole("button", { name: "Cancel" }).click();
    await result.getByText("Canceled").first().waitFor();
  }

  test("a model is found by its description, by keyboard, and shown before the address changes", {
    tags: "extended",
  }, async () => {
    await using opened = await openPlayground("sandbox-chat");
    const { page } = opened;
    const picker = page.getByRole("combobox", { name: "Model", exact: true });
    await picker.focus();
    await page.keyboard.press("Enter");
    const list = page.getByRole("listbox");
    await list.getByRole("option", { name: /Sandbox Image.*\$0\.02 \/ image/ }).waitFor();
    await page.keyboard.type("aloud");
    await expect.poll(() => list.getByRole("option").count()).toBe(1);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await picker.getByText("Sandbox Speech").first().waitFor();
    await page.waitForURL(/model=sandbox-speech/);
    await page.getByRole("button", { name: /^Announcement/ }).click();
    await expect.poll(() => page.getByLabel("Text").inputValue()).toContain("ferry");
    expect(opened.complaints).toEqual([]);
  });

  test("models answer side by side with their costs; unsupported settings are named, and Stop ends all", {
    tags: "extended",
  }, async () => {
    await using opened = await openPlayground("sandbox-chat", { width: 390 });
    const { page } = opened;
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL(/compare=plain-chat/);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Reasoning effort").selectOption("low");
    await page.getByText("Plain Chat: Reasoning effort is not sent.").first().waitFor();
    await say(page, "What is 6 * 7?");
    for (const name of ["sandbox-chat", "plain-chat"]) {
      const answer = page.getByRole("article", { name: `Response of ${name}` });
      await expect.poll(() => answer.textContent()).toMatch(/42.*Cost ?\$0\.0\d+.*Total time/s);
    }
    await page.getByText("Cheapest").first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await say(page, "[[slow:0.2]] [[long:2000]] Tell me everything.");
    await page.getByRole("button", { name: "Stop all" }).click();
    await expect.poll(() => page.getByText("You stopped this response.").count()).toBe(2);
    await say(page, "[[503]] Hello");
    await expect.poll(() => page.getByRole("alert").getByText("Model unavailable").count()).toBe(2);
    await page.getByRole("button", { name: "Remove model 2" }).click();
    await page.waitForURL(/\?model=sandbox-chat$/);
  });

  test("images of several models are created from one form, each with the settings it supports", {
    tags: "extended",
  }, async () => {
    await using opened = await site.openPage({ storageState: signedIn });
    const { page } = opened;
    await page.goto("/console/playground?model=sandbox-image&compare=small-image");
    await page.getByLabel("Prompt").fill("A lighthouse at dusk");
    await page.getByLabel("Size").selectOption("512x512");
    await page.getByText("Costs $0.03 in total").first().waitFor();
    await page.getByLabel("Number of images").fill("2");
    await page.getByText("Number of images is not sent.").first().waitFor();
    await page.getByLabel("Number of images").fill("");
    await page.getByRole("button", { name: "Generate with 2 models" }).click();
    for (const [name, cost] of [
      ["Sandbox Image", "Cost $0.02"],
      ["Small Image", "Cost $0.01"],
    ] as const) {
      const result = page.getByRole("region", { name: `Result of ${name}` });
      await waitUntilLoaded(result.getByRole("img", { name: "image" }));
      await result.getByText(cost).first().waitFor();
    }
    expect(opened.complaints).toEqual([]);
  });

  test("the sample code follows the form", async () => {
    await using opened = await openPlayground("sandbox-video");
    const { page } = opened;
    await page.getByRole("button", { name: "Show code" }).click();
    await page.getByLabel("Prompt").fill("A storm in a teacup");
    await page.getByLabel("Aspect ratio").selectOption("9:16");
    const code = page.getByRole("region", { name: "Code", exact: true });
    await code.getByText("A storm in a teacup").first().waitFor();
    await expect.poll(() => code.textContent()).toContain(`${site.siteUrl}/v1/videos/generations`);
    await code.getByRole("tab", { name: "Python" }).click();
    await expect.poll(() => code.textContent()).toMatch(/"aspect_ratio": "9:16"/);
  });

  test.for(["sandbox-chat", "sandbox-drama"])(
    "axe finds nothing with %s, and a narrow window does not scroll sideways",
    { tags: "extended" },
    async (model) => {
      await using opened = await openPlayground(model, { width: 390 });
      const { page } = opened;
      if (model === "sandbox-chat") {
        await page.getByRole("button", { name: "Settings" }).click();
        await page.getByLabel("Enable tools").check();
        await say(page, "[[long:50]] Hello");
        await answers(page).last().getByText("Cost").first().waitFor();
      } else {
        await page.getByRole("button", { name: "Add a character" }).click();
        await page.getByRole("button", { name: "Generate" }).click();
      }
      await expect
        .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
        .toBeLessThanOrEqual(0);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
    },
  );

  test("a model that the account cannot use is reported as missing, and another one is offered", async () => {
    await using opened = await openPlayground("no-such-model");
    await opened.page.getByText("Model no-such-model is not available to this account.").first().waitFor();
    await messageField(opened.page).waitFor();
  });
});

/** Adds two models with fewer features to the sandbox's, for comparison. */
async function offerLesserModels(site: BrowsedSite): Promise<void> {
  const catalog = parse(readFileSync(join(repositoryDir, "catalogs/sandbox.yaml"), "utf8"));
  const [chat, image] = catalog.models;
  const [chatPrice, imagePrice] = catalog.prices;
  const sizes = ["512x512"];
  catalog.models.push(
    { ...chat, id: "plain-chat", name: "Plain Chat", capabilities: ["chat", "streaming"] },
    { ...image, id: "small-image", name: "Small Image", capabilities: ["text_to_image"], limits: { sizes } },
  );
  catalog.prices.push(
    { ...chatPrice, model: "plain-chat", input_price: "0.001", output_price: "0.002" },
    { ...imagePrice, model: "small-image", price: "0.01" },
  );
  const outcome = await site.gateway.applyCatalog(stringify(catalog));
  if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems));
  await waitUntil("the catalog to be served", () => site.gateway.catalogVersion() === outcome.version);
}

function messageField(page: Page): Locator {
  return page.getByRole("textbox", { name: "Message", exact: true });
}

function answers(page: Page): Locator {
  return page.getByRole("article", { name: /^Response of/ });
}

async function say(page: Page, text: string): Promise<void> {
  await messageField(page).fill(text);
  await messageField(page).press("Enter");
}

/** The first description of a field, which is its error if it has one. */
async function describedBy(page: Page, field: Locator): Promise<string | null> {
  const ids = (await field.getAttribute("aria-describedby")) ?? "";
  return await page.locator(`[id="${ids.split(" ")[0]}"]`).textContent();
}

async function waitUntilLoaded(image: Locator): Promise<void> {
  await image.waitFor();
  await waitUntil(
    "the image is shown",
    async () => Number(await image.evaluate((element: { naturalWidth: number }) => element.naturalWidth)) > 0,
  );
}

type DroppedFile = { name: string; type: string; content: Buffer };

/** Drops a file on an element as a browser does. */
async function dropFile(place: Locator, { name, type, content }: DroppedFile): Promise<void> {
  const file = JSON.stringify({ name, type, base64: content.toString("base64") });
  const transfer = await place.page().evaluateHandle(`(() => {
    const { name, type, base64 } = ${file};
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], name, { type }));
    return transfer;
  })()`);
  await place.dispatchEvent("dragover", { dataTransfer: transfer });
  await place.dispatchEvent("drop", { dataTransfer: transfer });
}
