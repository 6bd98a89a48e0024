import { createHash } from "node:crypto";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type {
  RolesDocument,
  ScriptDocument,
  StoryboardDocument,
} from "../../../src/features/dramas/drama-documents.ts";
import {
  describeAppearance,
  lighthouse,
  monologue,
  narratorVoice,
  type Play,
  writeDocuments,
} from "../../harness/dramas/drama-play.ts";
import {
  type Director,
  type DramaStage,
  openDramaStage,
  readFacts,
  type SeenDrama,
} from "../../harness/dramas/drama-stage.ts";
import { hearEvents } from "../../harness/hear-events.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const wish = "No captions, no text, no watermark.";

let stage: DramaStage;

beforeAll(async () => {
  stage = await openDramaStage({ casts: ["drama", "look", "plain", "short", "undrawable", "edited", "chain", "told"] });
});
afterEach(() => stage.check());
afterAll(async () => {
  expect([...stage.media.refusals(), ...stage.upstream.refusals()]).toEqual([]);
  await stage[Symbol.asyncDispose]();
});

async function drawFace(colour: string): Promise<Buffer> {
  const size = { width: 40, height: 40, channels: 3 as const, background: colour };
  return await sharp({ create: size }).png().toBuffer();
}

function describeSteps({ steps }: SeenDrama): (string | number)[][] {
  return steps.map(({ name, status, progress, charge }) => [name, status, progress, charge]);
}

