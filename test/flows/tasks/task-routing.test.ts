import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName } from "../../harness/chat/chat-catalog.ts";
import { writeTaskPrice } from "../../harness/tasks/task-catalog.ts";
import {
  openTaskStage,
  paths,
  type TaskStage,
  writePictures,
  writeStageCatalog,
} from "../../harness/tasks/task-stage.ts";
import type { FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import type { MediaBehaviour } from "../../harness/upstreams/media-behaviour.ts";
import { film, makePicture } from "../../harness/upstreams/media-samples.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let stage: TaskStage;

/**
 * Each test has its own model and providers, because a failed provider's circuit stays open for a while: `<name>-1` to
 * `<name>-4` in this order.
 */
const names = ["next", "hopeless", "full", "lonely", "strict", "broken", "late"];

const primaryKeys = ["primary-1", "primary-2", "primary-3"];
const primaryKeyNames = primaryKeys.map((_key, at) => `TASK_PRIMARY_KEY_${at}`);

function writeCatalog(upstream: FakeUpstreams): string {
  const keys = [`\${${upstreamKeyName}}`];
  const providers = names.flatMap((name) => [1, 2, 3, 4].map((number) => `${name}-${number}`));
  return writeStageCatalog(upstream, {
    providers: [
      ...providers.map((id) => ({ id, kind: "fal", base_url: upstream.falUrl, api_keys: keys })),
      { id: "primary", kind: "fal", base_url: upstream.falUrl, api_keys: primaryKeyNames.map((name) => `\${${name}}`) },
      { id: "backup", kind: "fal", base_url: upstream.falUrl, api_keys: keys },
      {
        ...{ id: "remembers", kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: keys },
        idempotency_header: "Idempotency-Key",
      },
    ],
    models: [
      ...names.map((name) => {
        const own = providers.filter((provider) => provider.startsWith(`${name}-`));
        return writePictures(name, name === "lonely" ? own.slice(0, 1) : own);
      }),
      writePictures("remembered", ["remembers"]),
      writePictures("backed", ["primary", "backup"]),
    ],
    prices: [...names, "remembered", "backed"].map((name) => writeTaskPrice(name, "image", "0.05")),
  });
}

beforeAll(async () => {
  for (const [at, name] of primaryKeyNames.entries()) process.env[name] = primaryKeys[at];
  stage = await openTaskStage({ catalog: writeCatalog });
});
afterEach(async () => {
  expect(stage.media.scriptsLeft()).toBe(0);
  await stage.check();
});
afterAll(() => stage[Symbol.asyncDispose]());

/** The providers that received a submission with this prompt, in order. */
function listTried(prompt: string): string[] {
  return stage.media.submissionsOf(prompt).map(({ model }) => model.split("/")[1] ?? "");
}

const minuteMs = 60_000;

describe("a task that a provider refuses", () => {
  test("goes to the next one, invisibly to the caller", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ status: 503 }, {});
    const task = await caller.finish(paths.image, { model: "next", prompt: "Onwards" });
    expect(task).toMatchObject({ status: "succeeded", usage: { charge: "0.05" } });
    expect(listTried("Onwards")).toEqual(["next-1", "next-2"]);
  });

  test("goes to three at most, and then fails at no charge", async () => {
    const caller = await stage.createCaller();
    const task = await caller.finish(paths.image, { model: "hopeless", prompt: "<<fault:status=503>>" });
    expect(task).toMatchObject({
      status: "failed",
      error: { code: "upstream_unavailable", param: null, retryable: true },
      usage: { charge: "0.00" },
    });
    expect(listTried("<<fault:status=503>>")).toEqual(["hopeless-1", "hopeless-2", "hopeless-3"]);
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
  });

  test("with 429 opens the circuit for the Retry-After time: the next task goes elsewhere", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ status: 429, headers: { "retry-after": "60" } });
    await caller.finish(paths.image, { model: "full", prompt: "First" });
    await caller.finish(paths.image, { model: "full", prompt: "Second" });
    expect([listTried("First"), listTried("Second")]).toEqual([["full-1", "full-2"], ["full-2"]]);
  });

  test("because of its request goes to no other provider", async () => {
    const caller = await stage.createCaller();
    const error = { param: "num_images", message: "too many" };
    stage.media.script({ status: 422, error });
    const task = await caller.finish(paths.image, { model: "strict", prompt: "Wrong" });
    expect(task).toMatchObject({
      status: "failed",
      error: { code: "invalid_parameter", param: "n", retryable: false },
    });
    const refused = await caller.finish(paths.image, { model: "strict", prompt: "<<fault:policy>>" });
    expect(refused.error).toMatchObject({ code: "content_policy_violation", param: "prompt", retryable: false });
    expect([listTried("Wrong"), listTried("<<fault:policy>>")]).toEqual([["strict-1"], ["strict-1"]]);
  });

  test("after it had started goes to the next one too", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ result: failed }, {});
    const task = await caller.finish(paths.image, { model: "broken", prompt: "Again" });
    expect(task.status).toBe("succeeded");
    expect(listTried("Again")).toEqual(["broken-1", "broken-2"]);
  });

  test("with 429, without another provider, waits until it has room", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ status: 429, headers: { "retry-after": "1" } });
    const task = await caller.finish(paths.image, { model: "lonely", prompt: "Patience" });
    expect(task.status).toBe("succeeded");
  });
});

