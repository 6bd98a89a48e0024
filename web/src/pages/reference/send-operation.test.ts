import { expect, test } from "vitest";
import type { Operation } from "../../api/reference-document.ts";
import { findMistake, listFileFields, writeAddress } from "./send-operation.ts";

const operation: Operation = {
  id: "getThing",
  slug: "get-thing",
  method: "POST",
  path: "/models/{model_id}/things",
  summary: "Get a thing",
  stability: "preview",
  isPaid: false,
  description: [],
  parameters: [
    { name: "model_id", type: "string", place: "path", isRequired: true },
    { name: "q", type: "string", place: "query" },
    { name: "limit", type: "integer", place: "query" },
    { name: "prefer", type: "string", place: "header", isRequired: true },
  ],
  body: {
    isRequired: true,
    contents: [
      {
        mediaType: "multipart/form-data",
        fields: [
          { name: "image", type: "file or list of files" },
          { name: "prompt", type: "string" },
        ],
      },
    ],
  },
  answers: [],
  errors: [],
  errorExamples: [],
  samples: [{ id: "curl", label: "curl", code: "" }],
};

test("filled parameters become the console URL; empty ones are left out", () => {
  const values = { model_id: "maker/a b?", q: "a&b", limit: "" };
  expect(writeAddress(operation, values)).toBe("/console/api/models/maker/a%20b%3F/things?q=a%26b");
});

test("nothing is sent before the required parameters are filled and the body is valid", () => {
  const input = { parameters: {}, body: "{", files: {} };
  expect(findMistake(operation, input)).toBe("Fill in model_id.");
  expect(findMistake(operation, { ...input, parameters: { model_id: "m" } })).toMatch(/^The body is not valid JSON: /);
  expect(findMistake(operation, { ...input, parameters: { model_id: "m" }, body: "{}" })).toBeNull();
  expect(findMistake(operation, { ...input, parameters: { model_id: "m" }, body: " " })).toBeNull();
});

test("form files are chosen, not typed", () => {
  expect(listFileFields(operation).map(({ name }) => name)).toEqual(["image"]);
});
