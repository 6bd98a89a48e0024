// @module-tag extended
import { access, mkdir, readdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createStudio } from "../../../packages/sandbox/src/studio/create-studio.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import type { GenerationCall, Handle } from "../../../src/providers/generation.ts";
import { listChildren } from "../../harness/list-children.ts";
import {
  createCall,
  openTestStudio,
  studioMsMax,
  type TestStudio,
  waitForEnd,
} from "../../harness/media/test-studio.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const signal = new AbortController().signal;

function createPicture(prompt: string, count = 1): GenerationCall {
  return createCall({ type: "image", prompt, width: 128, height: 128, count });
}

const longFilm = { type: "video", prompt: "city", durationSeconds: 30, aspectRatio: "16:9" } as const;

async function submit({ generation }: TestStudio, call: GenerationCall): Promise<Handle> {
  const outcome = await generation.submit(call);
  if (outcome.kind !== "accepted") throw new Error(outcome.kind);
  return outcome.handle;
}

test("jobs are accepted at once, and only a limited number runs at a time", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio({ concurrencyMax: 1 });
  const calls = [createCall(longFilm), createPicture("second"), createPicture("third")];
  const handles = await Promise.all(calls.map((call) => submit(studio, call)));
  const poll = (index: number) => studio.generation.poll(handles[index] ?? {}, calls[index] ?? createPicture(""));
  await waitUntil("the first begins", async () => ((await poll(0)) as { isStarted?: boolean }).isStarted === true);
  expect(await poll(1)).toEqual({ kind: "running", isStarted: false, progress: 0 });
  expect(await studio.generation.cancel(handles[2] ?? {}, calls[2] ?? createPicture(""))).toBe("canceled");
  expect(await studio.generation.cancel(handles[0] ?? {}, calls[0] ?? createPicture(""))).toBe("canceled");
  expect(await waitForEnd(studio.generation, handles[1] ?? {}, calls[1] ?? createPicture(""))).toMatchObject({
    kind: "done",
  });
  expect(await poll(0)).toEqual({ kind: "canceled", outputs: [] });
  expect(await poll(2)).toEqual({ kind: "canceled", outputs: [] });
});

test("a cancel kills the process and all its children", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const call = createCall(longFilm);
  const handle = await submit(studio, call);
  // The process, and the encoder that it started.
  await waitUntil("both processes run", async () => (await listChildren()).length >= 2, studioMsMax);
  expect(await studio.generation.cancel(handle, call)).toBe("canceled");
  await waitUntil("no process is left", async () => (await listChildren()).length === 0);
  expect(await studio.generation.cancel(handle, call)).toBe("canceled");
});

test("closing ends running jobs and leaves no file", { timeout: studioMsMax }, async () => {
  const studio = await openTestStudio();
  await submit(studio, createCall(longFilm));
  await waitUntil("it runs", async () => (await listChildren()).length > 0);
  await studio.generation.close();
  expect(await listChildren()).toEqual([]);
  expect(await readdir(studio.folder)).toEqual(["cache"]);
  await studio[Symbol.asyncDispose]();
});

test("outputs finished before a cancel are kept", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const call = createCall({ type: "image", prompt: "sea", width: 512, height: 512, count: 10 });
  const handle = await submit(studio, call);
  await waitUntil(
    "a picture is finished",
    async () => {
      const state = await studio.generation.poll(handle, call);
      return state.kind === "running" && (state.progress ?? 0) >= 10;
    },
    studioMsMax,
  );
  await studio.generation.cancel(handle, call);
  const state = await studio.generation.poll(handle, call);
  if (state.kind !== "canceled") throw new Error(state.kind);
  expect(state.outputs.length).toBeGreaterThan(0);
  expect(state.outputs.length).toBeLessThan(10);
  const [first] = state.outputs;
  const bytes = first === undefined ? Buffer.alloc(0) : await buffer(await first.open(signal));
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
});

test("a job that a studio does not know is created again, with the same output", { timeout: studioMsMax }, async () => {
  const call = createPicture("mountains");
  const images: Buffer[] = [];
  let handle: Handle = {};
  {
    await using first = await openTestStudio();
    handle = await submit(first, call);
    const end = await waitForEnd(first.generation, handle, call);
    if (end.kind === "done") for (const output of end.outputs) images.push(await buffer(await output.open(signal)));
  }
  await using second = await openTestStudio();
  expect(await second.generation.poll(handle, call)).toEqual({ kind: "running", isStarted: false, progress: 0 });
  const end = await waitForEnd(second.generation, handle, call);
  if (end.kind !== "done" || end.outputs[0] === undefined) throw new Error(end.kind);
  expect((await buffer(await end.outputs[0].open(signal))).equals(images[0] ?? Buffer.alloc(0))).toBe(true);
});

