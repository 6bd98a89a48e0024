import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type DramaCaller, type DramaFront, openDramaFront } from "../harness/dramas/drama-callers.ts";
import { sampleRoles, sampleScript } from "../harness/dramas/drama-samples.ts";
import { noTraces, readProblem } from "../harness/tasks/task-stage.ts";
import { film, makePicture, voice } from "../harness/upstreams/media-samples.ts";

let front: DramaFront;
const picture = await makePicture({ width: 64, height: 64 }, 1);

beforeAll(async () => {
  front = await openDramaFront({ settings: { roles: ["http"] } });
});
afterEach(() => front.check());
afterAll(() => front[Symbol.asyncDispose]());

/** A rejected request leaves nothing behind. */
async function expectNothing(caller: DramaCaller): Promise<void> {
  expect(await caller.countTraces()).toEqual(noTraces);
  expect(await caller.countOrders()).toBe(0);
  expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
}

describe("an invalid drama is rejected with the field's name, and nothing is held or written:", () => {
  const cases: readonly [
    what: string,
    more: Record<string, unknown>,
    code: string,
    param: string | null,
    says: string,
  ][] = [
    ["no script", { script: undefined }, "missing_parameter", "script", "required"],
    ["an empty script", { script: "" }, "invalid_parameter", "script", "empty"],
    ["a blank script", { script: " \n\t\u3000" }, "invalid_parameter", "script", "empty"],
    ["a script that is a number", { script: 7 }, "invalid_parameter", "script", "string"],
    ["a script that is null", { script: null }, "invalid_parameter", "script", "string"],
    ["a script that is a list", { script: ["Once."] }, "invalid_parameter", "script", "string"],
    ["a script one character too long", { script: "x".repeat(20_001) }, "prompt_too_long", "script", "20000"],
    ["a script of a million characters", { script: "灯".repeat(1_000_000) }, "prompt_too_long", "script", "20000"],
    ["a script with U+0000", { script: "a\u0000b" }, "invalid_parameter", "script", "U+0000"],
    ["a script with a lone surrogate", { script: "a\ud800b" }, "invalid_parameter", "script", "lone surrogate"],
    ["no title", { title: undefined }, "missing_parameter", "title", "required"],
    ["an empty title", { title: "" }, "invalid_parameter", "title", "empty"],
    ["a blank title", { title: " \n " }, "invalid_parameter", "title", "empty"],
    ["a title of 201 characters", { title: "x".repeat(201) }, "invalid_parameter", "title", "200"],
    ["a title that is a number", { title: 7 }, "invalid_parameter", "title", "string"],
    [
      "a stage that does not exist",
      { stage: "trailer" },
      "invalid_parameter",
      "stage",
      "script, roles, storyboard, video",
    ],
    ["episode 0", { episode: 0 }, "invalid_parameter", "episode", "1"],
    ["episode -1", { episode: -1 }, "invalid_parameter", "episode", "1"],
    ["episode 1.5", { episode: 1.5 }, "invalid_parameter", "episode", "integer"],
    ["an episode as a string", { episode: "1" }, "invalid_parameter", "episode", "integer"],
    ["an episode over the maximum", { episode: 100_001 }, "invalid_parameter", "episode", "100000"],
    ["a ratio that the model lacks", { aspect_ratio: "4:3" }, "invalid_parameter", "aspect_ratio", "16:9, 9:16, 1:1"],
    ["no ratio", { aspect_ratio: "" }, "invalid_parameter", "aspect_ratio", "empty"],
    ["characters as plain strings", { characters: ["Anna"] }, "invalid_parameter", "characters[0]", "object"],
    ["a character without a name", { characters: [{}] }, "missing_parameter", "characters[0].name", "required"],
    ["a character with an empty name", named(""), "invalid_parameter", "characters[0].name", "empty"],
    ["a character with a blank name", named(" \t"), "invalid_parameter", "characters[0].name", "empty"],
    ["a name of 101 characters", named("x".repeat(101)), "invalid_parameter", "characters[0].name", "100"],
    ["two equal names", named("Anna", "Ben", "Anna"), "invalid_parameter", "characters[2].name", "twice"],
    ["two names that differ in case", named("Anna", "ANNA"), "invalid_parameter", "characters[1].name", "twice"],
    ["two names that differ in width", named("Anna", "Ａｎｎａ"), "invalid_parameter", "characters[1].name", "twice"],
    [
      "two names that differ in spaces",
      named("Anna Lee", " Anna  Lee "),
      "invalid_parameter",
      "characters[1].name",
      "twice",
    ],
    [
      "two names that differ in Unicode form",
      named("Jos\u00e9", "Jose\u0301"),
      "invalid_parameter",
      "characters[1].name",
      "twice",
    ],
    ["41 characters", named(...Array.from({ length: 41 }, (_, n) => `P${n}`)), "invalid_parameter", "characters", "40"],
    [
      "an unknown field of a character",
      { characters: [{ name: "A", age: 3 }] },
      "unknown_parameter",
      "characters[0].age",
      "not a",
    ],
    ["a missing image", shown("file_none"), "file_not_found", "characters[0].reference_file_id", "no such file"],
    [
      "an image URL instead of an id",
      shown("https://example.com/a.png"),
      "file_not_found",
      "characters[0].reference_file_id",
      "no such file",
    ],
    ["an empty image id", shown(""), "invalid_parameter", "characters[0].reference_file_id", "empty"],
    ["an empty id", { client_business_id: "" }, "invalid_parameter", "client_business_id", "empty"],
    [
      "an id of 256 characters",
      { client_business_id: "x".repeat(256) },
      "invalid_parameter",
      "client_business_id",
      "255",
    ],
    ["an id that is a number", { client_business_id: 7 }, "invalid_parameter", "client_business_id", "string"],
    [
      "an id that cannot be stored",
      { client_business_id: "a\u0000" },
      "invalid_parameter",
      "client_business_id",
      "U+0000",
    ],
    ["a string as a boolean", { allow_partial: "yes" }, "invalid_parameter", "allow_partial", "boolean"],
    ["an unknown field", { duration: 5 }, "unknown_parameter", "duration", "not a field"],
    ["no model", { model: undefined }, "missing_parameter", "model", "required"],
    ["an unknown model", { model: "nobody" }, "model_unavailable", "model", "GET /v1/models"],
    ["an image model", { model: "sandbox-image" }, "unsupported_capability", "model", "GET /models?type=drama"],
    ["a chat model", { model: "sandbox-chat" }, "unsupported_capability", "model", "GET /models?type=drama"],
    [
      "a stage that the model lacks",
      { model: "scripts-only", stage: "roles" },
      "unsupported_capability",
      "stage",
      "only: script",
    ],
    [
      "a video from a model without one",
      { model: "no-films", stage: undefined },
      "unsupported_capability",
      "stage",
      "script, roles",
    ],
    ["an invalid callback URL", { callback_url: "me" }, "invalid_url", "callback_url", ""],
    ["a deadline of 0", { expires_after: 0 }, "invalid_parameter", "expires_after", "1800"],
    ["a deadline in 1799 seconds", { expires_after: 1799 }, "invalid_parameter", "expires_after", "1800"],
    ["metadata of numbers", { metadata: { a: 1 } }, "invalid_parameter", "metadata.a", "string"],
    [
      "an unknown task",
      { stage: "roles", from_task_id: "task_none" },
      "invalid_parameter",
      "from_task_id",
      "no such task",
    ],
    ["no task", { stage: "roles", from_task_id: "" }, "invalid_parameter", "from_task_id", "empty"],
  ];

  test.each(cases)("%s", async (_what, more, code, param, says) => {
    const caller = await front.createCaller();
    const headers = { "idempotency-key": "bad-1" };
    const response = await caller.ask({ client_business_id: "bad", ...more }, headers);
    const problem = await readProblem(response);
    const status = ["model_unavailable", "file_not_found"].includes(code) ? 404 : 400;
    expect(problem).toMatchObject({ status, code, param });
    expect(problem.message).toContain(says);
    await expectNothing(caller);
  });

  // A megabyte in any unit: the error names the model's limit, which helps more than the field's.
  test("a script of a megabyte is too long for the model", async () => {
    const caller = await front.createCaller();
    const problem = await readProblem(await caller.ask({ script: "x".repeat(1024 * 1024) }));
    expect(problem).toMatchObject({ status: 400, code: "prompt_too_long", param: "script" });
    expect(problem.message).toContain("20000");
    await expectNothing(caller);
  });

  test("a model without a route for its stage is 503, only for the stages that need it", async () => {
    const caller = await front.createCaller();
    const refused = await caller.ask({ model: "half-served", stage: "roles" });
    expect(await readProblem(refused)).toMatchObject({ status: 503, code: "model_unavailable", param: "model" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await expectNothing(caller);
    await caller.order({ model: "half-served", stage: "script" });
  });

  test("broken JSON, another type, and a body that is too large", async () => {
    const caller = await front.createCaller();
    expect(await readProblem(await caller.post("/dramas/generations", "{"))).toMatchObject({ code: "invalid_json" });
    const html = await caller.post("/dramas/generations", "<p>", { headers: { "content-type": "text/html" } });
    expect(html.status).toBe(415);
    await expectNothing(caller);
  });
});

describe("a character's image is rejected", () => {
  const param = "characters[0].reference_file_id";

  test("if it is another account's, expired, deleted, a recording or a video", async () => {
    const caller = await front.createCaller();
    const other = await front.createCaller();
    const ask = async (fileId: string) => readProblem(await caller.ask(shown(fileId)));
    expect(await ask(await other.upload(picture.bytes))).toMatchObject({ status: 404, code: "file_not_found", param });
    const old = await caller.upload(picture.bytes);
    await sql`update files set expires_at = now() - interval '1 second' where id = ${old}`.execute(front.database);
    expect(await ask(old)).toMatchObject({ status: 404, code: "file_not_found", param });
    const gone = await caller.upload(picture.bytes);
    await front.fetch(`${front.gateway.baseUrl}/files/${gone}`, {
      ...{ method: "DELETE", headers: { authorization: `Bearer ${caller.key}` } },
    });
    expect(await ask(gone)).toMatchObject({ status: 404, code: "file_not_found", param });
    const spoken = await ask(await caller.upload(voice.bytes));
    expect(spoken).toMatchObject({ status: 400, code: "invalid_file", param });
    expect(spoken.message).toContain("image");
    expect(await ask(await caller.upload(film.bytes))).toMatchObject({ status: 400, code: "invalid_file", param });
    await expectNothing(caller);
    await caller.order(shown(await caller.upload(picture.bytes)));
  });

  test("if its character is not in the document", async () => {
    const caller = await front.createCaller();
    const ask = { stage: "storyboard", script: sampleRoles };
    const problem = await readProblem(await caller.ask({ ...ask, ...named("Anna", "Zoe") }));
    expect(problem).toMatchObject({ status: 400, code: "invalid_parameter", param: "characters[1].name" });
    expect(problem.message).toContain("Anna, Ben");
    await expectNothing(caller);
    await caller.order({ ...ask, ...named("ANNA") });
  });
});

describe("a script is accepted", () => {
  test.each([
    ["of one word", "Lighthouse"],
    ["of one letter", "a"],
    ["of emoji alone", "🏮🌊🙂"],
    ["in Chinese", "灯塔的灯灭了。安娜说：“我们得上去。”"],
    ["in Arabic", "انطفأ المصباح. قالت آنا: علينا أن نصعد."],
    ["that looks like JSON but is not", "{ANNA enters} Hello."],
    ["that is JSON but no document", '{"story": "Once upon a time."}'],
    ["that is a list in JSON", '["Once", "upon"]'],
    ["with an unknown object type", '{"object": "lamp"}'],
    ["with a built-in property as object type", '{"object": "constructor"}'],
    ["with __proto__ as object type", '{"object": "__proto__"}'],
    ["of exactly the model's maximum, in characters", "\u{1F3DD}".repeat(20_000)],
  ])("%s", async (_what, script) => {
    const caller = await front.createCaller();
    const task = await caller.order({ script, stage: "roles" });
    expect(task.steps.map(({ name }) => name)).toEqual(["script", "roles"]);
    const row = await front.database.selectFrom("tasks").select("request").where("id", "=", task.id).executeTakeFirst();
    expect(row?.request).toMatchObject({ source: { kind: "text", text: script } });
  });

  test("with silent characters, untrimmed names and a title of 200 characters", async () => {
    const caller = await front.createCaller();
    const task = await caller.order({ ...named("  Zoe  Lee ", "Yves"), title: "灯".repeat(200), stage: "roles" });
    const row = await front.database.selectFrom("tasks").select("request").where("id", "=", task.id).executeTakeFirst();
    expect(row?.request).toMatchObject({
      characters: [
        { name: "Zoe Lee", referenceFileId: null },
        { name: "Yves", referenceFileId: null },
      ],
    });
  });

  test("with the longest client id, in any script", async () => {
    const caller = await front.createCaller();
    await caller.order({ client_business_id: "\u{1F3DD}".repeat(255) });
    expect(await caller.countOrders()).toBe(1);
  });
});

describe("an earlier task is rejected as a starting point", () => {
  const ask = { stage: "roles", script: undefined, title: undefined };

  test("if it is another account's, as if it did not exist", async () => {
    const caller = await front.createCaller();
    const other = await front.createCaller();
    const { id } = await other.order();
    const foreign = await readProblem(await caller.ask({ ...ask, from_task_id: id }));
    const missing = await readProblem(await caller.ask({ ...ask, from_task_id: "task_none" }));
    expect(foreign).toEqual(missing);
    expect(foreign).toMatchObject({ status: 400, code: "invalid_parameter", param: "from_task_id" });
    await expectNothing(caller);
  });

  test("if it is not a drama, has not ended, or made nothing to continue from", async () => {
    const caller = await front.createCaller();
    const problem = async (id: string, more = {}) =>
      readProblem(await caller.ask({ ...ask, from_task_id: id, ...more }));
    const refusal = { status: 400, code: "invalid_parameter", param: "from_task_id" };
    const image = await caller.submit("/images/generations", { model: "sandbox-image", prompt: "A lighthouse" });
    const asImage = await problem(image.id);
    expect(asImage).toMatchObject(refusal);
    expect(asImage.message).toContain("image");
    const { id } = await caller.order();
    const early = await problem(id);
    expect(early).toMatchObject(refusal);
    expect(early.message).toContain("queued");
    await caller.cancel(id);
    const empty = await problem(id);
    expect(empty).toMatchObject(refusal);
    expect(empty.message).toContain("script");
    expect((await problem(id, { stage: "video" })).message).toContain("script, roles, storyboard");
    const asScript = await problem(id, { stage: "script" });
    expect(asScript).toMatchObject(refusal);
    expect(asScript.message).toContain("text");
    expect((await caller.countTraces()).tasks).toBe(2);
  });

  test("unless it was given a document itself, even if it made nothing", async () => {
    const caller = await front.createCaller();
    const { id } = await caller.order({ stage: "roles", script: sampleScript, aspect_ratio: "9:16" });
    await caller.cancel(id);
    const next = await caller.order({ ...ask, from_task_id: id });
    expect(next.steps.map(({ name }) => name)).toEqual(["roles"]);
    const row = await front.database.selectFrom("tasks").select("request").where("id", "=", next.id).executeTakeFirst();
    expect(row?.request).toMatchObject({
      ...{ title: "The Lighthouse", episode: 3, aspectRatio: "9:16" },
      source: { document: sampleScript },
    });
  });
});

function named(...names: string[]): { characters: { name: string }[] } {
  return { characters: names.map((name) => ({ name })) };
}

function shown(fileId: string) {
  return { characters: [{ name: "Anna", reference_file_id: fileId }] };
}
