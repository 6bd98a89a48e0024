import { expect, test } from "vitest";
import type { ChatMessage } from "../../../../src/providers/chat-request.ts";
import { writeAnswer } from "./sandbox-answer.ts";
import { readPrompt } from "./sandbox-prompt.ts";

function answer(...messages: (ChatMessage | string)[]): string {
  const turns = messages.map((message): ChatMessage => {
    return typeof message === "string" ? { role: "user", content: message } : message;
  });
  return writeAnswer(readPrompt({ model: "sandbox", messages: turns }));
}

test.each([
  ["Hi", "Hello! How can I help you today?"],
  ["Hallo!", "Hallo! Wie kann ich helfen?"],
  ["Bonjour", "Bonjour ! Comment puis-je vous aider ?"],
  ["Hola", "¡Hola! ¿En qué puedo ayudarte?"],
  ["你好", "你好！有什么可以帮你？"],
  ["こんにちは", "こんにちは！ご用件は何でしょうか。"],
  ["What is 12 * 7?", "12 * 7 = 84"],
  ["2 + 3 * 4 - 1", "2 + 3 * 4 - 1 = 13"],
  ["Calculate 10 divided by 4", "10 divided by 4 = 2.5"],
  ["What is 0.1 + 0.2?", "0.1 + 0.2 = 0.3"],
  ["Was ist 6 mal 7?", "6 mal 7 = 42"],
  ["What is 1 / 0?", "Nobody can divide by zero."],
  ["Say hello three times", "hello hello hello"],
  ['Say "ho" 2 times.', "ho ho"],
  ["Repeat: one, two", "one, two"],
  ["Repeat after me: I can", "I can"],
  ["Reply with exactly: OK", "OK"],
  ["Count to 5", "1, 2, 3, 4, 5"],
  ["Count from three to 6.", "3, 4, 5, 6"],
  ["List two fruits", "1. apple\n2. banana"],
  ["Name 2 constructor", "1. constructor, number 1\n2. constructor, number 2"],
  ["Summarize: The cat sat on the mat. It slept.", "In one sentence: The cat sat on the mat"],
])("%j is answered by %j", (question, expected) => {
  expect(answer(question)).toBe(expected);
});

test("notes become a table: one row per sentence, in the columns asked for", () => {
  const question =
    "Turn these notes into a Markdown table with the columns Who, What and By when:\n\nAnna sends the contract on Friday. Ben books the room, today if possible. Carla and Ben review the slides before Thursday noon.";
  expect(answer(question).split("\n")).toEqual([
    "| Who | What | By when |",
    "| --- | --- | --- |",
    "| Anna | sends the contract | Friday |",
    "| Ben | books the room | today if possible |",
    "| Carla and Ben | review the slides | before Thursday noon |",
  ]);
});

test.each([
  ["Write a TypeScript function that groups dates into runs of consecutive days, and three short tests for it.", "ts"],
  ["Write a Python function that sorts names", "python"],
  ["Write a function to add two numbers", "ts"],
  ["Implement a Rust function that reverses a list, and tests", "rust"],
])("%s is answered in code", (question, fence) => {
  expect(answer(question)).toContain(`\`\`\`${fence}\n`);
  expect(answer(question).split("```").length >= 5).toBe(/tests/.test(question));
});

test("a poem is about its topic", () => {
  expect(answer("Write a haiku about the tide.").split("\n")).toHaveLength(3);
  expect(answer("Write me a short poem about the tide")).toContain("the tide");
});

test.each([
  ["What does a sluice do?", "flow of water"],
  ["Why is the sky blue? Answer in one sentence.", "scatters"],
  [
    "Explain to a new engineer when a queue makes a system more reliable and when it only hides a problem.",
    "oldest item",
  ],
])("%s is explained", (question, words) => {
  expect(answer(question)).toContain(words);
  expect(answer(question).split(/\s+/).length).toBeLessThanOrEqual(150);
});

test.each(["Meet me on 2026-11-15", "I ate 1/2 of it", "What is (2 + 3) * 4?"])(
  "%j is not a calculation",
  (question) => {
    expect(answer(question)).not.toContain("=");
  },
);

test.each([
  ["How do plants grow?", "You asked about “How do plants grow”."],
  ["Wie wächst ein Baum und warum?", "Es geht um „Wie wächst ein Baum und warum“."],
  ["Pourquoi le ciel est bleu ?", "Il s’agit de « Pourquoi le ciel est bleu »."],
  ["¿Por qué es azul el cielo?", "Se trata de «Por qué es azul el cielo»."],
  ["天空为什么是蓝色的？", "你问的是“天空为什么是蓝色的”。"],
  ["空はなぜ青いのですか？", "「空はなぜ青いのですか」についてですね。"],
])("%j is echoed in its own language", (question, expected) => {
  expect(answer(question)).toContain(expected);
});

test("it describes itself in the language of the question", () => {
  expect(answer("Who are you?")).toContain("I am the sandbox model");
  expect(answer("Wer bist du?")).toContain("Ich bin das Sandbox-Modell");
});

test("the role from the instructions appears in conversation, but not in exact answers", () => {
  const pirate: ChatMessage = { role: "system", content: "You are a pirate. Be brief." };
  expect(answer(pirate, "Who are you?")).toMatch(/^Speaking as a pirate: I am/);
  expect(answer(pirate, "What is 1 + 1?")).toBe("1 + 1 = 2");
});

test("earlier turns count", () => {
  const reply: ChatMessage = { role: "assistant", content: "I see." };
  const turns = ["My name is Ada. [[429]]", reply, "It rains.", reply] as const;
  expect(answer(...turns, "What did I say first?")).toBe("You said: “My name is Ada”");
  expect(answer(...turns, "What did I say before?")).toBe("You said: “It rains”");
  expect(answer(...turns, "What is my name?")).toBe("Your name is Ada.");
  expect(answer("What is my name?")).toBe("You have not told me your name.");
  expect(answer("What did I say first?")).toBe("This is the first thing that you said to me.");
});

test("images are counted", () => {
  const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } } as const;
  const text = { type: "text", text: "What is this?" } as const;
  expect(answer({ role: "user", content: [text, image] })).toContain("I was shown one image.");
  expect(answer({ role: "user", content: [image, text, image] })).toContain("I was shown 2 images.");
});

test("a long message is answered with its length, not repeated", () => {
  const said = answer("lorem ipsum ".repeat(5000));
  expect(said).toContain("about 10000 tokens");
  expect(said.length).toBeLessThan(400);
});

test("tool results are listed by the tools' names", () => {
  const called: ChatMessage = {
    role: "assistant",
    tool_calls: [
      { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } },
      { id: "call_2", type: "custom", custom: { name: "shout", input: "" } },
    ],
  };
  const said = answer(
    "Weather?",
    called,
    { role: "tool", tool_call_id: "call_1", content: '{"temperature":18,"sky":"clear"}' },
    { role: "tool", tool_call_id: "call_2", content: "HEY" },
    { role: "tool", tool_call_id: "call_9", content: "[1]" },
  );
  expect(said).toBe(
    "The answer of get_weather: temperature: 18, sky: clear\nThe answer of shout: HEY\nThe answer of tool: [1]",
  );
});

test("a conversation without a user message is greeted", () => {
  expect(answer({ role: "system", content: "" })).toBe("Hello! How can I help you today?");
});