describe("a whole drama", () => {
  let director: Director;
  let drama: SeenDrama;

  beforeAll(async () => {
    director = await stage.createDirector();
    drama = await director.make({ title: "The Lighthouse", script: "Anna finds the lamp out.", episode: 3 });
  });

  test("goes through all steps in order, each with its output and its cost", async () => {
    expect(drama).toMatchObject({ status: "succeeded", progress: 100, type: "drama", model: "drama" });
    expect(drama.warnings).toBeUndefined();
    expect(describeSteps(drama)).toEqual([
      ["script", "succeeded", 100, "0.02"],
      ["roles", "succeeded", 100, "0.01"],
      ["storyboard", "succeeded", 100, "0.10"],
      ["shots", "succeeded", 100, "0.00"],
      ["speech", "succeeded", 100, "0.00"],
      ["film", "succeeded", 100, "0.88"],
    ]);
    expect(drama.steps.map(({ output }) => output.map(({ type }) => type).join(" "))).toEqual([
      "script",
      "roles",
      "storyboard image image image image",
      "video video video video",
      "audio audio audio audio",
      "video subtitles image",
    ]);
    expect(drama.steps.map((step) => step.task_ids.length)).toEqual([0, 0, 4, 4, 4, 0]);
  });

  test("lists the video first, then subtitles and poster, then the documents, and leaves out the parts of shots", () => {
    expect(drama.output.map(({ type }) => type)).toEqual([
      ...["video", "subtitles", "image"],
      ...["storyboard", "image", "image", "image", "image"],
      ...["roles", "script"],
    ]);
  });

  test("is paid by one hold, settled once, for each stage and each started second of the video", async () => {
    expect(drama.usage).toMatchObject({ charge: "1.01", estimated_charge: "2.53" });
    expect(await director.listHolds()).toMatchObject([{ state: "settled", amount: "2.53", settled: "1.01" }]);
    expect(await director.listCharges()).toMatchObject([
      { items: { script_calls: 1, roles_calls: 1, storyboard_calls: 1, film_seconds: 11 }, paid: "1.01" },
    ]);
    expect(await director.readBalance()).toEqual({ available: "8.99", frozen: "0.00" });
  });

  test("emits one event, with its outputs, and none for its child tasks", async () => {
    const events = await director.listEvents();
    expect(events).toMatchObject([{ type: "task.succeeded", data: { task_id: drama.id, usage: drama.usage } }]);
    const delivered = await waitUntil("the webhook", () =>
      stage.receiver.deliveries.find(({ body }) => body.toString().includes(drama.id)),
    );
    const event = JSON.parse(delivered.body.toString());
    expect(event).toMatchObject({ id: events[0]?.id, type: "task.succeeded", data: { status: "succeeded" } });
    expect(event.data.output.map(({ type }: { type: string }) => type)).toEqual(drama.output.map(({ type }) => type));
    expect(stage.receiver.deliveries.filter(({ body }) => body.toString().includes(drama.id))).toHaveLength(1);
  });

  test("has child tasks that are listed by its id only, each with that id, at no charge", async () => {
    const listed = async (query: string) =>
      ((await (await director.get(`/tasks${query}`)).json()) as { data: SeenDrama[] }).data;
    expect((await listed("")).map(({ id }) => id)).toEqual([drama.id]);
    const children = await listed(`?parent_id=${drama.id}&limit=100`);
    const named = drama.steps.flatMap((step) => step.task_ids);
    expect(children.map(({ id }) => id).toSorted()).toEqual(named.toSorted());
    for (const child of children) {
      expect(child).toMatchObject({ status: "succeeded", parent_id: drama.id, usage: { charge: "0.00" } });
    }
    // The drama is charged, so the outputs of its child tasks belong to the caller too.
    const made = children.flatMap(({ output }) => output.map(({ file_id: fileId }) => fileId));
    expect(made).toHaveLength(12);
    const files = (await (await director.get("/files?purpose=output&limit=100")).json()) as { data: { id: string }[] };
    expect(files.data.map(({ id }) => id)).toEqual(expect.arrayContaining(made));
    const types = Map.groupBy(children, ({ type }) => type);
    expect(Object.fromEntries([...types].map(([type, some]) => [type, some.length]))).toEqual({
      ...{ image: 4, speech: 4, video: 3, avatar: 1 },
    });
  });

  test("sends each prompt once, with everything that is known", () => {
    const asked = stage.listQuestions("drama").map((call) => readFacts(call));
    expect(asked).toHaveLength(3);
    expect(asked[0]).toEqual({
      title: "The Lighthouse",
      episode: 3,
      characters: [],
      film_seconds_max: 30,
      script: "Anna finds the lamp out.",
    });
    expect(asked[1]).toMatchObject({ voices: ["alloy", "nova", "echo", "onyx", "shimmer"], characters: [] });
    expect(asked[2]).toMatchObject({
      roles: [
        { name: "Anna", appearance: describeAppearance("Anna") },
        { name: "Ben", appearance: describeAppearance("Ben") },
      ],
    });
  });

  test("is a video of the right length and ratio, with image, sound and its captions as a file", async () => {
    const [film, subtitles, poster] = drama.output;
    if (film === undefined || subtitles === undefined || poster === undefined) throw new Error("There is no film.");
    const bytes = await director.fetchOutput(film);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(film.sha256);
    // 2.5 of title, then an avatar of 1, and shots of 1.8, 3.1 and 2 seconds.
    expect(Math.abs((film.duration ?? 0) - 10.4)).toBeLessThan(0.15);
    expect((film.width ?? 0) / (film.height ?? 1)).toBeCloseTo(16 / 9, 2);
    expect(film).toMatchObject({ content_type: "video/mp4" });
    expect([bytes.includes("avc1"), bytes.includes("mp4a")]).toEqual([true, true]);
    const text = (await director.fetchOutput(subtitles)).toString();
    expect(text.startsWith("WEBVTT")).toBe(true);
    const said = lighthouse.flat().flatMap(({ lines = [] }) => lines.map(([, line]) => line));
    expect(said.filter((line) => !text.includes(line))).toEqual([]);
    expect((await sharp(await director.fetchOutput(poster)).metadata()).format).toBe("jpeg");
  });

  test("uses the same voice for a role in every line, and another for the narrator", () => {
    const voices = stage.listSubmissions("drama", "speech").map(({ prompt, fields }) => [prompt, fields.voice]);
    expect(Object.fromEntries(voices)).toEqual({
      "The lamp is out.": "alloy",
      "Somebody has to.": "alloy",
      "Not alone.": "nova",
      "Nobody had climbed up for years.": narratorVoice,
    });
  });

  test("uses an avatar only for a single visible speaker; videos are as long as their lines take", () => {
    expect(stage.listSubmissions("drama", "avatar")).toHaveLength(1);
    const films = stage.listSubmissions("drama", "video");
    const lengths = films.map(({ prompt, fields }) => [/Picture (\d)/.exec(prompt)?.[1], fields.duration]);
    // One line of a second, two of them, and two seconds of silence.
    expect(Object.fromEntries(lengths)).toEqual({ 2: "2", 3: "5", 4: "2" });
  });

  test("begins each clip with the image that was drawn for it", async () => {
    const board = await director.readDocument<StoryboardDocument>(drama, "storyboard");
    expect(board.shots.map((shot) => shot.image_file_id === null)).toEqual([false, false, false, false]);
    const pictures = drama.steps.find(({ name }) => name === "storyboard")?.output.slice(1) ?? [];
    const drawn = await Promise.all(pictures.map((picture) => director.fetchOutput(picture)));
    for (const { prompt, fields } of stage.listSubmissions("drama", "video")) {
      const number = Number(/Picture (\d)/.exec(prompt)?.[1]);
      expect(String(fields.image_url)).toBe(`data:image/png;base64,${drawn[number - 1]?.toString("base64")}`);
    }
  });

  test("describes in every image prompt who is in it, how they look, and what must not be there", () => {
    for (const part of ["image", "video"] as const) {
      for (const { prompt } of stage.listSubmissions("drama", part)) {
        const shot = lighthouse.flat()[Number(/Picture (\d)/.exec(prompt)?.[1]) - 1];
        const wanted = ["Anna", "Ben"].map((name) => shot?.seen?.includes(name) === true);
        expect(["Anna", "Ben"].map((name) => prompt.includes(describeAppearance(name)))).toEqual(wanted);
        expect(prompt.endsWith(wish)).toBe(true);
      }
    }
  });
});

