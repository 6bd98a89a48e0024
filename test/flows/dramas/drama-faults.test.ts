// @module-tag extended
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { revokeApiKey } from "../../../src/features/accounts/index.ts";
import type { StoryboardDocument } from "../../../src/features/dramas/drama-documents.ts";
import type { Cast, Part } from "../../harness/dramas/drama-catalog.ts";
import { lighthouse, monologue, type Play, silence, writeDocuments } from "../../harness/dramas/drama-play.ts";
import { type Director, type DramaStage, openDramaStage, type SeenDrama } from "../../harness/dramas/drama-stage.ts";
import type { Behaviour } from "../../harness/upstreams/behaviour.ts";
import { createGate, endlessSilence } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const questions = ["drama_script", "drama_roles", "drama_storyboard"] as const;
const mediaParts = ["image", "speech", "video", "avatar"] as const;

/** Each has its own models and upstreams: a failed upstream's circuit stays open for a while. */
const casts: readonly (string | Cast)[] = [
  ...["refused", "garbled", "filtered", "useless", "lost", "unfetched", "rotten"],
  { name: "silent", totalMs: 1_000 },
  ...["no-script", "no-roles", "no-storyboard", "no-image", "no-speech", "no-video", "no-avatar", "policy"],
  ...["partial", "hopeless", "faceless", "voiceless", "owner", "poor", "gone", "spoiled"],
];

let stage: DramaStage;
let pictureId: string;
let director: Director;

beforeAll(async () => {
  stage = await openDramaStage({ casts });
  director = await stage.createDirector({ cash: "1000" });
  const size = { width: 64, height: 36, channels: 3 as const, background: "teal" };
  pictureId = await director.upload(await sharp({ create: size }).png().toBuffer());
  stage.perform(monologue, "Monologue");
});
afterEach(() => stage.check());
afterAll(() => stage[Symbol.asyncDispose]());

/** A storyboard whose shots are already drawn. */
function writeBoard(play: Play, title = "Drawn"): StoryboardDocument {
  const { storyboard } = writeDocuments(play, { title });
  return { ...storyboard, shots: storyboard.shots.map((shot) => ({ ...shot, image_file_id: pictureId })) };
}

const refusal = { status: 500 };
const failure = {
  status: 500,
  headers: { "x-fal-error-type": "runner_server_error" },
  body: { detail: "Internal Server Error" },
};

function describeStates({ steps }: SeenDrama): string {
  return steps.map(({ name, status }) => `${name} ${status}`).join(", ");
}

describe.concurrent("work that the first upstream of every step", () => {
  test("refuses is done by the second, invisibly to the caller", async () => {
    for (const question of questions) stage.treatWriter("refused", question, refusal, 1);
    for (const part of mediaParts) stage.treat("refused", part, refusal, 1);
    const drama = await director.make({ model: "refused" });
    expect(drama).toMatchObject({ status: "succeeded", usage: { charge: "1.01" } });
    expect(drama.warnings).toBeUndefined();
    for (const part of ["chat", ...mediaParts] as Part[]) {
      const routes = stage.listRoutes("refused", part);
      expect([part, new Set(routes)]).toEqual([part, new Set([1, 2])]);
      const made = { chat: 3, image: 4, speech: 4, video: 3, avatar: 1 }[part];
      expect([part, routes.filter((route) => route === 2).length]).toEqual([part, made]);
    }
  });

  test.each<[string, Behaviour]>([
    ["silent", { beforeHead: endlessSilence }],
    ["garbled", { isMalformed: true }],
  ])("writes is written by the second if it is %s", async (cast, behaviour) => {
    for (const question of questions) stage.treatWriter(cast, question, behaviour, 1);
    const drama = await director.make({ model: cast, stage: "storyboard" });
    expect(drama).toMatchObject({ status: "succeeded", usage: { charge: "0.13" } });
    expect(stage.listRoutes(cast, "chat").filter((route) => route === 2)).toHaveLength(3);
  });

  test("writes is written by the second if it is not a document", async () => {
    stage.treatWriter("useless", "drama_script", { pieces: ["Sure, here is your script!"] }, 1);
    stage.treatWriter("useless", "drama_roles", { pieces: ['{"roles":3}'] }, 1);
    const drama = await director.make({ model: "useless", stage: "roles" });
    expect(drama.status).toBe("succeeded");
  });

  test("refuses for its content fails with that reason, and no other upstream is tried", async () => {
    stage.treatWriter("filtered", "drama_script", { isBlocked: true });
    const drama = await director.make({ model: "filtered", stage: "script" });
    expect(drama.error).toMatchObject({ code: "content_policy_violation", param: "script", retryable: false });
    expect(stage.listQuestions("filtered")).toHaveLength(1);
  });

  test("returns is done by the second if it is not an image or a video", async () => {
    const none = JSON.stringify({ created: 1, data: [{ b64_json: Buffer.from("no picture").toString("base64") }] });
    stage.treat("rotten", "image", { body: none }, 1);
    stage.treat("rotten", "video", { output: "wrong-type" }, 1);
    const drama = await director.make({ model: "rotten", script: writeDocuments(silence).storyboard });
    expect(drama.status).toBe("succeeded");
  });

  test("loses twice is done by the second", async () => {
    stage.treat("lost", "image", { isReset: true }, 1);
    stage.treat("lost", "speech", { cut: "inside-body" }, 1);
    stage.treat("lost", "avatar", { isReset: true }, 1);
    const drama = await director.make({ model: "lost", script: writeDocuments(monologue).storyboard });
    expect(drama.status).toBe("succeeded");
    for (const part of ["image", "speech", "avatar"] as const) {
      expect([part, stage.listRoutes("lost", part)]).toEqual([part, [1, 1, 2]]);
    }
  });

  test("finished is done again by the second if the output cannot be downloaded", async () => {
    stage.treat("unfetched", "video", { output: "forbidden" }, 1);
    const { id } = await director.send({ model: "unfetched", script: writeBoard(silence) });
    const child = await waitUntil("it to be missed", async () => {
      const { rows } = await sql<{ id: string }>`
        select id from tasks where parent_id = ${id} and lost_at is not null`.execute(stage.database);
      return rows[0];
    });
    await stage.age(child.id, 121_000);
    const drama = await director.awaitDrama(id);
    expect(drama.status).toBe("succeeded");
  });
});

