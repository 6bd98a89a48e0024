import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { changeAccount } from "../../../src/app/change-account.ts";
import { createPlan } from "../../../src/features/accounts/index.ts";
import { nano } from "../../../src/lib/money.ts";
import { makeMedia, mediaSize } from "../../harness/media/media-files.ts";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import { writeTaskPrice } from "../../harness/tasks/task-catalog.ts";
import {
  openTaskStage,
  paths,
  type StageCaller,
  type TaskStage,
  type WholeTask,
  writePictures,
  writeStageCatalog,
} from "../../harness/tasks/task-stage.ts";
import type { FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { film, voice } from "../../harness/upstreams/media-samples.ts";

let stage: TaskStage;

function writeCatalog(upstream: FakeUpstreams, price = "0.05"): string {
  return writeStageCatalog(upstream, {
    models: [writePictures("changing", ["fal"])],
    prices: [writeTaskPrice("changing", "image", price)],
  });
}

beforeAll(async () => {
  stage = await openTaskStage({ catalog: writeCatalog });
});
afterEach(async () => {
  await stage.handedOver();
  await stage.check();
});
afterAll(() => stage[Symbol.asyncDispose]());

const image = { model: "image", prompt: "A lighthouse" };

/** The hold and charge of the caller's only task, and what is left of 10.00. */
async function readLedger(caller: StageCaller) {
  const [hold] = await caller.listHolds();
  const [charge] = await caller.listCharges();
  const { available, frozen } = await caller.readBalance();
  expect(frozen).toBe("0.00");
  return {
    held: hold?.amount ?? null,
    ended: hold?.state ?? null,
    items: charge?.items ?? null,
    paid: charge?.paid ?? null,
    left: available,
  };
}

describe("a task that succeeded is charged", () => {
  const cases: readonly { what: string; path: string; body: object; items: object; held: string; paid: string }[] = [
    { what: "for each picture", path: paths.image, body: { ...image, n: 3 }, ...priced({ images: 3 }, "0.12", "0.12") },
    {
      what: "for each delivered second, if fewer than requested",
      path: paths.video,
      body: { model: "video", prompt: "Waves", duration: 5 },
      ...priced({ seconds: 1 }, "0.50", "0.10"),
    },
    {
      what: "for each requested second",
      path: paths.video,
      body: { model: "video", prompt: "Waves", duration: 1 },
      ...priced({ seconds: 1 }, "0.10", "0.10"),
    },
    {
      what: "the minimum where the seconds cost less",
      path: paths.video,
      body: { model: "epic", prompt: "Waves", duration: 1 },
      ...priced({ seconds: 1 }, "0.45", "0.45"),
    },
    {
      what: "the minimum where fewer seconds came than asked for",
      path: paths.video,
      body: { model: "epic", prompt: "Waves", duration: 5 },
      ...priced({ seconds: 1 }, "0.50", "0.45"),
    },
    {
      what: "for the call, however many pictures it makes",
      path: paths.image,
      body: { model: "stamp", prompt: "Three", n: 3 },
      ...priced({ calls: 1 }, "0.30", "0.30"),
    },
  ];

  test.each(cases)("$what", async ({ path, body, items, held, paid }) => {
    const caller = await stage.createCaller();
    const task = await caller.finish(path, { ...body });
    expect(task).toMatchObject({ status: "succeeded", usage: { charge: paid, estimated_charge: held } });
    const left = (10 - Number(paid)).toFixed(2);
    expect(await readLedger(caller)).toEqual({ held, ended: "settled", items, paid, left });
    expect(await caller.listEvents()).toMatchObject([
      { type: "task.succeeded", data: { task_id: task.id, usage: task.usage } },
    ]);
  });

  test("for each spoken character, including spaces and punctuation", async () => {
    const caller = await stage.createCaller();
    const text = "Grüße \u{1F600}".repeat(100);
    const body = { model: "speech", input: text, voice: "alloy" };
    const { id } = await caller.submit(paths.speech, body, { headers: { prefer: "respond-async" } });
    const task = await caller.awaitTask(id);
    expect(task).toMatchObject({ status: "succeeded", type: "speech", usage: { total_units: 1, charge: "0.0105" } });
    expect(await readLedger(caller)).toMatchObject({ items: { characters: 700 }, held: "0.0105", paid: "0.0105" });
  });

  test("for the seconds of the audio that an avatar speaks", async () => {
    const caller = await stage.createCaller();
    const file = await caller.upload(voice.bytes);
    const person = await caller.upload(film.bytes);
    const task = await caller.finish(paths.avatar, { model: "avatar", avatar_file_id: person, audio_file_id: file });
    expect(task.usage).toEqual({ total_units: 1, charge: "0.20", estimated_charge: "0.20" });
  });

  test("only for the delivered outputs, with a warning, if the model made fewer than requested", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ withheldCount: 2 });
    const task = await caller.finish(paths.image, { ...image, n: 4 });
    expect(task).toMatchObject({
      status: "succeeded",
      usage: { total_units: 2, charge: "0.08", estimated_charge: "0.16" },
      warnings: [{ code: "fewer_outputs", message: expect.stringContaining("2 of 4") }],
    });
    expect(task.output).toHaveLength(2);
    expect(await readLedger(caller)).toMatchObject({ held: "0.16", items: { images: 2 }, paid: "0.08", left: "9.92" });
  });

  test("for no more than requested, and delivers no more", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ extraCount: 2 });
    const task = await caller.finish(paths.image, { ...image, n: 2 });
    expect(task.output).toHaveLength(2);
    expect(task).not.toHaveProperty("warnings");
    expect(await readLedger(caller)).toMatchObject({ items: { images: 2 }, paid: "0.08" });
  });

  test("for the requested seconds, if the video is longer", async () => {
    await using server = await startRecordingServer(async (_, response) => {
      response.writeHead(200, { "content-type": "video/mp4" }).end(await makeMedia("mp4"));
    });
    const caller = await stage.createCaller();
    stage.media.script({ outputUrl: `${server.url}/long.mp4` });
    const task = await caller.finish(paths.video, { model: "video", prompt: "Waves", duration: 1 });
    expect(task.output).toMatchObject([{ duration: mediaSize.seconds }]);
    expect(task.usage).toEqual({ total_units: 1, charge: "0.10", estimated_charge: "0.10" });
  });

  test("the price of its submission, even if the price has changed since", async () => {
    const caller = await stage.createCaller();
    const finish = createGate();
    stage.media.script({ beforeFinish: finish });
    const { id } = await caller.submit(paths.image, { model: "changing", prompt: "Now" });
    await caller.awaitTask(id, ["processing"]);
    await stage.applyCatalog(writeCatalog(stage.upstream, "0.50"));
    finish.open();
    const first = await caller.awaitTask(id);
    const second = await caller.finish(paths.image, { model: "changing", prompt: "Later" });
    expect([first.usage.charge, second.usage.charge]).toEqual(["0.05", "0.50"]);
    const [before, after] = await caller.listCharges();
    expect(before?.priceId).not.toBe(after?.priceId);
  });
});

