import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import type { ChatRequest } from "../../../../src/providers/chat-request.ts";
import type {
  ChatAnswer,
  ChatCall,
  ChatPiece,
  ChatRun,
  ChatUsage,
  ProviderError,
} from "../../../../src/providers/contract.ts";
import { createTestClock } from "../../../../test/harness/test-clock.ts";
import { waitUntil } from "../../../../test/harness/wait-until.ts";
import { createSandboxChat } from "./create-sandbox-chat.ts";

type Heard = {
  run: ChatRun;
  events: string[];
  pieces: ChatPiece[];
  answer: ChatAnswer | null;
  usage: ChatUsage | null;
  error: ProviderError | null;
};
type Choice = { index: number; message: Record<string, unknown>; logprobs: unknown; finish_reason: string };
type Chunk = {
  index: number;
  delta: { role?: string; content?: string; reasoning_content?: string; tool_calls?: CallFragment[] };
  logprobs: { content: unknown[] } | null;
  finish_reason: string | null;
};
type CallFragment = { index: number; id?: string; type?: string; function?: { name?: string; arguments: string } };

const timeouts = { connectMs: 1000, firstByteMs: 10_000, idleMs: 5000, totalMs: 60_000 };
const clock = createTestClock();
const provider = createSandboxChat({ clock });

afterEach(() => {
  vi.useRealTimers();
});

function start(content: string, rest: Partial<ChatRequest> = {}, call: Partial<ChatCall> = {}): Heard {
  const request = { model: "sandbox", messages: [{ role: "user" as const, content }], ...rest };
  const heard: Heard = { run: idleRun, events: [], pieces: [], answer: null, usage: null, error: null };
  heard.run = provider.startChat(
    { request, upstreamModel: "sandbox", apiKey: null, outputTokensMax: 1_000_000, timeouts, ...call },
    {
      onAccepted: () => heard.events.push("accepted"),
      onPieces(pieces) {
        heard.events.push("pieces");
        heard.pieces.push(...pieces);
      },
      onEnd(usage) {
        heard.events.push("end");
        heard.usage = usage;
      },
      onAnswer(answer) {
        heard.events.push("answer");
        heard.answer = answer;
        heard.usage = answer.usage;
      },
      onError(error) {
        heard.events.push("error");
        heard.error = error;
      },
    },
  );
  return heard;
}

const idleRun: ChatRun = { pause() {}, resume() {}, cancel() {} };

async function hear(...call: Parameters<typeof start>): Promise<Heard> {
  const heard = start(...call);
  expect(heard.events).toEqual([]);
  await waitUntil("the end of the call", () => isOver(heard));
  return heard;
}

function isOver({ events }: Heard): boolean {
  return ["end", "answer", "error"].includes(events.at(-1) ?? "");
}

function listChoices({ answer }: Heard): Choice[] {
  return JSON.parse(answer?.choices ?? "[]");
}

function listChunks({ pieces }: Heard): Chunk[] {
  return pieces.flatMap(({ choices }) => JSON.parse(choices) as Chunk[]);
}

/** Many turns of the event loop, so that everything without a timer has run. */
async function letOthersRun(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setImmediate(next));
}

/** Joins streamed chunks as a client does. */
function assemble(chunks: readonly Chunk[]): Choice[] {
  const choices: Choice[] = [];
  for (const { index, delta, logprobs, finish_reason: reason } of chunks) {
    choices[index] ??= { index, message: { content: "", refusal: null }, logprobs: null, finish_reason: "" };
    const choice = choices[index];
    const { message } = choice;
    if (delta.role !== undefined) message.role = (message.role ?? "") + delta.role;
    if (delta.content !== undefined) message.content += delta.content;
    if (delta.reasoning_content !== undefined) {
      message.reasoning_content = String(message.reasoning_content ?? "") + delta.reasoning_content;
    }
    for (const fragment of delta.tool_calls ?? []) addFragment(message, fragment);
    if (logprobs !== null) {
      const before = (choice.logprobs as { content: unknown[] } | null)?.content ?? [];
      choice.logprobs = { content: [...before, ...logprobs.content], refusal: null };
    }
    if (reason !== null) choice.finish_reason += reason;
  }
  return choices;
}

