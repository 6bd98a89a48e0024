import { Agent, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { pieces, sound } from "./paced-upstream.ts";

const kinds = {
  whole: { path: "/v1/chat/completions", body: { model: "chat", messages: [{ role: "user", content: "short" }] } },
  streamed: {
    path: "/v1/chat/completions",
    body: { model: "chat", stream: true, messages: [{ role: "user", content: "short" }] },
  },
  "long stream": {
    path: "/v1/chat/completions",
    body: { model: "chat", stream: true, messages: [{ role: "user", content: "long" }] },
  },
  speech: {
    path: "/v1/audio/speech",
    body: { model: "voice", input: "Hello.", voice: "alloy", response_format: "pcm" },
  },
} as const;
type Kind = keyof typeof kinds;

/** Each caller makes these in order; one call in twelve is long. */
const round: readonly Kind[] = [
  ...(["whole", "streamed", "speech", "streamed", "whole", "streamed"] as const),
  ...(["whole", "streamed", "speech", "whole", "streamed", "long stream"] as const),
];

export type PaidCalls = {
  /** The number of correct answers. */
  count(): number;
  /** The failures that callers saw: a refusal, a broken connection, an incomplete answer. */
  errors: string[];
  slowestMs(): number;
  /** Starts no more calls, and resolves when the running ones have ended. */
  stop(): Promise<void>;
};

/** A socket of a load balancer, or a port of this machine. */
type Address = { socketPath: string } | { port: number };

/** Keeps callers busy at an address. Each keeps its connection; none retries. */
export function startPaidCalls(place: { address: Address; key: string; callers: number }): PaidCalls {
  const { address, key, callers } = place;
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const errors: string[] = [];
  let count = 0;
  let slowestMs = 0;
  let isStopped = false;

  async function work(first: number): Promise<void> {
    for (let index = first; !isStopped; index += 1) {
      const kind = round[index % round.length] ?? "whole";
      const startedMs = performance.now();
      const fault = await call(kind, { agent, address, key }).catch((error: unknown) => String(error));
      if (kind !== "long stream") slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      if (fault === null) count += 1;
      else errors.push(`${kind}: ${fault}`);
    }
  }

  const working = Promise.all(Array.from({ length: callers }, (_, index) => work(index)));
  return {
    count: () => count,
    errors,
    slowestMs: () => slowestMs,
    async stop() {
      isStopped = true;
      await working;
      agent.destroy();
    },
  };
}

/** The failure of the call; `null` if the answer is correct. */
async function call(kind: Kind, place: { agent: Agent; address: Address; key: string }): Promise<string | null> {
  const { path, body } = kinds[kind];
  const answer = await send(path, JSON.stringify(body), place);
  const isRight =
    answer.status === 200 &&
    (kind === "speech"
      ? answer.body.equals(sound)
      : pieces.every((piece) => answer.body.includes(piece.trim())) &&
        (kind === "whole" || answer.body.includes("data: [DONE]")));
  return isRight ? null : `${answer.status} ${answer.body.toString("latin1").slice(-300)}`;
}

function send(
  path: string,
  body: string,
  { agent, address, key }: { agent: Agent; address: Address; key: string },
): Promise<{ status: number | undefined; body: Buffer }> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, ...address, path, method: "POST", headers }, (response) => {
      buffer(response).then((whole) => resolve({ status: response.statusCode, body: whole }), reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