test("keeps every face: each image with a role is drawn from that role's portrait, and no other", async () => {
  const director = await stage.createDirector();
  const faces = { Anna: await drawFace("red"), Ben: await drawFace("blue") };
  const characters = await Promise.all(
    Object.entries(faces).map(async ([name, face]) => ({ name, reference_file_id: await director.upload(face) })),
  );
  const drama = await director.make({
    model: "look",
    stage: "storyboard",
    title: "Faces",
    script: "Text",
    characters,
  });
  expect(drama.status).toBe("succeeded");
  const board = await director.readDocument<StoryboardDocument>(drama, "storyboard");
  expect(board.roles.map((role) => role.reference_file_id)).toEqual(characters.map((one) => one.reference_file_id));
  const drawn = stage.listSubmissions("look", "image");
  expect(drawn).toHaveLength(4);
  for (const { prompt, files } of drawn) {
    const shot = board.shots.find((one) => prompt.includes(one.prompt));
    const seen = shot?.characters ?? [];
    expect(seen.toSorted()).toEqual(lighthouse.flat()[Number(shot?.id.slice(-1)) - 1]?.seen?.toSorted());
    const shown = files.map(({ bytes }) => bytes.toString("hex"));
    expect(shown).toEqual(seen.map((name) => faces[name as keyof typeof faces].toString("hex")));
    const told = seen.map((name, index) => `Reference ${index + 1} shows ${name}.`).join(" ");
    expect(prompt.endsWith(`${told} ${wish}`), prompt).toBe(true);
  }
});

