import { describe, expect, test } from "vitest";
import {
  completion,
  done,
  event,
  isOver,
  openChatUpstream,
  reported,
  startChat,
  stop,
  stream,
  textOf,
  usage,
  words,
} from "../../harness/chat/chat-upstream.ts";
import {
  endConnection,
  rawChunk,
  rawHead,
  rawJson,
  rawLastChunk,
  rawStreamHead,
  resetConnection,
} from "../../harness/upstreams/raw-upstream.ts";
import { waitUntil } from "../../harness/wait-until.ts";

describe("a streamed answer", () => {
  test("is emitted piece by piece, then its usage, and nothing of the vendor's", async () => {
    await using world = await openChatUpstream();
    const first = event([{ index: 0, delta: { role: "assistant", content: "" } }]);
    const heard = await world.ask(
      stream(first, words("Hel", "lo", ' "w\\o"\n', "🦊"), stop, event([], { usage: reported }), done),
    );
    expect(heard.order).toEqual(["accepted", "pieces", "end"]);
    expect(textOf(heard)).toBe('Hello "w\\o"\n🦊');
    expect(heard.pieces).toHaveLength(6);
    expect(heard.pieces.at(-1)?.choices).toBe('[{"index":0,"delta":{},"finish_reason":"stop"}]');
    expect(heard.usage).toEqual(usage);
    expect(JSON.stringify(heard.pieces)).not.toMatch(/vendor|chatcmpl|fp/i);
  });

  test("that arrives in one read is one callback, however HTTP chunks split it", async () => {
    await using world = await openChatUpstream();
    const events = `${words("a", "b", "c", "d", "e")}${stop}`;
    const chunks = [...events.matchAll(/[\s\S]{1,7}/g)].map(([part]) => rawChunk(part));
    const heard = await world.ask([rawStreamHead + chunks.join("") + rawChunk(done) + rawLastChunk]);
    expect(textOf(heard)).toBe("abcde");
    expect(heard.batches).toBe(1);
  });

  test("is emitted as it arrives, not at its end", async () => {
    await using world = await openChatUpstream();
    world.upstream.answer(rawStreamHead, rawChunk(words("a", "b")));
    const heard = startChat(world.provider, { stream: true });
    await waitUntil("the first pieces", () => heard.pieces.length === 2);
    heard.run.cancel();
  });

  test("has the usage that came with a piece at that piece too", async () => {
    await using world = await openChatUpstream();
    const last = event([{ index: 0, delta: {}, finish_reason: "stop" }], { usage: reported });
    const heard = await world.ask(stream(words("a", "b"), last, event([], { usage: { prompt_tokens: -1 } }), done));
    expect(heard.pieces.map((piece) => piece.usage)).toEqual([undefined, undefined, usage]);
    expect(heard.usage).toEqual(usage);
  });

  test("ends at once with [DONE], before the connection does, which is then reused", async () => {
    await using world = await openChatUpstream({ connectionsMax: 1 });
    let goOn = (): void => {};
    const hold = () =>
      new Promise<void>((resolve) => {
        goOn = resolve;
      });
    const heard = await world.ask([
      rawStreamHead,
      rawChunk(words("a") + stop + done + words("late")),
      hold,
      rawChunk(words("later")),
      rawLastChunk,
    ]);
    expect(heard.order.at(-1)).toBe("end");
    const refused = startChat(world.provider, { stream: true });
    await waitUntil("the connection to be found busy", () => refused.error?.kind === "overloaded");
    goOn();
    world.upstream.answer(...stream(words("b"), stop, done));
    const next = await waitUntil("the connection to be free", async () => {
      const again = startChat(world.provider, { stream: true });
      await waitUntil("the call to be over", () => isOver(again));
      return again.error === null && again;
    });
    expect(textOf(next)).toBe("b");
    expect(world.upstream.connections.made).toBe(1);
    expect(textOf(heard)).toBe("a");
  });

  test.each([
    ["no [DONE]", stream(words("a"), stop)],
    ["no [DONE], no empty line at the end", stream(words("a"), stop.trimEnd())],
    ["no finish reason", stream(words("a"), done)],
    ["keep-alives", stream(": ping\n\n", "data:\n\n", words("a"), "event: ping\n\n", stop, done)],
    ["chunks without choices", stream("data: {}\n\n", event([]), words("a"), stop, done)],
  ])("with %s is complete", async (_what, steps) => {
    await using world = await openChatUpstream();
    const heard = await world.ask(steps);
    expect(heard.order).toEqual(["accepted", "pieces", "end"]);
    expect(textOf(heard)).toBe("a");
    expect(JSON.parse(heard.pieces.at(-1)?.choices ?? "")[0].finish_reason).toBe("stop");
  });

  test.each([
    ["an end before the finish reason", stream(words("a")), "unreachable"],
    ["an end in the middle of an event", stream(words("a"), stop.slice(0, 20)), "unreachable"],
    [
      "an end before another choice's finish reason",
      stream(
        event([
          { index: 0, delta: {} },
          { index: 1, delta: {} },
        ]),
        stop,
      ),
      "unreachable",
    ],
    ["a broken connection", [rawStreamHead, rawChunk(words("a")), resetConnection], "unreachable"],
    ["an end of the connection", [rawStreamHead, rawChunk(words("a")), endConnection], "unreachable"],
    ["an event that is not JSON", stream(words("a"), "data: {\n\n", stop, done), "bad-answer"],
    ["an event that is not an object", stream("data: 12\n\n"), "bad-answer"],
    ["no event", stream(), "bad-answer"],
    ["nothing but [DONE]", stream(done), "bad-answer"],
    ["nothing but comments", stream(": hello\n\n"), "bad-answer"],
    [
      "an error",
      stream(words("a"), 'data: {"error":{"message":"vendor","code":"server_error"}}\n\n', stop, done),
      "overloaded",
    ],
    ["an error as its first event", stream('data: {"error":{"code":"insufficient_quota"}}\n\n'), "out-of-credit"],
    ["a malformed chunk", [rawStreamHead, rawChunk(words("a")), "xyz\r\n"], "bad-answer"],
  ] as const)("with %s fails once", async (_what, steps, kind) => {
    await using world = await openChatUpstream();
    const heard = await world.ask(steps);
    expect(heard.error?.kind).toBe(kind);
    expect(heard.order.filter((each) => ["end", "error", "answer"].includes(each))).toEqual(["error"]);
  });

  test.each([
    [1, "end"],
    [2, "error"],
  ])("of %i choices that breaks off after its first finish reason: %s", async (n, last) => {
    await using world = await openChatUpstream();
    let goOn = (): void => {};
    const hold = () =>
      new Promise<void>((resolve) => {
        goOn = resolve;
      });
    world.upstream.answer(rawStreamHead, rawChunk(words("a") + stop), hold, resetConnection);
    const heard = startChat(world.provider, { stream: true, n });
    await waitUntil("the finish reason", () => heard.pieces.length === 2);
    goOn();
    await waitUntil("the call to be over", () => isOver(heard));
    expect(heard.order).toEqual(["accepted", "pieces", last]);
  });

  test("that never ends an event fails, and is not read any further", async () => {
    await using world = await openChatUpstream();
    const block = rawChunk(`data: ${"a".repeat(256 * 1024)}`);
    const heard = await world.ask([rawStreamHead, ...Array.from({ length: 20 }, () => block)]);
    expect(heard.error?.kind).toBe("bad-answer");
    await waitUntil("the connection to be closed", () => world.upstream.connections.open === 0);
  });

  test("that arrives whole is emitted as a stream", async () => {
    await using world = await openChatUpstream();
    const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
    const heard = await world.ask([rawJson(completion({ content: "Hi", tool_calls: [call] }))]);
    expect(heard.order).toEqual(["accepted", "pieces", "end"]);
    expect(JSON.parse(heard.pieces[0]?.choices ?? "")).toEqual([
      {
        index: 0,
        delta: { role: "assistant", content: "Hi", refusal: null, tool_calls: [{ index: 0, ...call }] },
        finish_reason: "stop",
      },
    ]);
    expect(heard.pieces[0]?.usage).toEqual(usage);
    expect(heard.usage).toEqual(usage);
  });

  test("is read as a stream even without a content type", async () => {
    await using world = await openChatUpstream();
    const head = rawHead("200 OK", { "transfer-encoding": "chunked" });
    expect(textOf(await world.ask([head, rawChunk(words("a") + stop + done), rawLastChunk]))).toBe("a");
  });

  test("may change the format of its chunks at any time", async () => {
    await using world = await openChatUpstream();
    const chunks = Array.from({ length: 60 }, (_, at) => {
      const delta = at % 3 === 0 ? { content: `<${at}>` } : { content: `<${at}>`, role: "assistant" };
      return event([{ index: at % 2, delta, finish_reason: null }], { created: at % 5 });
    });
    const ends = [0, 1].map((index) => event([{ index, delta: {}, finish_reason: "stop" }]));
    const heard = await world.ask(stream(...chunks, ...ends, done), { stream: true, n: 2 });
    const told = heard.pieces.slice(0, 60).map(({ choices }) => JSON.parse(choices)[0]);
    expect(told.map(({ index, delta }) => [index, delta.content])).toEqual(chunks.map((_, at) => [at % 2, `<${at}>`]));
    expect(heard.pieces).toHaveLength(62);
  });
});
