import fc from "fast-check";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { anyCharacters, anyScriptAnswer, propertyRuns } from "../../../test/harness/dramas/drama-arbitraries.ts";
import { findUnkeepable } from "../../../test/harness/dramas/drama-samples.ts";
import type { AskWriter } from "./ask-writer.ts";
import { checkDocument } from "./check-document.ts";
import { completeScript, composeScript, cut } from "./compose-script.ts";
import type { ScriptAnswer } from "./drama-answers.ts";
import { scriptDocumentSchema } from "./drama-documents.ts";
import type { DramaRequest } from "./drama-request.ts";

const head = { title: "The Lighthouse", episode: 3, characters: [] };
const scene = { heading: "", place: "", time: "", action: "", lines: [] };
const noFiles = { getFile: () => Promise.reject(new Error("no file was asked for")) };
const checks = { accountId: "acct_1", voices: [], secondsMax: 60, root: "script" } as const;

function complete(answer: Partial<ScriptAnswer>, more: Partial<Pick<DramaRequest, "characters">> = {}) {
  return completeScript({ language: "en", logline: "", scenes: [], ...answer }, { ...head, ...more });
}

function speak(...lines: [string | null, string][]) {
  return complete({ scenes: [{ ...scene, lines: lines.map(([speaker, text]) => ({ speaker, text })) }] });
}

function listLines({ scenes }: ReturnType<typeof completeScript>) {
  return scenes.flatMap(({ lines }) => lines.map(({ speaker, text }) => [speaker, text]));
}

test("a script has the caller's title and episode, and numbered scenes", () => {
  const script = complete({ logline: " A lamp. ", scenes: [{ ...scene, heading: " INT. ROOM " }, scene] });
  expect(script).toMatchObject({ object: "drama.script", title: "The Lighthouse", episode: 3, language: "en" });
  expect(script.logline).toBe("A lamp.");
  expect(script.scenes.map(({ id, heading }) => [id, heading])).toEqual([
    ["scene-1", "INT. ROOM"],
    ["scene-2", ""],
  ]);
});

test("a response without scenes becomes one scene that shows the title", () => {
  const [only, ...more] = complete({ scenes: [] }).scenes;
  expect(more).toEqual([]);
  expect(only).toMatchObject({ id: "scene-1", action: "The Lighthouse", lines: [] });
});

test("lines are kept in order, and empty lines are dropped", () => {
  expect(listLines(speak(["Anna", " One. "], ["Ben", "   "], [null, "Two."], ["Anna", "One."]))).toEqual([
    ["Anna", "One."],
    [null, "Two."],
    ["Anna", "One."],
  ]);
});

test.each(["narrator", "NARRATOR", " Narrator ", "Voice-Over", "旁白", "Erzähler", ""])(
  "%j as a speaker is the narrator",
  (speaker) => {
    expect(listLines(speak([speaker, "Once."]))).toEqual([[null, "Once."]]);
  },
);

test("a speaker named by the caller has the caller's spelling, despite other case, width or spaces", () => {
  const lines = ["ANNA  LEE", "ａｎｎａ lee", " Anna\tLee "].map((speaker) => ({ speaker, text: "Here." }));
  const characters = [{ name: "Anna Lee", referenceFileId: null }];
  const script = complete({ scenes: [{ ...scene, lines }] }, { characters });
  expect(listLines(script).map(([speaker]) => speaker)).toEqual(["Anna Lee", "Anna Lee", "Anna Lee"]);
});

test("a caller may name a character Narrator, who then speaks as a character", () => {
  const characters = [{ name: "Narrator", referenceFileId: null }];
  const lines = [{ speaker: "NARRATOR", text: "I am real." }];
  expect(listLines(complete({ scenes: [{ ...scene, lines }] }, { characters }))).toEqual([["Narrator", "I am real."]]);
});

test("scenes and lines beyond the limits are dropped", () => {
  const lines = Array.from({ length: 50 }, (_, index) => ({ speaker: null, text: `Line ${index + 1}` }));
  const script = complete({ scenes: Array.from({ length: 70 }, () => ({ ...scene, lines })) });
  expect(script.scenes).toHaveLength(60);
  expect(listLines(script)).toHaveLength(300);
  expect(script.scenes[5]?.lines).toHaveLength(50);
  expect(script.scenes[6]?.lines).toEqual([]);
});

test.each([
  ["en", "en"],
  ["zh-Hans", "zh-Hans"],
  ["yue", "yue"],
  ["english", "en"],
  ["", "en"],
  ["<b>", "en"],
])("the language %j is kept as %j", (given, kept) => {
  expect(complete({ language: given }).language).toBe(kept);
});

test("for any model response, the script is a valid input document", async () => {
  await fc.assert(
    fc.asyncProperty(anyScriptAnswer, anyCharacters, async (answer, characters) => {
      const script = complete(answer, { characters });
      expect(Value.Errors(scriptDocumentSchema, script)).toEqual([]);
      await checkDocument(noFiles, script, checks);
    }),
    propertyRuns,
  );
});

test("for any model response, the script contains nothing that cannot be stored", () => {
  fc.assert(
    fc.property(anyScriptAnswer, anyCharacters, (answer, characters) => {
      expect(findUnkeepable(complete(answer, { characters }))).toBeNull();
    }),
    propertyRuns,
  );
});

test.each([
  ["short", 10, "short"],
  ["exactly10!", 10, "exactly10!"],
  ["one too long", 11, "one too lon"],
  ["ab😀", 3, "ab"],
  ["ab😀", 4, "ab😀"],
  ["a😀b", 3, "a😀"],
  ["anything", 0, ""],
])("%j cut to %i is %j, and no character is halved", (text, charactersMax, kept) => {
  expect(cut(text, charactersMax)).toBe(kept);
});

test("the question contains all facts and the response schema", async () => {
  const asked: Parameters<AskWriter>[0][] = [];
  const ask = (async (question: Parameters<AskWriter>[0]) => {
    asked.push(question);
    return { language: "en", logline: "", scenes: [] };
  }) as unknown as AskWriter;
  const request = {
    ...{ type: "drama", stage: "script", aspectRatio: "16:9", isPartialAllowed: false, secondsMax: 60 },
    ...{ title: "T", episode: 2, characters: [{ name: "Anna", referenceFileId: null }] },
    source: { kind: "text", text: "Once." },
  } as DramaRequest & { source: { kind: "text" } };
  await composeScript(ask, request, { modelId: "writer", signal: AbortSignal.timeout(60_000) });
  expect(asked).toMatchObject([{ modelId: "writer", name: "drama_script" }]);
  expect(asked[0]?.facts).toEqual({
    ...{ title: "T", episode: 2, characters: ["Anna"], film_seconds_max: 60 },
    script: "Once.",
  });
});