test("if all three keys of a primary fail, tasks succeed at the healthy backup", async () => {
  const caller = await stage.createCaller();
  stage.media.alwaysFor(({ apiKey }) => apiKey !== null && primaryKeys.includes(apiKey), { status: 500 });
  const finish = (at: number) => caller.finish(paths.image, { model: "backed", prompt: `Backed ${at}` });
  // One after another while its circuits are closed, then all at once.
  const finished = [await finish(0), await finish(1)];
  finished.push(...(await Promise.all(Array.from({ length: 24 }, (_, at) => finish(at + 2)))));
  expect(finished.map(({ status }) => status)).toEqual(finished.map(() => "succeeded"));
  for (const at of finished.keys()) {
    const tried = listTried(`Backed ${at}`);
    expect(tried.filter((provider) => provider === "primary").length).toBeLessThanOrEqual(2);
    expect(tried.at(-1)).toBe("backup");
  }
});

test("images with an unknown outcome are requested again from an idempotent upstream, and paid once", async () => {
  const caller = await stage.createCaller();
  stage.media.script({ isReset: true }, {});
  const prompt = `Lost by ${caller.accountId}`;
  const { id } = await caller.submit(paths.image, { model: "remembered", prompt });
  await waitUntil("an unknown outcome", async () => (await readPhase(id)) === "unknown");
  await stage.age(id, minuteMs);
  expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded", usage: { charge: "0.05" } });
  // A presumed-dead worker and its successor may both have sent it: to the upstream it is one request.
  const sent = stage.media.submissionsOf(prompt).map(({ call }) => call.headers["idempotency-key"]);
  expect(sent.length).toBeGreaterThanOrEqual(2);
  expect(new Set(sent)).toEqual(new Set([id]));
  expect(await caller.readBalance()).toEqual({ available: "9.95", frozen: "0.00" });
});

const failed = {
  status: 500,
  headers: { "x-fal-error-type": "runner_server_error" },
  body: { detail: "Internal Server Error" },
};

