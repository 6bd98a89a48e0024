import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sampleStoryboard } from "../../../test/harness/dramas/drama-samples.ts";
import type { FileId } from "../../lib/ids.ts";
import type { Model } from "../catalog/index.ts";
import type { Role, Shot } from "./drama-documents.ts";
import { planAvatar, planClip, planKeyframe, planSpeech } from "./plan-children.ts";

type ModelLimits = Model["limits"];

const wish = "No captions, no text, no watermark.";

function modelOf(type: Model["type"], limits: ModelLimits = {}, capabilities: Model["capabilities"] = []): Model {
  return { id: `the-${type}`, type, capabilities, limits } as unknown as Model;
}

function roleOf(name: string, more: Partial<Role> = {}): Role {
  return { name, description: "", appearance: `${name} in grey`, voice: "nova", reference_file_id: null, ...more };
}

const anna = roleOf("Anna", { reference_file_id: "file_a" });
const ben = roleOf("Ben", { reference_file_id: "file_b", voice: "echo" });
const cat = roleOf("Cat");
const board = { ...sampleStoryboard, aspect_ratio: "16:9", roles: [ben, cat, anna] };
const painter = (limits: ModelLimits = {}) => modelOf("image", limits, ["text_to_image", "image_to_image"]);
const filmer = (limits: ModelLimits = {}) => modelOf("video", limits, ["text_to_video", "image_to_video"]);

function shotOf(more: Partial<Shot> = {}): Shot {
  const looks = { prompt: "A round room", camera: "Close-up", duration: 3, characters: ["Anna", "Cat", "Ben"] };
  return { id: "shot-1", scene: "scene-1", ...looks, lines: [], image_file_id: null, ...more };
}

function readPrompt({ request }: ReturnType<typeof planKeyframe>): string {
  return "prompt" in request ? request.prompt : "";
}

describe("an image", () => {
  test("shows the shot and its people, and its prompt ends with the request for no text", () => {
    const planned = planKeyframe(shotOf(), board, painter({ max_input_images: 4 }));
    expect(planned.model).toBe("the-image");
    expect(planned.request).toMatchObject({ type: "image", count: 1 });
    expect(readPrompt(planned)).toBe(
      `Close-up. A round room. Anna: Anna in grey. Cat: Cat in grey. Ben: Ben in grey. Reference 1 shows Anna. Reference 2 shows Ben. ${wish}`,
    );
  });

  test("gets the reference images of visible people, in the order in which the prompt numbers them", () => {
    const planned = planKeyframe(shotOf(), board, painter({ max_input_images: 4 }));
    expect(planned.inputs).toEqual([
      { role: "image", param: "characters", fileId: "file_a" },
      { role: "image", param: "characters", fileId: "file_b" },
    ]);
    expect(planKeyframe(shotOf({ characters: ["Ben"] }), board, painter()).inputs).toMatchObject([
      { fileId: "file_b" },
    ]);
  });

  test("gets no more images than the model accepts", () => {
    const one = planKeyframe(shotOf(), board, painter());
    expect(one.inputs).toMatchObject([{ fileId: "file_a" }]);
    expect(readPrompt(one)).not.toContain("Ben.");
    const none = planKeyframe(shotOf(), board, modelOf("image", { max_input_images: 4 }, ["text_to_image"]));
    expect(none.inputs).toEqual([]);
    expect(readPrompt(none)).not.toContain("Reference");
  });

  test.each([
    ["16:9", ["1024x1024", "1536x1024", "1024x1536"], [1536, 1024]],
    ["9:16", ["1024x1024", "1536x1024", "1024x1536"], [1024, 1536]],
    ["1:1", ["1536x1024", "1024x1024"], [1024, 1024]],
    ["16:9", undefined, [1024, 1024]],
    ["16:9", ["1280x720", "1920x1080"], [1280, 720]],
    ["2:1", ["1024x512", "512x1024"], [1024, 512]],
    ["odd", ["512x256", "512x512"], [512, 512]],
  ] as const)("for a film in %s of the sizes %j has %j", (ratio, sizes, [width, height]) => {
    const limits = sizes === undefined ? {} : { sizes: [...sizes] };
    const planned = planKeyframe(shotOf(), { ...board, aspect_ratio: ratio }, painter(limits));
    expect(planned.request).toMatchObject({ width, height });
  });

  test.each([
    ["It rains.", "It rains. "],
    ["It rains", "It rains. "],
    ["Rain?", "Rain? "],
    ["下雨。", "下雨。 "],
  ])("%j ends like a sentence", (prompt, sentence) => {
    const text = readPrompt(planKeyframe(shotOf({ prompt, camera: "", characters: [] }), board, painter()));
    expect(text).toBe(`${sentence}${wish}`);
  });

  test("omits people without an appearance from the prompt", () => {
    const roles = [roleOf("Anna", { appearance: "" })];
    expect(readPrompt(planKeyframe(shotOf(), { ...board, roles }, painter()))).toBe(`Close-up. A round room. ${wish}`);
  });
});