describe.concurrent("stages", () => {
  test("end at the requested one, and each continues from the one before", async () => {
    const director = await stage.createDirector();
    const chain = { model: "chain" };
    const script = await director.make({ ...chain, stage: "script", title: "Chained", script: "Text", episode: 7 });
    expect(describeSteps(script)).toEqual([["script", "succeeded", 100, "0.02"]]);
    const roles = await director.make({ ...chain, stage: "roles", from_task_id: script.id });
    expect(describeSteps(roles)).toEqual([["roles", "succeeded", 100, "0.01"]]);
    const board = await director.make({ ...chain, stage: "storyboard", from_task_id: roles.id });
    expect(describeSteps(board)).toEqual([["storyboard", "succeeded", 100, "0.10"]]);
    const film = await director.make({ ...chain, from_task_id: board.id });
    expect(film.steps.map(({ name }) => name)).toEqual(["shots", "speech", "film"]);
    expect([script, roles, board, film].map(({ status }) => status)).toEqual(new Array(4).fill("succeeded"));
    expect([script, roles, board, film].map(({ output }) => output.map(({ type }) => type).join(" "))).toEqual([
      "script",
      "roles",
      "storyboard image image image image",
      "video subtitles image",
    ]);
    expect((await director.listCharges()).map(({ paid }) => paid)).toEqual(["0.02", "0.01", "0.10", "0.88"]);
    // Nothing was written or drawn twice.
    expect(stage.listQuestions("chain")).toHaveLength(3);
    expect(stage.listSubmissions("chain", "image")).toHaveLength(4);
    const written = await director.readDocument<ScriptDocument>(script, "script");
    const cast = await director.readDocument<RolesDocument>(roles, "roles");
    const drawn = await director.readDocument<StoryboardDocument>(board, "storyboard");
    expect([written.episode, cast.script, drawn.episode, drawn.roles]).toEqual([7, written, 7, cast.roles]);
  });

  test("continue from edited documents, as objects and as texts", async () => {
    const director = await stage.createDirector();
    const { script } = writeDocuments(lighthouse, { title: "Edited" });
    const [first] = script.scenes;
    if (first === undefined) throw new Error("There is no scene.");
    const changed = { ...script, scenes: [{ ...first, lines: [{ speaker: "Clara", text: "A new line." }] }] };
    const roles = await director.make({ model: "edited", stage: "roles", script: changed });
    const cast = await director.readDocument<RolesDocument>(roles, "roles");
    expect(cast.script).toEqual(changed);
    expect(cast.roles.map(({ name }) => name)).toContain("Clara");
    const renamed = JSON.stringify({ ...cast, script: { ...cast.script, title: "Another title" } }, null, 2);
    const board = await director.make({
      model: "edited",
      stage: "storyboard",
      script: renamed,
      from_task_id: roles.id,
    });
    const document = await director.readDocument<StoryboardDocument>(board, "storyboard");
    expect(document.title).toBe("Another title");
    expect(document.shots.flatMap(({ lines }) => lines)).toEqual([{ speaker: "Clara", text: "A new line." }]);
    expect(stage.listQuestions("edited").map((call) => readFacts(call).title)).toEqual(["Edited", "Another title"]);
  });

  test("draw a shot that was added to a storyboard without an image before it is filmed, and no other", async () => {
    const director = await stage.createDirector();
    const { storyboard } = writeDocuments(monologue, { title: "A new shot" });
    const pictureId = await director.upload(await drawFace("green"));
    const [shot] = storyboard.shots;
    if (shot === undefined) throw new Error("There is no shot.");
    const silent = { characters: [], lines: [], duration: 2 };
    const shots = [
      { ...shot, image_file_id: pictureId },
      { ...shot, ...silent, id: "put in", prompt: "The sea" },
    ];
    const film = await director.make({ model: "plain", script: { ...storyboard, shots } });
    expect(film).toMatchObject({ status: "succeeded" });
    expect(film.steps.map(({ name, task_ids: ids }) => [name, ids.length])).toEqual([
      ["shots", 3],
      ["speech", 1],
      ["film", 0],
    ]);
    expect(stage.listSubmissions("plain", "image").map(({ prompt }) => prompt)).toEqual([`wide. The sea. ${wish}`]);
    const [drawn] = film.steps[0]?.output.filter(({ type }) => type === "image") ?? [];
    if (drawn === undefined) throw new Error("There is no picture.");
    const [clip] = stage.listSubmissions("plain", "video");
    expect(clip?.fields.image_url).toBe(
      `data:image/png;base64,${(await director.fetchOutput(drawn)).toString("base64")}`,
    );
    // 2.5 seconds of title, 1 of avatar and 2 of silence; started seconds count.
    expect(film.usage).toMatchObject({ charge: "0.48" });
  });
});

