import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unicodeText } from "../../../test/harness/unicode-text.ts";
import { convertAnswer, createAnswerStream } from "./convert-answer.ts";
import { anthropicDialect, type Dialect, genericDialect, googleDialect } from "./dialects.ts";
import { createThoughtSeal } from "./thought-seal.ts";

const noCount: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
const stop = { type: "finish" as const, finishReason: { unified: "stop" as const, raw: "stop" }, usage: noCount };
const seal = createThoughtSeal({ secret: "s", vendor: "v" });

function createParts(dialect: Dialect = genericDialect) {
  const ids = ["call_1", "call_2", "call_3"];
  return { dialect, seal, createCallId: () => ids.shift() ?? "call_n" };
}

type Choice = { delta: Record<string, unknown>; finish_reason: string | null };

function stream(parts: readonly LanguageModelV4StreamPart[], dialect?: Dialect) {
  const answer = createAnswerStream(createParts(dialect));
  const pieces = parts.flatMap((part) => answer.convertPart(part));
  return { answer, pieces, choices: pieces.map(({ choices }): Choice => JSON.parse(choices)[0]) };
}

describe("a streamed answer", () => {
  test("starts with the role, whatever comes first, and ends with its finish reason", () => {
    const { choices } = stream([
      { type: "stream-start", warnings: [] },
      { type: "text-delta", id: "0", delta: "" },
      stop,
    ]);
    expect(choices).toEqual([
      { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null, logprobs: null },
      { index: 0, delta: {}, finish_reason: "stop", logprobs: null },
    ]);
  });

  test("has the arguments of a call once, whether they arrive in deltas, at once, or not at all", () => {
    const start = (id: string) => ({ type: "tool-input-start" as const, id, toolName: `tool_${id}` });
    const call = (id: string, input: string) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: `tool_${id}`,
      input,
    });
    const { choices } = stream([
      start("a"),
      start("b"),
      { type: "tool-input-delta", id: "a", delta: "[1" },
      { type: "tool-input-delta", id: "a", delta: "]" },
      { type: "tool-input-delta", id: "unknown", delta: "lost" },
      call("a", "[1]"),
      call("b", "{}"),
      call("c", '{"x":1}'),
      { ...start("d"), providerExecuted: true },
      { ...call("d", "{}"), providerExecuted: true },
      stop,
    ]);
    const calls = choices.flatMap(
      ({ delta }) =>
        (delta.tool_calls as { index: number; id?: string; function: { name?: string; arguments: string } }[]) ?? [],
    );
    const joined = [0, 1, 2].map((index) => calls.filter((one) => one.index === index));
    expect(joined.map((own) => own.map((one) => one.function.arguments).join(""))).toEqual(["[1]", "{}", '{"x":1}']);
    expect(joined.map((own) => own.map((one) => [one.id, one.function.name]))).toEqual([
      [
        ["call_1", "tool_a"],
        [undefined, undefined],
        [undefined, undefined],
      ],
      [
        ["call_2", "tool_b"],
        [undefined, undefined],
      ],
      [
        ["call_3", "tool_c"],
        [undefined, undefined],
      ],
    ]);
    expect(calls).toHaveLength(7);
    expect(choices.at(-1)?.finish_reason).toBe("tool_calls");
  });

  test("with an invented end is not finished", () => {
    const { answer, pieces } = stream([{ ...stop, finishReason: { unified: "other", raw: undefined } }]);
    expect([answer.isFinished, pieces]).toEqual([false, []]);
  });

  test("has nothing without a place in a chat answer", () => {
    const { pieces } = stream([
      { type: "response-metadata", id: "canary", modelId: "canary" },
      { type: "source", sourceType: "url", id: "canary", url: "https://canary.example" },
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://canary.example") } },
      { type: "raw", rawValue: "canary" },
    ]);
    expect(pieces).toEqual([]);
  });

  test("adds up to the complete answer, however it is split", () => {
    const writes = fc.array(fc.record({ kind: fc.constantFrom("text", "reasoning", "call"), text: unicodeText() }), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(writes, (written) => {
        const parts = written.map(({ kind, text }, index): LanguageModelV4StreamPart => {
          const id = String(index);
          if (kind === "call")
            return { type: "tool-call", toolCallId: id, toolName: "tool", input: JSON.stringify({ text }) };
          return { type: kind === "text" ? "text-delta" : "reasoning-delta", id, delta: text };
        });
        const content = written.map(({ kind, text }, index) =>
          kind === "call"
            ? ({
                type: "tool-call",
                toolCallId: String(index),
                toolName: "tool",
                input: JSON.stringify({ text }),
              } as const)
            : ({ type: kind === "text" ? "text" : "reasoning", text } as const),
        );
        const { choices } = stream([...parts, stop]);
        const whole = convertAnswer(
          { content, finishReason: stop.finishReason, usage: noCount, warnings: [] },
          createParts(),
        );
        const [{ message, finish_reason }] = JSON.parse(whole?.choices ?? "");
        const join = (field: string) => choices.map(({ delta }) => (delta[field] as string | undefined) ?? "").join("");
        expect([join("content"), join("reasoning_content")]).toEqual([
          message.content ?? "",
          message.reasoning_content ?? "",
        ]);
        const calls = choices.flatMap(
          ({ delta }) => (delta.tool_calls as { function: { arguments: string } }[] | undefined) ?? [],
        );
        const told = calls.map((call) => call.function.arguments).join("");
        expect(told).toBe(
          (message.tool_calls ?? [])
            .map((call: { function: { arguments: string } }) => call.function.arguments)
            .join(""),
        );
        expect(choices.at(-1)?.finish_reason).toBe(finish_reason);
      }),
    );
  });
});

