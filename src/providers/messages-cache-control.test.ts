import { expect, test } from "vitest";
import { forwardMessagesCacheControl } from "./messages-cache-control.ts";

const mark = { type: "ephemeral" };
const hour = { type: "ephemeral", ttl: "1h" };
const automatic = { isAutomatic: true, allowsHour: false };
const user = (content: unknown) => ({ role: "user", content });
const said = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "add", input: { content: [] } }] };
const result = { type: "tool_result", tool_use_id: "a", content: "42" };

test("a Messages request is marked by the same rule as chat", () => {
  const body = {
    ...{ model: "claude", max_tokens: 9, system: "Be brief.", tools: [{ name: "first" }, { name: "last" }] },
    messages: [user("One."), said, user([result]), said, user([result, { type: "text", text: "And?" }])],
  };
  expect(forwardMessagesCacheControl(body, automatic)).toEqual({
    ...{ model: "claude", max_tokens: 9, system: [{ type: "text", text: "Be brief.", cache_control: mark }] },
    tools: [{ name: "first" }, { name: "last", cache_control: mark }],
    messages: [
      ...[user("One."), said, user([{ ...result, cache_control: mark }]), said],
      user([result, { type: "text", text: "And?", cache_control: mark }]),
    ],
  });
  expect(forwardMessagesCacheControl(body, { isAutomatic: false, allowsHour: false })).toBe(body);
});

test.each([
  ["all of it", { cache_control: mark, messages: [user("Hi.")] }],
  ["a tool", { tools: [{ name: "one", cache_control: mark }, { name: "two" }], messages: [user("Hi.")] }],
  ["the instructions", { system: [{ type: "text", text: "Hi.", cache_control: mark }], messages: [user("Hi.")] }],
  ["a block", { messages: [user([{ type: "text", text: "Hi.", cache_control: mark }]), said, user("Hi.")] }],
  ["a part of a result", { messages: [user([{ ...result, content: [{ text: "4", cache_control: mark }] }])] }],
])("a mark on %s turns automatic marks off", (_place, body) => {
  expect(forwardMessagesCacheControl(body, automatic)).toBe(body);
});

test("empty content is not marked", () => {
  const body = { system: "", messages: [user("")] };
  expect(forwardMessagesCacheControl(body, automatic)).toEqual(body);
});

test("removes ttl 1h if it has no price, and touches only marks", () => {
  const input = { cache_control: hour, tools: [hour] };
  const messages = (ttl: object) => [
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "keep", input }] },
    user([{ ...result, content: [{ type: "text", text: "4", cache_control: ttl }] }]),
  ];
  const create = (ttl: object) => ({
    cache_control: ttl,
    system: [{ text: "Hi.", cache_control: ttl }],
    messages: messages(ttl),
  });
  expect(forwardMessagesCacheControl(create(hour), automatic)).toEqual(create(mark));
  const sold = create(hour);
  expect(forwardMessagesCacheControl(sold, { isAutomatic: true, allowsHour: true })).toBe(sold);
});