describe.concurrent("the events of a drama", () => {
  test("report its steps as they begin and end, and its progress never falls", async () => {
    const director = await stage.createDirector();
    const gate = createGate();
    stage.treatWriter("told", "drama_roles", { beforeHead: gate });
    const { id } = await director.send({ model: "told", title: "Told", script: "Text" });
    const events = hearEvents(await director.get(`/tasks/${id}/events`));
    await gate.reached();
    const first = await events.next();
    gate.open();
    const rest = await events.rest();
    const heard = [...(first === null ? [] : [first]), ...rest];
    const progress = heard.map(({ task }) => task.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(100);
    expect(progress.filter((one) => one === 100)).toHaveLength(1);
    for (const name of ["script", "roles", "storyboard", "shots", "speech", "film"]) {
      const shares = heard.map(
        ({ task }) => (task as SeenDrama).steps.find((step) => step.name === name)?.progress ?? -1,
      );
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    }
    const states = heard.map(({ task }) => (task as SeenDrama).steps.map(({ status }) => status.slice(0, 1)).join(""));
    // A slow reader gets several changes in one event, but misses none that lasted.
    expect(states).toContain("spqqqq");
    expect(states.at(-1)).toBe("ssssss");
    const ways = states.map((state) => [...state].map((letter) => "qps".indexOf(letter)));
    for (const [index, way] of ways.slice(1).entries()) {
      expect(way.every((share, step) => share >= (ways[index]?.[step] ?? 0))).toBe(true);
    }
    const names = heard.map(({ name }) => name);
    expect(names.at(-1)).toBe("task.succeeded");
    expect(names).toContain("task.step");
    const ids = heard.map((event) => event.id);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));

    const last = ids.at(-1) ?? 0;
    const again = hearEvents(await director.get(`/tasks/${id}/events`, { headers: { "last-event-id": String(last) } }));
    expect(await again.rest()).toEqual([]);
    const before = hearEvents(
      await director.get(`/tasks/${id}/events`, { headers: { "last-event-id": String(last - 1) } }),
    );
    expect((await before.rest()).map(({ name, id: number }) => [name, number])).toEqual([["task.succeeded", last]]);
  });
});

describe.concurrent("a video", () => {
  test("that cannot contain all of the text reports how much it left out", { tags: "extended" }, async () => {
    const director = await stage.createDirector();
    const long =
      "This line is as long as it takes to fill ten whole seconds of a film, if it is said at a common pace by one.";
    const play: Play = [0, 1, 2, 3].map(() => [{ seen: ["Anna"], lines: [["Anna", long]] as const }]);
    stage.perform(play, "Long");
    const drama = await director.make({ model: "short", title: "Long", script: "Text" });
    expect(drama.status).toBe("succeeded");
    expect(drama.warnings).toEqual([
      {
        code: "shortened",
        message: "1 of 4 lines did not fit into a video of 30 seconds and were left out.",
      },
    ]);
  });

  test("whose captions have characters without a glyph lists them, and its subtitles contain them", {
    tags: "extended",
  }, async () => {
    const director = await stage.createDirector();
    stage.perform([[{ seen: ["Anna"], lines: [["Anna", "Look: \u{13080} here."]] }]], "Undrawable");
    const drama = await director.make({ model: "undrawable", title: "Undrawable", script: "Text" });
    expect(drama.status).toBe("succeeded");
    expect(drama.warnings).toMatchObject([{ code: "undrawable_characters" }]);
    expect(drama.warnings?.[0]?.message).toContain("\u{13080}");
    const subtitles = drama.output.find(({ type }) => type === "subtitles");
    if (subtitles === undefined) throw new Error("There are no subtitles.");
    expect((await director.fetchOutput(subtitles)).toString()).toContain("\u{13080}");
  });
});
