// @module-tag slow
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { revokeApiKey } from "../../src/features/accounts/index.ts";
import { hearEvents } from "../harness/hear-events.ts";
import {
  openTaskStage,
  paths,
  readProblem,
  readTask,
  type TaskStage,
  type WholeTask,
} from "../harness/tasks/task-stage.ts";
import { createGate } from "../harness/upstreams/gate.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: TaskStage;

beforeAll(async () => {
  stage = await openTaskStage({ settings: { stream_heartbeat_ms: 1000 } });
});
afterEach(async () => {
  await stage.handedOver();
  expect(stage.media.scriptsLeft()).toBe(0);
  await stage.check();
});
afterAll(() => stage[Symbol.asyncDispose]());

const image = { model: "image", prompt: "A lighthouse" };
const endless = { model: "image", prompt: "An endless one <<fault:queue=99999>>" };

/** Tasks that start and end when a test says so. */
function scriptSteps() {
  const start = createGate();
  const finish = createGate();
  stage.media.script({ beforeStart: start, beforeFinish: finish });
  return { start, finish };
}

describe("a task", () => {
  test("is visible to its own account only", async () => {
    const caller = await stage.createCaller();
    const other = await stage.createCaller();
    const { id } = await caller.submit(paths.image, endless);
    const missing = { status: 404, code: "task_not_found" };
    expect(await readProblem(await other.get(`/tasks/${id}`))).toMatchObject(missing);
    expect(await readProblem(await other.get(`/tasks/${id}/events`))).toMatchObject(missing);
    expect(await readProblem(await other.cancel(id))).toMatchObject(missing);
    expect(await readProblem(await caller.get("/tasks/task_nobody"))).toMatchObject(missing);
    expect(await readProblem(await caller.get(`/tasks/${id}?a=1`))).toMatchObject({ code: "unknown_parameter" });
    expect((await caller.readTask(id)).status).toBe("queued");
  });

  test("moves from queued to processing to succeeded, with matching times and a polling hint", async () => {
    const caller = await stage.createCaller();
    const { start, finish } = scriptSteps();
    const { id } = await caller.submit(paths.image, image);
    const queued = await caller.readTask(id);
    expect(queued).toMatchObject({ status: "queued", progress: 0, output: [] });
    expect(queued).not.toHaveProperty("started_at");
    start.open();
    const processing = await caller.awaitTask(id, ["processing"]);
    expect(processing).toMatchObject({ started_at: expect.any(String), expires_at: expect.any(String) });
    expect(processing).not.toHaveProperty("finished_at");
    expect((await caller.get(`/tasks/${id}`)).headers.get("retry-after")).toBe("2");
    finish.open();
    const succeeded = await caller.awaitTask(id);
    expect(succeeded).toMatchObject({ status: "succeeded", progress: 100, started_at: processing.started_at });
    expect(succeeded).not.toHaveProperty("expires_at");
    expect(succeeded).not.toHaveProperty("queue_position");
    expect((await caller.get(`/tasks/${id}`)).headers.get("retry-after")).toBeNull();
  });

  test("is answered 304 while unchanged, with its ETag in any spelling, and in full after a change", async () => {
    const caller = await stage.createCaller();
    const { start, finish } = scriptSteps();
    const { id } = await caller.submit(paths.image, image);
    const ask = (etag: string) => caller.get(`/tasks/${id}`, { headers: { "if-none-match": etag } });
    const etag = (await caller.get(`/tasks/${id}`)).headers.get("etag") ?? "";
    const unchanged = await ask(etag);
    expect([unchanged.status, await unchanged.text(), unchanged.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await ask(etag.replace("W/", ""))).status).toBe(304);
    expect((await ask('W/"99"')).status).toBe(200);
    expect((await ask("nonsense")).status).toBe(200);
    start.open();
    await caller.awaitTask(id, ["processing"]);
    const changed = await ask(etag);
    expect([changed.status, (await readTask(changed)).status]).toEqual([200, "processing"]);
    finish.open();
    await caller.awaitTask(id);
    const final = (await ask(etag)).headers.get("etag") ?? "";
    expect((await ask(final)).status).toBe(304);
  });

  test.each(["/tasks/%00", "/tasks?after=%00", "/tasks?model=%00", "/tasks?parent_id=%00", "/tasks?q=%00"])(
    "with an impossible id is not found: %s",
    async (path) => {
      const caller = await stage.createCaller();
      const { status } = await caller.get(path);
      expect([400, 404]).toContain(status);
    },
  );
});