describe.concurrent("a drama for which no upstream delivers", () => {
  test.each<[string, { question?: (typeof questions)[number]; part?: (typeof mediaParts)[number] }, object]>([
    ["no-script", { question: "drama_script" }, { states: "script failed", kept: "", charge: "0.00" }],
    [
      "no-roles",
      { question: "drama_roles" },
      { states: "script succeeded, roles failed", kept: "script", charge: "0.02" },
    ],
    [
      "no-storyboard",
      { question: "drama_storyboard" },
      { states: "script succeeded, roles succeeded, storyboard failed", kept: "roles script", charge: "0.03" },
    ],
    [
      "no-image",
      { part: "image" },
      { states: "script succeeded, roles succeeded, storyboard failed", kept: "roles script", charge: "0.03" },
    ],
    ["no-speech", { part: "speech" }, lateFailure()],
    ["no-video", { part: "video" }, lateFailure()],
    ["no-avatar", { part: "avatar" }, lateFailure()],
  ])(
    "one part (%s) fails with its name; finished parts are kept and charged, and nothing else",
    async (cast, fault, wanted) => {
      const own = await stage.createDirector();
      if (fault.question !== undefined) stage.treatWriter(cast, fault.question, refusal);
      if (fault.part !== undefined)
        stage.treat(cast, fault.part, fault.part === "image" ? refusal : { ...refusal, result: failure });
      const drama = await own.make({ model: cast });
      const { states, kept, charge } = wanted as { states: string; kept: string; charge: string };
      expect([drama.status, drama.usage.charge, drama.output.map(({ type }) => type).join(" ")]).toEqual([
        "failed",
        charge,
        kept,
      ]);
      expect(describeStates(drama).startsWith(states), describeStates(drama)).toBe(true);
      expect(drama.error).toMatchObject({ param: null, retryable: true });
      const part = fault.question?.replace("drama_", "The ") ?? /shot-\d/;
      expect(drama.error?.message).toMatch(part);
      for (const output of drama.output) expect((await own.fetchOutput(output)).length).toBe(output.bytes);
      expect(await own.listHolds()).toMatchObject([{ state: charge === "0.00" ? "released" : "settled" }]);
      expect(await own.readBalance()).toMatchObject({ frozen: "0.00" });
      const steps = drama.steps.map((step) => Number(step.charge)).reduce((sum, one) => sum + one, 0);
      expect(steps.toFixed(2)).toBe(charge);
      expect(await own.listEvents()).toMatchObject([{ type: "task.failed" }]);
      await stage.childrenEnded(drama.id);
      if (cast !== "no-video") return;

      // After the fix, the caller continues from the storyboard, which is drawn and paid for.
      stage.treat(cast, "video", {});
      const drawn = stage.listSubmissions(cast, "image").length;
      const film = await own.make({ model: cast, from_task_id: drama.id });
      expect(film).toMatchObject({ status: "succeeded", usage: { charge: "0.88" } });
      expect(film.steps.map(({ name }) => name)).toEqual(["shots", "speech", "film"]);
      expect(stage.listSubmissions(cast, "image")).toHaveLength(drawn);
    },
  );

  test("anything because of its content fails and names the script, and no second upstream is tried", async () => {
    stage.treat("policy", "image", { status: 400, error: { code: "moderation_blocked" } });
    const drama = await director.make({ model: "policy", stage: "storyboard", title: "Monologue", script: "Text" });
    expect(drama.error).toMatchObject({ code: "content_policy_violation", param: "script", retryable: false });
    expect(drama.error?.message).toMatch(/shot-1/);
    expect(stage.listRoutes("policy", "image")).toEqual([1]);
  });
});

