import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RolesDocument, StoryboardDocument } from "../../src/features/dramas/drama-documents.ts";
import { type DramaCaller, type DramaFront, dramaPath, openDramaFront } from "../harness/dramas/drama-callers.ts";
import { sampleRoles, sampleScript, sampleStoryboard } from "../harness/dramas/drama-samples.ts";
import { noTraces, readProblem } from "../harness/tasks/task-stage.ts";
import { film, makePicture, voice } from "../harness/upstreams/media-samples.ts";

let front: DramaFront;
const picture = await makePicture({ width: 64, height: 64 }, 1);

beforeAll(async () => {
  front = await openDramaFront({ settings: { roles: ["http"] } });
});
afterEach(() => front.check());
afterAll(() => front[Symbol.asyncDispose]());

type Fields = Record<string, unknown>;

const [scene] = sampleScript.scenes;
const [shot] = sampleStoryboard.shots;
const script = (more: Fields): Fields => ({ ...sampleScript, ...more });
const withLine = (line: Fields): Fields => script({ scenes: [{ ...scene, lines: [line] }] });
const roles = (more: Fields): Fields => ({ ...sampleRoles, ...more });
const withRole = (more: Fields): Fields => roles({ roles: [{ ...sampleRoles.roles[0], ...more }] });
const board = (more: Fields): Fields => ({ ...sampleStoryboard, ...more });
const boardOf = (more: Fields): Fields => board({ roles: [{ ...sampleRoles.roles[0], ...more }] });
const withShot = (more: Fields): Fields => board({ shots: [{ ...shot, ...more }] });

const nextStages = { "drama.script": "roles", "drama.roles": "storyboard", "drama.storyboard": "video" } as const;

function nextStage(document: Fields): string {
  return nextStages[document.object as keyof typeof nextStages] ?? "video";
}

/** The same document as an object and as text: both are rejected with the same error, and leave nothing. */
async function refuse(document: Fields, stage = nextStage(document)) {
  const caller = await front.createCaller();
  const whole = await readProblem(await caller.ask({ stage, script: document }));
  const text = await readProblem(await caller.ask({ stage, script: JSON.stringify(document, null, 2) }));
  expect(text).toEqual(whole);
  expect(await caller.countTraces()).toEqual(noTraces);
  return whole;
}