describe("a failing poll never fails a task:", () => {
  async function begin(behaviour: MediaBehaviour, prompt: string) {
    const caller = await stage.createCaller();
    stage.media.script(behaviour);
    const { id } = await caller.submit(paths.image, { model: "image", prompt });
    return { caller, id };
  }

  test("a proxy answers for a while", async () => {
    const behaviour: MediaBehaviour = { result: { status: 502, body: "<html>Bad Gateway</html>" } };
    const { caller, id } = await begin(behaviour, "Behind a wall");
    await asked(id, 3);
    // However long that takes: nothing was lost.
    await stage.age(id, 10 * 60_000);
    await asked(id, 4);
    expect((await caller.readTask(id)).status).toBe("queued");
    delete behaviour.result;
    await stage.age(id);
    expect((await caller.awaitTask(id)).status).toBe("succeeded");
  });

  test("the result appears later than the completed status", async () => {
    const { caller, id } = await begin({ lateResults: 1 }, "Almost");
    expect((await caller.awaitTask(id)).status).toBe("succeeded");
  });

  test("an unknown status means that the work goes on", async () => {
    const { caller, id } = await begin({ work: 1, statusWord: "PONDERING" }, "A new word");
    await caller.awaitTask(id, ["processing"]);
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded", started_at: expect.any(String) });
  });

  test("a forgotten job is waited for, and the task continues if it is found again", async () => {
    const { caller, id } = await begin({ work: 2, vanishesAfter: 1 }, "Lost and found");
    await lost(id);
    await stage.age(id, 1.9 * minuteMs);
    const job = stage.media.jobs.find(({ submission }) => submission.prompt === "Lost and found");
    if (job === undefined) throw new Error("There is no such work.");
    delete job.behaviour.vanishesAfter;
    job.isGone = false;
    await stage.age(id);
    expect((await caller.awaitTask(id)).status).toBe("succeeded");
  });

  test("a job that stays forgotten for more than two minutes has failed, at no charge, and is not started again", async () => {
    const { caller, id } = await begin({ work: 2, vanishesAfter: 1 }, "Lost for good");
    await lost(id);
    await stage.age(id, 2 * minuteMs + 1);
    expect(await caller.awaitTask(id)).toMatchObject({
      status: "failed",
      error: { code: "upstream_unavailable" },
      usage: { charge: "0.00" },
    });
    expect(listTried("Lost for good")).toHaveLength(1);
  });

  test("a route that an operator removes leaves the task waiting, and when it is back the task goes on", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ work: 1 });
    const { id } = await caller.submit(paths.image, { model: "late", prompt: "Away" });
    await caller.awaitTask(id, ["processing"]);
    await stage.applyCatalog(writeStageCatalog(stage.upstream));
    await stage.age(id);
    expect((await caller.readTask(id)).status).toBe("processing");
    await stage.applyCatalog(writeCatalog(stage.upstream));
    await stage.age(id);
    expect((await caller.awaitTask(id)).status).toBe("succeeded");
  });
});

describe("a submission that may have reached the upstream", () => {
  test.each([
    { what: "the connection broke", behaviour: { isReset: true } },
    { what: "the answer was cut off", behaviour: { cut: "inside-body" } },
    { what: "the answer cannot be read", behaviour: { isMalformed: true } },
    { what: "a proxy timed out", behaviour: { status: 504, body: "<html>" } },
  ] as const)("is never sent again, though $what: it waits for its deadline", async ({ what, behaviour }) => {
    const caller = await stage.createCaller();
    stage.media.script(behaviour);
    const { id } = await caller.submit(paths.image, { model: "image", prompt: what });
    await waitUntil("an unknown outcome", async () => (await readPhase(id)) === "unknown");
    for (let round = 0; round < 2; round += 1) {
      await stage.age(id);
    }
    expect(await caller.readTask(id)).toMatchObject({ status: "queued", progress: 0 });
    await stage.age(id, 60 * minuteMs);
    expect(await caller.awaitTask(id)).toMatchObject({ status: "expired", usage: { charge: "0.00" } });
    expect(stage.media.submissionsOf(what)).toHaveLength(1);
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
  });

  test.each([{ isReset: true }, { cut: "inside-body" }] as const)(
    "to a synchronous upstream has failed, at no charge, and is never sent again: %o",
    async (behaviour) => {
      const caller = await stage.createCaller();
      stage.media.script(behaviour);
      const prompt = `Kept by nobody: ${Object.keys(behaviour)}`;
      const task = await caller.finish(paths.image, { model: "prompt-image", prompt });
      expect(task).toMatchObject({ status: "failed", error: { code: "upstream_timeout", retryable: true } });
      expect(task.usage.charge).toBe("0.00");
      expect(stage.media.submissionsOf(prompt)).toHaveLength(1);
    },
  );
});

