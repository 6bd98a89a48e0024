// @module-tag slow
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fieldsByKind } from "../../src/providers/fields-by-kind.ts";
import { listOptionNames, type MediaOptionName, mediaOptions } from "../../src/providers/media-options.ts";
import { writeTaskPrice } from "../harness/tasks/task-catalog.ts";
import {
  openTaskStage,
  paths,
  readProblem,
  type StageCaller,
  type TaskStage,
  writeStageCatalog,
} from "../harness/tasks/task-stage.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";
import { makePicture, voice } from "../harness/upstreams/media-samples.ts";

/** A value of each option that callers may send. */
const samples = {
  resolution: "1080p",
  quality: "high",
  style: "natural",
  background: "transparent",
  moderation: "low",
  input_fidelity: "high",
  frame_rate: 24,
  audio: false,
  seed: 7,
  negative_prompt: "rain",
  prompt: "She smiles.",
  instructions: "Whisper.",
} as const satisfies Record<MediaOptionName, unknown>;

const mediaTypes = ["image", "video", "avatar", "speech"] as const;
type MediaType = (typeof mediaTypes)[number];
const kinds = { fal: "fal", open: "openai-compatible" } as const;

/** Every kind and type with rules, and the options that the rules write. */
const makers = Object.entries(kinds).flatMap(([provider, kind]) =>
  mediaTypes.flatMap((type) => {
    const rules = fieldsByKind[kind]?.[type];
    if (rules === undefined) return [];
    const options = listOptionNames(type);
    return [
      {
        provider,
        kind,
        type,
        model: `rich-${provider}-${type}`,
        options,
        written: options.filter((name) => name in rules),
        rules,
      },
    ];
  }),
);

const limitsByType = {
  image: { sizes: ["64x64"], max_input_images: 1 },
  video: { durations: [5], aspect_ratios: ["16:9"], max_input_images: 1 },
  avatar: { durations: [60], aspect_ratios: ["9:16"] },
  speech: { voices: ["alloy"], response_formats: ["mp3"] },
} as const;
const capabilities = {
  image: ["text_to_image", "image_to_image"],
  video: ["text_to_video", "image_to_video"],
  avatar: ["audio_driven_avatar"],
  speech: ["text_to_speech"],
} as const;
const units = { image: "image", video: "second", avatar: "second", speech: "1K characters" } as const;

function offer(names: readonly MediaOptionName[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, mediaOptions[name].offer === "list" ? [samples[name]] : true]));
}

function describeModel(id: string, type: MediaType, more: { limits?: object; routes: readonly object[] }) {
  const { limits = {}, routes } = more;
  return { id, type, capabilities: capabilities[type], limits: { ...limitsByType[type], ...limits }, routes };
}

const richModels = makers.map(({ model, type, provider, written }) =>
  describeModel(model, type, {
    limits: offer(written),
    routes: [{ provider, upstream_model: `${canary}/${provider}/rich` }],
  }),
);
/** Two endpoints of a vendor behind one model, each with its own names. */
const pairModel = describeModel("pair", "video", {
  limits: { durations: [5, 8], resolution: ["720p", "1080p"], aspect_ratios: ["16:9", "auto"], last_image: true },
  routes: [
    {
      ...{ provider: "fal", upstream_model: `${canary}/pair/text`, capability: "text_to_video" },
      fields: {
        duration: { field: "duration", as: "seconds" },
        resolution: { field: "size", values: { "720p": "hd", "1080p": "fhd" } },
        aspect_ratio: { field: "aspect_ratio", only: ["16:9"] },
      },
      parameters: { enhance_prompt: false },
    },
    {
      ...{ provider: "fal", upstream_model: `${canary}/pair/image`, capability: "image_to_video" },
      fields: {
        input_images: { field: "start_image_url", as: "first" },
        last_image: "tail_image_url",
        resolution: { only: ["720p"] },
      },
    },
  ],
});
const pairItems = [
  { resolution: "1080p", price: "0.02" },
  { item: "input_image", price: "0.07" },
];
const models = [...richModels, pairModel];

let stage: TaskStage;
let caller: StageCaller;
let faceId: string;
let voiceId: string;

beforeAll(async () => {
  const prices = models.map(({ id, type }) => ({
    ...writeTaskPrice(id, units[type], "0.01"),
    ...(id === "pair" ? { items: pairItems } : {}),
  }));
  stage = await openTaskStage({ catalog: (upstream) => writeStageCatalog(upstream, { models, prices }) });
  caller = await stage.createCaller();
  faceId = await caller.upload((await makePicture({ width: 64, height: 64 }, 1)).bytes);
  voiceId = await caller.upload(voice.bytes);
});
afterEach(() => stage.check());
afterAll(() => stage[Symbol.asyncDispose]());

let askCount = 0;

function ask(type: MediaType, model: string): { mark: string; body: Record<string, unknown> } {
  askCount += 1;
  const mark = `No. ${askCount}`;
  if (type === "avatar") return { mark, body: { model, avatar_file_id: faceId, audio_file_id: voiceId } };
  if (type === "speech") return { mark, body: { model, input: mark, voice: "alloy" } };
  return { mark, body: { model, prompt: mark } };
}