describe("a client that waits", () => {
  test("for a submission gets the finished task with 200, or 202 when it takes longer", async () => {
    const caller = await stage.createCaller();
    const wait = (seconds: number) => ({ headers: { prefer: `wait=${seconds}` } });
    const done = await caller.post(paths.image, image, wait(30));
    expect([done.status, done.headers.get("preference-applied")]).toEqual([200, "wait=30"]);
    const task = await readTask(done);
    expect(task).toMatchObject({ status: "succeeded", usage: { charge: "0.04" } });
    expect(done.headers.get("location")).toContain(task.id);
    const open = await caller.post(paths.image, endless, wait(1));
    expect([open.status, (await readTask(open)).status]).toEqual([202, "queued"]);
    expect((await caller.post(paths.image, endless, wait(61))).status).toBe(400);
    expect((await caller.post(paths.image, endless, wait(0))).status).toBe(202);
    expect(await readProblem(await caller.post(paths.image, endless, wait(-1)))).toMatchObject({ param: "Prefer" });
    expect((await caller.countTraces()).tasks).toBe(3);
  });

  test("for a task gets a response as soon as it ends, and not for earlier changes", async () => {
    const caller = await stage.createCaller();
    const { start, finish } = scriptSteps();
    const { id } = await caller.submit(paths.image, image);
    let isAnswered = false;
    const answer = caller.get(`/tasks/${id}`, { headers: { prefer: "wait=60" } }).then((response) => {
      isAnswered = true;
      return response;
    });
    start.open();
    await caller.awaitTask(id, ["processing"]);
    expect(isAnswered).toBe(false);
    finish.open();
    expect((await readTask(await answer)).status).toBe("succeeded");
  });

  test("with the last ETag gets the next change, or 304 when none comes in time", async () => {
    const caller = await stage.createCaller();
    const { start, finish } = scriptSteps();
    const { id } = await caller.submit(paths.image, image);
    const first = (await caller.get(`/tasks/${id}`)).headers.get("etag") ?? "";
    const poll = (etag: string, seconds: number) =>
      caller.get(`/tasks/${id}`, { headers: { prefer: `wait=${seconds}`, "if-none-match": etag } });
    expect((await poll(first, 1)).status).toBe(304);
    const answer = poll(first, 60);
    start.open();
    const next = await answer;
    expect([next.status, (await readTask(next)).status]).toEqual([200, "processing"]);
    const last = poll(next.headers.get("etag") ?? "", 60);
    finish.open();
    expect((await readTask(await last)).status).toBe("succeeded");
  });
});

