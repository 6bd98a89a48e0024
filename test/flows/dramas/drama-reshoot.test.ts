// @module-tag extended
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { listBlocks } from "../../harness/doc-blocks.ts";
import type { Play } from "../../harness/dramas/drama-play.ts";
import { type Director, type DramaStage, openDramaStage, type SeenDrama } from "../../harness/dramas/drama-stage.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { readProblem } from "../../harness/tasks/task-stage.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/** A dialogue, a line that becomes an avatar video, and a shot without lines. */
const play: Play = [
  [
    {
      seen: ["Anna", "Ben"],
      lines: [
        ["Anna", "The lamp is out."],
        ["Ben", "Then climb."],
      ],
    },
    { seen: ["Anna"], lines: [["Anna", "Not alone."]] },
    { seen: ["Ben"], seconds: 2 },
  ],
];

let stage: DramaStage;
let director: Director;
let first: SeenDrama;

beforeAll(async () => {
  const seeded = { drawsInQueue: true, offersSeed: true };
  stage = await openDramaStage({ casts: [{ name: "drama", ...seeded }, "partial", "slow"] });
  stage.perform(play);
  director = await stage.createDirector({ cash: "50.00" });
  first = await director.make({ model: "drama", title: "The Lighthouse", script: "Anna.", style: "Ink", seed: 5 });
}, 120_000);
afterEach(() => stage.check());
afterAll(async () => {
  expect([...stage.media.refusals(), ...stage.upstream.refusals()]).toEqual([]);
  await stage[Symbol.asyncDispose]();
});

type Body = Record<string, unknown>;

async function ask(taskId: string, shot: number | string, body: Body = {}, headers: Record<string, string> = {}) {
  const whole = { callback_url: stage.receiver.url, ...body };
  return await director.post(`/dramas/${taskId}/shots/${shot}`, whole, { headers });
}

async function reshoot(taskId: string, shot: number, body: Body = {}): Promise<SeenDrama> {
  const response = await ask(taskId, shot, body);
  expect(response.status).toBe(202);
  return await director.awaitDrama(((await response.json()) as SeenDrama).id);
}

const mediaParts = ["image", "video", "avatar", "speech"] as const;

function countSubmissions(cast = "drama"): Record<string, number> {
  return Object.fromEntries(mediaParts.map((part) => [part, stage.listSubmissions(cast, part).length]));
}

/** What the vendors were asked for between two counts. */
async function countDuring(work: () => Promise<unknown>, cast?: string): Promise<number[]> {
  const before = countSubmissions(cast);
  await work();
  const after = countSubmissions(cast);
  return mediaParts.map((part) => (after[part] ?? 0) - (before[part] ?? 0));
}

async function hashOutput(drama: SeenDrama, type: string): Promise<string> {
  const output = drama.output.find((each) => each.type === type);
  if (output === undefined) throw new Error(`There is no ${type}.`);
  return createHash("sha256")
    .update(await director.fetchOutput(output))
    .digest("hex");
}

/** The guide's request, which `guide-samples.test.ts` cannot send: it has no finished video. */
function readGuide(): { shot: string; body: Body } {
  const blocks = listBlocks(readFileSync(join(repositoryDir, "docs/api/dramas.md"), "utf8"));
  const { text = "" } = blocks.find((block) => block.text.includes("/shots/")) ?? {};
  const [, shot = "", body = ""] = /\/v1\/dramas\/task_…\/shots\/(\d+) .*-d '(.*)'$/ms.exec(text.trim()) ?? [];
  return { shot, body: JSON.parse(body) };
}

