// @module-tag slow
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { changeAccount } from "../../src/app/change-account.ts";
import { createApiKey } from "../../src/features/accounts/index.ts";
import { nano } from "../../src/lib/money.ts";
import {
  noTraces,
  openTaskStage,
  paths,
  readProblem,
  readTask,
  type StageCaller,
  type TaskStage,
  type WholeTask,
} from "../harness/tasks/task-stage.ts";
import { film, makePicture, voice } from "../harness/upstreams/media-samples.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: TaskStage;
const picture = await makePicture({ width: 64, height: 64 }, 1);

beforeAll(async () => {
  stage = await openTaskStage({ settings: { disabled_endpoints: ["streamTaskEvents"] } });
});
afterEach(() => stage.check());
afterAll(() => stage[Symbol.asyncDispose]());

/** An image task that never ends. */
const endless = { model: "image", prompt: "An endless one <<fault:queue=99999>>" };
const image = { model: "image", prompt: "A lighthouse" };

describe("a submission", () => {
  test("of each kind is answered 202 with the whole task, its URL and a polling interval", async () => {
    const caller = await stage.createCaller();
    const avatar = {
      model: "avatar",
      avatar_file_id: await caller.upload(picture.bytes),
      audio_file_id: await caller.upload(voice.bytes),
    };
    const kinds = [
      { type: "image", body: image, estimate: "0.04" },
      { type: "video", body: { model: "video", prompt: "Waves", duration: 5 }, estimate: "0.50" },
      { type: "avatar", body: avatar, estimate: "0.20" },
    ] as const;
    for (const { type, body, estimate } of kinds) {
      const response = await caller.post(
        paths[type],
        { ...body, metadata: { order: "7" }, expires_after: 600 },
        { headers: { "x-client-request-id": "mine-1" } },
      );
      expect(response.status).toBe(202);
      const task = await readTask(response);
      expect(task).toEqual({
        id: expect.stringMatching(/^task_[0-9a-z]{26}$/),
        object: "generation.task",
        ...{ type, model: type, status: "queued", progress: 0, output: [] },
        ...("prompt" in body ? { prompt: body.prompt } : {}),
        usage: { total_units: 0, estimated_charge: estimate },
        created: expect.any(Number),
        request_id: response.headers.get("x-request-id"),
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        metadata: { order: "7" },
        client_request_id: "mine-1",
        expires_at: expect.any(String),
      });
      expect(Number.isInteger(task.created)).toBe(true);
      const lifeMs = Date.parse(task.expires_at ?? "") - Date.parse(task.updated_at);
      expect(lifeMs).toBe(600_000);
      expect(response.headers.get("location")).toBe(`http://localhost:4242/v1/tasks/${task.id}`);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(response.headers.get("etag")).toBe('W/"1"');
      expect(response.headers.get("x-ratelimit-remaining")).not.toBeNull();
    }
  });

  test("through the OpenAI SDK creates a task with all of the contract's fields from start to end", async () => {
    const caller = await stage.createCaller();
    const submitted = await caller.client.post<WholeTask>("/images/generations", { body: { ...image, n: 2 } });
    const fields = ["id", "object", "status", "progress", "output", "usage", "created", "request_id", "updated_at"];
    expect(Object.keys(submitted)).toEqual(expect.arrayContaining(fields));
    const ended = await caller.awaitTask(submitted.id);
    expect(Object.keys(ended)).toEqual(expect.arrayContaining(fields));
    expect(ended).toMatchObject({ status: "succeeded", progress: 100, usage: { total_units: 2, charge: "0.08" } });
    expect(ended.request_id).toBe(submitted.request_id);
  });

  test("produces the requested outputs, and every output can be fetched by its link", async () => {
    const caller = await stage.createCaller();
    const body = { model: "image", prompt: "A wide one", size: "128x64", n: 2 };
    const { output } = await caller.finish(paths.image, body);
    expect(output).toHaveLength(2);
    for (const item of output) {
      expect(item).toMatchObject({ type: "image", content_type: "image/png", width: 128, height: 64 });
      expect(new Date(item.expires_at).getTime()).toBeGreaterThan(Date.now() + 29 * 24 * 60 * 60 * 1000);
      const path = item.url.replace(/^http:\/\/[^/]+/, "");
      const bytes = Buffer.from(await (await stage.fetch(stage.gateway.siteUrl + path)).arrayBuffer());
      expect(bytes).toHaveLength(item.bytes);
    }
    expect(stage.media.submissionsOf("A wide one")).toMatchObject([
      { fields: { image_size: { width: 128, height: 64 }, num_images: 2 } },
    ]);
  });

  test("with the caller's files passes these files to the model unchanged", async () => {
    const caller = await stage.createCaller();
    const person = await caller.upload(picture.bytes);
    const audio = await caller.upload(voice.bytes);
    const filmed = await caller.upload(film.bytes);
    const tasks = [
      await caller.finish(paths.avatar, { model: "avatar", avatar_file_id: person, audio_file_id: audio }),
      await caller.finish(paths.avatar, { model: "avatar", avatar_file_id: filmed, audio_file_id: audio }),
      await caller.finish(paths.image, { ...image, prompt: "From a file", input_images: [person] }),
    ];
    expect(tasks.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    const given = JSON.stringify(stage.media.submissionsOf("From a file").map(({ fields }) => fields));
    expect(given).toContain(picture.bytes.toString("base64").slice(0, 40));
    expect(stage.media.refusals()).toEqual([]);
  });
});

describe("an invalid submission is rejected with the field's name, and nothing is written or charged:", () => {
  const cases: readonly {
    what: string;
    path: string;
    body: object | string;
    answer: { status: number; code: string; param: string | null };
  }[] = [
    bad("an unknown field", "image", { ...image, steps: 1 }, "unknown_parameter", "steps"),
    bad("no model", "image", { prompt: "x" }, "missing_parameter", "model"),
    bad("no prompt", "image", { model: "image" }, "missing_parameter", "prompt"),
    bad("an empty prompt", "image", { ...image, prompt: "" }, "invalid_parameter", "prompt"),
    bad("a prompt that is not a string", "image", { ...image, prompt: 7 }, "invalid_parameter", "prompt"),
    bad("a prompt that is one character too long", "image", longPrompt(1001), "prompt_too_long", "prompt"),
    bad("n of 0", "image", { ...image, n: 0 }, "invalid_parameter", "n"),
    bad("n of a billion", "image", { ...image, n: 1e9 }, "invalid_parameter", "n"),
    bad("one more than the model's maximum", "image", { ...image, n: 5 }, "invalid_parameter", "n"),
    bad("a fractional n", "image", { ...image, n: 1.5 }, "invalid_parameter", "n"),
    bad("n as a string", "image", { ...image, n: "2" }, "invalid_parameter", "n"),
    bad("a size that the model lacks", "image", { ...image, size: "65x64" }, "invalid_parameter", "size"),
    bad("too many images", "image", withImages(["file_1", "file_2", "file_3"]), "invalid_parameter", "input_images"),
    bad("an empty list of images", "image", withImages([]), "invalid_parameter", "input_images"),
    bad("a local path", "image", withImages(["/etc/passwd"]), "invalid_url", "input_images[0]"),
    bad("another scheme", "image", withImages(["file:///etc/passwd"]), "invalid_url", "input_images[0]"),
    bad("plain http", "image", withImages(["http://example.com/a.png"]), "invalid_url", "input_images[0]"),
    bad("a private address", "image", withImages(["https://10.1.2.3/a.png"]), "invalid_url", "input_images[0]"),
    bad("this machine", "image", withImages(["https://[::1]/a.png"]), "invalid_url", "input_images[0]"),
    bad("an internal host name", "image", withImages(["https://localhost/a.png"]), "invalid_url", "input_images[0]"),
    bad("credentials in the URL", "image", withImages(["https://a:b@c.de/x"]), "invalid_url", "input_images[0]"),
    bad(
      "an unknown file",
      "image",
      withImages(["file_01m7fg660kf3tj2kk0mw56hwfv"]),
      "file_not_found",
      "input_images[0]",
    ),
    bad("a video without a prompt", "video", { model: "video" }, "missing_parameter", "prompt"),
    bad("a duration that the model lacks", "video", filmOf({ duration: 7 }), "invalid_parameter", "duration"),
    bad("a duration of 0", "video", filmOf({ duration: 0 }), "invalid_parameter", "duration"),
    bad("a ratio that the model lacks", "video", filmOf({ aspect_ratio: "4:3" }), "invalid_parameter", "aspect_ratio"),
    bad("images for a text-only model", "video", epicFrom(), "unsupported_capability", "input_images"),
    bad("no person", "avatar", { model: "avatar", audio_file_id: "x" }, "missing_parameter", "avatar_file_id"),
    bad("no voice", "avatar", { model: "avatar", avatar_file_id: "x" }, "missing_parameter", "audio_file_id"),
    bad("a chat model", "image", { ...image, model: "talk" }, "unsupported_capability", "model"),
    bad("a video model", "image", { ...image, model: "video" }, "unsupported_capability", "model"),
    bad("an invalid callback URL", "image", { ...image, callback_url: "me" }, "invalid_url", "callback_url"),
    bad("a callback by mail", "image", { ...image, callback_url: "mailto:a@b.c" }, "invalid_url", "callback_url"),
    bad("a deadline of 0", "image", { ...image, expires_after: 0 }, "invalid_parameter", "expires_after"),
    bad("a deadline next month", "image", { ...image, expires_after: 2_678_400 }, "invalid_parameter", "expires_after"),
    bad("metadata that is not an object", "image", { ...image, metadata: ["a"] }, "invalid_parameter", "metadata"),
    bad("metadata of numbers", "image", { ...image, metadata: { a: 1 } }, "invalid_parameter", "metadata.a"),
    bad("17 pairs of metadata", "image", { ...image, metadata: pairs(17) }, "invalid_parameter", "metadata"),
    bad(
      "a value that is too long",
      "image",
      { ...image, metadata: { a: "b".repeat(513) } },
      "invalid_parameter",
      "metadata.a",
    ),
    { ...bad("an unknown model", "image", { ...image, model: "nobody" }, "model_unavailable", "model") },
    { ...bad("broken JSON", "image", "{", "invalid_json", null) },
  ];

  test.each(cases)("$what", async ({ path, body, answer }) => {
    const caller = await stage.createCaller();
    const submissions = stage.media.submissions.length;
    const response = await caller.post(path, body, { headers: { "idempotency-key": "bad-1" } });
    expect(await readProblem(response)).toMatchObject(answer);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(await caller.countTraces()).toEqual(noTraces);
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
    expect(stage.media.submissions).toHaveLength(submissions);
  });

  test.each([
    ["image", 60],
    ["speech", 60],
    ["video", 600],
    ["avatar", 600],
  ] as const)("a deadline of a task for %s sooner than %i seconds, which the error names", async (type, secondsMin) => {
    const caller = await stage.createCaller();
    const bodies = {
      image,
      speech: { model: "speech", input: "Hello", voice: "alloy" },
      video: filmOf({}),
      avatar: {
        ...{ model: "avatar", avatar_file_id: await caller.upload(picture.bytes) },
        audio_file_id: await caller.upload(voice.bytes),
      },
    };
    const headers = { prefer: "respond-async" };
    const ask = (seconds: number) => caller.post(paths[type], { ...bodies[type], expires_after: seconds }, { headers });
    const problem = await readProblem(await ask(secondsMin - 1));
    expect(problem).toMatchObject({ status: 400, code: "invalid_parameter", param: "expires_after" });
    expect(problem.message).toMatch(new RegExp(`\\b${secondsMin}\\b`));
    expect(await caller.countTraces()).toEqual(noTraces);
    expect((await ask(secondsMin)).status).toBe(202);
  });

  test("the error lists the allowed values", async () => {
    const caller = await stage.createCaller();
    const ask = async (path: string, body: object) => (await readProblem(await caller.post(path, body))).message;
    expect(await ask(paths.image, { ...image, size: "1x1" })).toContain("64x64, 128x64");
    expect(await ask(paths.image, { ...image, n: 9 })).toContain("1 to 4");
    expect(await ask(paths.video, filmOf({ duration: 7 }))).toContain("1, 5");
    expect(await ask(paths.video, filmOf({ aspect_ratio: "4:3" }))).toContain("16:9, 9:16");
    expect(await ask(paths.image, longPrompt(1001))).toContain("1000");
  });

  test("a prompt of exactly the maximum length is accepted, counted in characters", async () => {
    const caller = await stage.createCaller();
    await caller.submit(paths.image, { ...image, prompt: "\u{1F3DD}".repeat(1000) });
  });

  test("files that are another account's, expired, or of another kind than the field needs", async () => {
    const caller = await stage.createCaller();
    const other = await stage.createCaller();
    const foreign = await other.upload(picture.bytes);
    const expired = await caller.upload(picture.bytes);
    await sql`update files set expires_at = now() - interval '1 second' where id = ${expired}`.execute(stage.database);
    const person = await caller.upload(picture.bytes);
    const audio = await caller.upload(voice.bytes);
    const submit = async (avatar: string, sound: string) =>
      readProblem(await caller.post(paths.avatar, { model: "avatar", avatar_file_id: avatar, audio_file_id: sound }));
    const unknown = { status: 404, code: "file_not_found" };
    expect(await submit(foreign, audio)).toMatchObject({ ...unknown, param: "avatar_file_id" });
    expect(await submit(expired, audio)).toMatchObject({ ...unknown, param: "avatar_file_id" });
    expect(await submit(person, "file_none")).toMatchObject({ ...unknown, param: "audio_file_id" });
    expect(await submit(person, person)).toMatchObject({ status: 400, code: "invalid_file", param: "audio_file_id" });
    expect(await submit(audio, audio)).toMatchObject({ status: 400, code: "invalid_file", param: "avatar_file_id" });
    const asImage = await caller.post(paths.image, { ...image, input_images: [audio] });
    expect(await readProblem(asImage)).toMatchObject({ status: 400, code: "invalid_file", param: "input_images[0]" });
    expect(await caller.countTraces()).toEqual(noTraces);
  });

  test.each([
    ["prompt", { ...image, prompt: "a\u0000b" }],
    ["prompt", { ...image, prompt: "a\ud800b" }],
    ["metadata.a", { ...image, metadata: { a: "\u0000" } }],
  ])("texts that the database cannot store: %s", async (param, body) => {
    const caller = await stage.createCaller();
    const problem = await readProblem(await caller.post(paths.image, body));
    expect(problem).toMatchObject({ status: 400, code: "invalid_parameter", param });
    expect(await caller.countTraces()).toEqual(noTraces);
  });

  test.each([
    ["65 characters", { ["k".repeat(65)]: "v" }],
    ["none", { "": "v" }],
    ["a number", { ["k".repeat(65)]: 5 }],
    ["a line break", { "a\nb": "v" }],
  ])("metadata whose name has %s", async (_what, metadata) => {
    const caller = await stage.createCaller();
    const problem = await readProblem(await caller.post(paths.image, { ...image, metadata }));
    expect(problem.status).toBe(400);
    expect(problem.param).toMatch(/^metadata/);
    expect(await caller.countTraces()).toEqual(noTraces);
  });
});

describe("a submission is rejected", () => {
  test("with 402 and the missing amount, leaving no trace, and the key can be reused", async () => {
    const caller = await stage.createCaller({ cash: "0.10" });
    const headers = { "idempotency-key": "poor-1" };
    const body = { ...image, prompt: "A dear one", n: 3 };
    const response = await caller.post(paths.image, body, { headers });
    const problem = await readProblem(response);
    expect(problem).toMatchObject({ status: 402, code: "insufficient_balance" });
    expect(problem.message).toContain("0.12 USD");
    expect(problem.message).toContain("0.02 USD");
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await caller.countTraces()).toEqual(noTraces);
    expect(stage.media.submissionsOf("A dear one")).toEqual([]);
    expect((await caller.post(paths.image, { ...body, n: 2 }, { headers })).status).toBe(202);
  });

  test("with 402 when the key's budget is below the task's maximum cost", async () => {
    const caller = await stage.createCaller({ budget: { amount: nano(50_000_000n), period: "month" } });
    expect((await caller.post(paths.image, image)).status).toBe(202);
    const problem = await readProblem(await caller.post(paths.image, image));
    expect(problem).toMatchObject({ status: 402, code: "key_budget_exceeded" });
    expect(problem.message).toContain("0.03 USD");
  });

  test.each(["account", "key"] as const)(
    "with 429 when the %s has its maximum of open tasks, exactly, under concurrent submissions",
    async (owner) => {
      const limits = { tasksInFlight: 7 };
      const caller = await stage.createCaller(owner === "key" ? { limits } : {});
      // The gateway has not seen the key yet, so it reads the limit with the first request.
      if (owner === "account") await changeAccount(stage.gateway.parts, caller.accountId, { limits });
      const bodies = Array.from({ length: 30 }, () => endless);
      const answers = await Promise.all(bodies.map((body) => caller.post(paths.image, body)));
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(7);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(23);
      expect(await caller.countTraces()).toMatchObject({ tasks: 7, holds: 7 });
      const refused = answers.find(({ status }) => status === 429);
      const waitMs = Number(refused?.headers.get("retry-after-ms"));
      expect([waitMs >= 1000, waitMs <= 60_000]).toEqual([true, true]);
      expect(refused?.headers.get("retry-after")).toBe(String(Math.ceil(waitMs / 1000)));
      expect(["limit", "remaining"].map((name) => refused?.headers.get(`x-ratelimit-${name}`))).toEqual(["7", "0"]);
      expect(refused && (await readProblem(refused))).toMatchObject({ code: "concurrency_limit_exceeded" });
      const [first] = await listOpen(caller);
      await caller.cancel(first ?? "");
      await stage.age(first ?? "", 24 * 60 * 60 * 1000);
      await caller.awaitTask(first ?? "");
      expect((await caller.post(paths.image, endless)).status).toBe(202);
      expect((await caller.post(paths.image, endless)).status).toBe(429);
    },
  );

  test("when the account is suspended, and tasks of its other key count towards the account only", async () => {
    const caller = await stage.createCaller({ limits: { tasksInFlight: 1 } });
    await caller.submit(paths.image, endless);
    const { text } = await createApiKey(
      { ...stage.gateway.parts, randomBytes },
      { accountId: caller.accountId, name: "second" },
    );
    const headers = { authorization: `Bearer ${text}` };
    expect((await caller.post(paths.image, endless)).status).toBe(429);
    expect((await caller.post(paths.image, endless, { headers })).status).toBe(202);
    await changeAccount(stage.gateway.parts, caller.accountId, { isSuspended: true });
    const refused = await waitUntil("the suspension to be known", async () => {
      const response = await caller.post(paths.image, endless, { headers });
      return response.status === 403 ? response : null;
    });
    expect(await readProblem(refused)).toMatchObject({ code: "account_suspended" });
  });

  test("when the key may not use the model or the endpoint", async () => {
    const narrow = await stage.createCaller({ modelIds: ["video"] });
    expect(await readProblem(await narrow.post(paths.image, image))).toMatchObject({ param: "model" });
    const elsewhere = await stage.createCaller({ endpoints: ["videos"] });
    expect(await readProblem(await elsewhere.post(paths.image, image))).toMatchObject({ code: "key_not_permitted" });
    expect(await narrow.countTraces()).toEqual(noTraces);
    expect(await elsewhere.countTraces()).toEqual(noTraces);
  });

  test("without a key, and with another method", async () => {
    const bare = await stage.fetch(`${stage.gateway.baseUrl}${paths.image}`, { method: "POST", body: "{}" });
    expect(await readProblem(bare)).toMatchObject({ status: 401, code: "missing_api_key" });
    const caller = await stage.createCaller();
    expect(await readProblem(await caller.get(paths.image))).toMatchObject({ status: 405 });
  });

  test("with 501 where an operator has disabled the endpoint", async () => {
    const caller = await stage.createCaller();
    const response = await caller.get("/tasks/task_none/events");
    expect(await readProblem(response)).toMatchObject({ status: 501, code: "endpoint_not_released" });
    expect(response.headers.get("x-should-retry")).toBe("false");
  });
});