function addFragment(message: Record<string, unknown>, { index, id, type, function: called }: CallFragment): void {
  message.content = null;
  const calls = (message.tool_calls ?? []) as { function: { arguments: string } }[];
  message.tool_calls = calls;
  const call = calls[index];
  // Only the first fragment of a call has its id and name.
  expect(call === undefined).toBe(id !== undefined && called?.name !== undefined);
  if (call === undefined) calls[index] = { ...{ id, type }, function: { name: "", arguments: "", ...called } };
  else call.function.arguments += called?.arguments;
}

const tools: ChatRequest["tools"] = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
}));
const schema = { type: "object", properties: { answer: { type: "number" }, tags: { type: "array", items: {} } } };

const requests: [name: string, question: string, rest: Partial<ChatRequest>, call?: Partial<ChatCall>][] = [
  ["text", "Hello", {}],
  ["choices", "How do plants grow?", { n: 3 }],
  ["tool calls", "Use get weather and get time in Paris", { tools, n: 2 }],
  ["reasoning", "Count to 9", { reasoning_effort: "high" }],
  ["log probabilities", "Count to 9", { logprobs: true, top_logprobs: 3 }],
  ["a schema", "What is 3 * 4?", { response_format: { type: "json_schema", json_schema: { name: "x", schema } } }],
  ["any object", "Hi", { response_format: { type: "json_object" } }],
  ["a stop", "Count to 9", { stop: [", 5", "9"] }],
  ["a maximum", "Count to 9", { reasoning_effort: "low" }, { outputTokensMax: 18 }],
  ["nothing", "[[empty]]", {}],
  ["a thousand tokens", "[[long:1000]]", {}],
];

test.each(requests)("streamed pieces add up to the complete answer: %s", async (_, question, rest, call = {}) => {
  const whole = await hear(question, rest, call);
  const streamed = await hear(question, { ...rest, stream: true }, call);
  expect(assemble(listChunks(streamed))).toEqual(listChoices(whole));
  expect(streamed.pieces.map(({ text }) => text).join("")).toBe(whole.answer?.text);
  expect(streamed.usage).toEqual(whole.usage);
  expect(whole.events).toEqual(["accepted", "answer"]);
  expect(streamed.events[0]).toBe("accepted");
  expect(streamed.events.at(-1)).toBe("end");
  // Each piece is a token, except the last of each choice.
  expect(streamed.usage?.outputTokens).toBe(streamed.pieces.length - (rest.n ?? 1));
});

test.each(requests)("the same request has the same answer, byte for byte: %s", async (_, question, rest, call = {}) => {
  const first = await hear(question, rest, call);
  clock.advance(1000);
  expect((await hear(question, { ...rest, seed: 5, temperature: 2 }, call)).answer).toEqual(first.answer);
});

test("an answer ends at the first stop sequence, and at the cap", async () => {
  const [stopped] = listChoices(await hear("Count to 9", { stop: "5, 6" }));
  expect(stopped).toMatchObject({ message: { content: "1, 2, 3, 4, " }, finish_reason: "stop" });
  const [first] = listChoices(await hear("Repeat: Hello", { stop: ["llo", "ello"] }));
  expect(first?.message.content).toBe("H");
  const cut = await hear("Count to 9", {}, { outputTokensMax: 3 });
  expect(listChoices(cut)[0]).toMatchObject({ message: { content: "1, 2" }, finish_reason: "length" });
  expect(cut.usage?.outputTokens).toBe(3);
  const [exact] = listChoices(await hear("Count to 2", {}, { outputTokensMax: 3 }));
  expect(exact).toMatchObject({ message: { content: "1, 2" }, finish_reason: "stop" });
});

test("usage has input, output, reasoning and cached tokens", async () => {
  const short = await hear("Hello", { reasoning_effort: "low" });
  expect(short.usage).toMatchObject({ inputTokens: 2, cachedInputTokens: 0, reasoningTokens: 13, outputTokens: 22 });
  const messages: ChatRequest["messages"] = [
    { role: "system", content: "word ".repeat(700) },
    { role: "user", content: "word ".repeat(500) },
  ];
  const long = await hear("", { messages });
  expect(long.usage).toMatchObject({ inputTokens: 1204, cachedInputTokens: 640 });
  expect((await hear("Hello", { reasoning_effort: "none" })).usage?.reasoningTokens).toBe(0);
  expect((await hear("Hello [[no-usage]]")).answer?.usage).toBe(null);
  expect((await hear("Hello [[no-usage]]", { stream: true })).usage).toBe(null);
});

