// @module-tag extended

import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandboxChat } from "../../../packages/sandbox/src/chat/create-sandbox-chat.ts";
import {
  type RolesAnswer,
  type RolesQuestion,
  rolesAnswerSchema,
  type ScriptAnswer,
  type ScriptQuestion,
  type StoryboardAnswer,
  type StoryboardQuestion,
  scriptAnswerSchema,
  storyboardAnswerSchema,
} from "../../../src/features/dramas/drama-answers.ts";
import type { ChatRequest } from "../../../src/providers/chat-request.ts";
import type { ChatAnswer, ProviderError } from "../../../src/providers/contract.ts";
import { countRuns } from "../../harness/count-runs.ts";
import { checkBySchema } from "../../harness/schema-check.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { unicodeText } from "../../harness/unicode-text.ts";

const provider = createSandboxChat({ clock: createTestClock() });
const timeouts = { connectMs: 1000, firstByteMs: 10_000, idleMs: 5000, totalMs: 60_000 };
const voices = ["alloy", "echo", "fable", "nova", "onyx", "shimmer"];
const schemas = {
  drama_script: scriptAnswerSchema,
  drama_roles: rolesAnswerSchema,
  drama_storyboard: storyboardAnswerSchema,
};

/** Sends the request that the gateway would. */
async function ask<Answer>(name: keyof typeof schemas, question: object): Promise<Answer> {
  const schema = schemas[name];
  const request: ChatRequest = {
    model: "sandbox",
    messages: [
      { role: "system", content: "You write films." },
      { role: "user", content: JSON.stringify(question) },
    ],
    response_format: { type: "json_schema", json_schema: { name, schema: { ...schema }, strict: true } },
  };
  const answer = await new Promise<ChatAnswer>((resolve, reject: (error: ProviderError) => void) => {
    provider.startChat(
      { request, upstreamModel: "sandbox", apiKey: null, outputTokensMax: 1_000_000, timeouts },
      { onAccepted() {}, onPieces() {}, onEnd() {}, onAnswer: resolve, onError: reject },
    );
  });
  const [choice] = JSON.parse(answer.choices) as { message: { content: string }; finish_reason: string }[];
  expect(choice?.finish_reason).toBe("stop");
  const value = JSON.parse(choice?.message.content ?? "null");
  expect(checkBySchema(schema, value)).toBeNull();
  return value;
}

type Film = { script: ScriptAnswer; cast: RolesAnswer; storyboard: StoryboardAnswer; question: StoryboardQuestion };

async function plan(wish: Partial<ScriptQuestion>, shotsMax = 20): Promise<Film> {
  const asked = { title: "The Letter", episode: 1, characters: [], film_seconds_max: 60, script: "", ...wish };
  const script = await ask<ScriptAnswer>("drama_script", asked);
  let number = 0;
  const scenes = script.scenes.map((scene, index) => ({
    ...scene,
    id: `scene-${index + 1}`,
    lines: scene.lines.map((line) => {
      number += 1;
      return { number, ...line };
    }),
  }));
  const { title, characters } = asked;
  const rolesQuestion: RolesQuestion = { title, language: script.language, voices, characters, scenes };
  const cast = await ask<RolesAnswer>("drama_roles", rolesQuestion);
  const question: StoryboardQuestion = {
    title,
    aspect_ratio: "16:9",
    film_seconds_max: asked.film_seconds_max,
    shots_max: shotsMax,
    roles: cast.roles,
    scenes,
  };
  return { script, cast, question, storyboard: await ask<StoryboardAnswer>("drama_storyboard", question) };
}

/** Checks the documents of a drama against the limits, so that no answer is refused. */
function expectWithinLimits({ script, cast, storyboard, question }: Film): void {
  expect(script.scenes.length).toBeGreaterThan(0);
  expect(script.scenes.length).toBeLessThanOrEqual(60);
  expect(script.logline.length).toBeLessThanOrEqual(2000);
  const lines = question.scenes.flatMap((scene) => scene.lines);
  expect(lines.length).toBeLessThanOrEqual(300);
  for (const { heading, place, time, action } of script.scenes) {
    expect(heading.length).toBeLessThanOrEqual(300);
    expect(place.length).toBeLessThanOrEqual(2000);
    expect(time.length).toBeLessThanOrEqual(100);
    expect(action.length).toBeLessThanOrEqual(4000);
    expect([heading, place, time, action]).not.toContain("");
  }
  const names = cast.roles.map(({ name }) => name);
  for (const { speaker, text } of lines) {
    expect(text).toMatch(/[\p{L}\p{N}]/u);
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(text.isWellFormed()).toBe(true);
    if (speaker !== null) expect(names).toContain(speaker);
  }
  expect(names.length).toBeLessThanOrEqual(40);
  for (const { name, voice } of cast.roles) {
    expect(name.length).toBeLessThanOrEqual(100);
    expect(voices).toContain(voice);
  }
  expect(storyboard.shots.length).toBeGreaterThan(0);
  expect(storyboard.shots.length).toBeLessThanOrEqual(question.shots_max);
  expect(storyboard.shots.flatMap(({ line_numbers }) => line_numbers)).toEqual(lines.map(({ number }) => number));
  for (const { prompt, camera, characters } of storyboard.shots) {
    expect(prompt.length).toBeGreaterThan(0);
    expect(prompt.length).toBeLessThanOrEqual(4000);
    expect(camera.length).toBeLessThanOrEqual(300);
    expect(characters.length).toBeLessThanOrEqual(8);
    for (const name of characters) expect(names).toContain(name);
  }
}

