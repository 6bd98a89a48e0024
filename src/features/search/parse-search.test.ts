import { expect, test } from "vitest";
import { parseSearch } from "./parse-search.ts";

test.for([
  ["task_01kh2n8v7m3q5x9d4c6b8a0e2f", { kind: "id", prefix: "task", beginning: "task_01kh2n8v7m3q5x9d4c6b8a0e2f" }],
  ["  TXN_01KH2N8V ", { kind: "id", prefix: "txn", beginning: "txn_01kh2n8v" }],
  // Shared by a whole year's ids.
  ["task_01k", { kind: "words", words: "task_01k", text: "task_01k" }],
  ["acct_01kh2n8v", { kind: "words", words: "acct_01kh2n8v", text: "acct_01kh2n8v" }],
  [" Trace-7 ", { kind: "words", words: "trace-7", text: "Trace-7" }],
] as const)("%s", ([text, search]) => expect(parseSearch(text)).toEqual(search));