test("images and tools count as input", async () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } } as const;
  const messages: ChatRequest["messages"] = [{ role: "user", content: [image, image] }];
  expect((await hear("", { messages })).usage?.inputTokens).toBe(171);
  const plain = (await hear("Hello")).usage?.inputTokens ?? 0;
  expect((await hear("Hello", { tools: tools ?? [] })).usage?.inputTokens).toBeGreaterThan(plain + 20);
});

test("probabilities are plausible, and the chosen token is the most likely", async () => {
  const [choice] = listChoices(
    await hear("Repeat: of the people, by the people and for the people", { logprobs: true, top_logprobs: 20 }),
  );
  type Entry = { token: string; logprob: number; bytes: number[]; top_logprobs: Entry[] };
  const { content } = (choice?.logprobs ?? { content: [] }) as { content: Entry[] };
  expect(content.length).toBeGreaterThan(10);
  expect(content.map(({ token }) => token).join("")).toBe(choice?.message.content);
  for (const { token, logprob, bytes, top_logprobs: top } of content) {
    expect(Buffer.from(bytes).toString()).toBe(token);
    expect(top).toHaveLength(20);
    expect(top[0]).toMatchObject({ token, logprob });
    expect(new Set(top.map((entry) => entry.token)).size).toBe(20);
    expect(top.reduce((sum, entry) => sum + Math.exp(entry.logprob), 0)).toBeLessThan(1.000_01);
    expect(top.map((entry) => entry.logprob)).toEqual(top.map((entry) => entry.logprob).toSorted((a, b) => b - a));
  }
});

test.each([
  ["[[fail:content_policy]]", "content-refused"],
  ["[[429]]", "rate-limited"],
  ["[[503]]", "overloaded"],
  ["[[timeout]]", "timeout"],
])("%s fails before the call is accepted", async (word, kind) => {
  const heard = await hear(`Hello ${word}`, { stream: true });
  expect(heard.events).toEqual(["error"]);
  expect(heard.error?.kind).toBe(kind);
});

test("only the last user message is a script", async () => {
  const messages: ChatRequest["messages"] = [
    { role: "user", content: "[[429]]" },
    { role: "user", content: "Hello" },
  ];
  expect((await hear("", { messages })).events).toEqual(["accepted", "answer"]);
});

test("a cut answer breaks off after the given number of pieces", async () => {
  const streamed = await hear("Count to 20 [[cut:5]]", { stream: true });
  expect(streamed.pieces.map(({ text }) => text).join("")).toBe("1, 2, 3");
  expect(streamed.events).toEqual(["accepted", "pieces", "error"]);
  expect(streamed.error?.kind).toBe("unreachable");
  expect((await hear("Count to 20 [[cut:0]]", { stream: true })).events).toEqual(["accepted", "error"]);
  expect((await hear("Count to 20 [[cut:5]]")).events).toEqual(["accepted", "error"]);
  expect((await hear("Count to 2 [[cut:50]]")).events).toEqual(["accepted", "answer"]);
});

test("an unsupported request is an obstacle, and fails if it is sent anyway", async () => {
  const impossible: Partial<ChatRequest> = {
    response_format: { type: "json_schema", json_schema: { name: "x", schema: { not: {} } } },
  };
  const request = { model: "sandbox", messages: [{ role: "user" as const, content: "Hi" }] };
  expect(provider.findObstacle({ ...request, ...impossible })).toMatchObject({
    param: "response_format.json_schema.schema",
  });
  expect(provider.findObstacle(request)).toBe(null);
  expect(provider.findObstacle({ ...request, audio: {} })?.param).toBe("audio");
  expect(provider.findObstacle({ ...request, stop: "x".repeat(1001) })?.param).toBe("stop");
  const file = { type: "file", file: { file_id: "file_1" } } as const;
  expect(
    provider.findObstacle({
      model: "sandbox",
      messages: [{ role: "user", content: [{ type: "text", text: "" }, file] }],
    }),
  ).toMatchObject({ param: "messages[0].content[1]" });
  const heard = await hear("Hi", impossible);
  expect(heard.error).toMatchObject({ kind: "rejected", param: "response_format.json_schema.schema" });
});

