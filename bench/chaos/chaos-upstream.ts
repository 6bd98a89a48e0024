import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { draw } from "./draw.ts";
import { readPrompt } from "./operation.ts";
import type { TokenUsage } from "./prices.ts";

type UpstreamTrouble = "refuse" | "limit" | "hang-up" | "break-off" | "slow";

/** A call that the upstream accepted, and the usage it reports. No two calls report the same input. */
export type ChatRecord = { operation: number; usage: TokenUsage; outcome: "answered" | "troubled" };
/** A request that the queue accepted. */
export type QueueRecord = { operation: number; fails: boolean };

export type ChaosUpstream = {
  port: number;
  /** By the number in the answer. */
  chats: Map<number, ChatRecord>;
  queue: Map<string, QueueRecord>;
  /** The next calls, this many, have this fault. */
  trouble(kind: UpstreamTrouble, count: number): void;
  /** Ends the trouble. */
  calm(): void;
  close(): Promise<void>;
};

/** Far above the real token count of these prompts, so that a charge by reported usage identifies its call. */
export const inputTokensBase = 5_000;
const slowMs = 1_500;
const pieces = 5;

/**
 * Two OpenAI-compatible chat vendors (`/a/v1`, `/b/v1`) and a queue like fal's (`/fal`), which record everything they
 * accept.
 */
export async function startChaosUpstream(seed: number): Promise<ChaosUpstream> {
  const chats = new Map<number, ChatRecord>();
  const queue = new Map<string, QueueRecord>();
  const troubles: UpstreamTrouble[] = [];
  const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#246" } })
    .png()
    .toBuffer();

  async function answerChat(body: ChatBody, response: ServerResponse): Promise<void> {
    const asked = readPrompt(body.messages.at(-1)?.content ?? "");
    const trouble = troubles.shift() ?? null;
    if (asked === null) return void response.writeHead(400).end();
    if (trouble === "refuse" || trouble === "limit") return void refuse(response, trouble);
    const number = chats.size + 1;
    const usage = {
      inputTokens: inputTokensBase + number,
      outputTokens: 5 + draw(seed, `call ${number}, output`, 50),
    };
    const record: ChatRecord = {
      operation: asked.operation,
      usage,
      outcome: trouble === null ? "answered" : "troubled",
    };
    chats.set(number, record);
    if (trouble === "hang-up") return void response.destroy();
    if (trouble === "slow") await wait(slowMs);
    const answer = { number, operation: asked.operation, usage };
    if (body.stream === true) await sendStream(answer, response, trouble === "break-off");
    else if (trouble === "break-off") cutOff(response, presentChat(answer));
    else sendJson(response, 200, presentChat(answer));
  }

  function answerQueue(method: string, path: string, body: string, response: ServerResponse): ServerResponse {
    const at = `http://127.0.0.1:${port}/fal/chaos/image/requests`;
    const id = /\/requests\/(\d+)/.exec(path)?.[1];
    if (method === "POST") return takeTask(JSON.parse(body) as { prompt?: string }, at, response);
    const record = queue.get(id ?? "");
    if (record === undefined) return sendJson(response, 404, { detail: "Request not found" });
    if (path.endsWith("/status")) return sendJson(response, 200, { status: "COMPLETED", request_id: id });
    const refusal = { detail: [{ type: "content_policy_violation", msg: "no", loc: ["body", "prompt"] }] };
    if (record.fails) return sendJson(response, 422, refusal);
    return sendJson(response, 200, {
      images: [{ url: `http://127.0.0.1:${port}/made.png`, content_type: "image/png" }],
    });
  }

  function takeTask({ prompt = "" }: { prompt?: string }, at: string, response: ServerResponse): ServerResponse {
    const asked = readPrompt(prompt);
    const trouble = troubles.shift() ?? null;
    if (asked === null) return sendJson(response, 422, { detail: "no prompt" });
    if (trouble === "refuse" || trouble === "limit") return refuse(response, trouble);
    const id = String(queue.size + 1);
    queue.set(id, asked);
    // The vendor has accepted the call, but its answer is lost.
    if (trouble === "hang-up" || trouble === "break-off") return response.destroy();
    const urls = { response_url: `${at}/${id}`, status_url: `${at}/${id}/status`, cancel_url: `${at}/${id}/cancel` };
    return sendJson(response, 200, { status: "IN_QUEUE", request_id: id, ...urls });
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "" } = incoming;
    const body = await text(incoming);
    if (url === "/made.png") return void response.writeHead(200, { "content-type": "image/png" }).end(picture);
    if (url.startsWith("/fal/")) return void answerQueue(method, url, body, response);
    await answerChat(JSON.parse(body) as ChatBody, response);
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    // The gateway may be killed midway; that is the point.
    answer(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    chats,
    queue,
    trouble: (kind, count) => troubles.push(...Array.from({ length: count }, () => kind)),
    calm: () => void troubles.splice(0),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

type ChatBody = { stream?: boolean; messages: { content: string }[] };
type Answer = { number: number; operation: number; usage: TokenUsage };

function refuse(response: ServerResponse, trouble: "refuse" | "limit"): ServerResponse {
  if (trouble === "limit") response.setHeader("retry-after", "1");
  return sendJson(response, trouble === "limit" ? 429 : 503, { error: { message: "not now", type: "server_error" } });
}

function sendJson(response: ServerResponse, status: number, body: unknown): ServerResponse {
  return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Half of an answer. */
function cutOff(response: ServerResponse, body: unknown): void {
  const written = JSON.stringify(body);
  response.writeHead(200, { "content-type": "application/json", "content-length": String(written.length) });
  response.write(written.slice(0, written.length / 2), () => response.destroy());
}

function presentUsage({ inputTokens, outputTokens }: TokenUsage) {
  const total = inputTokens + outputTokens;
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: total };
}

function writeWords({ number, operation }: Answer): string[] {
  return [`Call ${number}`, ` answers operation ${operation}`, ...Array.from({ length: pieces }, () => " and on")];
}

function presentChat(answer: Answer) {
  const message = { role: "assistant", content: writeWords(answer).join("") };
  return {
    id: `chaos-${answer.number}`,
    object: "chat.completion",
    created: 0,
    model: "chaos",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: presentUsage(answer.usage),
  };
}

async function sendStream(answer: Answer, response: ServerResponse, isBrokenOff: boolean): Promise<void> {
  const chunk = (choices: unknown[], more: object = {}): string => {
    const body = { id: `chaos-${answer.number}`, object: "chat.completion.chunk", created: 0, model: "chaos", choices };
    return `data: ${JSON.stringify({ ...body, ...more })}\n\n`;
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [index, content] of writeWords(answer).entries()) {
    if (isBrokenOff && index === pieces - 1) return void response.destroy();
    response.write(chunk([{ index: 0, delta: { role: "assistant", content }, finish_reason: null }]));
    await wait(5);
  }
  response.write(chunk([{ index: 0, delta: {}, finish_reason: "stop" }]));
  response.write(chunk([], { usage: presentUsage(answer.usage) }));
  response.end("data: [DONE]\n\n");
}