test.for<[Dialect, string, "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other", string]>([
  [anthropicDialect, "end_turn", "stop", "stop"],
  [anthropicDialect, "max_tokens", "length", "length"],
  [anthropicDialect, "refusal", "content-filter", "content_filter"],
  [anthropicDialect, "tool_use", "tool-calls", "stop"],
  [anthropicDialect, "something new", "other", "stop"],
  [googleDialect, "SAFETY", "content-filter", "content_filter"],
  [googleDialect, "IMAGE_PROHIBITED_CONTENT", "other", "content_filter"],
  [googleDialect, "MALFORMED_FUNCTION_CALL", "error", "stop"],
  [googleDialect, "constructor", "other", "stop"],
])("the finish reason %s is mapped to OpenAI's", ([dialect, raw, unified, expected]) => {
  const { choices } = stream([{ ...stop, finishReason: { unified, raw } }], dialect);
  expect(choices.at(-1)?.finish_reason).toBe(expected);
});

describe("a call carries in its id", () => {
  const call = { type: "tool-call" as const, toolCallId: "x", toolName: "tool", input: "{}" };
  const open = (parts: readonly LanguageModelV4StreamPart[], dialect: Dialect) =>
    stream(parts, dialect).choices.flatMap(({ delta }) => {
      const [{ id } = {}] = (delta.tool_calls as { id?: string }[] | undefined) ?? [];
      return id === undefined ? [] : [seal.openCallId(id).thoughts.map(({ marks, textLength }) => [marks, textLength])];
    });

  test("the reasoning blocks before it, with their signatures and the length of their texts", () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "One " },
      { type: "reasoning-delta", id: "0", delta: "two." },
      {
        type: "reasoning-delta",
        id: "0",
        delta: "",
        providerMetadata: { anthropic: { signature: "s1", other: "no" } },
      },
      { type: "reasoning-end", id: "0" },
      { type: "reasoning-start", id: "1", providerMetadata: { anthropic: { redactedData: "r1" } } },
      { type: "reasoning-end", id: "1" },
      call,
      { ...call, toolCallId: "y" },
    ];
    expect(open(parts, anthropicDialect)).toEqual([
      [
        [{ signature: "s1" }, 8],
        [{ redactedData: "r1" }, 0],
      ],
      [],
    ]);
    expect(open(parts, genericDialect)).toEqual([[], []]);
  });

  test("its own signature", () => {
    const marked = { ...call, providerMetadata: { google: { thoughtSignature: "t1", serverToolCallId: "no" } } };
    expect(open([marked], googleDialect)).toEqual([[[{ thoughtSignature: "t1" }, 0]]]);
    expect(open([marked], anthropicDialect)).toEqual([[]]);
  });
});
