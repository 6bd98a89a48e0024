// @module-tag extended
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { StoryboardDocument } from "../../../src/features/dramas/drama-documents.ts";
import { type DramaStage, openDramaStage } from "../../harness/dramas/drama-stage.ts";
import { noTraces, readProblem } from "../../harness/tasks/task-stage.ts";

const style = "Watercolour, muted colours";

let stage: DramaStage;
beforeAll(async () => {
  const seeded = { drawsInQueue: true, offersSeed: true };
  stage = await openDramaStage({
    casts: [{ name: "seeded", ...seeded }, { name: "drawn", ...seeded }, { name: "resumed", ...seeded }, "unseeded"],
  });
});
afterEach(() => stage.check());
afterAll(async () => {
  expect([...stage.media.refusals(), ...stage.upstream.refusals()]).toEqual([]);
  await stage[Symbol.asyncDispose]();
});

/** The seeds that a cast's vendors received. */
function listSeeds(cast: string): unknown[] {
  return (["image", "video", "avatar"] as const).flatMap((part) =>
    stage.listSubmissions(cast, part).map(({ fields }) => fields.seed),
  );
}

test("every image and clip gets the caller's seed, and every prompt starts with the style", async () => {
  const director = await stage.createDirector();
  const drama = await director.make({ model: "seeded", title: "Seeded", script: "Anna.", style, seed: 7 });
  expect(drama.status).toBe("succeeded");
  expect(listSeeds("seeded")).toEqual(Array(8).fill(7));
  for (const part of ["image", "video"] as const) {
    const prompts = stage.listSubmissions("seeded", part).map(({ prompt }) => prompt);
    expect(prompts.every((prompt) => prompt.startsWith(`${style}. `))).toBe(true);
  }
  const board = await director.readDocument<StoryboardDocument>(drama, "storyboard");
  expect(board).toMatchObject({ style, seed: 7 });
});

test("without a seed, each drama draws one, and a drama that resumes it keeps seed and style", async () => {
  const director = await stage.createDirector();
  const request = { title: "Drawn", script: "Anna.", style, stage: "storyboard" };
  const first = await director.make({ model: "resumed", ...request });
  const { seed } = await director.readDocument<StoryboardDocument>(first, "storyboard");
  expect(seed).toEqual(expect.any(Number));
  const film = await director.make({ model: "resumed", from_task_id: first.id });
  expect(film.status).toBe("succeeded");
  expect(new Set(listSeeds("resumed"))).toEqual(new Set([seed]));
  expect(stage.listSubmissions("resumed", "video").every(({ prompt }) => prompt.startsWith(style))).toBe(true);
  const other = await director.make({ model: "drawn", ...request });
  expect((await director.readDocument<StoryboardDocument>(other, "storyboard")).seed).not.toBe(seed);
});

test("a seed that no model of the drama offers is refused, and an empty style too", async () => {
  const director = await stage.createDirector();
  const body = { model: "unseeded", title: "Unseeded", script: "Anna.", callback_url: stage.receiver.url };
  const ask = async (more: object) =>
    await readProblem(await director.post("/dramas/generations", { ...body, ...more }));
  expect(await ask({ seed: 7 })).toMatchObject({ status: 400, code: "unsupported_capability", param: "seed" });
  expect(await ask({ style: "  " })).toMatchObject({ status: 400, param: "style" });
  expect(await director.countTraces()).toEqual(noTraces);
  const drama = await director.make({ ...body, style, stage: "storyboard" });
  expect(await director.readDocument(drama, "storyboard")).not.toHaveProperty("seed");
  expect(listSeeds("unseeded").every((seed) => seed === undefined)).toBe(true);
});
