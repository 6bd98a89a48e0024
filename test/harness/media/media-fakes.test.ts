import OpenAI, { toFile } from "openai";
import sharp from "sharp";
import { expect, test } from "vitest";
import { canary, findCanary, startFakeUpstreams } from "../upstreams/fake-upstreams.ts";
import { mediaWords, readMediaWords } from "../upstreams/media-words.ts";

test("OpenAI's own client gets images, edits, speech and errors", async () => {
  await using fake = await startFakeUpstreams();
  const client = new OpenAI({ apiKey: "sk-1", baseURL: fake.openAiUrl, maxRetries: 0 });
  const { data } = await client.images.generate({ model: "gpt-image-2", prompt: "A barn", size: "1024x1024", n: 2 });
  expect(data).toHaveLength(2);
  const picture = Buffer.from(data?.[0]?.b64_json ?? "", "base64");
  expect(await sharp(picture).metadata()).toMatchObject({ format: "png", width: 1024, height: 1024 });
  const image = await toFile(picture, "a.png", { type: "image/png" });
  await client.images.edit({ model: "gpt-image-2", prompt: "A barn", image });
  await client.images.edit({ model: "gpt-image-2", prompt: "A barn", image: [image, image] });
  expect(fake.media.submissions.map(({ files }) => files.map(({ name }) => name))).toEqual([
    [],
    ["image"],
    ["image[]", "image[]"],
  ]);
  const speech = await client.audio.speech.create({ model: "tts-1", voice: "alloy", input: "Hi" });
  expect(speech.headers.get("content-type")).toBe("audio/mpeg");
  expect((await speech.bytes()).length).toBeGreaterThan(1000);
  expect(fake.media.refusals()).toEqual([]);
  fake.media.script({ status: 400, error: { code: "moderation_blocked" } });
  const refused = client.images.generate({ model: "gpt-image-2", prompt: "x" });
  await expect(refused).rejects.toMatchObject({ status: 400, code: "moderation_blocked" });
  const wrong = client.images.generate({ model: "gpt-image-2", prompt: "x", n: 99 });
  await expect(wrong).rejects.toMatchObject({ status: 400, param: "n" });
  expect(fake.media.refusals()).toHaveLength(1);
});

test("fal's queue counts down, completes, and has the canary in every answer", async () => {
  await using fake = await startFakeUpstreams();
  const headers = { authorization: "Key sk-1", "content-type": "application/json" };
  const ask = async (url: string, method = "GET", body?: string) => {
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    const json = (await response.json()) as Record<string, unknown>;
    expect(findCanary([json, [...response.headers]])).not.toBeNull();
    return { status: response.status, json };
  };
  const input = JSON.stringify({ prompt: "A film <<fault:queue=2>><<fault:work=1>>", duration: "5" });
  const { json: reply } = await ask(`${fake.falUrl}/fal-ai/kling-video/v2/pro`, "POST", input);
  expect(reply).toMatchObject({ status: "IN_QUEUE", queue_position: 2 });
  expect(String(reply.request_id)).toContain(canary);
  expect(reply.status_url).toBe(`${fake.falUrl}/fal-ai/kling-video/requests/${reply.request_id}/status`);
  const result = String(reply.response_url);
  expect(await ask(result)).toMatchObject({ status: 400, json: { detail: "Request is still in progress" } });
  const seen: unknown[] = [];
  for (let round = 0; round < 4; round += 1) {
    const { json } = await ask(String(reply.status_url));
    seen.push([json.status, json.queue_position]);
  }
  expect(seen).toEqual([
    ["IN_QUEUE", 1],
    ["IN_QUEUE", 0],
    ["IN_PROGRESS", undefined],
    ["COMPLETED", undefined],
  ]);
  expect(await ask(String(reply.cancel_url), "PUT")).toMatchObject({
    status: 400,
    json: { status: "ALREADY_COMPLETED" },
  });
  const { json: made } = await ask(result);
  const film = await fetch((made.video as { url: string }).url);
  expect(film.headers.get("content-type")).toBe("video/mp4");
});

test("fal refuses submissions without a key, and those that its models would refuse", async () => {
  await using fake = await startFakeUpstreams();
  const submit = async (body: unknown, headers: Record<string, string> = { authorization: "Key sk-1" }) => {
    const request = { method: "POST", headers: { "content-type": "application/json", ...headers } };
    return (await fetch(`${fake.falUrl}/fal-ai/flux/dev`, { ...request, body: JSON.stringify(body) })).status;
  };
  expect(await submit({ prompt: "x" }, {})).toBe(401);
  expect(await submit({ prompt: "x" }, { authorization: "Bearer sk-1" })).toBe(401);
  for (const wrong of [{}, { image_size: 7 }, { num_images: 0 }, { image_url: "file_1" }, { duration: "five" }]) {
    expect(await submit(wrong)).toBe(422);
  }
  expect(fake.media.refusals()).toHaveLength(5);
  expect(await submit({ prompt: "<<fault:nonsense>>" })).toBe(422);
});

test("every listed fault word is understood in a prompt", () => {
  for (const { word } of mediaWords) expect(readMediaWords(`A barn <<fault:${word}>>`)).not.toBeNull();
  expect(readMediaWords("A barn")).toBeNull();
  expect(readMediaWords("<<fault:queue=2>> and <<fault:work=3>>")).toEqual({ queue: 2, work: 3 });
  expect(() => readMediaWords("<<fault:queue=many>>")).toThrow("whole number");
});