test("submitting the same job twice runs it once", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const call = createCall(longFilm);
  expect(await submit(studio, call)).toEqual(await submit(studio, call));
  await waitUntil("it runs", async () => (await listChildren()).length >= 2, studioMsMax);
  expect(
    (await readdir(join(studio.folder, (await readdir(studio.folder)).find((name) => name !== "cache") ?? ""))).length,
  ).toBe(1);
});

test("results are kept for a quarter of an hour, or a minute once they were downloaded", {
  timeout: studioMsMax,
}, async () => {
  const clock = createTestClock();
  await using studio = await openTestStudio({ clock });
  const [collected, left] = [createPicture("collected"), createPicture("left")];
  const end = await studio.finish(collected);
  await studio.finish(left);
  if (end.kind !== "done" || end.outputs[0] === undefined) throw new Error(end.kind);
  await buffer(await end.outputs[0].open(signal));
  const poll = async (call: GenerationCall) => (await studio.generation.poll({ job: call.taskId }, call)).kind;
  clock.advance(59_000);
  expect(await poll(collected)).toBe("done");
  clock.advance(2000);
  expect(await poll(left)).toBe("done");
  expect(await poll(collected)).toBe("running");
  await waitForEnd(studio.generation, { job: collected.taskId }, collected);
  clock.advance(15 * 60_000);
  expect(await poll(left)).toBe("running");
});

test("files of a killed process are removed by the next, and those of a live one are not", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const host = hostname().replace(/[^\w.-]/g, "_");
  const [dead, alive] = [
    join(studio.folder, `${host}-999999999-0123abcd`),
    join(studio.folder, `${host}-${process.ppid}-0123abcd`),
  ];
  for (const folder of [dead, alive]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "film.mp4"), "left");
  }
  const next = createStudio({ folder: studio.folder, clock: systemClock });
  const { leave } = await next.enterSpeech(signal);
  leave();
  await expect(access(dead)).rejects.toThrow();
  await access(join(alive, "film.mp4"));
  await next.close();
});

test.each([
  ["[[fail:content_policy]]", "content-refused"],
  ["[[fail:rejected]]", "rejected"],
  ["[[fail:too_long]]", "too-long"],
])("%s fails the job with its own kind", { timeout: studioMsMax }, async (word, kind) => {
  await using studio = await openTestStudio();
  expect(await studio.finish(createPicture(`sea ${word}`))).toMatchObject({
    kind: "failed",
    error: { kind, isIsolated: true },
  });
});

test.each([
  ["[[429]]", "rate-limited"],
  ["[[503]]", "overloaded"],
  ["[[timeout]]", "timeout"],
])("%s refuses the job", async (word, kind) => {
  await using studio = await openTestStudio();
  await expect(studio.generation.submit(createPicture(`sea ${word}`))).rejects.toMatchObject({ kind });
});

test("the script makes a job ambiguous, lost, stuck, partial, empty or impossible to cancel", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const { generation } = studio;
  expect(await generation.submit(createPicture("[[ambiguous]]"))).toMatchObject({
    kind: "ambiguous",
    error: { kind: "unreachable" },
  });
  const lost = createPicture("[[lost]]");
  expect(await generation.poll(await submit(studio, lost), lost)).toEqual({ kind: "lost" });
  const stuck = createPicture("[[stuck]]");
  const stuckHandle = await submit(studio, stuck);
  await waitUntil(
    "it is said to have begun",
    async () => ((await generation.poll(stuckHandle, stuck)) as { isStarted?: boolean }).isStarted,
  );
  expect(await generation.cancel(stuckHandle, stuck)).toBe("canceled");
  const partial = await studio.finish(createPicture("sea [[partial:2]]", 4));
  expect(partial).toMatchObject({ kind: "done" });
  expect(partial.kind === "done" && partial.outputs.length).toBe(2);
  expect(await studio.finish(createPicture("sea [[empty]]"))).toEqual({ kind: "done", outputs: [] });
  const firm = createPicture("sea [[uncancelable]]");
  expect(await generation.cancel(await submit(studio, firm), firm)).toBe("too-late");
  const delayed = createPicture("sea [[delay:100]]");
  const delayedHandle = await submit(studio, delayed);
  expect(await generation.poll(delayedHandle, delayed)).toEqual({ kind: "running", isStarted: false, progress: 0 });
  expect(await generation.cancel(delayedHandle, delayed)).toBe("canceled");
});

test("a finished job can no longer be canceled", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const call = createPicture("sea");
  await studio.finish(call);
  expect(await studio.generation.cancel({ job: call.taskId }, call)).toBe("too-late");
});
