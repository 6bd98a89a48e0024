import { expect, test } from "vitest";
import type { FormFile } from "../files/index.ts";
import { describeTranscriptionForm, readTranscriptionForm } from "./read-transcription-form.ts";

const file = { filename: "a.mp3", spooled: { sha256: Buffer.from("aa", "hex") } } as FormFile;

function read(...pairs: [name: string, value: string][]) {
  const entries = pairs.map(([name, value]) => ({ name, value }));
  return readTranscriptionForm([{ name: "file", value: file }, ...entries]);
}

test("text fields become numbers, booleans, lists and objects, in every notation that clients use", () => {
  const detection = { type: "server_vad", threshold: 0.5, silence_duration_ms: 200 };
  expect(
    read(
      ["model", "m"],
      ["stream", "True"],
      ["temperature", "0.5"],
      ["timestamp_granularities[]", "word"],
      ["timestamp_granularities[]", "segment"],
      ["include", "logprobs"],
      ["chunking_strategy", JSON.stringify(detection)],
    ).fields,
  ).toEqual({
    ...{ model: "m", stream: true, temperature: 0.5, chunking_strategy: detection },
    ...{ timestamp_granularities: ["word", "segment"], include: ["logprobs"] },
  });
  const nested = Object.entries(detection).map(([key, value]): [string, string] => [
    `chunking_strategy[${key}]`,
    String(value),
  ]);
  expect(read(...nested).fields).toEqual({ chunking_strategy: detection });
});

test("a value that cannot be converted stays a string, which the schema rejects", () => {
  expect(read(["stream", "yes"], ["temperature", "warm"], ["chunking_strategy", "{"], ["model[]", "m"]).fields).toEqual(
    {
      ...{ stream: "yes", temperature: "warm", chunking_strategy: "{", "model[]": "m" },
    },
  );
});

test.each([
  [
    ["model", "a"],
    ["model", "b"],
  ],
  [
    ["chunking_strategy", "auto"],
    ["chunking_strategy[type]", "server_vad"],
  ],
  [
    ["chunking_strategy[type]", "server_vad"],
    ["chunking_strategy[type]", "other"],
  ],
] as [string, string][][])("a field that is sent twice is rejected: %s %s", (...pairs) => {
  expect(() => read(...pairs)).toThrow(/only once/);
});

test("forms with the same fields in a different order are the same request", () => {
  const one = describeTranscriptionForm(read(["model", "m"], ["prompt", "p"]));
  expect(describeTranscriptionForm(read(["prompt", "p"], ["model", "m"]))).toEqual(one);
  expect(describeTranscriptionForm(read(["prompt", "q"], ["model", "m"]))).not.toEqual(one);
});