describe("the list", () => {
  test("has 25 tasks in pages that stay stable when new tasks arrive", async () => {
    const caller = await stage.createCaller();
    const submitted = await Promise.all(Array.from({ length: 25 }, () => caller.submit(paths.image, endless)));
    const expected = submitted
      .map(({ id }) => id)
      .toSorted()
      .toReversed();
    const seen: string[] = [];
    let cursor: string | null = null;
    const sizes: number[] = [];
    do {
      const page: Response = await caller.get(`/tasks?limit=10${cursor === null ? "" : `&after=${cursor}`}`);
      const { object, data, has_more: hasMore, next_cursor: next } = (await page.json()) as List;
      expect([object, hasMore]).toEqual(["list", next !== null]);
      seen.push(...data.map(({ id }) => id));
      sizes.push(data.length);
      cursor = next;
      await caller.submit(paths.image, endless);
    } while (cursor !== null);
    expect([sizes, seen]).toEqual([[10, 10, 5], expected]);
    const usual = (await (await caller.get("/tasks")).json()) as List;
    expect([usual.data.length, usual.has_more]).toEqual([20, true]);
  });

  test("is filtered by status, type and model, all together, for its own account only", async () => {
    const caller = await stage.createCaller();
    const other = await stage.createCaller();
    await other.submit(paths.image, endless);
    const done = await caller.finish(paths.image, image);
    const open = await caller.submit(paths.image, endless);
    const stamp = await caller.submit(paths.image, { ...endless, model: "stamp" });
    const film = await caller.submit(paths.video, { model: "video", prompt: "<<fault:queue=9999>>" });
    const list = async (query: string): Promise<string[]> => {
      const { data } = (await (await caller.get(`/tasks?${query}`)).json()) as List;
      return data.map(({ id }) => id);
    };
    expect(await list("status=succeeded")).toEqual([done.id]);
    expect(await list("type=video")).toEqual([film.id]);
    expect(await list("model=stamp")).toEqual([stamp.id]);
    expect(await list("status=queued&type=image&model=image")).toEqual([open.id]);
    expect(await list("status=canceled")).toEqual([]);
    expect(await list("parent_id=task_none")).toEqual([]);
    expect(await list("")).toEqual([film.id, stamp.id, open.id, done.id]);
  });

  test("is searched by prompt, id and time, returns the prompt, and is counted the same way", async () => {
    const caller = await stage.createCaller();
    const other = await stage.createCaller();
    await other.submit(paths.image, { ...endless, prompt: `Lighthouse ${endless.prompt}` });
    const tower = await caller.submit(paths.image, {
      ...endless,
      prompt: `A LIGHTHOUSE at 100% dusk ${endless.prompt}`,
    });
    const harbour = await caller.submit(paths.image, { ...endless, prompt: `A harbour at dusk ${endless.prompt}` });
    const film = await caller.submit(paths.video, {
      model: "video",
      prompt: "A lighthouse turns <<fault:queue=9999>>",
    });
    const search = async (query: string): Promise<string[]> => {
      const list = (await (await caller.get(`/tasks?${query}`)).json()) as List;
      expect([list.has_more, list.next_cursor]).toEqual([false, null]);
      return list.data.map(({ id }) => id);
    };
    expect(await search("q=lighthouse")).toEqual([film.id, tower.id]);
    expect(await search("q=dusk%20LightHouse")).toEqual([tower.id]);
    expect(await search("q=0%25")).toEqual([tower.id]);
    expect(await search("q=__")).toEqual([]);
    expect(await search(`q=${harbour.id.slice(8)}`)).toEqual([harbour.id]);
    expect(await search("q=lighthouse&type=image")).toEqual([tower.id]);
    const createdAt = new Date((await caller.readTask(tower.id)).created * 1000);
    const later = new Date(createdAt.getTime() + 60_000).toISOString();
    expect(await search(`from=${createdAt.toISOString()}&to=${later}`)).toEqual([film.id, harbour.id, tower.id]);
    expect(await search(`from=${later}`)).toEqual([]);
    expect(await search(`to=${createdAt.toISOString()}`)).toEqual([]);
    expect(await caller.readTask(film.id)).toMatchObject({ prompt: "A lighthouse turns <<fault:queue=9999>>" });
    const count = async (query: string) => await (await caller.get(`/tasks/counts?${query}`)).json();
    const images = { status: "queued", type: "image", count: 2 };
    const videos = { status: "queued", type: "video", count: 1 };
    expect(await count("")).toEqual({ object: "list", data: [images, videos], has_more: false });
    expect(await count("q=lighthouse&model=image")).toMatchObject({ data: [{ ...images, count: 1 }] });
  });

  test.each(["limit=0", "limit=101", "limit=x", "status=done", "type=book", "colour=red", "from=2026-11-01", "to=x"])(
    "rejects unknown parameters: %s",
    async (query) => {
      const caller = await stage.createCaller();
      expect(await readProblem(await caller.get(`/tasks?${query}`))).toMatchObject({
        status: 400,
        param: query.split("=")[0],
      });
    },
  );
});

type List = { object: string; data: WholeTask[]; has_more: boolean; next_cursor: string | null };