describe("a shot is made again", () => {
  let second: SeenDrama;

  test("with a new image and clip for a new prompt, in a new video; the earlier video stays", async () => {
    const earlier = await hashOutput(first, "video");
    const headers = { "idempotency-key": "umbrella" };
    const guide = readGuide();
    expect(guide).toEqual({ shot: "3", body: { prompt: "Ben opens an umbrella." } });
    const body = { ...guide.body, metadata: { take: "2" } };
    const asked = await countDuring(async () => {
      const begun = (await (await ask(first.id, 3, body, headers)).json()) as SeenDrama;
      second = await director.awaitDrama(begun.id);
    });
    expect(asked).toEqual([1, 1, 0, 0]);
    expect(second).toMatchObject({ status: "succeeded", type: "drama", metadata: { take: "2" } });
    expect(second.steps.map(({ name, status, task_ids }) => [name, status, task_ids.length])).toEqual([
      ["shots", "succeeded", 2],
      ["film", "succeeded", 0],
    ]);
    expect(second.output.map(({ type }) => type)).toEqual(["video", "subtitles", "image"]);
    expect(await hashOutput(second, "subtitles")).toBe(await hashOutput(first, "subtitles"));
    expect(second.output[0]?.duration).toBe(first.output[0]?.duration);
    for (const part of ["image", "video"] as const) {
      const { prompt, fields } = stage.listSubmissions("drama", part).at(-1) ?? {};
      expect(prompt).toMatch(/^Ink\. .*Ben opens an umbrella\./);
      expect(fields?.seed).toBe(5);
    }
    expect(await hashOutput(await director.readDrama(first.id), "video")).toBe(earlier);
    const replay = await ask(first.id, 3, body, headers);
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    expect(((await replay.json()) as SeenDrama).id).toBe(second.id);
    expect(await readProblem(await ask(first.id, 1, body, headers))).toMatchObject({ code: "idempotency_key_reused" });
  });

  test("at the price of its own length, held and settled once, with one event", async () => {
    // 2 s at 0.08 are below the minimum.
    expect(second.usage).toMatchObject({ charge: "0.40", estimated_charge: "0.40" });
    const holds = (await director.listHolds()).filter(({ causeId }) => causeId === second.id);
    expect(holds).toMatchObject([{ state: "settled", amount: "0.40", settled: "0.40" }]);
    const events = await director.listEvents();
    expect(events.filter(({ data }) => (data as { task_id: string }).task_id === second.id)).toHaveLength(1);
  });

  test("without a prompt from the same image with a new seed, also in a video that was itself cut again", async () => {
    let third: SeenDrama | undefined;
    const asked = await countDuring(async () => {
      third = await reshoot(second.id, 1);
    });
    expect(asked).toEqual([0, 1, 0, 0]);
    expect(third).toMatchObject({ status: "succeeded", output: [{ duration: first.output[0]?.duration }, {}, {}] });
    const ofFirst = stage.listSubmissions("drama", "video").filter(({ prompt }) => prompt.includes("Picture 1"));
    expect(new Set(ofFirst.map(({ prompt }) => prompt)).size).toBe(1);
    expect(ofFirst.map(({ fields }) => fields.seed === 5)).toEqual([true, false]);
    const query = stage.database.selectFrom("tasks").select("request");
    const { request } = await query.where("id", "=", third?.id ?? "").executeTakeFirstOrThrow();
    const { clips } = (request as unknown as { reshoot: { clips: Record<string, { fileId: string }> } }).reshoot;
    // It keeps the clip that the second video added.
    expect(clips["shot-3"]?.fileId).toBe(second.steps[0]?.output.find(({ type }) => type === "video")?.file_id);
    expect(clips["shot-1"]).toBeUndefined();
  });

  test("with the caller's seed", async () => {
    const gate = createGate();
    stage.treat("drama", "avatar", { beforeStart: gate, cancel: "gone" });
    const response = await ask(first.id, 2, { seed: 77 });
    const { id } = (await response.json()) as SeenDrama;
    await waitUntil("the clip", () => stage.listSubmissions("drama", "avatar").length === 2);
    expect(stage.listSubmissions("drama", "avatar").map(({ fields }) => fields.seed)).toEqual([5, 77]);
    await director.cancel(id);
    expect(await director.awaitDrama(id)).toMatchObject({ status: "canceled", usage: { charge: "0.00" } });
    gate.open();
  });

  test("that failed before, in a video that was allowed to omit it", async () => {
    let isRefused = true;
    const refusal = { status: 400, error: { message: "This is refused." } };
    const isLast = ({ model, prompt }: { model: string; prompt: string }): boolean =>
      isRefused && model.includes("/partial/video") && prompt.includes("Picture 3");
    stage.media.alwaysFor(isLast, refusal);
    const partial = await director.make({ model: "partial", allow_partial: true });
    expect(partial).toMatchObject({ status: "succeeded", warnings: [{ code: "fewer_outputs" }] });
    const vain = await reshoot(partial.id, 3);
    expect(vain).toMatchObject({ status: "failed", output: [], usage: { charge: "0.00" } });
    isRefused = false;
    const whole = await reshoot(partial.id, 3);
    expect(whole.status).toBe("succeeded");
    expect(whole.output[0]?.duration).toBeCloseTo((partial.output[0]?.duration ?? 0) + 2, 1);
    const problem = await readProblem(await ask(partial.id, 1, { seed: 1 }));
    expect(problem).toMatchObject({ status: 400, code: "unsupported_capability", param: "seed" });
  }, 60_000);
});

