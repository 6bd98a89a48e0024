import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { sendRaw } from "../raw-connection.ts";
import { waitUntil } from "../wait-until.ts";
import { askVendor, buildBody, callVendor } from "./ask-vendor.ts";
import {
  type Behaviour,
  canary,
  type FakeUpstreams,
  findCanary,
  startFakeUpstreams,
  type Vendor,
} from "./fake-upstreams.ts";
import { faultWords } from "./fault-words.ts";

/** Every chunk of an OpenAI stream, as a plain HTTP client receives it, and how the answer ended. */
async function readChunks(fake: FakeUpstreams, isStreamed = true): Promise<{ chunks: string[]; end: string }> {
  const { promise, resolve } = Promise.withResolvers<{ chunks: string[]; end: string }>();
  const chunks: string[] = [];
  const call = request(`${fake.openAiUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer key" },
  });
  call.on("error", (error) => resolve({ chunks, end: error.message }));
  call.on("response", (answer) => {
    answer.on("data", (chunk: Buffer) => chunks.push(chunk.toString("latin1")));
    answer.on("error", (error) => resolve({ chunks, end: error.message }));
    answer.on("end", () => resolve({ chunks, end: "whole" }));
  });
  call.end(JSON.stringify(buildBody("openai", { isStreamed })));
  return promise;
}

/** The text of an OpenAI stream, parsed strictly by the server-sent events standard. */
function readText(body: string): string {
  const lines = body.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
  const events = lines.map((line) => line.slice(5).trim()).filter((data) => data.startsWith("{"));
  return events.map((data) => JSON.parse(data).choices[0]?.delta.content ?? "").join("");
}

async function streamWith(behaviour: Behaviour, vendor: Vendor = "openai"): Promise<string> {
  await using fake = await startFakeUpstreams();
  fake.script(behaviour);
  return (await askVendor(fake, vendor, { isStreamed: true })).text;
}

describe("scripts", () => {
  test("the next calls get the scripted behaviours, in order, then correct answers", async () => {
    await using fake = await startFakeUpstreams();
    fake.script({ status: 500 }, { status: 500 }, {});
    fake.always({ status: 503 });
    const statuses = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await askVendor(fake, "openai")).status);
    expect(statuses).toEqual([500, 500, 200, 503]);
    expect(fake.scriptsLeft()).toBe(0);
    fake.always({});
    expect((await askVendor(fake, "openai")).status).toBe(200);
  });

  test("two routes on one fake behave differently", async () => {
    await using fake = await startFakeUpstreams();
    fake.alwaysFor({ model: "model-a" }, { status: 503 });
    fake.scriptFor({ apiKey: "key-2" }, { status: 401 });
    fake.scriptFor(({ vendor }) => vendor === "gemini", { status: 404 });
    const ask = async (vendor: Vendor, options: { model?: string; apiKey?: string }) =>
      (await askVendor(fake, vendor, options)).status;
    expect(await ask("openai", { model: "model-b" })).toBe(200);
    expect(await ask("openai", { model: "model-a" })).toBe(503);
    expect(await ask("anthropic", { apiKey: "key-2" })).toBe(401);
    expect(await ask("anthropic", { apiKey: "key-2" })).toBe(200);
    expect([await ask("gemini", { model: "model-a" }), await ask("gemini", { model: "model-a" })]).toEqual([404, 503]);
  });

  test("words in the prompt do the same, combined, and are not echoed", async () => {
    await using fake = await startFakeUpstreams();
    const limited = await askVendor(fake, "gemini", { prompt: "Hi <<fault:retry-after=7>>" });
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(limited.text).toContain('"retryDelay":"7s"');
    const coded = await askVendor(fake, "openai", {
      prompt: "<<fault:status=400>><<fault:code=context_length_exceeded>>",
    });
    expect(coded.json).toMatchObject({ error: { code: "context_length_exceeded" } });
    const spoken = await askVendor(fake, "openai", { prompt: "Hi <<fault:finish=odd>> you" });
    expect(spoken.json).toMatchObject({ choices: [{ finish_reason: "odd", message: { content: "Echo: Hi  you" } }] });
    fake.script({ status: 503 });
    // Scripts take precedence over words, and words over the default.
    fake.always({ status: 504 });
    const both = { prompt: "<<fault:status=500>>" };
    expect([(await askVendor(fake, "openai", both)).status, (await askVendor(fake, "openai", both)).status]).toEqual([
      503, 500,
    ]);
    expect((await askVendor(fake, "openai", { prompt: "<<fault:sesame>>" })).status).toBe(400);
    expect((await askVendor(fake, "openai", { prompt: "<<fault:status=x>>" })).status).toBe(400);
  });

  test("a burst of errors is over after as many calls with the same prompt", async () => {
    await using fake = await startFakeUpstreams();
    const ask = async (prompt: string) => (await askVendor(fake, "anthropic", { prompt })).status;
    const prompt = "Hi <<fault:burst=2>>";
    expect([await ask(prompt), await ask("Hi"), await ask(prompt), await ask(prompt)]).toEqual([500, 200, 500, 200]);
  });

  test("a malformed path is answered", async () => {
    await using fake = await startFakeUpstreams();
    expect((await callVendor(fake, "gemini", { model: "%zz" })).status).toBe(200);
    expect(fake.requests[0]?.model).toBe("%zz");
  });

  test("every listed word can be parsed", () => {
    for (const { word, read } of faultWords)
      expect(Object.keys(read(word.split("=")[1] ?? "")).length).toBeGreaterThan(0);
  });

  test("requests are recorded, with their key and time", async () => {
    await using fake = await startFakeUpstreams();
    await askVendor(fake, "gemini", { model: "model-a", apiKey: "secret", isStreamed: true });
    await fake.idle();
    const [call] = await fake.received(1);
    expect(call).toMatchObject({
      vendor: "gemini",
      model: "model-a",
      apiKey: "secret",
      outcome: "finished",
      refusal: null,
    });
    expect(call?.json).toEqual(buildBody("gemini"));
    expect(
      [call?.receivedAt, call?.headAt, call?.endedAt].every(
        (at, index, all) => Number(at) >= Number(all[index - 1] ?? 0),
      ),
    ).toBe(true);
    expect([fake.openCalls(), fake.abortedCalls(), fake.connectionCount()]).toEqual([0, [], 1]);
  });
});

describe("heads", () => {
  test.for<[string, Behaviour, string | RegExp]>([
    ["retry-after", { status: 429, headers: { "retry-after": "7" } }, "7"],
    ["retry-after", { status: 429, headers: { "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" } }, /2100/],
    ["retry-after-ms", { status: 429, headers: { "retry-after-ms": "250" } }, "250"],
    ["content-type", { contentType: "text/html" }, "text/html"],
    ["content-type", { form: "whole" }, /^application\/json/],
    ["location", { redirectTo: `http://10.0.0.1/${canary}` }, `http://10.0.0.1/${canary}`],
    [`x-${canary}-huge`, { hugeHeaderBytes: 5000 }, /^h{5000}$/],
  ])("a script sets the header %s", async ([name, behaviour, expected]) => {
    await using fake = await startFakeUpstreams();
    fake.script(behaviour);
    const { status, headers } = await askVendor(fake, "openai", { isStreamed: true });
    expect(headers.get(name)).toMatch(expected);
    expect(status).toBe(behaviour.redirectTo === undefined ? (behaviour.status ?? 200) : 307);
  });

  test("without a script, errors have no retry-after", async () => {
    await using fake = await startFakeUpstreams();
    fake.script({ status: 429 });
    expect((await askVendor(fake, "openai")).headers.get("retry-after")).toBeNull();
  });

  test("a proxy's HTML page comes with 502", async () => {
    await using fake = await startFakeUpstreams();
    const page = await askVendor(fake, "openai", { prompt: "<<fault:html>>" });
    expect([page.status, page.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(findCanary(page.text)).not.toBeNull();
  });

  test("a followed redirect is recorded", async () => {
    await using fake = await startFakeUpstreams();
    fake.script({ redirectTo: `${fake.url}/${canary}` });
    await fetch((await askVendor(fake, "openai")).headers.get("location") ?? "");
    expect(fake.requests.map(({ vendor }) => vendor)).toEqual(["openai", null]);
  });
});

