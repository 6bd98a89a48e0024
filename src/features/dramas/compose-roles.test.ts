import fc from "fast-check";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import {
  anyCharacters,
  anyRolesAnswer,
  anyScriptAnswer,
  propertyRuns,
} from "../../../test/harness/dramas/drama-arbitraries.ts";
import { findUnkeepable, sampleScript } from "../../../test/harness/dramas/drama-samples.ts";
import type { FileId } from "../../lib/ids.ts";
import type { AskWriter } from "./ask-writer.ts";
import { checkDocument } from "./check-document.ts";
import { completeRoles, composeRoles } from "./compose-roles.ts";
import { completeScript } from "./compose-script.ts";
import type { RolesAnswer } from "./drama-answers.ts";
import { rolesDocumentSchema, type ScriptDocument } from "./drama-documents.ts";
import type { DramaRequest } from "./drama-request.ts";

const voices = ["alloy", "echo", "nova"];
const noFiles = { getFile: () => Promise.reject(new Error("no file was asked for")) };
const checks = { accountId: "acct_1", voices, secondsMax: 60, root: "script" } as const;

type Described = Partial<RolesAnswer["roles"][number]> & { name: string };

function complete(
  roles: readonly Described[],
  more: { script?: ScriptDocument; characters?: DramaRequest["characters"]; voices?: string[]; narrator?: string } = {},
) {
  const described = roles.map((role) => ({ description: "", appearance: "", voice: "", ...role }));
  return completeRoles(
    { narrator_voice: more.narrator ?? "", roles: described },
    { script: more.script ?? sampleScript, characters: more.characters ?? [], voices: more.voices ?? voices },
  );
}

function speakers(...names: (string | null)[]): ScriptDocument {
  const [scene] = sampleScript.scenes;
  const lines = names.map((speaker) => ({ speaker, text: "Here." }));
  return { ...sampleScript, scenes: scene === undefined ? [] : [{ ...scene, lines }] };
}

const nameAll = ({ roles }: ReturnType<typeof completeRoles>): string[] => roles.map(({ name }) => name);

test("every named character, every speaker and every described person has one role, in this order", () => {
  const characters = [{ name: "Ben", referenceFileId: "file_1" as FileId }];
  const document = complete([{ name: "Cat" }, { name: "Anna", appearance: " Tall. " }], { characters });
  expect(nameAll(document)).toEqual(["Ben", "Anna", "Cat"]);
  expect(document.roles[0]).toMatchObject({ reference_file_id: "file_1", appearance: "" });
  expect(document.roles[1]).toMatchObject({ reference_file_id: null, appearance: "Tall." });
});

test("a speaker that the model forgot has a role, and no name has two", () => {
  const document = complete([{ name: "Anna" }, { name: "anna" }, { name: " ＡＮＮＡ " }], {
    script: speakers("Anna", "Zoe", null, "Zoe"),
  });
  expect(nameAll(document)).toEqual(["Anna", "Zoe"]);
});

test("spellings of one name are one role, in the caller's spelling or else the script's first", () => {
  const script = speakers("ANNA", "Anna", "bEN", "BEN");
  const document = complete([{ name: "Ben" }], { script, characters: [{ name: "Anna", referenceFileId: null }] });
  expect(nameAll(document)).toEqual(["Anna", "bEN"]);
  const said = document.script.scenes.flatMap(({ lines }) => lines.map(({ speaker }) => speaker));
  expect(said).toEqual(["Anna", "Anna", "bEN", "bEN"]);
});

test("roles without a name are dropped", () => {
  expect(nameAll(complete([{ name: "" }, { name: "   " }]))).toEqual(["Anna"]);
});

test("a valid voice is kept; an invalid one becomes the least used", () => {
  const script = speakers("Anna", "Ben", "Cat", "Dan");
  const given = [{ name: "Anna", voice: "nova" }, { name: "Ben", voice: "nobody" }, { name: "Cat" }, { name: "Dan" }];
  const document = complete(given, { script, narrator: "nova" });
  expect(document.roles.map(({ voice }) => voice)).toEqual(["nova", "alloy", "echo", "alloy"]);
  expect(document.narrator_voice).toBe("nova");
});

test("without a speech model, any voice is accepted", () => {
  const document = complete([{ name: "Anna", voice: "nova" }], { voices: [] });
  expect(document.roles[0]?.voice).toBe("default");
  expect(document.narrator_voice).toBe("default");
});

test("the document contains the script, so that it can be resumed on its own", () => {
  expect(complete([]).script).toEqual(sampleScript);
});

test("there are at most forty roles, and every speaker has one or is spoken by the narrator", async () => {
  const script = speakers(...Array.from({ length: 60 }, (_, index) => `Extra ${index}`));
  const document = complete([], { script });
  expect(document.roles).toHaveLength(40);
  expect(document.roles[39]?.name).toBe("Extra 39");
  await checkDocument(noFiles, document, checks);
});

test("speakers come before people whom only the model described", () => {
  const seen = Array.from({ length: 50 }, (_, index) => ({ name: `Extra ${index}` }));
  expect(nameAll(complete(seen))).toContain("Anna");
});

test("names that differ only beyond the length limit are one role", async () => {
  const long = "n".repeat(100);
  const document = complete([{ name: `${long}a` }, { name: `${long}b` }, { name: `${long.slice(0, 99)} c` }]);
  await checkDocument(noFiles, document, checks);
});

test("for any model response, the roles are a valid input document", async () => {
  await fc.assert(
    fc.asyncProperty(anyScriptAnswer, anyRolesAnswer, anyCharacters, async (written, answer, characters) => {
      const script = completeScript(written, { title: "T", episode: 1, characters });
      const document = completeRoles(answer, { script, characters, voices });
      expect(Value.Errors(rolesDocumentSchema, document)).toEqual([]);
      await checkDocument(noFiles, document, checks);
      expect(nameAll(document)).toEqual(expect.arrayContaining(characters.map(({ name }) => name)));
    }),
    propertyRuns,
  );
});

test("for any model response, the roles contain nothing that cannot be stored", () => {
  fc.assert(
    fc.property(anyRolesAnswer, (answer) => {
      expect(findUnkeepable(completeRoles(answer, { script: sampleScript, characters: [], voices }))).toBeNull();
    }),
    propertyRuns,
  );
});

test("the question contains the names, the voices and the whole script", async () => {
  const asked: Parameters<AskWriter>[0][] = [];
  const ask = (async (question: Parameters<AskWriter>[0]) => {
    asked.push(question);
    return { narrator_voice: "echo", roles: [] };
  }) as unknown as AskWriter;
  const request = { characters: [{ name: "Ben", referenceFileId: null }] } as unknown as DramaRequest;
  const document = await composeRoles(ask, sampleScript, {
    ...{ request, voices, modelId: "caster", signal: AbortSignal.timeout(60_000) },
  });
  expect(asked).toMatchObject([{ modelId: "caster", name: "drama_roles" }]);
  expect(asked[0]?.facts).toEqual({
    ...{ title: "The Lighthouse", language: "en", voices, characters: ["Ben"] },
    scenes: sampleScript.scenes,
  });
  expect(nameAll(document)).toEqual(["Ben", "Anna"]);
});
