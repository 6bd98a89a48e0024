import { setTimeout as wait } from "node:timers/promises";
import { type Entry, mayPass, type Received, readChatEnding } from "./journal.ts";
import { drawOperation, isKeyed, isStreamed, type Operation, writePrompt } from "./operation.ts";

export type Callers = {
  journal: readonly Entry[];
  /** Starts no new operations; started ones go on. */
  stop(): void;
  /** How many operations have not ended yet. */
  countOpen(): number;
  /** The longest time between two successful calls, up to now. */
  longestGapMs(): number;
  /** Sends an operation again, unchanged. */
  send(operation: Operation): Promise<Received>;
  /** Resolves when all callers have stopped. */
  close(): Promise<void>;
};

type Options = {
  seed: number;
  urls: readonly string[];
  headers: readonly Record<string, string>[];
  callersCount: number;
  /** The pause of a caller between two requests. */
  restMs: number;
};

const nothing: Received = { status: 0, text: "", isWhole: false, isSent: false, isReplay: false };
const patienceMs = 5_000;
/**
 * Long enough that the hold covers the usage that the upstream reports, and counted as fewer tokens than
 * `inputTokensBase`, so that a charge by our own count differs from a reported one.
 */
const instructions = "Be brief. ".repeat(1_600);
const retryMs = 150;
const pollMs = 400;

/** Callers that run operations one after another, and retry unanswered ones. */
export function startCallers({ seed, urls, headers, callersCount, restMs }: Options): Callers {
  const journal: Entry[] = [];
  const waiting: { entry: Entry; dueAt: number }[] = [];
  let isStopped = false;
  let isClosed = false;
  let sentCount = 0;
  let lastSuccessAt = performance.now();
  let gapMs = 0;

  function noteSuccess(): void {
    gapMs = Math.max(gapMs, performance.now() - lastSuccessAt);
    lastSuccessAt = performance.now();
  }

  async function ask(account: number, path: string, init: RequestInit): Promise<Received> {
    const all = { ...headers[account], ...(init.headers as Record<string, string>) };
    let received = nothing;
    // Round robin, skipping gateways that refuse connections, like a load balancer.
    for (let tried = 0; tried < urls.length && received.status === 0 && !received.isSent; tried += 1) {
      sentCount += 1;
      received = await receive(`${urls[sentCount % urls.length]}${path}`, { ...init, headers: all });
    }
    if (received.isWhole && received.status > 0 && received.status < 300) noteSuccess();
    return received;
  }

  async function send(operation: Operation): Promise<Received> {
    const { path, body } = describeRequest(operation);
    const key = isKeyed(operation) ? { "idempotency-key": `chaos-${seed}-${operation.number}` } : {};
    const sent = { method: "POST", body, headers: { "content-type": "application/json", ...key } };
    return await ask(operation.account, path, sent);
  }

  /** Sends one request of an operation; returns the milliseconds until the next is due, or `null` when it has ended. */
  async function goOn(entry: Entry): Promise<number | null> {
    const { operation } = entry;
    if (operation.kind === "image") return await goOnWithTask(entry);
    entry.sent += 1;
    const received = await send(operation);
    const ending = readChatEnding(entry, received, isStreamed(operation));
    if (ending === null) {
      entry.lastTrouble = describe(received);
      return retryMs;
    }
    entry.ending = ending;
    return null;
  }

  async function goOnWithTask(entry: Entry): Promise<number | null> {
    const { operation } = entry;
    const [taskId] = entry.taskIds;
    if (taskId === undefined) entry.sent += 1;
    const received =
      taskId === undefined ? await send(operation) : await ask(operation.account, `/v1/tasks/${taskId}`, {});
    const { status, text, isWhole } = received;
    if (status === 0 || !isWhole || mayPass(status)) {
      entry.lastTrouble = describe(received);
      return retryMs;
    }
    if (status >= 300) {
      entry.ending = { kind: "refused", status, text };
      return null;
    }
    const task = JSON.parse(text) as { id: string; status: string; usage: { charge?: string } };
    entry.taskIds.add(task.id);
    if (task.status === "queued" || task.status === "processing") return pollMs;
    entry.ending = { kind: "task", state: task.status, charge: task.usage.charge ?? "0" };
    return null;
  }

  function takeNext(): Entry | null {
    const index = waiting.findIndex(({ dueAt }) => dueAt <= performance.now());
    const [due] = index === -1 ? [] : waiting.splice(index, 1);
    if (due !== undefined) return due.entry;
    if (isStopped) return null;
    const operation = drawOperation(seed, journal.length);
    const entry: Entry = { operation, sent: 0, ending: { kind: "open" }, taskIds: new Set(), lastTrouble: "" };
    journal.push(entry);
    return entry;
  }

  async function work(): Promise<void> {
    while (!isClosed) {
      const entry = takeNext();
      const dueMs = entry === null ? null : await goOn(entry);
      if (entry !== null && dueMs !== null) waiting.push({ entry, dueAt: performance.now() + dueMs });
      await wait(restMs);
    }
  }

  const working = Promise.all(Array.from({ length: callersCount }, work));
  return {
    journal,
    stop() {
      isStopped = true;
    },
    countOpen: () => journal.filter(({ ending }) => ending.kind === "open").length,
    longestGapMs: () => gapMs,
    send,
    async close() {
      isClosed = true;
      await working;
    },
  };
}

function describeRequest(operation: Operation): { path: string; body: string } {
  const prompt = writePrompt(operation);
  if (operation.kind === "image") {
    return { path: "/v1/images/generations", body: JSON.stringify({ model: "image", prompt, size: "64x64" }) };
  }
  const streaming = isStreamed(operation) ? { stream: true, stream_options: { include_usage: true } } : {};
  const messages = [
    { role: "system", content: instructions },
    { role: "user", content: prompt },
  ];
  const asked = { model: "chat", messages, max_completion_tokens: 100 };
  return { path: "/v1/chat/completions", body: JSON.stringify({ ...asked, ...streaming }) };
}

/** Status 0 means no answer. The received part of a broken answer is kept. */
async function receive(url: string, init: RequestInit): Promise<Received> {
  let status = 0;
  let isReplay = false;
  const pieces: Uint8Array[] = [];
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
    status = response.status;
    isReplay = response.headers.get("idempotent-replayed") === "true";
    for await (const piece of response.body ?? []) pieces.push(piece);
    return { status, text: join(pieces), isWhole: true, isSent: true, isReplay };
  } catch (error) {
    // Killed, cut off or silent: each is what the run is about.
    return { status, text: join(pieces), isWhole: false, isSent: !isRefused(error), isReplay };
  }
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

/** Comments keep a connection alive and are not part of the answer. */
function join(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^:.*\n\n/gm, "");
}

function describe({ status, text, isWhole }: Received): string {
  return isWhole ? `${status} ${text.slice(0, 200)}` : `status ${status}, broken off`;
}
