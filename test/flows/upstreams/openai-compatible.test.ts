import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import type { ChatRequest } from "../../../src/providers/chat-request.ts";
import { createOpenAiCompatible } from "../../../src/providers/openai-compatible/create-openai-compatible.ts";
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
} from "../../harness/upstreams/raw-upstream.ts";
import { waitUntil } from "../../harness/wait-until.ts";

describe("a request", () => {
  test("goes to the right path with the key and the extra headers", async () => {
    await using world = await openChatUpstream({ headers: { "X-Org": "us", "User-Agent": "special" } });
    await world.ask([rawJson(completion({ content: "Hi" }))], {});
    const { head, body } = world.upstream.requests[0] ?? { head: "", body: "" };
    expect(head).toMatch(/^POST \/v1\/chat\/completions HTTP/);
    expect(head).toContain("authorization: Bearer sk-1\r\n");
    expect(head).toContain("content-type: application/json\r\n");
    expect(head).toContain("accept: application/json\r\n");
    expect(head).toContain("x-org: us");
    expect(head.match(/user-agent: .*/gi)).toEqual(["user-agent: special"]);
    expect(JSON.parse(body)).toMatchObject({ model: "vendor-9", max_completion_tokens: 100 });
  });

  test("keeps the query of the address, and sends the key in the configured header", async () => {
    await using world = await openChatUpstream({ authHeader: { name: "api-key", prefix: "" } });
    const base = `${world.upstream.origin}/deployments/x/?api-version=1`;
    const provider = createOpenAiCompatible({
      baseUrl: base,
      headers: {},
      authHeader: { name: "api-key", prefix: "" },
      outputCapField: "max_tokens",
      asksStreamUsage: true,
      reportsStreamUsage: true,
      vendorFields: new Set(),
      dialect: null,
      systemRole: "system",
      unsupportedFields: [],
      connectionsMax: 1,
      clock: systemClock,
    });
    world.upstream.answer(...stream(words("Hi"), stop, done));
    const heard = startChat(provider, { stream: true });
    await waitUntil("the end", () => isOver(heard));
    await provider.close();
    const { head, body } = world.upstream.requests[0] ?? { head: "", body: "" };
    expect(head).toMatch(/^POST \/deployments\/x\/chat\/completions\?api-version=1 HTTP/);
    expect(head).toContain("api-key: sk-1\r\n");
    expect(head).toContain("accept: text/event-stream\r\n");
    expect(JSON.parse(body)).toMatchObject({ max_tokens: 100, stream_options: { include_usage: true } });
  });

  test("has no key if none is configured", async () => {
    await using world = await openChatUpstream();
    await world.ask([rawJson(completion({ content: "Hi" }))], { apiKey: null });
    expect(world.upstream.requests[0]?.head).not.toContain("authorization");
  });

  test("that the upstream does not support is rejected before it is sent", async () => {
    await using world = await openChatUpstream({ unsupportedFields: ["logit_bias", "n"] });
    const request: ChatRequest = { model: "ours", messages: [] };
    expect(world.provider.findObstacle({ ...request, n: 1 })).toBeNull();
    expect(world.provider.findObstacle({ ...request, n: 2 })).toEqual({
      param: "n",
      message: "This model does not support `n`.",
    });
  });
});

