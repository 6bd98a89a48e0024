import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { changeAccount } from "../../src/app/change-account.ts";
import { nano } from "../../src/lib/money.ts";
import { planScript } from "../../web/src/pages/playground/estimate-drama.ts";
import {
  type DramaFront,
  dramaPath,
  openDramaFront,
  type SeenDrama,
  usualDrama,
} from "../harness/dramas/drama-callers.ts";
import { sampleRoles, sampleScript, sampleStoryboard } from "../harness/dramas/drama-samples.ts";
import { noTraces, readProblem } from "../harness/tasks/task-stage.ts";

let front: DramaFront;

/** No worker runs here: these tests cover submission only. */
beforeAll(async () => {
  front = await openDramaFront({ settings: { roles: ["http"] } });
});
afterEach(() => front.check());
afterAll(() => front[Symbol.asyncDispose]());

const allSteps = ["script", "roles", "storyboard", "shots", "speech", "film"];

describe("a drama", () => {
  test("is answered 202 with the whole task, its steps, its URL and a polling interval", async () => {
    const caller = await front.createCaller();
    const body = { stage: undefined, metadata: { order: "7" }, expires_after: 1800, episode: 2, aspect_ratio: "9:16" };
    const response = await caller.ask(body, { "x-client-request-id": "mine-1" });
    expect(response.status).toBe(202);
    const task = (await response.json()) as SeenDrama;
    expect(task).toEqual({
      id: expect.stringMatching(/^task_[0-9a-z]{26}$/),
      ...{ object: "generation.task", type: "drama", model: "sandbox-drama" },
      ...{ status: "queued", progress: 0, output: [], prompt: usualDrama.title },
      usage: { total_units: 0, estimated_charge: "2.53" },
      created: expect.any(Number),
      request_id: response.headers.get("x-request-id"),
      updated_at: expect.any(String),
      metadata: { order: "7" },
      client_request_id: "mine-1",
      expires_at: expect.any(String),
      steps: allSteps.map((name) => ({
        ...{ name, status: "queued", progress: 0, output: [], charge: "0.00", task_ids: [] },
      })),
    });
    expect(Date.parse(task.expires_at ?? "") - task.created * 1000).toBeLessThanOrEqual(1_801_000);
    expect(response.headers.get("location")).toBe(`http://localhost:4242/v1/tasks/${task.id}`);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(response.headers.get("etag")).toBe('W/"1"');
    expect(await caller.readTask(task.id)).toMatchObject({ id: task.id, steps: task.steps });
    expect(await caller.readBalance()).toEqual({ available: "7.47", frozen: "2.53" });
  });

  test.each([
    ["script", usualDrama.script, ["script"], "0.02"],
    ["roles", usualDrama.script, ["script", "roles"], "0.03"],
    ["storyboard", usualDrama.script, ["script", "roles", "storyboard"], "0.13"],
    ["video", usualDrama.script, allSteps, "2.53"],
    ["roles", sampleScript, ["roles"], "0.01"],
    ["storyboard", sampleScript, ["roles", "storyboard"], "0.11"],
    ["video", sampleScript, allSteps.slice(1), "1.31"],
    ["storyboard", sampleRoles, ["storyboard"], "0.10"],
    ["video", sampleRoles, allSteps.slice(2), "1.30"],
    ["video", sampleStoryboard, allSteps.slice(3), "1.12"],
  ] as const)(
    "up to %s has the steps that lead there, and only these are held",
    async (stage, script, steps, price) => {
      const caller = await front.createCaller();
      const task = await caller.order({ stage, script });
      expect(task.steps.map(({ name }) => name)).toEqual(steps);
      expect(task.usage.estimated_charge).toBe(price);
      expect(await caller.listHolds()).toMatchObject([{ state: "open", amount: price, causeId: task.id }]);
    },
  );

  test("has a public price per stage, and a hold for their sum", async () => {
    const caller = await front.createCaller();
    const list = (await (await caller.get("/pricing/models")).json()) as { data: Record<string, string>[] };
    const prices = list.data.filter(({ model }) => model === "sandbox-drama");
    expect(prices.map(({ capability, unit, price }) => [capability, unit, price])).toEqual([
      ["script_generation", "call", "0.02"],
      ["role_analysis", "call", "0.01"],
      ["storyboard", "call", "0.10"],
      ["drama_video", "second", "0.08"],
    ]);
    const model = (await (await caller.get("/models/sandbox-drama")).json()) as { limits: { durations: number[] } };
    const seconds = Math.max(...model.limits.durations);
    const sum = prices.reduce((total, { price, unit }) => total + Number(price) * (unit === "second" ? seconds : 1), 0);
    const task = await caller.order({ stage: "video", script: `ANNA\n${"The lamp is out. ".repeat(60)}` });
    expect(Number(task.usage.estimated_charge)).toBeCloseTo(sum, 6);
  });

  test("holds the length that the playground announces", async () => {
    const caller = await front.createCaller({ cash: "100" });
    const page = readFileSync(new URL("../../docs/media/drama-script.txt", import.meta.url), "utf8");
    const long = `INT. ROOM\n\nANNA (aside)\n(quietly)\n${"A word. ".repeat(300)}`;
    const texts = [page, "An idea.", "灯灭了。", "Anna: Hello.\nBen: Who is there?", long];
    for (const script of [...texts, sampleScript, sampleRoles, sampleStoryboard]) {
      const plan = planScript(typeof script === "string" ? script : JSON.stringify(script));
      const { id } = await caller.order({ script, stage: "video" });
      const row = await front.database.selectFrom("tasks").select("request").where("id", "=", id).executeTakeFirst();
      expect(row?.request).toMatchObject({ secondsMax: Math.min(60, plan?.secondsMax ?? 0) });
    }
  });

  test("canceled before any work costs nothing, and every step is canceled", async () => {
    const caller = await front.createCaller();
    const { id } = await caller.order({ stage: "video" });
    expect((await caller.cancel(id)).status).toBe(200);
    const task = (await caller.readTask(id)) as SeenDrama;
    expect(task).toMatchObject({ status: "canceled", output: [], usage: { charge: "0.00" } });
    expect(task.steps.map(({ status }) => status)).toEqual(allSteps.map(() => "canceled"));
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
    expect((await caller.listEvents()).map(({ type }) => type)).toEqual(["task.canceled"]);
  });

  test("is listed with its steps among its own account's tasks of its type only", async () => {
    const caller = await front.createCaller();
    const other = await front.createCaller();
    const { id } = await caller.order();
    const list = (await (await caller.get("/tasks?type=drama")).json()) as { data: SeenDrama[] };
    expect(list.data.map((task) => [task.id, task.steps.length])).toEqual([[id, 1]]);
    expect((await other.get(`/tasks/${id}`)).status).toBe(404);
  });

  test("with an Idempotency-Key is made once; another body with the same key is rejected", async () => {
    const caller = await front.createCaller();
    const headers = { "idempotency-key": "drama-1" };
    const first = await caller.order({}, headers);
    const again = await caller.ask({}, headers);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.status).toBe(202);
    expect(((await again.json()) as SeenDrama).id).toBe(first.id);
    const other = await readProblem(await caller.ask({ title: "Another" }, headers));
    expect(other).toMatchObject({ status: 422, code: "idempotency_key_reused", param: "Idempotency-Key" });
    expect(await caller.countTraces()).toEqual({ tasks: 1, holds: 1, events: 0, keys: 1 });
  });

  test("takes title, episode and ratio from its document unless the request sets them", async () => {
    const caller = await front.createCaller({ cash: "100" });
    const requestOf = async (more: Record<string, unknown>) => {
      const { id } = await caller.order(more);
      const row = await front.database.selectFrom("tasks").select("request").where("id", "=", id).executeTakeFirst();
      return row?.request;
    };
    const board = { stage: "video", script: sampleStoryboard, title: undefined };
    expect(await requestOf(board)).toMatchObject({ title: "The Lighthouse", episode: 3, aspectRatio: "9:16" });
    const own = { ...board, title: "  My \n film ", episode: 9, aspect_ratio: "1:1" };
    expect(await requestOf(own)).toMatchObject({ title: "My film", episode: 9, aspectRatio: "1:1" });
    expect(await requestOf({ stage: "roles", script: sampleScript })).toMatchObject({
      episode: 3,
      aspectRatio: "16:9",
    });
    expect(await requestOf({})).toMatchObject({ episode: 1, aspectRatio: "16:9", isPartialAllowed: false });
    const odd = { ...sampleStoryboard, aspect_ratio: "4:5" };
    expect(await requestOf({ ...board, script: odd })).toMatchObject({ aspectRatio: "16:9" });
    expect(await requestOf({ ...board, allow_partial: true })).toMatchObject({ isPartialAllowed: true });
    expect(await requestOf(board)).toMatchObject({ subtitles: "burned" });
    expect(await requestOf({ ...board, subtitles: "track" })).toMatchObject({ subtitles: "track" });
  });
});