/** The fields that the vendor got for a request. */
async function send(type: MediaType, body: Record<string, unknown>): Promise<Record<string, unknown>> {
  const known = stage.media.submissions.length;
  const response = await caller.post(paths[type], body);
  expect(
    response.status,
    await response
      .clone()
      .text()
      .catch(() => ""),
  ).toBeLessThan(300);
  if (type === "speech") await response.arrayBuffer();
  else await caller.awaitTask(((await response.json()) as { id: string }).id);
  const [sent, ...more] = stage.media.submissions.slice(known);
  expect(more).toEqual([]);
  expect(sent?.refusal).toBeNull();
  return sent?.fields ?? {};
}

describe.each(makers)("$kind, $type", ({ type, model, options, written, rules }) => {
  test.each(written)("%s reaches the vendor", async (name) => {
    const fields = await send(type, { ...ask(type, model).body, [name]: samples[name] });
    const rule = rules[name] as string;
    expect(String(fields[rule])).toBe(String(samples[name]));
  });

  test("a default is sent too, and another value is refused by name before anything is held", async () => {
    const listed = written.filter((name) => mediaOptions[name].offer === "list");
    if (listed.length > 0) {
      const fields = await send(type, ask(type, model).body);
      for (const name of listed) expect(String(fields[rules[name] as string])).toBe(String(samples[name]));
    }
    const before = await caller.countTraces();
    for (const name of listed.filter((option) => typeof samples[option] === "string")) {
      const problem = await readProblem(await caller.post(paths[type], { ...ask(type, model).body, [name]: "odd" }));
      expect(problem).toMatchObject({ status: 400, code: "invalid_parameter", param: name });
      expect(problem.message).toContain(String(samples[name]));
    }
    expect(await caller.countTraces()).toEqual(before);
  });

  test("an option that the model does not offer is refused by name before anything is held", async () => {
    const plain = type === "speech" ? options.filter((name) => name !== "instructions") : options;
    const poor = { image: "image", video: "video", avatar: "avatar", speech: "speech" }[type];
    const before = await caller.countTraces();
    for (const name of plain) {
      const body = { ...ask(type, poor).body, [name]: samples[name] };
      const problem = await readProblem(await caller.post(paths[type], body));
      expect(problem, name).toMatchObject({ status: 400, code: "unsupported_capability", param: name });
    }
    expect(await caller.countTraces()).toEqual(before);
  });
});

describe("a model with two endpoints", () => {
  test("sends each request to the one with its capability, in that one's names and units", async () => {
    const { body, mark } = ask("video", "pair");
    expect(await send("video", { ...body, duration: 8, resolution: "1080p" })).toEqual({
      ...{ prompt: mark, duration: "8s", size: "fhd", aspect_ratio: "16:9", enhance_prompt: false },
    });
    const next = ask("video", "pair");
    const images = { input_images: [faceId], last_image: faceId };
    expect(await send("video", { ...next.body, ...images })).toEqual({
      ...{ prompt: next.mark, duration: "5", aspect_ratio: "16:9" },
      ...{ start_image_url: expect.any(String), tail_image_url: expect.any(String) },
    });
    const paths = stage.media.submissions.slice(-2).map((submission) => submission.model);
    expect(paths).toEqual([`${canary}/pair/text`, `${canary}/pair/image`]);
  });

  test.each([
    { more: { aspect_ratio: "auto" }, param: "aspect_ratio", allowed: "16:9" },
    { more: { resolution: "1080p", isFromImage: true }, param: "resolution", allowed: "720p" },
  ])("refuses what the endpoint cannot do: $more", async ({ more: { isFromImage, ...more }, param, allowed }) => {
    const before = await caller.countTraces();
    const images = isFromImage === true ? { input_images: [faceId] } : {};
    const problem = await readProblem(
      await caller.post(paths.video, { ...ask("video", "pair").body, ...images, ...more }),
    );
    expect(problem).toMatchObject({ status: 400, code: "unsupported_capability", param });
    expect(problem.message).toContain(allowed);
    expect(await caller.countTraces()).toEqual(before);
  });

  test.each([
    { more: { resolution: "1080p" }, rate: "0.02", marks: { resolution: "1080p" }, fees: [] },
    { more: {}, rate: "0.01", marks: { resolution: "720p" }, fees: [] },
    {
      more: { isFromImage: true },
      ...{ rate: "0.01", marks: { resolution: "720p" } },
      fees: [{ name: "input_images", quantity: 1, rate: "0.07", per: 1, amount: "0.07" }],
    },
  ])(
    "is charged by the options that were requested: $more",
    async ({ more: { isFromImage, ...more }, rate, marks, fees }) => {
      const images = isFromImage === true ? { input_images: [faceId] } : {};
      const task = await caller.finish(paths.video, { ...ask("video", "pair").body, ...images, ...more });
      const list = (await (await caller.get(`/charges?task_id=${task.id}`)).json()) as { data: { id: string }[] };
      const charge = await (await caller.get(`/charges/${list.data[0]?.id}`)).json();
      expect(charge).toMatchObject({
        items: [{ name: "seconds", rate, per: 1 }, ...fees],
        priced_by: marks,
        lost: "0.00",
      });
    },
  );

  test("repeats a request with the options that it had", async () => {
    const { body } = ask("video", "pair");
    const task = await caller.finish(paths.video, { ...body, resolution: "1080p" });
    const response = await caller.get(`/tasks/${task.id}/request`);
    expect(await response.json()).toMatchObject({ body: { resolution: "1080p", duration: 5 } });
  });
});