test("a page of a screenplay becomes a video of several shots, from the prompt to the storyboard", async () => {
  const film = await plan({
    characters: ["Anna", "Ben"],
    script: `INT. KITCHEN - NIGHT

ANNA (30, red coat) leans on the table. Rain runs down the window.

ANNA
It came this morning, and I have not slept since.

BEN
(carefully)
What did?

ANNA
The letter. From the lighthouse.

BEN
Nobody has lived there for twenty years.

EXT. BEACH - DAWN

They walk along the water. The lighthouse is dark.

ANNA
Then who is lighting the lamp?

BEN
Look. Up there.`,
  });
  expectWithinLimits(film);
  expect(film.script.scenes.flatMap(({ lines }) => lines)).toHaveLength(6);
  expect(film.cast.roles.map(({ name, voice }) => `${name}: ${voice}`)).toEqual(["Anna: nova", "Ben: onyx"]);
  expect(film.storyboard.shots.length).toBeGreaterThanOrEqual(5);
  expect(film.storyboard.shots.length).toBeLessThanOrEqual(9);
  expect(film.storyboard.shots.map(({ prompt }) => prompt.split(".")[0])).toEqual(
    film.storyboard.shots.map(({ scene }) =>
      scene === "scene-1" ? "A kitchen at night, warm lamp light" : "A beach at dawn, pale first light",
    ),
  );
});

test("words in double brackets work in a script as in any message, and are not spoken", async () => {
  await expect(plan({ script: "Anna: Hello. [[fail:content_policy]]" })).rejects.toMatchObject({
    kind: "content-refused",
  });
  const film = await plan({ script: 'Anna: Hello "you". [[delay:0]] [[no-usage]]\nBen: Hi.' });
  expect(film.script.scenes[0]?.lines.map(({ text }) => text)).toEqual(['Hello "you".', "Hi."]);
});

test("any script comes out as a video within all limits", async () => {
  const word = fc.constantFrom(
    ...'Anna|Ben|said|"|“|”|:|：|(|)|（|）|INT.|EXT.|KITCHEN|NIGHT|-|–|—|\n|\n\n|小明|说|。|海边|第一场|#|*|1.|🐱|سارة|؟|.|!|said Anna|[[|]]|CUT TO:|the|sea|«|»|「|」|\t|\r\n|ANNA|\u200f|___|---'.split(
      "|",
    ),
  );
  const anyScript = fc.oneof(
    unicodeText({ maxLength: 200 }),
    fc.array(word, { maxLength: 120 }).map((words) => words.join(" ")),
    fc.array(word, { maxLength: 120 }).map((words) => words.join("")),
  );
  const anyWish = fc.record({
    title: fc.string({ unit: "grapheme", maxLength: 30 }),
    characters: fc.array(
      fc.oneof(fc.constantFrom("Anna", "小明", "Anna B", "Narrator"), fc.string({ unit: "grapheme", maxLength: 12 })),
      { maxLength: 4 },
    ),
    film_seconds_max: fc.integer({ min: 1, max: 200 }),
    script: anyScript,
  });
  await fc.assert(
    fc.asyncProperty(anyWish, fc.integer({ min: 1, max: 80 }), async (wish, shotsMax) => {
      expectWithinLimits(await plan(quiet(wish), shotsMax));
    }),
    { numRuns: countRuns(120) },
  );
});

/** Random text must not contain the words that make the sandbox fail. */
function quiet<Wish extends { script: string; title: string; characters: string[] }>(wish: Wish): Wish {
  const drop = (text: string): string => text.toWellFormed().replaceAll("[[", "[ [");
  return { ...wish, script: drop(wish.script), title: drop(wish.title), characters: wish.characters.map(drop) };
}

test("the largest possible video is planned completely", async () => {
  const page = Array.from(
    { length: 80 },
    (_, scene) =>
      `INT. ROOM ${scene} - DAY\n\n${Array.from({ length: 8 }, (_, line) => `Role${line}: Line ${line} of ${scene}.`).join("\n")}`,
  );
  const film = await plan({ script: page.join("\n\n"), film_seconds_max: 3600 }, 80);
  expectWithinLimits(film);
  expect(film.script.scenes).toHaveLength(60);
  expect(film.script.scenes.flatMap(({ lines }) => lines).length).toBeGreaterThan(250);
});