describe("a drama needs a receiver for its end:", () => {
  const hook = "http://127.0.0.1:9/hook";

  test("without one it is rejected, and the error lists the options", async () => {
    const caller = await front.createCaller({ isHeard: false });
    const problem = await readProblem(await caller.ask());
    expect(problem).toMatchObject({ status: 400, code: "webhook_required", param: "callback_url" });
    for (const way of ["endpoint", "callback_url", "inbox"]) expect(problem.message).toContain(way);
    expect(await caller.countTraces()).toEqual(noTraces);
  });

  test("the account's endpoint is enough, unless it is disabled, deleted or another account's", async () => {
    const caller = await front.createCaller({ isHeard: false });
    const other = await front.createCaller({ isHeard: false });
    const created = await caller.post("/webhook_endpoints", { url: hook });
    const { id } = (await created.json()) as { id: string };
    await caller.order();
    expect((await other.ask()).status).toBe(400);
    const change = (enabled: boolean) =>
      front.fetch(`${front.gateway.baseUrl}/webhook_endpoints/${id}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
        body: JSON.stringify({ enabled }),
      });
    expect((await change(false)).status).toBe(200);
    expect(await readProblem(await caller.ask())).toMatchObject({ code: "webhook_required" });
    expect((await change(true)).status).toBe(200);
    await caller.order();
    const headers = { authorization: `Bearer ${caller.key}` };
    await front.fetch(`${front.gateway.baseUrl}/webhook_endpoints/${id}`, { method: "DELETE", headers });
    expect(await readProblem(await caller.ask())).toMatchObject({ code: "webhook_required" });
  });

  test("the request's own callback_url is enough, and so is the event inbox", async () => {
    const caller = await front.createCaller({ isHeard: false });
    await caller.order({ callback_url: hook });
    const heard = await front.createCaller({ isHeard: true });
    await heard.order();
  });

  test("other generations need none", async () => {
    const caller = await front.createCaller({ isHeard: false });
    await caller.submit("/images/generations", { model: "sandbox-image", prompt: "A lighthouse" });
  });
});

describe("a drama is rejected", () => {
  test("with 402 and the missing amount, leaving no trace, and the key and the id can be reused", async () => {
    const caller = await front.createCaller({ cash: "2.52" });
    const headers = { "idempotency-key": "poor-1" };
    const body = { stage: "video", client_business_id: "poor" };
    const response = await caller.ask(body, headers);
    const problem = await readProblem(response);
    expect(problem).toMatchObject({ status: 402, code: "insufficient_balance" });
    expect(problem.message).toContain("2.53 USD");
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await caller.countTraces()).toEqual(noTraces);
    expect(await caller.countOrders()).toBe(0);
    expect((await caller.ask({ ...body, script: sampleScript }, headers)).status).toBe(202);
  });

  test("with 402 when the key's budget is below its maximum cost", async () => {
    const caller = await front.createCaller({ budget: { amount: nano(20_000_000n), period: "month" } });
    expect(await readProblem(await caller.ask({ stage: "roles" }))).toMatchObject({ code: "key_budget_exceeded" });
    expect((await caller.ask()).status).toBe(202);
  });

  test("with 429 when the account has its maximum of open tasks", async () => {
    const caller = await front.createCaller();
    await changeAccount(front.gateway.parts, caller.accountId, { limits: { tasksInFlight: 2 } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => caller.ask()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(refused && (await readProblem(refused))).toMatchObject({ code: "concurrency_limit_exceeded" });
    expect(await caller.countTraces()).toMatchObject({ tasks: 2, holds: 2 });
  });

  test("without a key, with another method, and with a key of another scope", async () => {
    const bare = await front.fetch(`${front.gateway.baseUrl}${dramaPath}`, { method: "POST", body: "{}" });
    expect(await readProblem(bare)).toMatchObject({ status: 401, code: "missing_api_key" });
    const wrong = await front.createCaller();
    const unknown = await wrong.ask({}, { authorization: `Bearer ${wrong.key.slice(0, -1)}x` });
    expect(unknown.status).toBe(401);
    expect(await readProblem(await wrong.get(dramaPath))).toMatchObject({ status: 405 });
    const narrow = await front.createCaller({ modelIds: ["sandbox-chat"] });
    expect(await readProblem(await narrow.ask())).toMatchObject({ param: "model" });
    const elsewhere = await front.createCaller({ endpoints: ["images"] });
    expect(await readProblem(await elsewhere.ask())).toMatchObject({ status: 403, code: "key_not_permitted" });
    expect(await elsewhere.countTraces()).toEqual(noTraces);
  });

  test("with 501 where an operator has disabled dramas", async () => {
    await using closed = await openDramaFront({ settings: { roles: ["http"], disabled_endpoints: ["createDrama"] } });
    const caller = await closed.createCaller();
    expect(await readProblem(await caller.ask())).toMatchObject({ status: 501, code: "endpoint_not_released" });
  });

  test("with a callback to a private address where the sandbox profile is off", async () => {
    await using closed = await openDramaFront({ settings: { roles: ["http"], sandbox: "off" } });
    const caller = await closed.createCaller({ isHeard: false });
    for (const address of [
      "http://127.0.0.1:9/hook",
      "https://10.0.0.8/hook",
      "https://169.254.169.254/",
      "http://example.com/",
    ]) {
      const problem = await readProblem(await caller.ask({ callback_url: address }));
      expect(problem).toMatchObject({ status: 400, code: "invalid_url", param: "callback_url" });
    }
    expect(await caller.countTraces()).toEqual(noTraces);
    await caller.order({ callback_url: "https://example.com/hook" });
  });
});