function lateFailure() {
  return {
    states: "script succeeded, roles succeeded, storyboard succeeded, shots failed",
    kept: "storyboard image image image image roles script",
    charge: "0.13",
  };
}

describe.concurrent("a drama that allows missing shots", () => {
  test("is a video of the others, lists the missing ones, and is charged for what it contains", async () => {
    const isSecond = ({ model, prompt }: { model: string; prompt: string }): boolean =>
      model.includes("/partial/video") && prompt.includes("Picture 3");
    stage.media.alwaysFor(isSecond, refusal);
    const drama = await director.make({ model: "partial", allow_partial: true, script: writeBoard(lighthouse) });
    expect(drama.status).toBe("succeeded");
    expect(drama.warnings).toEqual([
      {
        code: "fewer_outputs",
        message: "The video omits shot-3, which failed. Only the delivered part is charged.",
      },
    ]);
    // 10.4 seconds less the 3.1 of the missing shot.
    expect(drama.usage).toMatchObject({ charge: "0.64" });
    expect(drama.output[0]?.duration).toBeLessThan(7.5);
  });

  test("fails if no shot can be made, at no charge", async () => {
    stage.treat("hopeless", "video", refusal);
    stage.treat("hopeless", "avatar", refusal);
    const drama = await director.make({ model: "hopeless", allow_partial: true, script: writeBoard(lighthouse) });
    expect(drama).toMatchObject({ status: "failed", output: [], usage: { charge: "0.00" } });
    expect(drama.error?.message).toMatch(/^No shot could be made/);
    await stage.childrenEnded(drama.id);
  });

  test("films a shot from its description if no image can be drawn", async () => {
    const isFirst = ({ model, prompt }: { model: string; prompt: string }): boolean =>
      model.includes("/faceless/image") && prompt.includes("Picture 1");
    stage.media.alwaysFor(isFirst, refusal);
    const play: Play = [
      [
        { seen: ["Anna"], seconds: 2 },
        { seen: ["Ben"], seconds: 2 },
      ],
    ];
    const { roles } = writeDocuments(play, { title: "Faceless" });
    stage.perform(play, "Faceless");
    const drama = await director.make({ model: "faceless", allow_partial: true, script: roles });
    expect(drama.status).toBe("succeeded");
    const board = await director.readDocument<StoryboardDocument>(drama, "storyboard");
    expect(board.shots.map((shot) => shot.image_file_id === null)).toEqual([true, false]);
    const films = stage.listSubmissions("faceless", "video").map(({ prompt, fields }) => {
      return [/Picture (\d)/.exec(prompt)?.[1], fields.image_url !== undefined];
    });
    expect(Object.fromEntries(films)).toEqual({ 1: false, 2: true });
  });

  test("lists a missing voice line", async () => {
    stage.treat("voiceless", "speech", refusal);
    const drama = await director.make({ model: "voiceless", allow_partial: true, script: writeBoard(monologue) });
    expect(drama.status).toBe("succeeded");
    expect(drama.warnings).toMatchObject([{ code: "fewer_outputs" }]);
  });

  test("lists a missing image if it ends with the storyboard", async () => {
    stage.treat("no-image", "image", refusal);
    const { roles } = writeDocuments(monologue);
    const drama = await director.make({ model: "no-image", allow_partial: true, stage: "storyboard", script: roles });
    expect(drama.warnings).toMatchObject([{ code: "fewer_outputs" }]);
  });
});