describe("a document with an invalid field is rejected with the field's name, as an object and as text:", () => {
  const speaker = "script.scenes[0].lines[0].speaker";
  const cases: readonly [what: string, document: Fields, code: string, param: string, says: string][] = [
    ["an unknown field", script({ mood: "dark" }), "unknown_parameter", "script.mood", "not a field"],
    ["a missing field", script({ scenes: undefined }), "missing_parameter", "script.scenes", "required"],
    ["no scenes", script({ scenes: [] }), "invalid_parameter", "script.scenes", "at least 1"],
    ["61 scenes", script({ scenes: scenesOf(61) }), "invalid_parameter", "script.scenes", "60"],
    ["scenes as a string", script({ scenes: "x" }), "invalid_parameter", "script.scenes", "array"],
    ["a scene that is null", script({ scenes: [null] }), "invalid_parameter", "script.scenes[0]", "object"],
    ["episode 0", script({ episode: 0 }), "invalid_parameter", "script.episode", ">= 1"],
    ["a fractional episode", script({ episode: 1.5 }), "invalid_parameter", "script.episode", "integer"],
    ["a title of 201 characters", script({ title: "x".repeat(201) }), "invalid_parameter", "script.title", "200"],
    ["no language", script({ language: "" }), "invalid_parameter", "script.language", "at least 2"],
    ["a line without a speaker", withLine({ text: "Hello." }), "missing_parameter", speaker, "required"],
    ["a line with a number as speaker", withLine({ speaker: 1, text: "Hello." }), "invalid_parameter", speaker, "null"],
    [
      "an empty line",
      withLine({ speaker: null, text: "" }),
      "invalid_parameter",
      "script.scenes[0].lines[0].text",
      "empty",
    ],
    [
      "a long line",
      withLine({ speaker: null, text: "x".repeat(2001) }),
      "invalid_parameter",
      "script.scenes[0].lines[0].text",
      "2000",
    ],
    [
      "a line with an unknown field",
      withLine({ speaker: null, text: "x", mood: "y" }),
      "unknown_parameter",
      "script.scenes[0].lines[0].mood",
      "not a field",
    ],
    ["text that cannot be stored", script({ logline: "a\u0000b" }), "invalid_parameter", "script.logline", "U+0000"],
    [
      "a lone surrogate",
      withLine({ speaker: null, text: "\ud800" }),
      "invalid_parameter",
      "script.scenes[0].lines[0].text",
      "lone surrogate",
    ],
    [
      "two scenes with one id",
      script({ scenes: [scene, { ...scene, id: "SCENE-1" }] }),
      "invalid_parameter",
      "script.scenes[1].id",
      "twice",
    ],
    [
      "an invalid script inside",
      roles({ script: script({ scenes: [] }) }),
      "invalid_parameter",
      "script.script.scenes",
      "at least 1",
    ],
    [
      "another document inside",
      roles({ script: script({ object: "drama.roles" }) }),
      "invalid_parameter",
      "script.script.object",
      "drama.script",
    ],
    [
      "scenes with one id inside",
      roles({ script: script({ scenes: [scene, scene] }) }),
      "invalid_parameter",
      "script.script.scenes[1].id",
      "twice",
    ],
    [
      "two roles with one name",
      roles({ roles: [...sampleRoles.roles, { ...sampleRoles.roles[0], name: "ANNA" }] }),
      "invalid_parameter",
      "script.roles[2].name",
      "twice",
    ],
    [
      "an unknown voice",
      withRole({ voice: "darth" }),
      "invalid_parameter",
      "script.roles[0].voice",
      "alloy, echo, fable",
    ],
    [
      "a narrator without a voice",
      roles({ narrator_voice: "default" }),
      "invalid_parameter",
      "script.narrator_voice",
      "alloy, echo, fable",
    ],
    [
      "a speaker without a role",
      roles({ roles: [] }),
      "invalid_parameter",
      "script.script.scenes[0].lines[0].speaker",
      "none",
    ],
    ["41 roles", roles({ roles: rolesOf(41) }), "invalid_parameter", "script.roles", "40"],
    [
      "a missing image",
      withRole({ reference_file_id: "file_x" }),
      "file_not_found",
      "script.roles[0].reference_file_id",
      "no such",
    ],
    [
      "an image id that is a number",
      withRole({ reference_file_id: 7 }),
      "invalid_parameter",
      "script.roles[0].reference_file_id",
      "null",
    ],
    ["a shot of zero seconds", withShot({ duration: 0 }), "invalid_parameter", "script.shots[0].duration", ">= 1"],
    ["a shot of 31 seconds", withShot({ duration: 31 }), "invalid_parameter", "script.shots[0].duration", "<= 30"],
    [
      "nine people in a shot",
      withShot({ characters: Array(9).fill("Anna") }),
      "invalid_parameter",
      "script.shots[0].characters",
      "8",
    ],
    [
      "a shot without an image id",
      withShot({ image_file_id: undefined }),
      "missing_parameter",
      "script.shots[0].image_file_id",
      "required",
    ],
    ["81 shots", board({ shots: shotsOf(81) }), "invalid_parameter", "script.shots", "80"],
    ["two shots with one id", board({ shots: [shot, shot] }), "invalid_parameter", "script.shots[1].id", "twice"],
    [
      "an unknown character in a shot",
      withShot({ characters: ["Anna", "Zoe"] }),
      "invalid_parameter",
      "script.shots[0].characters[1]",
      "Anna, Ben",
    ],
    [
      "an unknown speaker in a shot",
      withShot({ lines: [{ speaker: "Zoe", text: "x" }] }),
      "invalid_parameter",
      "script.shots[0].lines[0].speaker",
      "Anna, Ben",
    ],
    [
      "silent shots that are too long",
      board({ shots: shotsOf(21, { lines: [], duration: 3 }) }),
      "invalid_parameter",
      "script.shots",
      "63 seconds",
    ],
    [
      "more speech than the video can contain",
      withShot({ lines: linesOf(5, "x".repeat(200)) }),
      "invalid_parameter",
      "script.shots",
      "at most 60",
    ],
    [
      "a missing image of a shot",
      withShot({ image_file_id: "file_x" }),
      "file_not_found",
      "script.shots[0].image_file_id",
      "no such",
    ],
    [
      "a storyboard with an unknown voice",
      boardOf({ voice: "darth" }),
      "invalid_parameter",
      "script.roles[0].voice",
      "alloy",
    ],
    [
      "a storyboard with a missing portrait",
      boardOf({ reference_file_id: "file_x" }),
      "file_not_found",
      "script.roles[0].reference_file_id",
      "no such",
    ],
    [
      "a storyboard with two equal names",
      board({ roles: [...sampleRoles.roles, ...sampleRoles.roles] }),
      "invalid_parameter",
      "script.roles[2].name",
      "twice",
    ],
  ];

  test.each(cases)("%s", async (_what, document, code, param, says) => {
    const problem = await refuse(document);
    expect(problem).toMatchObject({ status: code === "file_not_found" ? 404 : 400, code, param });
    expect(problem.message).toContain(says);
  });

  test("several invalid fields at once", async () => {
    await refuse({ ...withLine({ speaker: null, text: "" }), episode: 0, mood: "dark" });
  });

  test("an object that is none of the documents is rejected with the list of known ones", async () => {
    const caller = await front.createCaller();
    const nameless = await readProblem(await caller.ask({ script: {}, stage: "video" }));
    expect(nameless).toMatchObject({ status: 400, code: "missing_parameter", param: "script.object" });
    const unknown = await refuse({ object: "drama.storybord" });
    expect(unknown).toMatchObject({ status: 400, code: "invalid_parameter", param: "script.object" });
    expect(unknown.message).toContain("drama.script, drama.roles, drama.storyboard");
  });

  test("nesting deeper than any field allows", async () => {
    const caller = await front.createCaller();
    const nested = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
    const document = `{"object":"drama.script","scenes":${nested}}`;
    const body = (script: string) => `{"model":"sandbox-drama","title":"T","stage":"roles","script":${script}}`;
    for (const script of [document, JSON.stringify(document)]) {
      expect(await readProblem(await caller.post(dramaPath, body(script)))).toMatchObject({ status: 400 });
    }
    expect(await caller.countTraces()).toEqual(noTraces);
  });

  test("a document of the requested stage or a later one", async () => {
    const later = [
      [sampleScript, "script"],
      [sampleRoles, "script"],
      [sampleRoles, "roles"],
      [sampleStoryboard, "script"],
      [sampleStoryboard, "roles"],
      [sampleStoryboard, "storyboard"],
    ] as const;
    for (const [document, stage] of later) {
      const problem = await refuse(document, stage);
      expect(problem).toMatchObject({ status: 400, code: "invalid_parameter", param: "script" });
      expect(problem.message).toContain(stage);
    }
  });
});