describe("the event stream", () => {
  test("starts with the current task, emits every change with name and id, and ends with the task", async () => {
    const caller = await stage.createCaller();
    const { start, finish } = scriptSteps();
    const { id } = await caller.submit(paths.image, image);
    const events = hearEvents(await caller.get(`/tasks/${id}/events`));
    expect(events.response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(events.response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(events.response.headers.get("x-ratelimit-remaining")).not.toBeNull();
    const first = await events.next();
    expect(first).toMatchObject({ name: "task.queued", id: 1, task: { id, status: "queued" } });
    start.open();
    expect(await events.next()).toMatchObject({ name: "task.processing", task: { status: "processing" } });
    finish.open();
    const last = await events.next();
    expect(last).toMatchObject({ name: "task.succeeded", task: { progress: 100, output: [{ type: "image" }] } });
    expect(await events.next()).toBeNull();
    expect(last?.id).toBeGreaterThan(1);
  });

  test("resumes after the last received event, and repeats none", async () => {
    const caller = await stage.createCaller();
    const { start, finish } = scriptSteps();
    const { id } = await caller.submit(paths.image, image);
    start.open();
    await caller.awaitTask(id, ["processing"]);
    const resume = (lastId: number | string) =>
      caller.get(`/tasks/${id}/events`, { headers: { "last-event-id": String(lastId) } }).then(hearEvents);
    const resumed = await resume(1);
    const processing = await resumed.next();
    expect(processing?.task.status).toBe("processing");
    const later = await resume(processing?.id ?? 0);
    finish.open();
    const end = await later.rest();
    expect(end.map(({ name }) => name)).toEqual(["task.succeeded"]);
    expect((await resumed.rest()).map(({ name }) => name)).toEqual(["task.succeeded"]);
    expect(await (await resume(end[0]?.id ?? 0)).rest()).toEqual([]);
    expect(await (await resume("nonsense")).rest()).toHaveLength(1);
    expect(await hearEvents(await caller.get(`/tasks/${id}/events`)).rest()).toHaveLength(1);
  });

  test("still delivers events to a client with an unknown event id", async () => {
    const caller = await stage.createCaller();
    const { id } = await caller.submit(paths.image, image);
    const response = await caller.get(`/tasks/${id}/events`, { headers: { "last-event-id": "999" } });
    expect((await hearEvents(response).rest()).at(-1)?.name).toBe("task.succeeded");
  });

  test("emits progress that only grows", async () => {
    const caller = await stage.createCaller();
    const body = { model: "sandbox-image", prompt: "Four of them", n: 4 };
    const { id } = await caller.submit(paths.image, body);
    const events = await hearEvents(await caller.get(`/tasks/${id}/events`)).rest();
    const progress = events.map(({ task }) => task.progress);
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
    expect(events.map(({ id: version }) => version)).toEqual([...new Set(events.map(({ id: version }) => version))]);
    expect([progress[0], progress.at(-1)]).toEqual([0, 100]);
    expect(events.filter(({ task }) => task.progress === 100)).toHaveLength(1);
  });

  test("ends with the reason when its key is revoked, and the task continues", async () => {
    const caller = await stage.createCaller();
    const { id } = await caller.submit(paths.image, endless);
    const events = hearEvents(await caller.get(`/tasks/${id}/events`));
    await events.next();
    await revokeApiKey(stage.gateway.parts, caller.keyId);
    const heard = await events.rest();
    expect(heard.at(-1)).toMatchObject({ name: "", task: { error: { code: "revoked_api_key" } } });
  });

  test("sends a comment when idle, and releases a client that disconnected", async () => {
    const caller = await stage.createCaller();
    const { id } = await caller.submit(paths.image, endless);
    const listLogged = () => stage.gateway.logs.filter(({ route }) => String(route).endsWith("/events"));
    const before = listLogged().length;
    const leaving = new AbortController();
    const events = hearEvents(await caller.get(`/tasks/${id}/events`, { signal: leaving.signal }));
    await events.next();
    const silence = events.next().catch(() => null);
    await waitUntil("a sign of life", () => events.commentCount() > 0);
    leaving.abort();
    await silence;
    await waitUntil("the end to be noted", () => listLogged().length > before);
  });
});