describe.concurrent("while a drama runs", () => {
  test("its owner may cancel a shot, which fails the drama with a sentence that says so", async () => {
    const gate = createGate();
    stage.treat("owner", "video", { beforeStart: gate, cancel: "gone" });
    const { id } = await director.send({ model: "owner", script: writeBoard(silence) });
    await stage.stepRuns(id, "shots");
    const [child] = await stage.listChildren(id);
    await waitUntil("the upstream to have it", async () => (await stage.listChildren(id))[0]?.phase === "running");
    expect((await director.cancel(child?.id ?? "")).status).toBe(200);
    const drama = await director.awaitDrama(id);
    expect(drama).toMatchObject({ status: "failed", error: { param: null }, usage: { charge: "0.00" } });
    expect(drama.error?.message).toBe("shot-1 was canceled.");
    gate.open();
  });

  test("its money is on hold, its key may be revoked, and it succeeds", async () => {
    const poor = await stage.createDirector({ cash: "0.13" });
    const gate = createGate();
    stage.treatWriter("poor", "drama_roles", { beforeHead: gate });
    const { id } = await poor.send({ model: "poor", stage: "storyboard" });
    await gate.reached();
    expect(await poor.readBalance()).toEqual({ available: "0.00", frozen: "0.13" });
    const more = { model: "poor", title: "More", script: "Text", stage: "script", callback_url: stage.receiver.url };
    expect((await poor.post("/dramas/generations", more)).status).toBe(402);
    await revokeApiKey(stage.gateway.parts, poor.keyId);
    gate.open();
    await waitUntil("the drama to end", async () => (await poor.listEvents()).length === 1);
    const usage = { charge: "0.13" };
    expect(await poor.listEvents()).toMatchObject([{ type: "task.succeeded", data: { task_id: id, usage } }]);
    expect(await poor.readBalance()).toEqual({ available: "0.00", frozen: "0.00" });
  });

  test("deleting a face fails the images that need it, and written documents are kept", async () => {
    const size = { width: 40, height: 40, channels: 3 as const, background: "red" };
    const faceId = await director.upload(await sharp({ create: size }).png().toBuffer());
    const gate = createGate();
    stage.treatWriter("gone", "drama_storyboard", { beforeHead: gate });
    const characters = [{ name: "Anna", reference_file_id: faceId }];
    const { id } = await director.send({ model: "gone", title: "Gone", script: "Text", characters });
    await gate.reached();
    const deleted = await stage.fetch(`${stage.gateway.baseUrl}/files/${faceId}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${director.key}` },
    });
    expect(deleted.ok).toBe(true);
    gate.open();
    const drama = await director.awaitDrama(id);
    expect(drama).toMatchObject({ status: "failed", error: { code: "file_not_found" }, usage: { charge: "0.03" } });
    expect(drama.error?.message).toMatch(/^The image of shot-\d: /);
    expect(drama.output.map(({ type }) => type)).toEqual(["roles", "script"]);
    await stage.childrenEnded(id);
  });

  test("an unreadable clip fails it with a sentence that names the clip", async () => {
    const gate = createGate();
    const isSecond = ({ model, prompt }: { model: string; prompt: string }): boolean =>
      model.includes("/spoiled/video") && prompt.includes("Picture 2");
    stage.media.alwaysFor(isSecond, { beforeStart: gate });
    const play: Play = [[{ seconds: 2 }, { seconds: 2 }]];
    const { id } = await director.send({ model: "spoiled", script: writeBoard(play) });
    const file = await waitUntil("the first clip", async () => {
      const { rows } = await sql<{ storage_key: string; bytes: string }>`
        select storage_key, files.bytes from files, tasks
          where parent_id = ${id} and tasks.state = 'succeeded' and files.id = output -> 0 ->> 'fileId'`.execute(
        stage.database,
      );
      return rows[0];
    });
    const path = join(stage.dataDir, "files", file.storage_key);
    // In one step: a concurrent check of the files finds all of their bytes.
    await writeFile(`${path}.spoiled`, Buffer.alloc(Number(file.bytes)));
    await rename(`${path}.spoiled`, path);
    gate.open();
    const drama = await director.awaitDrama(id);
    expect(drama).toMatchObject({ status: "failed", usage: { charge: "0.00" } });
    expect(drama.error?.message).toMatch(/shot-1/);
  });
});