describe("the look of a drama", () => {
  const look = { style: "Watercolour, muted colours", seed: 7 };
  const imageId = "file_p" as FileId;

  test("starts every prompt with the style, which is never cut off", () => {
    const styled = { ...board, ...look };
    const shots = [shotOf(), shotOf({ prompt: "A cliff", camera: "", characters: [] })];
    for (const shot of shots) {
      const clip = planClip(shot, styled, { model: filmer(), imageId, seconds: 3 });
      for (const planned of [planKeyframe(shot, styled, painter()), clip]) {
        expect(readPrompt(planned)).toMatch(/^Watercolour, muted colours\. /);
      }
    }
    const short = planKeyframe(shotOf({ prompt: "A cliff. ".repeat(50) }), styled, painter({ max_prompt_length: 100 }));
    expect(readPrompt(short)).toMatch(new RegExp(`^${look.style}\\..*${wish}$`));
    expect(readPrompt(short).length).toBeLessThanOrEqual(100);
  });

  test("sends its seed with every image and clip, only to models that offer it", () => {
    const seeded = { ...board, ...look };
    const media = { imageId, audioId: "file_s" as FileId };
    const plan = (limits: ModelLimits) => [
      planKeyframe(shotOf(), seeded, painter(limits)),
      planClip(shotOf(), seeded, { model: filmer(limits), imageId, seconds: 3 }),
      planAvatar(seeded, { model: modelOf("avatar", limits), ...media }),
    ];
    expect(plan({ seed: true }).map(({ request }) => request)).toMatchObject(Array(3).fill({ options: { seed: 7 } }));
    for (const { request } of plan({})) expect(request).not.toHaveProperty("options");
    const unseeded = planKeyframe(shotOf(), board, painter({ seed: true }));
    expect(unseeded.request).not.toHaveProperty("options");
  });
});

describe("a clip", () => {
  const imageId = "file_p" as FileId;
  const plan = (limits: ModelLimits, more: { seconds?: number; imageId?: FileId | null } = {}) =>
    planClip(shotOf(), board, { model: filmer(limits), imageId, seconds: 3, ...more });

  test("starts with its image, and gets reference images if there is room, numbered after it", () => {
    const planned = plan({ max_input_images: 2 });
    expect(planned.inputs).toEqual([
      { role: "image", param: "input_images", fileId: "file_p" },
      { role: "image", param: "characters", fileId: "file_a" },
    ]);
    expect(readPrompt(planned)).toContain(`Reference 2 shows Anna. ${wish}`);
    expect(plan({}).inputs).toEqual([{ role: "image", param: "input_images", fileId: "file_p" }]);
  });

  test("has no input images if there is no keyframe or the model accepts none", () => {
    expect(plan({ max_input_images: 4 }, { imageId: null }).inputs).toEqual([]);
    const blind = modelOf("video", { max_input_images: 4 }, ["text_to_video"]);
    const planned = planClip(shotOf(), board, { model: blind, imageId, seconds: 3 });
    expect(planned.inputs).toEqual([]);
    expect(readPrompt(planned)).not.toContain("Reference");
  });

  test.each([
    [[5, 10], 3, 5],
    [[5, 10], 5, 5],
    [[5, 10], 5.1, 10],
    [[10, 5], 3, 5],
    [[5, 10], 40, 10],
    [undefined, 8, 5],
  ])("of the durations %j for %d seconds takes %d", (durations, seconds, taken) => {
    const planned = plan(durations === undefined ? {} : { durations }, { seconds });
    expect(planned.request).toMatchObject({ type: "video", durationSeconds: taken });
  });

  test.each([
    [["16:9", "9:16"], "9:16", "9:16"],
    [["16:9", "9:16", "1:1"], "4:5", "1:1"],
    [["16:9", "9:16"], "2:1", "16:9"],
    // In log scale, twice as high is further away than not quite twice as wide.
    [["1:2", "9:5"], "1:1", "9:5"],
    [undefined, "21:9", "21:9"],
  ])("of the ratios %j for a film in %s has %s", (ratios, wanted, taken) => {
    const limits = ratios === undefined ? {} : { aspect_ratios: ratios };
    const planned = planClip(
      shotOf(),
      { ...board, aspect_ratio: wanted },
      { model: filmer(limits), imageId, seconds: 3 },
    );
    expect(planned.request).toMatchObject({ aspectRatio: taken });
  });
});

