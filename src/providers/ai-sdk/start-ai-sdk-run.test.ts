import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { anthropicStart, anthropicStream, anthropicText } from "./fixtures/anthropic-answers.ts";
import { googleAnswer, writeData } from "./fixtures/google-answers.ts";
import { type Answer, startChat, startVendor } from "./fixtures/vendor-stage.ts";

describe("a call", () => {
  function sendSlowly(responses: ServerResponse[], first: string): Answer {
    return (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(first);
      responses.push(response);
    };
  }

  test("that is cancelled emits nothing more, and its connection is closed at once", async () => {
    const responses: ServerResponse[] = [];
    const vendor = await startVendor("anthropic", [
      sendSlowly(responses, anthropicStart + anthropicText(0, ["Hello"])),
    ]);
    const { heard, run } = startChat(vendor.chat, { stream: true });
    await waitUntil("a piece", () => heard.pieces.length > 0);
    const events = heard.events.length;
    const cancelledAt = performance.now();
    const closed = new Promise((done) => responses[0]?.once("close", done));
    run.cancel();
    await closed;
    // Enough for an immediate close, and far too little for any timeout.
    expect(performance.now() - cancelledAt).toBeLessThan(5000);
    run.cancel();
    run.resume();
    expect(heard.events).toHaveLength(events);
  });

  test("is accepted when the response head arrives, before any piece", async () => {
    const responses: ServerResponse[] = [];
    const vendor = await startVendor("google", [sendSlowly(responses, ": wait\n\n")]);
    const { heard, over } = startChat(vendor.chat, { stream: true, upstreamModel: "gemini-3-pro" });
    await waitUntil("the head", () => heard.events.length > 0);
    expect(heard.events).toEqual(["accepted"]);
    responses[0]?.end(writeData(googleAnswer([{ text: "Hi" }], "STOP")));
    expect((await over).events).toEqual(["accepted", "pieces", "end"]);
  });

  test("that is paused emits almost nothing more, and everything after a resume", async () => {
    const texts = Array.from({ length: 20_000 }, (_, index) => `${index} `);
    const responses: ServerResponse[] = [];
    const vendor = await startVendor("anthropic", [
      sendSlowly(responses, anthropicStart + anthropicText(0, ["first "])),
    ]);
    const { heard, run, over } = startChat(vendor.chat, { stream: true, timeouts: { idleMs: 500 } });
    await waitUntil("the first piece", () => heard.pieces.length > 0);
    run.pause();
    responses[0]?.end(anthropicText(1, texts) + anthropicStream.at(-1));
    const pausedAt = performance.now();
    await waitUntil("much more time than silence may last", () => performance.now() - pausedAt > 1500);
    expect(heard.pieces.length).toBeLessThan(10);
    expect(heard.error).toBeNull();
    run.resume();
    expect((await over).error).toBeNull();
    expect(heard.pieces.map(({ text }) => text).join("")).toBe(`first ${texts.join("")}`);
  });

  test("that is paused loses nothing that arrived before its connection broke", async () => {
    const responses: ServerResponse[] = [];
    const texts = Array.from({ length: 200 }, (_, index) => `part ${index}, `);
    const vendor = await startVendor("anthropic", [
      sendSlowly(responses, anthropicStart + anthropicText(0, ["first, "])),
    ]);
    const { heard, run, over } = startChat(vendor.chat, { stream: true });
    await waitUntil("the first piece", () => heard.pieces.length > 0);
    run.pause();
    const response = responses[0];
    response?.write(anthropicText(1, texts), () => response.destroy());
    await waitUntil("the break", () => response?.closed);
    run.resume();
    expect((await over).error?.kind).toBe("unreachable");
    expect(heard.pieces.map(({ text }) => text).join("")).toBe(`first, ${texts.join("")}`);
  });

  test.for([
    ["firstByteMs", ""],
    ["idleMs", anthropicStart + anthropicText(0, ["Hello"])],
    ["totalMs", anthropicStart + anthropicText(0, ["Hello"])],
  ] as const)("times out after %s", async ([limit, first]) => {
    const responses: ServerResponse[] = [];
    const vendor = await startVendor("anthropic", [sendSlowly(responses, first)]);
    const { over } = startChat(vendor.chat, { stream: true, timeouts: { [limit]: 200 } });
    const { error, pieces } = await over;
    expect([error?.kind, error?.detail]).toEqual([
      "timeout",
      {
        reason: {
          firstByteMs: "The first byte timed out.",
          idleMs: "The response stalled.",
          totalMs: "The call timed out.",
        }[limit],
      },
    ]);
    // The idle timeout starts after the last data; the others may end at any point.
    if (limit === "idleMs") expect(pieces.at(-1)?.text).toBe("Hello");
    await waitUntil("the connection is closed", () => responses[0]?.destroyed);
  });

  test("to a closed port is unreachable", async () => {
    const vendor = await startVendor("anthropic", []);
    await vendor.closeServer();
    expect((await startChat(vendor.chat).over).error?.kind).toBe("unreachable");
  });

  test.for(["not JSON", "{}", "[]", "null"])("with the response %s is a bad answer", async (body) => {
    const send: Answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    };
    const vendor = await startVendor("anthropic", [send, send]);
    for (const stream of [false, true])
      expect((await startChat(vendor.chat, { stream }).over).error?.kind).toBe("bad-answer");
  });

  test("ends with its provider, and none starts afterwards", async () => {
    const responses: ServerResponse[] = [];
    const vendor = await startVendor("anthropic", [sendSlowly(responses, anthropicStart)]);
    const { heard } = startChat(vendor.chat, { stream: true });
    await waitUntil("the request", () => responses.length > 0);
    await vendor.chat.close();
    await waitUntil("the connection is closed", () => responses[0]?.destroyed);
    expect(heard.error).toBeNull();
    expect((await startChat(vendor.chat).over).error?.kind).toBe("unreachable");
  });

  test("reuses the connection of the previous one, which may end after its answer is complete", async () => {
    const ports: (number | undefined)[] = [];
    const responses: ServerResponse[] = [];
    const send: Answer = (request, response) => {
      ports.push(response.socket?.remotePort);
      sendSlowly(responses, anthropicStream.join(""))(request, response);
    };
    const vendor = await startVendor(
      "anthropic",
      Array.from({ length: 1000 }, () => send),
    );
    await waitUntil("two calls on one connection", async () => {
      await startChat(vendor.chat, { stream: true }).over;
      responses.pop()?.end();
      return new Set(ports).size < ports.length;
    });
    await startChat(vendor.chat, { stream: true }).over;
    await waitUntil("a connection that never ends is closed", () => responses[0]?.destroyed);
  });
});