describe("a whole answer", () => {
  test("is delivered with its usage, and without anything of the vendor's", async () => {
    await using world = await openChatUpstream();
    const heard = await world.ask([rawJson(completion({ content: "Grüße 🦊", vendor: 1 }))], {});
    expect(heard.order).toEqual(["accepted", "answer"]);
    expect(JSON.parse(heard.answer?.choices ?? "")).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Grüße 🦊", refusal: null },
        finish_reason: "stop",
        logprobs: null,
      },
    ]);
    expect(heard.answer).toMatchObject({ text: "Grüße 🦊", usage });
    expect(JSON.stringify(heard.answer)).not.toMatch(/vendor|chatcmpl|fp/i);
  });

  test("in many parts is joined", async () => {
    await using world = await openChatUpstream();
    const bytes = Buffer.from(JSON.stringify(completion({ content: "ü".repeat(50_000) })));
    const parts = Array.from({ length: Math.ceil(bytes.length / 777) }, (_, at) =>
      bytes.subarray(777 * at, 777 * at + 777),
    );
    const head = rawHead("200 OK", { "content-type": "application/json", "content-length": String(bytes.length) });
    const heard = await world.ask([head, ...parts], {});
    expect(heard.answer?.text).toBe("ü".repeat(50_000));
  });

  test.each([
    ["is no JSON", "{"],
    ["is no object", "[]"],
    ["has no choices", "{}"],
    ["has choices that are not a list", '{"choices":{}}'],
    ["has an empty list of choices", '{"choices":[]}'],
    ["has choices without a message", '{"choices":[{"index":0}]}'],
    ["is empty", ""],
  ])("that %s is a bad answer", async (_what, body) => {
    await using world = await openChatUpstream();
    const heard = await world.ask([rawJson(body)], {});
    expect(heard.order).toEqual(["accepted", "error"]);
    expect(heard.error?.kind).toBe("bad-answer");
  });

  test("that is larger than 32 MiB is a bad answer, and is not read to its end", async () => {
    await using world = await openChatUpstream();
    const block = " ".repeat(1024 * 1024);
    const head = rawHead("200 OK", { "content-type": "application/json", "content-length": String(64 * block.length) });
    const heard = await world.ask([head, ...Array.from({ length: 34 }, () => block)], {});
    expect(heard.error?.kind).toBe("bad-answer");
    await waitUntil("the connection to be closed", () => world.upstream.connections.open === 0);
  });

  test("that contains an error is that error", async () => {
    await using world = await openChatUpstream();
    const heard = await world.ask([rawJson({ error: { code: "rate_limit_exceeded", message: "vendor" } })], {});
    expect(heard.error?.kind).toBe("rate-limited");
  });

  test("that arrives as an unrequested stream is joined", async () => {
    await using world = await openChatUpstream();
    const calls = [
      [{ index: 1, delta: { content: "Two", reasoning: "Hm" }, logprobs: { content: [{ token: "b", logprob: 0 }] } }],
      [
        {
          index: 0,
          delta: {
            role: "assistant",
            content: null,
            tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "g", arguments: "" } }],
          },
        },
      ],
      [
        {
          index: 0,
          delta: {
            tool_calls: [
              { index: 1, function: { arguments: '{"x"' } },
              { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } },
            ],
          },
        },
      ],
      [
        {
          index: 0,
          delta: {
            role: "assistant",
            tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "g", arguments: ":1}" } }],
          },
          logprobs: { content: [{ token: "a", logprob: 0 }] },
        },
      ],
      [
        {
          index: 1,
          delta: { content: "!" },
          finish_reason: "stop",
          logprobs: { content: [{ token: "c", logprob: 0 }] },
        },
      ],
      [{ index: 0, delta: {}, finish_reason: "tool_calls" }],
    ];
    const heard = await world.ask(
      stream(...calls.map((choices) => event(choices)), event([], { usage: reported }), done),
      {},
    );
    expect(heard.order).toEqual(["accepted", "answer"]);
    const [first, second] = JSON.parse(heard.answer?.choices ?? "[]");
    expect(first).toMatchObject({
      index: 0,
      finish_reason: "tool_calls",
      message: { role: "assistant", content: null },
    });
    expect(first.message.tool_calls).toEqual([
      { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
      { id: "b", type: "function", function: { name: "g", arguments: '{"x":1}' } },
    ]);
    expect(second).toMatchObject({ index: 1, message: { content: "Two!", reasoning_content: "Hm" } });
    expect(second.logprobs.content).toHaveLength(2);
    expect(heard.answer).toMatchObject({ text: 'HmTwog{"x"f{}g:1}!', usage });
  });
});