describe("time", () => {
  test("the head waits for its gate", async () => {
    await using fake = await startFakeUpstreams();
    const gate = fake.gate();
    fake.script({ beforeHead: gate });
    let hasHead = false;
    const asked = callVendor(fake, "openai").then((response) => {
      hasHead = true;
      return response.json();
    });
    await gate.reached();
    expect([hasHead, fake.openCalls(), fake.requests[0]?.headAt]).toEqual([false, 1, null]);
    gate.open();
    expect(await asked).toMatchObject({ object: "chat.completion" });
  });

  test("a stream can be silent after the head, between pieces, and before the end", async () => {
    await using fake = await startFakeUpstreams();
    const [afterHead, beforePiece, beforeEnd] = [fake.gate(), fake.gate(), fake.gate()];
    fake.script({ afterHead, beforePiece, beforeEnd, pieces: ["one", "two"] });
    const response = await callVendor(fake, "openai", { isStreamed: true });
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })();
    await afterHead.reached();
    expect([response.status, text]).toEqual([200, ""]);
    afterHead.open();
    await beforePiece.reached();
    beforePiece.release();
    await waitUntil("the first piece", () => text.includes("one"));
    await beforePiece.reached();
    expect(text).not.toContain("two");
    beforePiece.release();
    await beforeEnd.reached();
    await waitUntil("the second piece", () => text.includes("two"));
    expect(text).not.toContain("[DONE]");
    beforeEnd.open();
    await reading;
    expect(text).toMatch(/\[DONE\]\n\n$/);
  });

  test("a gate counts its waiters, lets through a given number, and forgets aborted ones", async () => {
    await using fake = await startFakeUpstreams();
    const gate = fake.gate();
    fake.always({ beforeHead: gate });
    const caller = new AbortController();
    const lost = callVendor(fake, "openai", { signal: caller.signal }).catch(() => "lost");
    await gate.reached(1);
    const others = [callVendor(fake, "openai"), callVendor(fake, "openai")];
    await gate.reached(3);
    caller.abort();
    const [aborted] = await fake.aborted(1);
    expect([await lost, gate.waitingCount(), aborted?.outcome, aborted?.headAt]).toEqual(["lost", 2, "aborted", null]);
    expect(aborted?.endedAt).toBeGreaterThanOrEqual(aborted?.receivedAt ?? Number.POSITIVE_INFINITY);
    gate.release();
    await Promise.race(others);
    expect(gate.waitingCount()).toBe(1);
    gate.open();
    await Promise.all(others);
    await fake.idle();
    expect(fake.requests.map(({ outcome }) => outcome)).toEqual(["aborted", "finished", "finished"]);
  });
});

