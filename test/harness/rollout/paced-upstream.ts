import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

/** The pieces of every answer. */
export const pieces = ["one ", "two ", "three ", "four ", "five"] as const;
export const sound = Buffer.alloc(4096 * pieces.length, 7);

const head = { id: "chat_1", created: 1, model: "paced" };
const usage = { prompt_tokens: 5, completion_tokens: pieces.length, total_tokens: 5 + pieces.length };

/** Answers chat calls and speech: whole ones after a pause, streams with a pause before each piece. Keeps no record. */
export async function startPacedUpstream(pauseMs: number): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { stream?: boolean; messages?: { content: string }[] };
    // Some outlast the shutdown delay of a node.
    const longMs = body.messages?.[0]?.content === "long" ? 8 * pauseMs : pauseMs;
    if (request.url?.endsWith("/audio/speech") === true) await sendSound(response, pauseMs);
    else if (body.stream === true) await sendStream(response, longMs);
    else await sendWhole(response, longMs);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function sendWhole(response: ServerResponse, pauseMs: number): Promise<void> {
  await wait(pauseMs);
  const message = { role: "assistant", content: pieces.join("") };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage }));
}

async function sendStream(response: ServerResponse, pauseMs: number): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const write = (fields: object): unknown =>
    response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...fields })}\n\n`);
  for (const content of pieces) {
    await wait(pauseMs);
    write({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  }
  write({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  write({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

async function sendSound(response: ServerResponse, pauseMs: number): Promise<void> {
  response.writeHead(200, { "content-type": "audio/pcm" });
  for (let from = 0; from < sound.length; from += 4096) {
    await wait(pauseMs);
    response.write(sound.subarray(from, from + 4096));
  }
  response.end();
}