describe("a refusal", () => {
  test("is read from its status and body, and its connection is reused", async () => {
    await using world = await openChatUpstream();
    const body = { error: { message: "Vendor says no", code: "bad", param: "messages[0].content" } };
    const heard = await world.ask([rawJson(body, "400 Bad Request")]);
    expect(heard.order).toEqual(["error"]);
    expect(heard.error).toMatchObject({ kind: "rejected", param: "messages[0].content" });
    expect(heard.error?.detail).toEqual({ status: 400, code: "bad", message: "Vendor says no" });
    const next = await world.ask([rawJson({}, "429 Too Many", { "retry-after": "3" })], {});
    expect(next.error).toMatchObject({ kind: "rate-limited", retryAfterMs: 3000 });
    expect(world.upstream.connections.made).toBe(1);
  });

  test("that is too long or breaks off is classified by its status", async () => {
    await using world = await openChatUpstream();
    const long = await world.ask([rawJson(`"${"x".repeat(70_000)}"`, "503 No")]);
    expect(long.error?.kind).toBe("overloaded");
    const head = rawHead("401 No", { "content-length": "100" });
    expect((await world.ask([head, '{"error"', endConnection])).error?.kind).toBe("key-refused");
  });

  test.each(["301 Moved", "302 Found", "307 Temporary Redirect", "304 Not Modified"])(
    "with %s is never followed",
    async (status) => {
      await using world = await openChatUpstream();
      const heard = await world.ask([rawJson("{}", status, { location: `${world.upstream.origin}/elsewhere` })]);
      expect(heard.error?.kind).toBe("bad-answer");
      expect(heard.order).toEqual(["error"]);
      expect(world.upstream.requests).toHaveLength(1);
    },
  );

  test("to send an uncompressed body is a bad answer", async () => {
    await using world = await openChatUpstream();
    const heard = await world.ask([rawJson("xx", "200 OK", { "content-encoding": "gzip" })], {});
    expect(heard.order).toEqual(["error"]);
    expect(heard.error?.kind).toBe("bad-answer");
    const plain = await world.ask(
      [rawJson(completion({ content: "Hi" }), "200 OK", { "content-encoding": "identity" })],
      {},
    );
    expect(plain.answer?.text).toBe("Hi");
  });
});

describe("an upstream without a cap", () => {
  const endless = words(...Array.from({ length: 100 }, () => "four"));

  test("is stopped when the text exceeds it", async () => {
    await using world = await openChatUpstream({ outputCapField: "none" });
    const heard = await world.ask([rawStreamHead, rawChunk(endless)], { stream: true, outputTokensMax: 10 });
    expect(textOf(heard)).toBe("four".repeat(11));
    expect(heard.pieces.at(-1)?.choices).toBe('[{"index":0,"delta":{},"finish_reason":"length"}]');
    expect(heard.order.at(-1)).toBe("end");
    await waitUntil("the connection to be closed", () => world.upstream.connections.open === 0);
  });

  test("is stopped later if several choices were requested", async () => {
    await using world = await openChatUpstream({ outputCapField: "none" });
    const heard = await world.ask([rawStreamHead, rawChunk(endless)], { stream: true, n: 2, outputTokensMax: 10 });
    expect(textOf(heard)).toBe("four".repeat(21));
  });

  test("ends only the choices that have not ended", async () => {
    await using world = await openChatUpstream({ outputCapField: "none" });
    const second = event([{ index: 1, delta: { content: "longer than the cap" }, finish_reason: null }]);
    const heard = await world.ask([rawStreamHead, rawChunk(words("a") + stop + second)], {
      stream: true,
      outputTokensMax: 2,
    });
    expect(heard.pieces.at(-1)?.choices).toBe('[{"index":1,"delta":{},"finish_reason":"length"}]');
    expect(heard.pieces).toHaveLength(4);
  });

  test("is streamed and stopped also for a whole answer", async () => {
    await using world = await openChatUpstream({ outputCapField: "none" });
    const heard = await world.ask([rawStreamHead, rawChunk(endless)], { outputTokensMax: 10 });
    expect(JSON.parse(world.upstream.requests[0]?.body ?? "")).toMatchObject({ stream: true });
    expect(heard.order).toEqual(["accepted", "answer"]);
    expect(JSON.parse(heard.answer?.choices ?? "")).toMatchObject([
      { message: { role: "assistant", content: "four".repeat(11) }, finish_reason: "length" },
    ]);
  });

  test("is not stopped below it, and characters of other scripts count as a token each", async () => {
    await using world = await openChatUpstream({ outputCapField: "none" });
    const short = await world.ask(stream(words("four", "漢🦊"), stop, event([], { usage: reported }), done), {
      outputTokensMax: 3,
    });
    expect(JSON.parse(short.answer?.choices ?? "")[0]).toMatchObject({ finish_reason: "stop" });
    expect(short.answer?.usage).toEqual(usage);
    const long = await world.ask(stream(words("four", "漢字🦊", "more"), stop, done), { outputTokensMax: 3 });
    expect(JSON.parse(long.answer?.choices ?? "")[0]).toMatchObject({
      finish_reason: "length",
      message: { content: "four漢字🦊" },
    });
  });
});