describe("where the sandbox profile is off", () => {
  test("a callback to a private address or over http is rejected, and endpoints can be disabled", async () => {
    await using closed = await openTaskStage({
      settings: { sandbox: "off", disabled_endpoints: ["createVideo", "createAvatar", "createSpeech", "cancelTask"] },
    });
    const caller = await closed.createCaller();
    const addresses = [
      ...["http://127.0.0.1:9/hook", "https://127.0.0.1/hook", "https://0x7f.1/hook", "https://10.0.0.8/hook"],
      ...["https://[::ffff:10.0.0.8]/hook", "https://localhost/hook", "https://db.internal/", "http://example.com/"],
      ...["https://169.254.169.254/latest/meta-data", "https://2130706433/"],
    ];
    for (const address of addresses) {
      const response = await caller.post(paths.image, { ...image, callback_url: address });
      expect(await readProblem(response)).toMatchObject({ status: 400, code: "invalid_url", param: "callback_url" });
    }
    expect(await caller.countTraces()).toEqual(noTraces);
    for (const path of [paths.video, paths.avatar, paths.speech, "/tasks/task_none/cancel"]) {
      expect((await caller.post(path, {})).status).toBe(501);
    }
    expect((await caller.post(paths.image, { ...image, callback_url: "https://example.com/" })).status).toBe(202);
  });
});

async function listOpen({ accountId }: StageCaller): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from tasks where account_id = ${accountId} and phase <> 'ended' order by id`.execute(stage.database);
  return rows.map(({ id }) => id);
}

function bad(what: string, type: keyof typeof paths, body: object | string, code: string, param: string | null) {
  const status = ["model_unavailable", "file_not_found"].includes(code) ? 404 : 400;
  return { what, path: paths[type], body, answer: { status, code, param } };
}

function longPrompt(length: number): object {
  return { ...image, prompt: "x".repeat(length) };
}

function withImages(images: readonly string[]): object {
  return { ...image, input_images: images };
}

function filmOf(more: object): object {
  return { model: "video", prompt: "Waves", ...more };
}

function epicFrom(): object {
  return { model: "epic", prompt: "x", input_images: ["https://example.com/a.png"] };
}

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
}