describe("a task costs nothing", () => {
  const failures = [
    { what: "that failed", prompt: "<<fault:fail>>", code: "upstream_unavailable" },
    { what: "that was refused for its content", prompt: "<<fault:policy>>", code: "content_policy_violation" },
    { what: "whose only output is a page", prompt: "<<fault:output-html>>", code: "upstream_unavailable" },
    { what: "whose fields the model refuses", prompt: "<<fault:status=422>>", code: "invalid_parameter" },
  ];

  test.each(failures)("$what", async ({ prompt, code }) => {
    const caller = await stage.createCaller();
    const task = await caller.finish(paths.image, { model: "image", prompt });
    expect(task).toMatchObject({ status: "failed", progress: 0, output: [], error: { code } });
    expect(task.usage).toEqual({ total_units: 0, charge: "0.00", estimated_charge: "0.04" });
    expect(await readLedger(caller)).toEqual({
      held: "0.04",
      ended: "released",
      items: null,
      paid: null,
      left: "10.00",
    });
    expect(await caller.listEvents()).toMatchObject([{ type: "task.failed", data: { error: task.error } }]);
  });

  test("of a free model: nothing is on hold, and no money is needed", async () => {
    const caller = await stage.createCaller({ cash: "0" });
    const task = await caller.finish(paths.image, { model: "gift", prompt: "For you", n: 2 });
    expect(task).toMatchObject({ status: "succeeded", usage: { charge: "0.00", estimated_charge: "0.00" } });
    expect([await caller.listHolds(), await caller.listCharges()]).toEqual([[], []]);
  });
});