test("a delay precedes the first data, and without one no timer is set", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const delayed = start("Hello [[delay:1.5]]", { stream: true });
  const prompt = start("Hello [[long:500]]", { stream: true });
  await letOthersRun();
  expect(isOver(prompt)).toBe(true);
  expect(delayed.events).toEqual(["accepted"]);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1499);
  await letOthersRun();
  expect(delayed.events).toEqual(["accepted"]);
  vi.advanceTimersByTime(1);
  await letOthersRun();
  expect(isOver(delayed)).toBe(true);
});

test("a slow answer arrives piece by piece", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const heard = start("Count to 3 [[slow:0.2]]", { stream: true });
  await letOthersRun();
  for (let count = 1; count <= 5; count += 1) {
    expect(heard.pieces).toHaveLength(count);
    vi.advanceTimersByTime(200);
    await letOthersRun();
  }
});

test("resuming a slow answer twice does not make it faster", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const heard = start("Count to 9 [[slow:0.2]]", { stream: true });
  await letOthersRun();
  heard.run.pause();
  vi.advanceTimersByTime(200);
  await letOthersRun();
  expect(heard.pieces).toHaveLength(1);
  for (let times = 0; times < 3; times += 1) {
    heard.run.resume();
    await letOthersRun();
    expect(heard.pieces).toHaveLength(2);
  }
});

test.each([
  ["Hello [[silent]]", timeouts.firstByteMs, ["accepted", "error"]],
  ["Hello [[delay:30]]", timeouts.firstByteMs, ["accepted", "error"]],
  ["Hello [[503]] [[delay:30]]", timeouts.firstByteMs, ["error"]],
  ["Hello [[slow:6]]", timeouts.idleMs, ["accepted", "pieces", "error"]],
])("%j times out", async (question, timeoutMs, events) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const heard = start(question, { stream: true });
  await letOthersRun();
  vi.advanceTimersByTime(timeoutMs - 1);
  await letOthersRun();
  expect(isOver(heard)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(heard.events).toEqual(events);
  expect(heard.error?.kind).toBe("timeout");
});

test("no call exceeds its total time, not even a paused one", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const heard = start("[[long:500]]", { stream: true });
  heard.run.pause();
  await letOthersRun();
  vi.advanceTimersByTime(timeouts.totalMs);
  expect(heard.error?.kind).toBe("timeout");
  const late = start("Count to 3 [[slow:0.1]]", { stream: true });
  await letOthersRun();
  clock.advance(timeouts.totalMs);
  vi.advanceTimersByTime(100);
  await letOthersRun();
  expect(late.error?.kind).toBe("timeout");
  expect(late.pieces).toHaveLength(1);
});

test("a paused call produces nothing until it is resumed", async () => {
  const heard = start("[[long:50000]]", { stream: true });
  while (heard.pieces.length === 0) await new Promise((next) => setImmediate(next));
  heard.run.pause();
  await letOthersRun();
  const count = heard.pieces.length;
  expect(count).toBeLessThan(500);
  await letOthersRun();
  expect(heard.pieces.length).toBe(count);
  heard.run.resume();
  heard.run.pause();
  await letOthersRun();
  expect(heard.pieces.length).toBe(count);
  heard.run.resume();
  await waitUntil("the end", () => isOver(heard));
  await letOthersRun();
  expect(heard.usage?.outputTokens).toBe(50_000);
  expect(heard.events.filter((event) => event === "end")).toHaveLength(1);
});

test("a long answer yields to the event loop many times", async () => {
  const heard = start("[[long:10000]]", { stream: true });
  let turns = 0;
  while (!isOver(heard)) {
    await new Promise((next) => setImmediate(next));
    turns += 1;
  }
  expect(turns).toBeGreaterThan(100);
});

test("many choices of a long answer are no longer than one", async () => {
  const heard = await hear("[[long:100000]]", { n: 4, logprobs: true, top_logprobs: 4 });
  expect(heard.usage?.outputTokens).toBe(20_000);
});

