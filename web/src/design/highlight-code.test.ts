import { expect, test } from "vitest";
import { findLanguage } from "./find-language.ts";
import { highlightCode } from "./highlight-code.ts";

const samples = {
  bash: 'curl -sS http://localhost/v1/models \\\n  -H "Authorization: Bearer $KEY" # mine\n',
  json: '{ "model": "a", "n": 2, "stream": true }',
  python: 'import os\nprint(os.environ["KEY"], f"{1 + 2}")  # three\n',
  typescript: "const answer: string = await ask(`${1} of <two>`); // three\n",
  yaml: "models:\n  - id: chat # one\n    price: 0.5\n",
} as const;

test.for(Object.entries(samples))("%s keeps every character and gets tokens", ([language, code]) => {
  const tokens = highlightCode(code, language as keyof typeof samples);
  expect(tokens.map(({ text }) => text).join("")).toBe(code);
  expect(new Set(tokens.map(({ kind }) => kind)).size).toBeGreaterThan(2);
});

test.for([
  ["First call, curl", "", "bash"],
  ["Verify signatures, Node.js", "", "typescript"],
  ["Body of the request", '{"a": 1}', "json"],
  ["First call", "curl -sS http://localhost", "bash"],
  ["Text", "GET /v1/models", null],
] as const)("code labelled %j with %j is %s", ([label, code, language]) => {
  expect(findLanguage(label, code)).toBe(language);
});
