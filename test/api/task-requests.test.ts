import { afterAll, beforeAll, expect, test } from "vitest";
import { presentDramaRequest } from "../../src/features/dramas/index.ts";
import { openTaskStage, paths, readProblem, type StageCaller, type TaskStage } from "../harness/tasks/task-stage.ts";

let stage: TaskStage;
let caller: StageCaller;

beforeAll(async () => {
  stage = await openTaskStage();
  caller = await stage.createCaller();
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Tasks that never end: only their submission matters. */
const endless = "<<fault:queue=99999>>";

async function readRequest(id: string): Promise<unknown> {
  return await (await caller.get(`/tasks/${id}/request`)).json();
}

test("a task returns its request, with the defaults filled in", async () => {
  const asked = { model: "image", prompt: `A lighthouse ${endless}`, metadata: { order: "7" } };
  const { id } = await caller.submit(paths.image, asked);
  expect(await readRequest(id)).toEqual({
    object: "generation.request",
    task_id: id,
    endpoint: "/images/generations",
    body: { ...asked, size: "64x64", n: 1 },
  });
});

test("that request can be sent again, and returns the same", async () => {
  const picture = "https://example.com/start.png";
  const bodies = [
    { path: paths.image, body: { model: "image", prompt: endless, size: "128x64", n: 2, input_images: [picture] } },
    {
      path: paths.video,
      body: { model: "video", prompt: endless, duration: 5, aspect_ratio: "9:16", callback_url: "https://a.example/" },
    },
    { path: paths.video, body: { model: "video", duration: 1, aspect_ratio: "16:9", input_images: [picture] } },
  ];
  for (const { path, body } of bodies) {
    const { id } = await caller.submit(path, body);
    expect(await readRequest(id)).toMatchObject({ endpoint: path, body });
    expect(Object.keys(body).toSorted()).toEqual(
      Object.keys(((await readRequest(id)) as { body: object }).body).toSorted(),
    );
    await caller.cancel(id);
  }
});

test("speech returns its text, its voice and its format", async () => {
  const body = { model: "speech", input: "Hello.", voice: "nova", response_format: "wav", speed: 1.5 };
  const { id } = await caller.submit(paths.speech, body, { headers: { prefer: "respond-async" } });
  expect(await readRequest(id)).toMatchObject({ endpoint: "/audio/speech", body });
});

test("a drama returns its script, or the document that it continues", () => {
  const request = {
    type: "drama" as const,
    ...{ stage: "video", title: "The Lighthouse", episode: 2, aspectRatio: "16:9", secondsMax: 60 },
    characters: [
      { name: "Anna", referenceFileId: "file_1" },
      { name: "Tom", referenceFileId: null },
    ],
    source: { kind: "text", text: "Anna climbs." },
    isPartialAllowed: true,
  };
  expect(presentDramaRequest(request)).toEqual({
    ...{ stage: "video", title: "The Lighthouse", episode: 2, aspect_ratio: "16:9", allow_partial: true },
    characters: [{ name: "Anna", reference_file_id: "file_1" }, { name: "Tom" }],
    script: "Anna climbs.",
  });
  const document = { object: "drama.script", title: "The Lighthouse" };
  const later = { ...request, source: { kind: "document", document }, characters: [], isPartialAllowed: false };
  expect(presentDramaRequest(later)).toMatchObject({ script: document });
  expect(presentDramaRequest(later)).not.toHaveProperty("characters");
});

test("another account's request is not returned, nor that of a task's step", async () => {
  const other = await stage.createCaller();
  const { id } = await caller.submit(paths.image, { model: "image", prompt: endless });
  const missing = { status: 404, code: "task_not_found" };
  expect(await readProblem(await other.get(`/tasks/${id}/request`))).toMatchObject(missing);
  expect(await readProblem(await caller.get("/tasks/task_nobody/request"))).toMatchObject(missing);
  const { id: step } = await caller.submit(paths.image, { model: "image", prompt: endless });
  await stage.database.updateTable("tasks").set({ parent_id: id }).where("id", "=", step).execute();
  expect(await readProblem(await caller.get(`/tasks/${step}/request`))).toMatchObject(missing);
  // Inserted directly: the final checks apply to real steps only.
  await stage.database.updateTable("tasks").set({ parent_id: null }).where("id", "=", step).execute();
});