test.each(["[[silent]]", "[[delay:100]]", "Count to 9 [[slow:3]]", "[[long:100000]]", "Hello"])(
  "after a cancel there are no more events and no timer: %s",
  async (question) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const heard = start(question, { stream: true });
    if (question !== "Hello") await new Promise((next) => setImmediate(next));
    heard.run.cancel();
    const events = [...heard.events];
    expect(vi.getTimerCount()).toBe(0);
    heard.run.resume();
    heard.run.cancel();
    await letOthersRun();
    expect(heard.events).toEqual(events);
    expect(isOver(heard)).toBe(false);
  },
);

test("a sink that cancels during an event gets no more events", async () => {
  const heard: string[] = [];
  const request = { model: "sandbox", messages: [{ role: "user" as const, content: "Hello" }], stream: true };
  const call = { request, upstreamModel: "sandbox", apiKey: null, outputTokensMax: 100, timeouts };
  const say = (word: string) => (): void => void heard.push(word);
  const ends = { onEnd: say("end"), onAnswer: say("answer"), onError: say("error") };
  const first = provider.startChat(call, { ...ends, onAccepted: () => first.cancel(), onPieces: say("pieces") });
  const second = provider.startChat(call, { ...ends, onAccepted: say("accepted"), onPieces: () => second.cancel() });
  await letOthersRun();
  expect(heard).toEqual(["accepted"]);
});

test("a finished call is garbage collected", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const references: WeakRef<object>[] = [];
  await new Promise<void>((over) => {
    const request = { model: "sandbox", messages: [{ role: "user" as const, content: "Hello" }] };
    references.push(new WeakRef(request));
    const sink = { onAccepted() {}, onPieces() {}, onEnd() {}, onAnswer: () => over(), onError() {} };
    provider.startChat({ request, upstreamModel: "sandbox", apiKey: null, outputTokensMax: 9, timeouts }, sink);
  });
  await waitUntil("the request is forgotten", () => {
    collect();
    return references[0]?.deref() === undefined;
  });
});

test("closing cancels running calls", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const heard = start("[[silent]]");
  await letOthersRun();
  expect(vi.getTimerCount()).toBe(1);
  await provider.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(heard.events).toEqual(["accepted"]);
});

const dramaFormat = {
  type: "json_schema" as const,
  json_schema: {
    name: "drama_script",
    schema: {
      type: "object",
      properties: { language: { type: "string" }, logline: { type: "string" }, scenes: { type: "array", items: {} } },
      required: ["language", "logline", "scenes"],
      additionalProperties: false,
    },
  },
};
const dramaQuestion = JSON.stringify({
  title: "The Letter",
  episode: 1,
  characters: ["Anna"],
  film_seconds_max: 60,
  script: "INT. KITCHEN - NIGHT\n\nANNA\nIt came this morning.",
});

test("a drama's question is answered by the screenwriter, complete, streamed and in every choice", async () => {
  const whole = await hear(dramaQuestion, { response_format: dramaFormat, n: 2 });
  const streamed = await hear(dramaQuestion, { response_format: dramaFormat, n: 2, stream: true });
  const contents = listChoices(whole).map(({ message }) => message.content);
  expect(assemble(listChunks(streamed)).map(({ message }) => message.content)).toEqual(contents);
  expect(contents[1]).toBe(contents[0]);
  expect(JSON.parse(String(contents[0])).scenes[0]).toMatchObject({
    place: "A kitchen at night.",
    lines: [{ speaker: "Anna", text: "It came this morning." }],
  });
  expect(whole.usage?.outputTokens).toBe(streamed.usage?.outputTokens);
});

test("a drama's answer is cut at the cap, and fails by script words", async () => {
  const cut = await hear(dramaQuestion, { response_format: dramaFormat }, { outputTokensMax: 5 });
  expect(listChoices(cut)[0]?.finish_reason).toBe("length");
  expect(cut.usage?.outputTokens).toBe(5);
  const failed = await hear(dramaQuestion.replace("morning.", "morning. [[429]]"), { response_format: dramaFormat });
  expect(failed.error?.kind).toBe("rate-limited");
});

test("a drama's schema with another question gets a sample of the schema", async () => {
  const heard = await hear("Write me a film.", { response_format: dramaFormat });
  const sample = JSON.parse(String(listChoices(heard)[0]?.message.content));
  expect(Object.keys(sample)).toEqual(["language", "logline", "scenes"]);
  expect(sample.scenes).not.toContainEqual(expect.objectContaining({ place: expect.anything() }));
});
