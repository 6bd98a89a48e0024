// @module-tag slow
import fc from "fast-check";
import { expect, test } from "vitest";
import { countRuns } from "../../../../test/harness/count-runs.ts";
import { answerDrama } from "./answer-drama.ts";
import type { WrittenScript } from "./write-script.ts";

const names = ["drama_script", "drama_roles", "drama_storyboard"];

function writeFrom(script: string): WrittenScript {
  const question = { title: "T", episode: 1, characters: ["Anna", "Ben"], film_seconds_max: 60, script };
  return answerDrama({ name: "drama_script" }, JSON.stringify(question)) as WrittenScript;
}

test("any question can be parsed, and one that is not a drama's is left to others", () => {
  const part = fc.jsonValue({ maxDepth: 3 });
  const like = fc.record(
    {
      title: fc.oneof(fc.string(), part),
      script: fc.oneof(fc.string(), part),
      characters: fc.oneof(fc.array(fc.string()), part),
      film_seconds_max: fc.oneof(fc.double({ noNaN: true }), part),
      shots_max: fc.oneof(fc.integer(), part),
      voices: fc.oneof(fc.array(fc.string()), part),
      roles: fc.oneof(fc.array(fc.record({ name: fc.oneof(fc.string(), part) })), part),
      scenes: fc.oneof(
        fc.array(
          fc.record(
            {
              id: fc.oneof(fc.string(), part),
              place: fc.oneof(fc.string(), part),
              time: fc.oneof(fc.string(), part),
              action: fc.oneof(fc.string(), part),
              lines: fc.oneof(
                fc.array(
                  fc.record(
                    { number: fc.oneof(fc.integer(), part), speaker: fc.oneof(fc.string(), part), text: part },
                    { requiredKeys: [] },
                  ),
                ),
                part,
              ),
            },
            { requiredKeys: [] },
          ),
        ),
        part,
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.oneof(like, part), (name, question) => {
      const answer = answerDrama({ name }, JSON.stringify(question));
      if (answer !== null) expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
    }),
    { numRuns: countRuns(400) },
  );
  for (const name of names) {
    for (const text of ["", "Write me a film.", "null", "[]", "{}", '"x"', "{"]) {
      expect(answerDrama({ name }, text)).toBeNull();
    }
  }
  expect(answerDrama({ name: "constructor" }, "{}")).toBeNull();
});

test("a question without a valid drama is not answered", () => {
  const lines = Array.from({ length: 1001 }, (_, index) => ({ number: index + 1, speaker: null, text: "Hi." }));
  const ask = (scenes: unknown): unknown => answerDrama({ name: "drama_storyboard" }, JSON.stringify({ scenes }));
  expect(ask([{ id: "1", lines }])).toBeNull();
  expect(ask([{ id: "1", lines: lines.slice(1) }])).not.toBeNull();
  expect(ask([])).toBeNull();
  expect(ask(Array.from({ length: 201 }, () => ({ id: "1", lines: [] })))).toBeNull();
});

test("an answer that the caller's schema rejects is not given", () => {
  const question = JSON.stringify({ title: "T", characters: [], film_seconds_max: 60, script: "Hello." });
  const wrong = { type: "object", properties: { plot: { type: "string" } }, required: ["plot"] };
  expect(answerDrama({ name: "drama_script", schema: wrong }, question)).toBeNull();
  expect(answerDrama({ name: "drama_script", schema: { type: "strange" } }, question)).toBeNull();
  expect(answerDrama({ name: "drama_script", schema: { type: "object" } }, question)).not.toBeNull();
  // A schema that is too complex cannot be checked.
  const deep = { $ref: "#" };
  expect(answerDrama({ name: "drama_script", schema: deep }, question)).toBeNull();
});

test("a hundred kilobytes of any text are parsed quickly", () => {
  const signs =
    '( a A - _ * # . , : ： " “ „ « 「 [[ /* 海 😀 \ud83d é said INT. said: A: Anna: **x** ((a) _a \t \r\n \u200b '.split(
      " ",
    );
  for (const sign of [...signs, " ", "\n", "a\n", "A\nb\n\n", "A. ", '"a" said ', "N - x\n", "— a ", "第一场 夜\n"]) {
    const script = sign.repeat(Math.ceil(100_000 / Math.max(1, sign.length)));
    expect(writeFrom(script).scenes.length).toBeGreaterThan(0);
    expect(writeFrom(`${script}x`).scenes.length).toBeGreaterThan(0);
  }
}, 30_000);

test("the same question has the same answer", () => {
  const script = "Anna: Hello.\nBen: Hi.\nThey wait by the sea.";
  expect(writeFrom(script)).toEqual(writeFrom(script));
});