describe("a document's images are rejected", () => {
  async function uploadAll(caller: DramaCaller, other: DramaCaller) {
    const old = await caller.upload(picture.bytes);
    await sql`update files set expires_at = now() - interval '1 second' where id = ${old}`.execute(front.database);
    const gone = await caller.upload(picture.bytes);
    const headers = { authorization: `Bearer ${caller.key}` };
    await front.fetch(`${front.gateway.baseUrl}/files/${gone}`, { method: "DELETE", headers });
    return [
      [await other.upload(picture.bytes), 404, "file_not_found"],
      [old, 404, "file_not_found"],
      [gone, 404, "file_not_found"],
      [await caller.upload(voice.bytes), 400, "invalid_file"],
      [await caller.upload(film.bytes), 400, "invalid_file"],
    ] as const;
  }

  test("if they are another account's, expired, deleted, a recording or a video", async () => {
    const caller = await front.createCaller();
    const files = await uploadAll(caller, await front.createCaller());
    const ask = async (document: Fields) =>
      readProblem(await caller.ask({ stage: nextStage(document), script: document }));
    for (const [fileId, status, code] of files) {
      const role = await ask(withRole({ reference_file_id: fileId }));
      expect(role).toMatchObject({ status, code, param: "script.roles[0].reference_file_id" });
      const drawn = await ask(withShot({ image_file_id: fileId }));
      expect(drawn).toMatchObject({ status, code, param: "script.shots[0].image_file_id" });
    }
    expect(await caller.countTraces()).toEqual(noTraces);
  });
});

describe("a document is accepted", () => {
  test("with the caller's own images, which stay, and with images in the request, which replace them", async () => {
    const caller = await front.createCaller({ cash: "100" });
    const first = await caller.upload(picture.bytes);
    const second = await caller.upload(picture.bytes);
    const cast = withRole({ reference_file_id: first });
    const readRoles = async (more: Fields) => {
      const { id } = await caller.order({ stage: "storyboard", script: cast, ...more });
      const query = front.database.selectFrom("tasks").select("request").where("id", "=", id);
      const { request } = await query.executeTakeFirstOrThrow();
      const { source } = request as unknown as { source: { document: RolesDocument } };
      return source.document.roles.map((role) => role.reference_file_id);
    };
    expect(await readRoles({})).toEqual([first]);
    expect(await readRoles({ characters: [{ name: "anna", reference_file_id: second }] })).toEqual([second]);
    expect(await readRoles({ characters: [{ name: "Anna" }] })).toEqual([first]);
    const drawn = await caller.order({ stage: "video", script: withShot({ image_file_id: first }) });
    expect(drawn.steps.map(({ name }) => name)).toEqual(["shots", "speech", "film"]);
  });

  test.each([
    ["with spaces before it", `\n\t ${JSON.stringify(sampleScript)}`],
    ["as an object", sampleScript],
    ["with roles that are never on screen", { ...sampleScript, scenes: scenesOf(60) }],
  ])("%s", async (_what, document) => {
    const caller = await front.createCaller();
    const task = await caller.order({ stage: "roles", script: document, title: undefined });
    expect(task.steps.map(({ name }) => name)).toEqual(["roles"]);
  });

  test("with exactly the maximum length of the video", async () => {
    const caller = await front.createCaller();
    await caller.order({ stage: "video", script: board({ shots: shotsOf(20, { lines: [], duration: 3 }) }) });
  });
});

function scenesOf(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => ({ ...scene, id: `scene-${index}`, lines: [] }));
}

function rolesOf(count: number): RolesDocument["roles"] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ name: index === 0 ? "Anna" : `Extra ${index}`, description: "", appearance: "" },
    ...{ voice: "nova", reference_file_id: null },
  }));
}

function shotsOf(count: number, more: Partial<StoryboardDocument["shots"][number]> = {}): unknown[] {
  return Array.from({ length: count }, (_, index) => ({ ...shot, id: `shot-${index}`, ...more }));
}

function linesOf(count: number, text: string): unknown[] {
  return Array.from({ length: count }, () => ({ speaker: null, text }));
}
