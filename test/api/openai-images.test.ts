import OpenAI, { toFile } from "openai";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openTaskStage, paths, readProblem, type StageCaller, type TaskStage } from "../harness/task-stage.ts";
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

/** As the SDK sees it, with what a task has beside it. */
type Answer = OpenAI.ImagesResponse & { id: string; object: string; status: string; output: { file_id: string }[] };

const image = { model: "image", prompt: "A lighthouse" };
const endless = { model: "image", prompt: "An endless one <<fault:queue=99999>>" };

async function fetchLink(url: string | undefined): Promise<Buffer> {
  const path = new URL(url ?? "").pathname + new URL(url ?? "").search;
  const response = await stage.fetch(`${stage.gateway.siteUrl}${path}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** What the SDK throws. */
async function catchError(attempt: Promise<unknown>) {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error(`It was no error of the API: ${error}`);
  return { status: error.status, code: error.code, param: error.param, headers: error.headers as Headers };
}

describe("OpenAI's images client", () => {
  test("gets the images of a finished task as `data`, by links that can be fetched", async () => {
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

  test("gets the bytes themselves where it asks for b64_json, and again with the same Idempotency-Key", async () => {
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
    { quality: "hd", background: "opaque", output_format: "png", response_format: "url", n: null, stream: false },
    { quality: "low", style: null, output_compression: 100, partial_images: 0, moderation: "low" },
  ])("may send all the fields of its API: %o", async (fields) => {
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
    { fields: { seed: 1 }, code: "unknown_parameter", param: "seed" },
  ])("is refused by name what no model here can do: $fields", async ({ fields, code, param }) => {
    const caller = await stage.createCaller();
    const response = await caller.post(paths.image, { ...image, ...fields });
    expect(await readProblem(response)).toMatchObject({ status: 400, code, param });
    expect((await caller.countTraces()).tasks).toBe(0);
  });

  test.each([
    { output_format: "jpeg", output_compression: 40, contentType: "image/jpeg" },
    { output_format: "webp", contentType: "image/webp" },
  ] as const)("gets $output_format where it asks for that", async ({ contentType, ...format }) => {
    const caller = await stage.createCaller();
    const { data, id } = (await caller.client.images.generate({ ...image, ...format })) as Answer;
    const { output } = await caller.readTask(id);
    expect(output).toMatchObject([{ content_type: contentType, width: 64, height: 64 }]);
    expect((await sharp(await fetchLink(data?.[0]?.url)).metadata()).format).toBe(format.output_format);
    const asked = (await (await caller.get(`/tasks/${id}/request`)).json()) as { body: object };
    expect(asked.body).toMatchObject(format);
  });

  test("gets the error of a task that failed, and is told not to retry with a key that remembers the failure", async () => {
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

  test("gets an error when the task is canceled under its hands, or given up", async () => {
    const caller = await stage.createCaller();
    const waiting = catchError(caller.client.images.generate(endless));
    const id = await findOpenTask(caller);
    await caller.cancel(id);
    expect(await waiting).toMatchObject({ status: 409, code: "task_canceled" });
    const late = catchError(caller.client.post(paths.image, { body: { ...endless, expires_after: 3600 } }));
    await stage.age(await findOpenTask(caller), 3_600_000);
    expect(await late).toMatchObject({ status: 503, code: "upstream_timeout" });
  });

  test("gets the task with 202 at once where it asks for that, and after a wait of its own", async () => {
    const caller = await stage.createCaller();
    const ask = async (prefer: string) =>
      (await caller.client.images.generate(endless, { headers: { prefer } }).withResponse()).response;
    const [atOnce, afterOne] = [await ask("respond-async"), await ask("wait=1")];
    expect([atOnce.status, atOnce.headers.get("preference-applied")]).toEqual([202, "respond-async"]);
    expect([afterOne.status, afterOne.headers.get("preference-applied")]).toEqual([202, "wait=1"]);
    const plain = await caller.post(paths.image, endless);
    expect(plain.status).toBe(202);
  });

  test("may hang up while it waits: the task goes on", async () => {
    const caller = await stage.createCaller();
    const script = stage.media.script({});
    const hangUp = new AbortController();
    const waiting = caller.client.images.generate(image, { signal: hangUp.signal }).catch(() => "gone");
    const id = await findOpenTask(caller);
    hangUp.abort();
    expect(await waiting).toBe("gone");
    void script;
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
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

void [toFile, voice, other, picture];
