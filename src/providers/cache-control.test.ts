import { expect, test } from "vitest";
import { addCacheControl, hasMark, isHourMark } from "./cache-control.ts";
import type { ChatMessage, ChatRequest, ChatTool } from "./chat-request.ts";

const mark = { type: "ephemeral" };
const tool = (name: string): ChatTool => ({ type: "function", function: { name } });
const user = (content: string): Extract<ChatMessage, { role: "user" }> => ({ role: "user", content });
const said: ChatMessage = { role: "assistant", content: "Hm." };
const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: "42" });

function createRequest(messages: ChatMessage[], tools?: ChatTool[]): ChatRequest {
  return { model: "talk", messages, ...(tools === undefined ? {} : { tools }) };
}

/** The marked indexes of messages and tools. */
function listMarks({ messages, tools = [] }: ChatRequest): [messages: number[], tools: number[]] {
  const places = (items: readonly object[]) => items.flatMap((item, at) => ("cache_control" in item ? [at] : []));
  return [places(messages), places(tools)];
}

test("marks the last tool, the end of the instructions and the last two user turns", () => {
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "developer", content: "Be kind." },
    ...[user("One."), said, user("Two."), said, user("Three."), user("And four.")],
  ];
  const request = createRequest(messages, [tool("first"), tool("last")]);
  const marked = addCacheControl(request);
  expect(listMarks(marked)).toEqual([[1, 4, 7], [1]]);
  expect(marked.messages[7]).toEqual({ role: "user", content: "And four.", cache_control: mark });
  expect(listMarks(request)).toEqual([[], []]);
});

test("tool results belong to the user's turn, and consecutive ones are one turn", () => {
  const messages = [user("Add."), said, result("a"), result("b"), said, result("c"), result("d")];
  expect(listMarks(addCacheControl(createRequest(messages)))).toEqual([[3, 6], []]);
});

test("marks nothing empty, and nothing that is missing", () => {
  expect(listMarks(addCacheControl(createRequest([{ role: "system", content: "" }, user("")])))).toEqual([[], []]);
  expect(listMarks(addCacheControl(createRequest([{ role: "system", content: "Be brief." }])))).toEqual([[0], []]);
  const parts: ChatMessage = { role: "user", content: [{ type: "text", text: "" }] };
  expect(listMarks(addCacheControl(createRequest([parts])))).toEqual([[], []]);
});

test.each<[string, ChatRequest]>([
  ["a message", createRequest([{ ...user("Hi."), cache_control: mark }, said, user("Hi.")])],
  ["a part", createRequest([{ role: "user", content: [{ type: "text", text: "Hi.", cache_control: mark }] }])],
  ["a tool", createRequest([user("Hi.")], [{ ...tool("first"), cache_control: mark }, tool("last")])],
])("a mark on %s turns automatic marks off", (_place, request) => {
  expect(addCacheControl(request)).toBe(request);
});

test("finds one-hour marks wherever they are", () => {
  const hour = { ...mark, ttl: "1h" };
  expect(hasMark(createRequest([user("Hi.")]), isHourMark)).toBe(false);
  expect(hasMark(createRequest([{ ...user("Hi."), cache_control: mark }]), isHourMark)).toBe(false);
  expect(hasMark(createRequest([{ ...user("Hi."), cache_control: hour }]), isHourMark)).toBe(true);
  expect(hasMark(createRequest([user("Hi.")], [{ ...tool("last"), cache_control: hour }]), isHourMark)).toBe(true);
});