describe("content", () => {
  test("pieces, thoughts and fragments of tool calls are sent as given", async () => {
    const toolCalls = [{ id: "call_mine", name: "f", fragments: ['{"a"', ":1}"] }];
    const text = await streamWith({ pieces: ["a", "", "b"], thinking: "Hm hm", toolCalls });
    const deltas = [...text.matchAll(/"delta":(\{.*?\}),"logprobs"/g)].map(([, delta = ""]) => JSON.parse(delta));
    expect(deltas).toEqual([
      { role: "assistant", content: "", refusal: null },
      { reasoning_content: "Hm" },
      { reasoning_content: " hm" },
      { content: "a" },
      { content: "" },
      { content: "b" },
      { tool_calls: [{ index: 0, id: "call_mine", type: "function", function: { name: "f", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] },
      {},
    ]);
  });

  test.for<[string, Behaviour, RegExp | null]>([
    ["no usage", { usage: null }, null],
    ["absurd usage", { usage: { outputTokens: -1e300 } }, /"completion_tokens":-1e\+300/],
    ["usage in the vendor's form, whatever it is", { vendorUsage: "many" }, /"usage":"many"/],
    ["usage in the last chunk", { usageIn: "last-chunk" }, /"finish_reason":"stop"\}\],"usage":\{"prompt_tokens"/],
    ["usage in every chunk", { usageIn: "every-chunk" }, /"content":"Echo:".*?\],"usage":\{"prompt_tokens"/],
  ])("a vendor may report %s", async ([, behaviour, expected]) => {
    await using fake = await startFakeUpstreams();
    fake.always(behaviour);
    const change = { stream_options: { include_usage: true } };
    const { text } = await askVendor(fake, "openai", { isStreamed: true, change });
    if (expected === null) expect(text).not.toContain("prompt_tokens");
    else expect(text).toMatch(expected);
  });

  test("a thought of Anthropic's has the signature that must be sent back with it", async () => {
    const text = await streamWith({ thinking: "Hm" }, "anthropic");
    expect(text).toMatch(/"thinking_delta","thinking":"Hm".*\n\n.*\n.*"signature_delta","signature":"\w+/);
  });

  test("vendors without usage omit it", async () => {
    for (const vendor of ["anthropic", "gemini"] as const) {
      expect(await streamWith({ usage: null }, vendor)).not.toMatch(/output_tokens|TokenCount/);
    }
  });

  test("an empty answer has no content", async () => {
    expect(readText(await streamWith({ text: "" }))).toBe("");
    await using fake = await startFakeUpstreams();
    fake.always({ text: "" });
    expect((await askVendor(fake, "anthropic")).json).toMatchObject({ content: [], stop_reason: "end_turn" });
    expect((await askVendor(fake, "gemini")).json).toMatchObject({ candidates: [{ content: { role: "model" } }] });
  });

  test("a blocked prompt is reported in each vendor's way", async () => {
    await using fake = await startFakeUpstreams();
    fake.always({ isBlocked: true });
    expect((await askVendor(fake, "openai")).json).toMatchObject({ choices: [{ finish_reason: "content_filter" }] });
    expect((await askVendor(fake, "anthropic")).json).toMatchObject({ stop_reason: "refusal", content: [] });
    const { json } = await askVendor(fake, "gemini");
    expect(json).toMatchObject({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } });
    expect(json).not.toHaveProperty("candidates");
  });

  test("a vendor's own fields contain the canary, also inside the choices", async () => {
    const text = await streamWith({ hasVendorFields: true });
    expect(text).toMatch(/"native_finish_reason":"canaryvendor_stop"/);
    expect(await streamWith({})).not.toContain("native_finish_reason");
  });

  test("a huge answer arrives completely, whatever the caller's limit is", async () => {
    await using fake = await startFakeUpstreams();
    const change = { max_tokens: 1 };
    const { text } = await askVendor(fake, "openai", { prompt: "<<fault:huge=8>>", change });
    // Not a regular expression: over so many characters it may run out of stack.
    const sent = "x".repeat(8 * 2 ** 20);
    expect([text.includes(sent), text.includes(`${sent}x`)]).toEqual([true, false]);
  });
});

describe("formats of a stream", () => {
  test.for<[string, Behaviour, RegExp]>([
    ["ends its lines with CR and LF", { lineEnding: "\r\n" }, /^(data: .*\r\n\r\n)+$/],
    ["has comments", { hasComments: true }, /^(: .*\n\ndata: .*\n\n)+$/],
    ["has no space after the colon", { hasNoSpace: true }, /^(data:\S.*\n\n)+$/],
    ["has no [DONE]", { hasNoDone: true }, /"finish_reason":"stop".*\n\n$/],
    ["has [DONE] without a finish reason", { hasNoFinish: true }, /^(?!.*"finish_reason":"stop").*\[DONE\]\n\n$/s],
    ["has an unknown finish reason", { finishReason: "odd" }, /"finish_reason":"odd"/],
    ["is a stream", { form: "stream" }, /^(data: .*\n\n)+$/],
  ])("a stream that %s has the same content", async ([, behaviour, expected]) => {
    const text = await streamWith(behaviour);
    expect(text).toMatch(expected);
    expect(readText(text)).toBe("Echo: Hello there");
  });

  test("a whole answer can replace a stream, and the other way round", async () => {
    await using fake = await startFakeUpstreams();
    fake.script({ form: "whole" }, { form: "stream" });
    expect((await askVendor(fake, "openai", { isStreamed: true })).json).toMatchObject({ object: "chat.completion" });
    expect(readText((await askVendor(fake, "openai")).text)).toBe("Echo: Hello there");
  });

  test("every byte can be sent separately", async () => {
    await using fake = await startFakeUpstreams();
    fake.script({ isSplitAtEveryByte: true, text: "Zürich 🌍" });
    const { chunks } = await readChunks(fake);
    expect(chunks.every((chunk) => chunk.length === 1)).toBe(true);
    expect(readText(Buffer.from(chunks.join(""), "latin1").toString())).toBe("Zürich 🌍");
  });

  test("given bytes are sent unchanged, each part separately", async () => {
    await using fake = await startFakeUpstreams();
    const parts = ["da", "ta: {", Buffer.from([0xf0, 0x9f]), Buffer.from([0x8c, 0x8d]), "\n"];
    fake.script({ rawChunks: parts });
    const { chunks, end } = await readChunks(fake);
    expect([chunks, end]).toEqual([parts.map((part) => Buffer.from(part).toString("latin1")), "whole"]);
  });

  test("given HTTP is sent unchanged", async () => {
    await using fake = await startFakeUpstreams();
    fake.script(
      { rawHttp: ["HTTP/1.1 200 OK\r\ncontent-length: 4\r\n", "\r\nab"] },
      { rawHttp: ["NOT HTTP AT ALL\r\n"] },
    );
    expect(await readChunks(fake)).toEqual({ chunks: ["ab"], end: "aborted" });
    expect((await readChunks(fake)).end).toMatch(/Parse Error/);
  });

  test.for<Vendor>(["openai", "anthropic", "gemini"])(
    "an error in mid-stream replaces the rest: %s",
    async (vendor) => {
      const text = await streamWith({ errorAfterPieces: 1, pieces: ["one", "two"] }, vendor);
      expect([text.includes("one"), text.includes("two")]).toEqual([true, false]);
      const last = text.trim().split("\n").at(-1) ?? "";
      expect(JSON.parse(last.slice(5))).toHaveProperty("error.message");
      expect(text.includes("event: error\n")).toBe(vendor === "anthropic");
    },
  );

  test("JSON can be malformed", async () => {
    expect(await streamWith({ isMalformed: true })).toContain(`data: {"${canary}":\n\n`);
    await using fake = await startFakeUpstreams();
    fake.script({ isMalformed: true });
    const { json, text } = await askVendor(fake, "openai");
    expect([json, text.startsWith('{"id":')]).toEqual([undefined, true]);
  });
});

describe("connections", () => {
  test.for<[string, Behaviour, number | RegExp]>([
    ["before the head", { cut: "before-head" }, /socket hang up/],
    ["by a reset", { isReset: true }, /ECONNRESET/],
    ["after the head", { cut: "after-head" }, 0],
    ["before the first piece", { cut: { afterPieces: 0 } }, 1],
    ["after two pieces", { cut: { afterPieces: 2 } }, 3],
    ["after the last piece", { cut: { afterPieces: 3 } }, 4],
    ["after all that was given", { rawChunks: ["a", "b"], cut: { afterPieces: 2 } }, 2],
  ])("a connection can end %s", async ([, behaviour, expected]) => {
    await using fake = await startFakeUpstreams();
    fake.script(behaviour);
    const { chunks, end } = await readChunks(fake);
    if (typeof expected === "number") expect([chunks.length, end]).toEqual([expected, "aborted"]);
    else expect(end).toMatch(expected);
    await fake.idle();
    expect(fake.requests[0]?.outcome).toBe("cut");
  });

  test.for([true, false])("a connection can end in the middle of a chunk (streamed: %s)", async (isStreamed) => {
    await using fake = await startFakeUpstreams();
    const afterPieces = isStreamed ? 1 : 0;
    fake.script({ cut: { afterPieces, where: "inside-chunk" }, pieces: ["first", "second second"] });
    const { chunks, end } = await readChunks(fake, isStreamed);
    expect([end, chunks.length]).toEqual(["aborted", isStreamed ? 3 : 1]);
    expect(() => JSON.parse((chunks.at(-1) ?? "").replace("data:", ""))).toThrow(SyntaxError);
  });

  test("a connection can be closed silently after a complete answer", async () => {
    await using fake = await startFakeUpstreams();
    fake.script({ isClosedAfter: true });
    const body = JSON.stringify(buildBody("openai"));
    const headers = `host: x\r\nauthorization: Bearer key\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    const port = Number(new URL(fake.url).port);
    // Reads until the server ends the connection, which it would otherwise not do.
    const answer = await sendRaw(port, `POST /openai/v1/chat/completions HTTP/1.1\r\n${headers}\r\n\r\n${body}`);
    expect([answer.status, answer.headers.connection]).toEqual([200, "keep-alive"]);
    expect(JSON.parse(answer.body)).toMatchObject({ object: "chat.completion" });
    expect(fake.requests[0]?.outcome).toBe("finished");
  });

  test("an endless stream is only as fast as its reader, and ends when the reader disconnects", async () => {
    await using fake = await startFakeUpstreams();
    const piece = "x".repeat(64 * 1024);
    fake.script({ isEndless: true, pieces: [piece] });
    const reader = new AbortController();
    const response = await callVendor(fake, "openai", { isStreamed: true, signal: reader.signal });
    const [call] = fake.requests;
    const isStuck = async () => {
      const before = call?.bytesWritten;
      // A writer takes one turn per write: many turns without a write mean back-pressure.
      for (let turns = 0; turns < 200; turns += 1) await new Promise((next) => setImmediate(next));
      return call?.bytesWritten === before && (call?.bytesWritten ?? 0) > piece.length;
    };
    await waitUntil("the stream to wait for its reader", isStuck);
    const stuckAt = call?.bytesWritten ?? 0;
    const body = response.body?.getReader();
    for (let bytes = 0; bytes < stuckAt + piece.length; ) bytes += (await body?.read())?.value?.length ?? 0;
    await waitUntil("more to be written", () => (call?.bytesWritten ?? 0) > stuckAt);
    reader.abort();
    expect((await fake.aborted(1))[0]).toBe(call);
    await fake.idle();
  });

  test("an endless answer need not be a stream", async () => {
    await using fake = await startFakeUpstreams();
    fake.script({ isEndless: true });
    const reader = new AbortController();
    const response = await callVendor(fake, "openai", { signal: reader.signal });
    const body = response.body?.getReader();
    for (let bytes = 0; bytes < 100_000; ) bytes += (await body?.read())?.value?.length ?? 0;
    reader.abort();
    await fake.aborted(1);
  });
});
