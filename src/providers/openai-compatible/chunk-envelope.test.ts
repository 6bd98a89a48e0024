import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unicodeText } from "../../../test/harness/unicode-text.ts";
import { type ChunkEnvelope, cutChoices, learnEnvelope } from "./chunk-envelope.ts";

const choices = '[{"index":0,"delta":{"content":"a ] \\" [ b"},"finish_reason":null}]';
/** `CHOICES` and `NOISE` stand for JSON values. */
const frames = {
  "choices at the end": '{"id":"1","model":"vendor-9","usage":null,"choices":CHOICES}',
  "choices at the start": '{"choices":CHOICES,"created":1,"id":"1"}',
  spaces: '{ "id": "1", "choices": CHOICES, "usage": null }',
  noise: '{"id":"1","choices":CHOICES,"usage":null,"obfuscation":NOISE}',
  "noise in the middle": '{"choices":CHOICES,"p":NOISE,"id":"1"}',
  "other lists of that name": '{"id":"1","choices":CHOICES,"x":{"choices":[]}}',
};

function write(frame: string, value: string, noise = "n0ise"): string {
  return frame.replace("CHOICES", () => value).replace("NOISE", () => JSON.stringify(noise));
}

function learn(frame: string): ChunkEnvelope {
  const envelope = learnEnvelope(write(frame, choices));
  if (envelope === null) throw new Error("Nothing was learned.");
  return envelope;
}

describe.each(Object.entries(frames))("a chunk with %s", (_what, frame) => {
  test("is recognised, whatever its choices and padding", () => {
    const envelope = learn(frame);
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), unicodeText(), (value, noise) => {
        expect(cutChoices(envelope, write(frame, value, noise))).toBe(value);
      }),
    );
  });

  test("with any change has other choices, another envelope, or none", () => {
    const envelope = learn(frame);
    const data = write(frame, choices);
    fc.assert(
      fc.property(fc.nat(data.length - 1), unicodeText({ maxLength: 3 }), (at, change) => {
        const cut = cutChoices(envelope, data.slice(0, at) + change + data.slice(at + 1));
        if (cut === null || !isJson(cut)) return;
        const changed = JSON.parse(data.slice(0, at) + change + data.slice(at + 1));
        expect(JSON.parse(cut)).toEqual(changed.choices);
        expect(changed.error ?? changed.usage ?? null).toBeNull();
      }),
      { numRuns: 1000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ["usage", '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'],
  ["an error", '{"choices":[],"error":{"message":"no"}}'],
  ["choices that are overruled", '{"choices":[],"choices":[]}'],
  ["choices elsewhere only", '{"x":{"choices":[]}}'],
  ["no list of choices", '{"choices":null}'],
  ["no JSON", '{"choices":[]'],
  ["choices without end", '{"choices":[{"index":0'],
])("nothing is learned from a chunk with %s", (_what, data) => {
  expect(learnEnvelope(data)).toBeNull();
});