describe("payment sources", () => {
  async function createQuotaCaller(quotas: { image?: bigint; video?: bigint; text?: bigint }, cash = "0") {
    const id = `plan-${Object.entries(quotas).flat().join("-")}-${cash}`;
    const whole = { text: 0n, image: 0n, video: 0n, ...quotas };
    await createPlan(stage.gateway.parts, { id, name: id, limits: {}, period: "month", quotas: whole });
    const caller = await stage.createCaller({ cash });
    await changeAccount(stage.gateway.parts, caller.accountId, { planId: id });
    return caller;
  }

  test("a plan's quota pays in full, in its own unit, for the delivered outputs", async () => {
    const caller = await createQuotaCaller({ image: 3n, video: 5n, text: 100n });
    stage.media.script({ withheldCount: 1 });
    const pictures = await caller.finish(paths.image, { ...image, n: 3 });
    const waves = await caller.finish(paths.video, { model: "video", prompt: "Waves", duration: 5 });
    expect([pictures.usage.charge, waves.usage.charge]).toEqual(["0.00", "0.00"]);
    expect(await caller.listHolds()).toMatchObject([
      { unit: "image", amount: "3", settled: "2" },
      { unit: "video", amount: "5", settled: "1" },
    ]);
    expect(await caller.listCharges()).toMatchObject([
      { unit: "image", paid: "2" },
      { unit: "video", paid: "1" },
    ]);
    const refused = await caller.post(paths.image, { ...image, n: 2 });
    expect(refused.status).toBe(402);
  });

  test("a quota that does not cover all of a task pays none of it: money does", async () => {
    const caller = await createQuotaCaller({ image: 2n }, "1");
    await caller.finish(paths.image, { ...image, n: 3 });
    expect(await caller.listCharges()).toMatchObject([{ unit: "money", paid: "0.12" }]);
    await caller.finish(paths.image, { ...image, n: 2 });
    expect(await caller.listCharges()).toMatchObject([{ unit: "money" }, { unit: "image", paid: "2" }]);
  });

  test("a key's budget counts charges, and a failure returns its part", async () => {
    const budget = { amount: nano(120_000_000n), period: "month" } as const;
    const caller = await stage.createCaller({ budget });
    await caller.finish(paths.image, { ...image, n: 2, prompt: "<<fault:fail>>" });
    await caller.finish(paths.image, { ...image, n: 2 });
    expect((await caller.post(paths.image, { ...image, n: 2 })).status).toBe(402);
    const last = await caller.finish(paths.image, image);
    expect(last.usage.charge).toBe("0.04");
    expect((await caller.post(paths.image, image)).status).toBe(402);
  });

  test("a hold lasts until the end, and the unused part is then released", async () => {
    const caller = await stage.createCaller({ cash: "0.60" });
    const finish = createGate();
    stage.media.script({ beforeFinish: finish });
    const { id } = await caller.submit(paths.video, { model: "video", prompt: "Waves", duration: 5 });
    expect(await caller.readBalance()).toEqual({ available: "0.10", frozen: "0.50" });
    const held = { amount: "0.50", unit: "money", key_id: caller.keyId, task_id: id, model: "video" };
    expect(await (await caller.get("/holds")).json()).toMatchObject({ data: [held] });
    expect((await caller.post(paths.image, { ...image, n: 3 })).status).toBe(402);
    finish.open();
    const task: WholeTask = await caller.awaitTask(id);
    expect(task.usage.charge).toBe("0.10");
    expect(await caller.readBalance()).toEqual({ available: "0.50", frozen: "0.00" });
    expect(await (await caller.get("/holds")).json()).toMatchObject({ data: [] });
  });

  test("a task's charge is found by the task, and by its own account only", async () => {
    const caller = await stage.createCaller();
    const task = await caller.finish(paths.image, { ...image, n: 2 });
    await caller.finish(paths.image, image);
    const path = `/charges?task_id=${task.id}`;
    const { data } = (await (await caller.get(path)).json()) as { data: { id: string }[] };
    const told = { charge: "0.08", model: "image", key_id: caller.keyId, task_id: task.id, summary: "2 images" };
    expect(data).toMatchObject([{ ...told, request_id: task.request_id, cause: { kind: "task", id: task.id } }]);
    const explained = await (await caller.get(`/charges/${data[0]?.id}`)).json();
    expect(explained).toMatchObject({ ...told, items: [{ name: "images", quantity: 2, rate: "0.04", per: 1 }] });
    const stranger = await stage.createCaller();
    expect(await (await stranger.get(path)).json()).toMatchObject({ data: [] });
  });
});

function priced(items: object, held: string, paid: string) {
  return { items, held, paid };
}