describe("a shot is refused", () => {
  test("for a task that does not exist, is another account's, or is no video", async () => {
    const other = await stage.createDirector();
    const foreign = await other.post(`/dramas/${first.id}/shots/1`, { callback_url: stage.receiver.url });
    expect(await readProblem(foreign)).toMatchObject({ status: 404, code: "task_not_found" });
    expect(await readProblem(await ask("task_nothing", 1))).toMatchObject({ status: 404, code: "task_not_found" });
    const board = await director.make({ model: "drama", stage: "script" });
    const refusal = { status: 409, code: "shot_not_available", param: "task_id" };
    expect(await readProblem(await ask(board.id, 1))).toMatchObject(refusal);
    const child = first.steps.find(({ name }) => name === "shots")?.task_ids[0] ?? "";
    expect(await readProblem(await ask(child, 1))).toMatchObject(refusal);
  });

  test("for a drama that runs or was canceled", async () => {
    const gate = createGate();
    stage.treatWriter("slow", "drama_script", { beforeHead: gate });
    const { id } = await director.send({ model: "slow" });
    expect(await readProblem(await ask(id, 1))).toMatchObject({ status: 409, code: "shot_not_available" });
    await director.cancel(id);
    gate.open();
    await director.awaitDrama(id);
    expect(await readProblem(await ask(id, 1))).toMatchObject({ status: 409, code: "shot_not_available" });
  });

  test("if the video has no such shot, or a field is wrong", async () => {
    for (const shot of ["0", "4", "999", "x", "1.5"]) {
      expect(await readProblem(await ask(first.id, shot))).toMatchObject({ status: 404, param: "shot_number" });
    }
    expect(await readProblem(await ask(first.id, 1, { prompt: " " }))).toMatchObject({ param: "prompt", status: 400 });
    expect(await readProblem(await ask(first.id, 1, { seed: -1 }))).toMatchObject({ param: "seed", status: 400 });
    expect(await readProblem(await ask(first.id, 1, { model: "drama" }))).toMatchObject({
      ...{ status: 400, code: "unknown_parameter", param: "model" },
    });
    const deaf = await director.post(`/dramas/${first.id}/shots/1`, {});
    expect(await readProblem(deaf)).toMatchObject({ status: 400, code: "webhook_required" });
  });

  test("if a part of the video has expired; nothing is held", async () => {
    const clip = first.steps.find(({ name }) => name === "shots")?.output.at(-1)?.file_id ?? "";
    const expire = (moment: Date) =>
      stage.database.updateTable("files").set({ expires_at: moment }).where("id", "=", clip).execute();
    const { expires_at: end } = await stage.database
      .selectFrom("files")
      .select("expires_at")
      .where("id", "=", clip)
      .executeTakeFirstOrThrow();
    await expire(new Date(0));
    const problem = await readProblem(await ask(first.id, 1));
    await expire(end);
    expect(problem).toMatchObject({ status: 404, code: "file_not_found", param: "task_id" });
    expect((await director.readBalance()).frozen).toBe("0.00");
  });
});
