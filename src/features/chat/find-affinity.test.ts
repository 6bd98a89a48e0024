import { expect, test } from "vitest";
import type { AccountId } from "../../lib/ids.ts";
import type { ChatMessage, ChatRequest, ChatTool } from "../../providers/chat-request.ts";
import { findAffinity } from "./find-affinity.ts";

const tools: ChatTool[] = ["read", "write"].map((name) => ({ type: "function", function: { name } }));
const opening: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "Mend the gate." }] },
];
const later: ChatMessage[] = [
  { role: "assistant", content: "Which?" },
  { role: "user", content: "The left one." },
];

type Asked = Partial<ChatRequest> & { accountId?: AccountId; session?: string | null };

function find({ accountId = "acct_one" as AccountId, session = null, ...fields }: Asked = {}): number {
  return findAffinity({ accountId, session, request: { model: "talk", messages: opening, tools, ...fields } });
}

test("a conversation is recognised by its start, however long it grows", () => {
  expect(find({ messages: [...opening, ...later] })).toBe(find());
  expect(find({ temperature: 0.5, stream: true })).toBe(find());
  const others: Asked[] = [
    { messages: [...opening.slice(0, 1), { role: "user", content: "Paint the gate." }] },
    { messages: [{ role: "system", content: "Be long." }, ...opening.slice(1)] },
    { tools: tools.slice(0, 1) },
    { tools: tools.toReversed() },
    { accountId: "acct_two" as AccountId },
  ];
  const numbers = [find(), ...others.map(find)];
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("the length, start and end of a long text count, and its middle is not read", () => {
  const say = (content: string) => find({ messages: [{ role: "user", content }] });
  const middle = "x".repeat(1_000_000);
  const text = `begin${middle}end`;
  expect(
    say(`begin${middle.replaceAll("x", "y").slice(5000, -5000).padStart(995_000, "x").padEnd(1_000_000, "x")}end`),
  ).toBe(say(text));
  expect(new Set([text, text.replace("begin", "began"), text.replace("end", "and"), `${text}!`].map(say)).size).toBe(4);
});

test("a name wins over the start: the cache key's, then the user's, then the session's", () => {
  const other: ChatMessage[] = [{ role: "user", content: "Something else." }];
  const all = { prompt_cache_key: "cache", user: "user", metadata: { user_id: "id" }, session: "session" };
  const names: Asked[] = [
    all,
    { ...all, prompt_cache_key: "" },
    { metadata: { user_id: "id" }, session: "session" },
    { metadata: { purpose: "test" }, session: "session" },
  ];
  expect(names.map((fields) => find({ ...fields, messages: other }))).toEqual(names.map(find));
  expect(find(all)).toBe(find({ prompt_cache_key: "cache" }));
  expect(new Set([...names.map(find), find()]).size).toBe(5);
});

test("the same name is another conversation for another account", () => {
  const named = { prompt_cache_key: "default" };
  expect(find({ ...named, accountId: "acct_two" as AccountId })).not.toBe(find(named));
});