describe("an output", () => {
  test.each([
    { what: "cannot be fetched for a while", fault: "forbidden" },
    { what: "breaks off for a while", fault: "cut" },
    { what: "is too large for a while", fault: "huge" },
    { what: "leads to a private address for a while", fault: { redirectTo: "http://169.254.169.254/meta" } },
  ] as const)("and $what is downloaded again, from a fresh address", async ({ what, fault }) => {
    const caller = await stage.createCaller();
    const behaviour: MediaBehaviour = { output: fault };
    stage.media.script(behaviour);
    const { id } = await caller.submit(paths.image, { model: "image", prompt: what, n: 2 });
    await lost(id);
    delete behaviour.output;
    await stage.age(id);
    const task = await caller.awaitTask(id);
    expect(task).toMatchObject({ status: "succeeded", usage: { total_units: 2 } });
    expect(listTried(what)).toHaveLength(1);
  });

  test("that can never be downloaded fails the task after two minutes, at no charge", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ output: "forbidden" });
    const { id } = await caller.submit(paths.image, { model: "image", prompt: "Behind a door" });
    await lost(id);
    await stage.age(id, 2 * minuteMs + 1);
    const task = await caller.awaitTask(id);
    expect(task).toMatchObject({ status: "failed", error: { code: "upstream_unavailable" }, output: [] });
  });

  test("that is partly garbage is charged and delivered as far as it is valid, with a warning", async () => {
    const caller = await stage.createCaller();
    const good = (await makePicture({ width: 64, height: 64 }, 3)).bytes.toString("base64");
    const data = [good, "AAAA", film.bytes.toString("base64")].map((text) => ({ b64_json: text }));
    stage.media.script({ body: JSON.stringify({ data }) });
    const task = await caller.finish(paths.image, { model: "prompt-image", prompt: "Mixed", n: 3 });
    expect(task).toMatchObject({
      status: "succeeded",
      output: [{ type: "image" }],
      warnings: [{ code: "fewer_outputs" }],
      usage: { total_units: 1, charge: "0.05" },
    });
  });

  test("that is empty fails the task, at no charge", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ body: JSON.stringify({ data: [] }) });
    const task = await caller.finish(paths.image, { model: "prompt-image", prompt: "Empty" });
    expect(task).toMatchObject({ status: "failed", usage: { charge: "0.00" } });
  });

  test("that was withheld for its content fails the task for that reason, at no charge", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ withheldCount: 2 });
    const task = await caller.finish(paths.image, { model: "image", prompt: "Flagged", n: 2 });
    expect(task).toMatchObject({ status: "failed", error: { code: "content_policy_violation" } });
  });
});

async function readPhase(id: string): Promise<string | undefined> {
  const row = await stage.database.selectFrom("tasks").select("phase").where("id", "=", id).executeTakeFirst();
  return row?.phase;
}

/** Resolves when the upstream did not know a task, or did not deliver its output, this often. */
async function asked(id: string, times: number): Promise<void> {
  await waitUntil(`${id} to be asked about`, async () => {
    const lease = await stage.database
      .selectFrom("task_leases")
      .select("polls")
      .where("task_id", "=", id)
      .executeTakeFirst();
    return (lease?.polls ?? 0) >= times;
  });
}

async function lost(id: string): Promise<void> {
  await waitUntil(`${id} to be missed`, async () => {
    const row = await stage.database.selectFrom("tasks").select("lost_at").where("id", "=", id).executeTakeFirst();
    return row?.lost_at !== null;
  });
}
