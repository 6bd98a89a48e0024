import fc from "fast-check";
import { expect, test } from "vitest";
import { countTokens } from "../../lib/token-meter.ts";
import type { ChatMessage, ChatRequest } from "../../providers/chat-request.ts";
import { countInput, measureInput } from "./measure-input.ts";

function createRequest(messages: ChatMessage[], more: Partial<ChatRequest> = {}): ChatRequest {
  return { model: "open", messages, ...more };
}

function measure(request: ChatRequest) {
  return measureInput(request, Buffer.byteLength(JSON.stringify(request)));
}

const hello: ChatMessage = { role: "user", content: "Hello" };

test("text is bounded by the bytes of the body, plus 16 tokens per message", () => {
  const request = createRequest([hello, { role: "system", content: "Be kind." }]);
  expect(measureInput(request, 120)).toEqual({
    tokensMax: 120 + 2 * 16,
    tokensLikely: 30,
    characters: 13,
    isText: true,
  });
  expect(measureInput(request, 121)).toMatchObject({ tokensMax: 121 + 2 * 16, tokensLikely: 31 });
});

test("an image has its own bound, independent of its bytes", () => {
  const url = `data:image/png;base64,${"A".repeat(100_000)}`;
  const request = createRequest([
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url } },
      ],
    },
  ]);
  const bodyBytes = Buffer.byteLength(JSON.stringify(request));
  const textBytes = bodyBytes - url.length;
  expect(measureInput(request, bodyBytes)).toEqual({
    tokensMax: textBytes + 3000 + 16,
    tokensLikely: Math.ceil(textBytes / 4) + 800,
    characters: 13,
    isText: false,
  });
});

test.each([
  ["sound", { type: "input_audio", input_audio: { data: "A".repeat(20_000), format: "wav" } }, 334, 100],
  ["a document", { type: "file", file: { file_data: "A".repeat(20_000), filename: "a.pdf" } }, 20_000, 1250],
] as const)("%s is bounded by its length", (_name, part, tokensMax, tokensLikely) => {
  const request = createRequest([{ role: "user", content: [part] }]);
  const bodyBytes = Buffer.byteLength(JSON.stringify(request));
  const textBytes = bodyBytes - 20_000;
  expect(measureInput(request, bodyBytes)).toMatchObject({
    tokensMax: textBytes + tokensMax + 16,
    tokensLikely: Math.ceil(textBytes / 4) + tokensLikely,
    isText: false,
  });
});

test("a length greater than the body's makes nothing negative", () => {
  const request = createRequest([
    { role: "user", content: [{ type: "image_url", image_url: { url: "x".repeat(99) } }] },
  ]);
  expect(measureInput(request, 10)).toEqual({ tokensMax: 3016, tokensLikely: 800, characters: 0, isText: false });
});

const anyMessage: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.record({
    role: fc.constantFrom("system", "user"),
    content: fc.string({ unit: "grapheme" }),
  }) as fc.Arbitrary<ChatMessage>,
  fc.record({
    role: fc.constant("user" as const),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant("text" as const), text: fc.string({ unit: "grapheme" }) }),
        fc.record({
          type: fc.constant("image_url" as const),
          image_url: fc.record({ url: fc.webUrl() }),
        }),
      ),
    ),
  }),
  fc.record({
    role: fc.constant("tool" as const),
    tool_call_id: fc.string(),
    content: fc.string({ unit: "grapheme" }),
  }),
);

test("our own count of an input never exceeds its bound, so the hold covers it", () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { minLength: 1, maxLength: 8 }), (messages) => {
      const request = createRequest(messages);
      const size = measure(request);
      expect(countInput(request, { ...size, tokensMax: Number.POSITIVE_INFINITY })).toBeLessThanOrEqual(size.tokensMax);
    }),
  );
});

test("a longer conversation never measures smaller", () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { minLength: 1, maxLength: 5 }), anyMessage, (messages, another) => {
      const [before, after] = [measure(createRequest(messages)), measure(createRequest([...messages, another]))];
      expect(after.tokensMax).toBeGreaterThan(before.tokensMax);
      expect(after.tokensLikely).toBeGreaterThanOrEqual(before.tokensLikely);
      expect(after.characters).toBeGreaterThanOrEqual(before.characters);
    }),
  );
});

test("the count includes texts, parts, images, tools and tool calls", () => {
  const size = { tokensMax: 1_000_000, tokensLikely: 0, characters: 0 };
  const count = (messages: ChatMessage[], more: Partial<ChatRequest> = {}) =>
    countInput(createRequest(messages, more), size);
  expect(count([hello])).toBe(2);
  expect(count([hello, hello])).toBe(4);
  expect(count([{ role: "user", content: [{ type: "text", text: "你好世界" }] }])).toBe(4);
  expect(count([{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/b" } }] }])).toBe(
    800,
  );
  const tools = [{ type: "function" as const, function: { name: "look", parameters: {} } }];
  expect(count([hello], { tools })).toBe(2 + countTokens(JSON.stringify(tools)));
  const format = { type: "json_schema" as const, json_schema: { name: "form", schema: { type: "object" } } };
  expect(count([hello], { response_format: format })).toBe(2 + countTokens(JSON.stringify(format)));
  const calls = [{ id: "1", type: "function" as const, function: { name: "look", arguments: "{}" } }];
  expect(count([{ role: "assistant", content: null, tool_calls: calls }])).toBe(countTokens(JSON.stringify(calls)));
});

test("an assistant message without tool calls counts only its text", () => {
  const size = { tokensMax: 1_000_000, tokensLikely: 0, characters: 0 };
  expect(countInput(createRequest([{ role: "assistant", content: "abcd" }]), size)).toBe(1);
});

test("a count above the bound is capped", () => {
  expect(
    countInput(createRequest([{ role: "user", content: "你好世界" }]), {
      ...measure(createRequest([hello])),
      tokensMax: 3,
    }),
  ).toBe(3);
});