describe("a run", () => {
  test("that is canceled while it emits pieces emits nothing more", async () => {
    await using world = await openChatUpstream();
    world.upstream.answer(...stream(words("a", "b") + stop + done));
    const heard = startChat(world.provider, { stream: true }, ({ run }) => run.cancel());
    await waitUntil(
      "the connection to be closed",
      () => heard.pieces.length > 0 && world.upstream.connections.open === 0,
    );
    expect(heard.order).toEqual(["accepted", "pieces"]);
  });

  test("that is canceled before any data emits nothing", async () => {
    await using world = await openChatUpstream();
    const heard = startChat(world.provider, { stream: true });
    heard.run.cancel();
    await world.ask([rawJson(completion({ content: "Hi" }))], {});
    expect(heard.order).toEqual([]);
  });

  test("that is paused stops the upstream until it resumes", async () => {
    await using world = await openChatUpstream();
    const text = "x".repeat(32 * 1024);
    const blocks = 400;
    let isWritten = false;
    world.upstream.answer(rawStreamHead, ...Array.from({ length: blocks }, () => rawChunk(words(text))), (socket) => {
      socket.write(rawChunk(stop + done) + rawLastChunk, () => {
        isWritten = true;
      });
    });
    const heard = startChat(world.provider, { stream: true }, ({ run, batches }) => {
      if (batches === 1) run.pause();
    });
    await waitUntil("the first pieces", () => heard.batches > 0);
    await world.ask([rawJson(completion({ content: "Hi" }))], {});
    expect(isWritten).toBe(false);
    expect(heard.pieces.length).toBeLessThan(blocks / 2);
    heard.run.resume();
    await waitUntil("the end", () => isOver(heard));
    expect(heard.pieces).toHaveLength(blocks + 1);
  });

  test("that takes too long fails as timed out", async () => {
    await using world = await openChatUpstream();
    expect((await world.ask([], { timeouts: { firstByteMs: 40 } })).error?.kind).toBe("timeout");
    expect(
      (await world.ask([rawStreamHead, rawChunk(words("a"))], { stream: true, timeouts: { idleMs: 40 } })).error?.kind,
    ).toBe("timeout");
  });

  test("beyond the number of connections is refused as overloaded", async () => {
    await using world = await openChatUpstream({ connectionsMax: 1 });
    const waiting = startChat(world.provider, {});
    expect((await world.ask([], {})).error?.kind).toBe("overloaded");
    waiting.run.cancel();
  });

  test("with a key that cannot be sent fails, without the key in the error", async () => {
    await using world = await openChatUpstream();
    const heard = await world.ask([], { apiKey: "secret\nkey" });
    expect(heard.order).toEqual(["error"]);
    expect(
      String(heard.error?.message) + JSON.stringify(heard.error?.detail ?? "") + String(heard.error?.cause),
    ).not.toContain("secret");
  });
});