test("an avatar gets the image, the voice and the nearest supported ratio", () => {
  const model = modelOf("avatar", { aspect_ratios: ["9:16", "1:1"] });
  const files = { imageId: "file_p" as FileId, audioId: "file_v" as FileId };
  expect(planAvatar(board, { model, ...files })).toEqual({
    model: "the-avatar",
    request: { type: "avatar", aspectRatio: "1:1" },
    inputs: [
      { role: "person", param: "avatar_file_id", fileId: "file_p" },
      { role: "audio", param: "audio_file_id", fileId: "file_v" },
    ],
  });
});

describe("a line", () => {
  test.each([
    ["Ben", "echo"],
    ["Anna", "nova"],
    [null, "onyx"],
    ["Ghost", "onyx"],
  ])("of %s is said in the voice %s", (speaker, voice) => {
    const planned = planSpeech({ speaker, text: "Here." }, board, modelOf("speech"));
    expect(planned).toMatchObject({
      model: "the-speech",
      request: { type: "speech", text: "Here.", voice, speed: 1 },
      inputs: [],
    });
  });

  test.each([
    [["mp3", "wav", "pcm"], "wav"],
    [["pcm", "mp3"], "mp3"],
    [["flac"], "flac"],
    [["pcm"], "mp3"],
    [undefined, "mp3"],
  ])("of the formats %j is recorded as %s, because raw samples do not say what they are", (formats, format) => {
    const limits = formats === undefined ? {} : { response_formats: formats };
    const planned = planSpeech({ speaker: null, text: "Here." }, board, modelOf("speech", limits));
    expect(planned.request).toMatchObject({ format });
  });

  test("is never longer than the speech model allows", () => {
    const planned = planSpeech({ speaker: null, text: "abc😀def" }, board, modelOf("speech", { max_prompt_length: 4 }));
    expect(planned.request).toMatchObject({ text: "abc" });
  });
});

const anyLook = fc.oneof(fc.string({ maxLength: 50 }), fc.constantFrom("x".repeat(4000), "😀".repeat(900)));
const anyone = fc.record({ appearance: anyLook, isShown: fc.boolean(), length: fc.constantFrom(1, 20, 100) });
const anySight = fc.record({ prompt: anyLook, camera: anyLook, people: fc.array(anyone, { maxLength: 8 }) });

type Sight = { prompt: string; camera: string; people: { appearance: string; isShown: boolean; length: number }[] };

function planBoth({ prompt, camera, people }: Sight, limits: ModelLimits) {
  const roles = people.map(({ appearance, isShown, length }, index) =>
    roleOf(`${index}`.padEnd(length, "n"), { appearance, reference_file_id: isShown ? `file_${index}` : null }),
  );
  const shot = shotOf({ prompt, camera, characters: roles.map(({ name }) => name) });
  const keyframe = planKeyframe(shot, { ...board, roles }, painter(limits));
  return [keyframe, planClip(shot, { ...board, roles }, { model: filmer(limits), imageId: "file_p", seconds: 3 })];
}

/** The references of eight people with the longest names, and the request for no text. */
const charactersEnough = 1_200;

test("a prompt never exceeds the model's limit, and no shot gets too many images", () => {
  fc.assert(
    fc.property(anySight, fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 9 }), (sight, most, images) => {
      for (const child of planBoth(sight, { max_prompt_length: most, max_input_images: images })) {
        expect(readPrompt(child).length).toBeLessThanOrEqual(most);
        expect(readPrompt(child).isWellFormed()).toBe(true);
        expect(child.inputs.length).toBeLessThanOrEqual(images);
        if (most >= charactersEnough) expect(readPrompt(child).endsWith(wish)).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test("the request for no text is never cut off, however short the model's limit", () => {
  const person = { appearance: "Tall.", isShown: true, length: 100 };
  const sight = { prompt: "A round room", camera: "", people: [person, person, person] };
  for (const child of planBoth(sight, { max_prompt_length: 300, max_input_images: 4 })) {
    expect(readPrompt(child).endsWith(wish)).toBe(true);
  }
});
