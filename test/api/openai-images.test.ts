// @module-tag slow
import OpenAI, { toFile } from "openai";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { aiSdkMajors } from "../harness/chat/ai-sdk-majors.ts";
import { openTaskStage, paths, readProblem, type StageCaller, type TaskStage } from "../harness/tasks/task-stage.ts";
import { createGate } from "../harness/upstreams/gate.ts";
import { makePicture, voice } from "../harness/upstreams/media-samples.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: TaskStage;
const picture = await makePicture({ width: 64, height: 64 }, 1);
const other = await makePicture({ width: 128, height: 64 }, 2);

beforeAll(async () => {
  stage = await openTaskStage();
});
afterEach(() => stage.check());
afterAll(() => stage[Symbol.asyncDispose]());

/** The SDK's type plus the task fields. */
type Answer = OpenAI.ImagesResponse & { id: string; object: string; status: string; output: { file_id: string }[] };

const image = { model: "image", prompt: "A lighthouse" };
const endless = { model: "image", prompt: "An endless one <<fault:queue=99999>>" };

async function fetchLink(url: string | undefined): Promise<Buffer> {
  const path = new URL(url ?? "").pathname + new URL(url ?? "").search;
  const response = await stage.fetch(`${stage.gateway.siteUrl}${path}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** The error that the SDK throws. */
async function catchError(attempt: Promise<unknown>) {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error(`It was no error of the API: ${error}`);
  return { status: error.status, code: error.code, param: error.param, headers: error.headers as Headers };
}

describe("OpenAI's images client", () => {
  test("gets the images of a finished task as `data`, with links that can be fetched", async () => {
    const caller = await stage.createCaller();
    const answer = (await caller.client.images.generate({ ...image, n: 2, size: "128x64" as "auto" })) as Answer;
    expect(answer).toMatchObject({ object: "generation.task", status: "succeeded", created: expect.any(Number) });
    expect(answer.data).toHaveLength(2);
    for (const item of answer.data ?? []) {
      expect(await sharp(await fetchLink(item.url)).metadata()).toMatchObject({ width: 128, height: 64 });
    }
    const { data } = (await caller.readTask(answer.id)) as { data?: unknown[] };
    expect(data).toEqual(answer.data?.map(() => ({ url: expect.stringContaining("/files/file_") })));
  });

  test("gets the bytes with b64_json, and again with the same Idempotency-Key", async () => {
    const caller = await stage.createCaller();
    const ask = () =>
      caller.client.images
        .generate({ ...image, n: 2, response_format: "b64_json" }, { headers: { "idempotency-key": "b64" } })
        .withResponse();
    const { data: answer, response } = await ask();
    const links = ((await caller.readTask((answer as Answer).id)) as unknown as Answer).data ?? [];
    const kept = await Promise.all(links.map(({ url }) => fetchLink(url)));
    expect(answer.data?.map(({ b64_json: text }) => Buffer.from(text ?? "", "base64"))).toEqual(kept);
    expect(answer.data?.[0]).not.toHaveProperty("url");
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(kept[0]?.length ?? 0);
    const again = await ask();
    expect(again.response.headers.get("idempotent-replayed")).toBe("true");
    expect([again.response.status, again.data.data]).toEqual([200, answer.data]);
    expect((await caller.countTraces()).tasks).toBe(1);
  });

  test.each([
    { quality: "auto", background: "auto", moderation: "auto", style: "vivid", size: "auto", user: "u-1" },
    { quality: "standard", background: "opaque", output_format: "png", response_format: "url", n: null, stream: false },
    { quality: null, style: null, output_compression: 100, partial_images: 0, moderation: null },
  ])("may send all fields of its API: %o", async (fields) => {
    const caller = await stage.createCaller();
    const response = await caller.post(paths.image, { ...image, ...fields });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: "succeeded", data: [{ url: expect.any(String) }] });
  });

  test.each([
    { fields: { stream: true }, code: "unsupported_capability", param: "stream" },
    { fields: { partial_images: 2 }, code: "unsupported_capability", param: "partial_images" },
    { fields: { background: "transparent" }, code: "unsupported_capability", param: "background" },
    { fields: { output_format: "avif" }, code: "invalid_parameter", param: "output_format" },
    { fields: { output_compression: 101 }, code: "invalid_parameter", param: "output_compression" },
    { fields: { output_compression: 50 }, code: "invalid_parameter", param: "output_compression" },
    { fields: { response_format: "base64" }, code: "invalid_parameter", param: "response_format" },
    { fields: { steps: 1 }, code: "unknown_parameter", param: "steps" },
    { fields: { seed: 1 }, code: "unsupported_capability", param: "seed" },
    { fields: { quality: "high" }, code: "unsupported_capability", param: "quality" },
    { fields: { style: "natural" }, code: "unsupported_capability", param: "style" },
    { fields: { moderation: "low" }, code: "unsupported_capability", param: "moderation" },
  ])("gets an error that names an unsupported field: $fields", async ({ fields, code, param }) => {
    const caller = await stage.createCaller();
    const response = await caller.post(paths.image, { ...image, ...fields });
    expect(await readProblem(response)).toMatchObject({ status: 400, code, param });
    expect((await caller.countTraces()).tasks).toBe(0);
  });

  test.each([
    { output_format: "jpeg", output_compression: 40, contentType: "image/jpeg" },
    { output_format: "webp", contentType: "image/webp" },
  ] as const)("gets $output_format on request", async ({ contentType, ...format }) => {
    const caller = await stage.createCaller();
    const { data, id } = (await caller.client.images.generate({ ...image, ...format })) as Answer;
    const { output } = await caller.readTask(id);
    expect(output).toMatchObject([{ content_type: contentType, width: 64, height: 64 }]);
    expect((await sharp(await fetchLink(data?.[0]?.url)).metadata()).format).toBe(format.output_format);
    const asked = (await (await caller.get(`/tasks/${id}/request`)).json()) as { body: object };
    expect(asked.body).toMatchObject(format);
  });

  test("gets the error of a failed task, and a no-retry header with a key that stores the failure", async () => {
    const caller = await stage.createCaller();
    const refused = { model: "image", prompt: "Something bad <<fault:policy>>" };
    expect(await catchError(caller.client.images.generate(refused))).toMatchObject({
      ...{ status: 400, code: "content_policy_violation", param: "prompt" },
    });
    const broken = { model: "prompt-image", prompt: "It breaks <<fault:status=500>>" };
    const first = await catchError(caller.client.images.generate(broken));
    expect(first).toMatchObject({ status: 503, code: "upstream_unavailable" });
    expect(first.headers.get("retry-after")).toBe("1");
    expect(first.headers.get("x-should-retry")).toBeNull();
    expect(first.headers.get("location")).toMatch(/^http:\/\/localhost:4242\/v1\/tasks\/task_/);
    const keyed = { headers: { "idempotency-key": "broken" } };
    for (const isReplay of [false, true]) {
      const { status, code, headers } = await catchError(caller.client.images.generate(broken, keyed));
      expect([status, code, headers.get("x-should-retry")]).toEqual([503, "upstream_unavailable", "false"]);
      expect(headers.get("idempotent-replayed")).toBe(isReplay ? "true" : null);
    }
    expect(await caller.readBalance()).toMatchObject({ available: "10.00", frozen: "0.00" });
  });

  test("gets an error when the task is canceled or times out meanwhile", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ queue: 99_999, cancel: "gone" });
    const waiting = catchError(caller.client.images.generate(image));
    const id = await findOpenTask(caller);
    await caller.cancel(id);
    expect(await waiting).toMatchObject({ status: 409, code: "task_canceled" });
    const late = catchError(caller.client.post(paths.image, { body: { ...endless, expires_after: 3600 } }));
    await stage.age(await findOpenTask(caller), 3_600_000);
    expect(await late).toMatchObject({ status: 503, code: "upstream_timeout" });
  });

  test("gets the task with 202 at once on request, or after its own wait", async () => {
    const caller = await stage.createCaller();
    const ask = async (prefer: string) =>
      (await caller.client.images.generate(endless, { headers: { prefer } }).withResponse()).response;
    const [atOnce, afterOne] = [await ask("respond-async"), await ask("wait=1")];
    expect([atOnce.status, atOnce.headers.get("preference-applied")]).toEqual([202, "respond-async"]);
    expect([afterOne.status, afterOne.headers.get("preference-applied")]).toEqual([202, "wait=1"]);
    const plain = await caller.post(paths.image, endless);
    expect(plain.status).toBe(202);
  });

  test("may disconnect while it waits: the task continues", async () => {
    const caller = await stage.createCaller();
    const finish = createGate();
    stage.media.script({ beforeFinish: finish });
    const hangUp = new AbortController();
    const waiting = caller.client.images.generate(image, { signal: hangUp.signal }).catch(() => "gone");
    const id = await findOpenTask(caller);
    hangUp.abort();
    expect(await waiting).toBe("gone");
    finish.open();
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
  });
});

describe("other clients of OpenAI's API", () => {
  const readFormat = async (bytes: Uint8Array) => (await sharp(bytes).metadata()).format;

  test.each(aiSdkMajors)("AI SDK $major gets the images themselves", async ({ ai, createOpenAICompatible }) => {
    const { key } = await stage.createCaller();
    const vendor = createOpenAICompatible({
      ...{ name: "own", apiKey: key, baseURL: stage.gateway.baseUrl, fetch: stage.fetch },
    });
    const model = vendor.imageModel("image");
    const { images } = await ai.generateImage({ model, prompt: "A lighthouse", n: 2, maxRetries: 0 });
    const formats = await Promise.all(images.map(({ uint8Array }) => readFormat(uint8Array)));
    expect(formats).toEqual(["png", "png"]);
  });

  test.each(aiSdkMajors.filter(({ major }) => major > 5))("AI SDK $major edits images", async (sdk) => {
    const { key } = await stage.createCaller();
    const vendor = sdk.createOpenAICompatible({
      ...{ name: "own", apiKey: key, baseURL: stage.gateway.baseUrl, fetch: stage.fetch },
    });
    const prompt = { images: [picture.bytes], text: "Bluer" };
    const { image: made } = await sdk.ai.generateImage({ model: vendor.imageModel("image"), prompt, maxRetries: 0 });
    expect(await readFormat(made.uint8Array)).toBe("png");
  });

  test.each([
    ["ai/7.0.139 ai-sdk/openai/4.0.114 ai-sdk/provider-utils/5.0.4 runtime/node.js/26", "b64_json"],
    ["ai-sdk-openai-compatible/3.0.68", "b64_json"],
    ["OpenAI/2.9.1 (.NET 10.0.1; Linux)", "url"],
    ["litellm/1.84.0", "url"],
    ["langchain4j-openai", "url"],
    ["spring-ai", "url"],
  ])("%s is recognized, without any field of that API", async (agent, form) => {
    const caller = await stage.createCaller();
    const ask = (fields: object) =>
      caller.post(paths.image, { ...image, n: 1, ...fields }, { headers: { "user-agent": agent } });
    const response = await ask({});
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: "succeeded", data: [{ [form]: expect.any(String) }] });
    const other = form === "url" ? "b64_json" : "url";
    expect(await (await ask({ response_format: other })).json()).toMatchObject({
      data: [{ [other]: expect.any(String) }],
    });
  });

  test.each(["curl/8.14.1", "fair/1.0 mail/2", "Mozilla/5.0 (X11; Linux x86_64) OpenAI/1"])(
    "%s is not",
    async (agent) => {
      const caller = await stage.createCaller();
      const response = await caller.post(paths.image, { ...image, n: 1 }, { headers: { "user-agent": agent } });
      expect(response.status).toBe(202);
    },
  );

  test("LiteLLM's edits have the token counts that it requires, beside units and charge", async () => {
    const caller = await stage.createCaller();
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "image", prompt: "Bluer" })) form.append(name, value);
    form.append("image[]", new Blob([new Uint8Array(picture.bytes)]), "image.png");
    const response = await stage.fetch(`${stage.gateway.baseUrl}/images/edits`, {
      ...{ method: "POST", body: form },
      headers: { authorization: `Bearer ${caller.key}`, "user-agent": "litellm/1.84.0" },
    });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      {
        created: expect.any(Number),
        data: [{ url: expect.any(String) }],
        usage: {
          ...{ total_units: 1, charge: "0.04", input_tokens: 0, output_tokens: 0, total_tokens: 0 },
          input_tokens_details: { image_tokens: 0, text_tokens: 0 },
        },
      },
    ]);
  });

  test("the model's version of the prompt is kept, with links and with bytes", async () => {
    const caller = await stage.createCaller();
    const asked = { model: "prompt-image", prompt: "A “lighthouse”" };
    const revised = { revised_prompt: "Revised: A “lighthouse”" };
    const linked = (await caller.client.images.generate({ ...asked, n: 2 })) as Answer;
    expect(linked.data).toMatchObject([revised, revised]);
    expect(await caller.readTask(linked.id)).toMatchObject({ data: [revised, revised] });
    const form = { ...asked, response_format: "b64_json" as const };
    const { data: inlined, response } = await caller.client.images.generate(form).withResponse();
    expect(inlined.data).toEqual([{ b64_json: expect.any(String), ...revised }]);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(0);
  });
});

async function findOpenTask({ accountId }: StageCaller): Promise<string> {
  const find = () =>
    stage.database
      .selectFrom("tasks")
      .select("id")
      .where("account_id", "=", accountId)
      .where("phase", "!=", "ended")
      .executeTakeFirst();
  await waitUntil("a task to be submitted", async () => (await find()) !== undefined);
  return (await find())?.id ?? "";
}

describe("OpenAI's edits", () => {
  const send = (caller: StageCaller, form: FormData, headers: Record<string, string> = {}) =>
    stage.fetch(`${stage.gateway.baseUrl}/images/edits`, {
      method: "POST",
      body: form,
      headers: { authorization: `Bearer ${caller.key}`, ...headers },
    });
  const writeForm = (fields: Record<string, string>, images: readonly Buffer[] = [picture.bytes]): FormData => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "image", prompt: "Bluer", ...fields }))
      form.append(name, value);
    for (const bytes of images) form.append("image", new Blob([new Uint8Array(bytes)]), "image.png");
    return form;
  };
  const countFiles = async ({ accountId }: StageCaller): Promise<number> =>
    (await stage.database.selectFrom("files").select("id").where("account_id", "=", accountId).execute()).length;

  test("start from the uploaded images unchanged, one or several", async () => {
    const caller = await stage.createCaller();
    const files = [await toFile(picture.bytes, "one.png"), await toFile(other.bytes, "two.png")];
    const one = await caller.client.images.edit({
      model: "image",
      prompt: "One image",
      image: await toFile(picture.bytes),
    });
    expect((await sharp(await fetchLink(one.data?.[0]?.url)).metadata()).width).toBe(64);
    const both = { model: "image", prompt: "Two images", image: files, n: 2, response_format: "b64_json" } as const;
    const { data } = await caller.client.images.edit(both);
    expect(
      data?.map(({ b64_json: text }) =>
        Buffer.from(text ?? "", "base64")
          .subarray(1, 4)
          .toString(),
      ),
    ).toEqual([...["PNG", "PNG"]]);
    const given = JSON.stringify(stage.media.submissionsOf("Two images").map(({ fields }) => fields));
    for (const { bytes } of [picture, other]) expect(given).toContain(bytes.toString("base64").slice(0, 60));
  });

  test("with the same Idempotency-Key are one task, with any form boundary, and store images once", async () => {
    const caller = await stage.createCaller();
    const headers = { "idempotency-key": "edit-1" };
    const [first, again] = [await send(caller, writeForm({}), headers), await send(caller, writeForm({}), headers)];
    expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([200, 200, "true"]);
    expect(((await first.json()) as Answer).id).toBe(((await again.json()) as Answer).id);
    expect([await countFiles(caller), (await caller.countTraces()).tasks]).toEqual([2, 1]);
    const changed = await send(caller, writeForm({}, [other.bytes]), headers);
    expect(await readProblem(changed)).toMatchObject({ status: 422, code: "idempotency_key_reused" });
  });

  test("that are rejected name the field, and leave neither a task nor a file", async () => {
    const caller = await stage.createCaller();
    const masked = writeForm({});
    masked.append("mask", new Blob([new Uint8Array(picture.bytes)]), "mask.png");
    const cases: [FormData, number, string, string][] = [
      [writeForm({}, []), 400, "missing_parameter", "image"],
      [writeForm({}, [picture.bytes, picture.bytes, picture.bytes]), 400, "invalid_parameter", "image"],
      [writeForm({}, [voice.bytes]), 400, "invalid_file", "image[0]"],
      [masked, 400, "unsupported_capability", "mask"],
      [writeForm({ stream: "true" }), 400, "unsupported_capability", "stream"],
      [writeForm({ n: "many" }), 400, "invalid_parameter", "n"],
      [writeForm({ steps: "1" }), 400, "unknown_parameter", "steps"],
      [writeForm({ seed: "1" }), 400, "unsupported_capability", "seed"],
      [writeForm({ model: "nothing" }), 404, "model_unavailable", "model"],
      [writeForm({ model: "video" }), 400, "unsupported_capability", "model"],
    ];
    for (const [form, status, code, param] of cases) {
      expect(await readProblem(await send(caller, form))).toMatchObject({ status, code, param });
    }
    const poor = await stage.createCaller({ cash: "0.01" });
    expect((await send(poor, writeForm({}))).status).toBe(402);
    expect([await countFiles(caller), await countFiles(poor)]).toEqual([0, 0]);
    const json = await caller.post("/images/edits", { model: "image", prompt: "x" });
    expect(await readProblem(json)).toMatchObject({ status: 415, message: expect.stringContaining("multipart") });
  });
});

test("a node that is shutting down answers waiting clients with the current task", async () => {
  const node = await stage.startAnother();
  const caller = await stage.createCaller();
  const client = new OpenAI({ apiKey: caller.key, baseURL: node.baseUrl, fetch: stage.fetch, maxRetries: 0 });
  const made = client.images.generate(endless).withResponse();
  const id = await findOpenTask(caller);
  const asked = caller.get(`/tasks/${id}`, { headers: { prefer: "wait=60" }, gateway: node });
  const events = (await caller.get(`/tasks/${id}/events`, { gateway: node })).text();
  await node[Symbol.asyncDispose]();
  expect([(await made).response.status, (await asked).status]).toEqual([202, 200]);
  expect(await events).toContain("event: task.queued");
});

describe("OpenAI's files client", () => {
  test.each(["vision", "user_data", "assistants"] as const)("uploads, reads and deletes for %s", async (purpose) => {
    const { client } = await stage.createCaller();
    const file = await client.files.create({ file: await toFile(picture.bytes, "one.png"), purpose });
    const common = { object: "file", bytes: picture.bytes.length, filename: "one.png", status: "processed", purpose };
    expect(file).toMatchObject({ ...common, created_at: expect.any(Number) });
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const content = await client.files.content(file.id);
    expect(Buffer.from(await content.arrayBuffer()).equals(picture.bytes)).toBe(true);
    expect((await client.files.list({ purpose })).data).toEqual([file]);
    expect((await client.files.list({ purpose: "generation" })).data).toEqual([]);
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  });

  test("gets an error with the allowed types for files of other purposes", async () => {
    const { client } = await stage.createCaller();
    const file = await toFile(picture.bytes, "one.png");
    await expect(client.files.create({ file, purpose: "batch" })).rejects.toMatchObject({
      ...{ status: 400, code: "invalid_parameter", param: "purpose" },
      message: expect.stringContaining("generation, vision, user_data, assistants"),
    });
  });

  test("lists all files in pages, in either order", async () => {
    const caller = await stage.createCaller();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push(await caller.upload(picture.bytes));
    const list = async (order?: "asc" | "desc"): Promise<string[]> => {
      const found: string[] = [];
      for await (const { id } of caller.client.files.list({ limit: 2, ...(order === undefined ? {} : { order }) })) {
        found.push(id);
      }
      return found;
    };
    expect(await list("asc")).toEqual(ids);
    expect(await list("desc")).toEqual(ids.toReversed());
    expect(await list()).toEqual(ids.toReversed());
  });
});

describe("an input", () => {
  test("may be a task's output, by its id or its link", async () => {
    const caller = await stage.createCaller();
    const { output } = (await caller.client.images.generate(image)) as Answer & { output: { url: string }[] };
    for (const input of [output[0]?.file_id, output[0]?.url]) {
      const made = await caller.client.post<Answer>(paths.image, { body: { ...image, input_images: [input] } });
      const asked = (await (await caller.get(`/tasks/${made.id}/request`)).json()) as { body: object };
      expect(asked.body).toMatchObject({ input_images: [output[0]?.file_id] });
    }
  });

  test("with another account's, a modified or an expired link is rejected without being fetched", async () => {
    const [caller, stranger] = [await stage.createCaller(), await stage.createCaller()];
    const { data } = await stranger.client.images.generate(image);
    const own = (await caller.client.images.generate(image)).data?.[0]?.url ?? "";
    const links = [
      data?.[0]?.url ?? "",
      own.replace(/signature=./, "signature=_"),
      own.replace(/expires=\d+/, "expires=1"),
      own.replace(/\?.*/, ""),
    ];
    for (const link of links) {
      const problem = await readProblem(await caller.post(paths.image, { ...image, input_images: [link] }));
      expect(problem).toMatchObject({ status: 400, code: "invalid_url", param: "input_images[0]" });
    }
  });
});

test("an OpenAI endpoint that is missing here is a 404 that names the alternative", async () => {
  const { client } = await stage.createCaller();
  const variation = await toFile(picture.bytes);
  const attempts: [() => Promise<unknown>, string][] = [
    [() => client.moderations.create({ input: "Hi" }), "content_policy_violation"],
    [() => client.post("/rerank", { body: { query: "Hi", documents: [] } }), "POST /v1/embeddings"],
    [() => client.get("/realtime"), "stream"],
    [() => client.beta.assistants.list(), "tools"],
    [() => client.images.createVariation({ image: variation }), "POST /v1/images/edits"],
    [() => client.videos.create({ prompt: "Waves" }), "POST /v1/videos/generations"],
    [() => client.batches.list(), "Idempotency-Key"],
    [() => client.beta.threads.create({}), "messages"],
    [() => client.fineTuning.jobs.list(), "GET /v1/models"],
    [() => client.vectorStores.list(), "messages"],
    [() => client.chat.completions.list(), "POST /v1/chat/completions"],
    [() => client.chat.completions.retrieve("chatcmpl-1"), "POST /v1/chat/completions"],
    [() => client.models.delete("image"), "GET /v1/models"],
  ];
  for (const [attempt, instead] of attempts) {
    await expect(attempt()).rejects.toMatchObject({
      ...{ status: 404, code: "not_offered", message: expect.stringContaining(instead) },
    });
  }
  // Other methods of the same paths are still wrong methods.
  await expect(client.put("/chat/completions")).rejects.toMatchObject({ status: 405, code: "method_not_allowed" });
  const plain = await stage.fetch(`${stage.gateway.siteUrl}/v1/videosque`);
  expect((await readProblem(plain)).message).toBe("There is nothing at this path.");
});
