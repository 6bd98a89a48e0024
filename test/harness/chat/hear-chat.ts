import { nano, presentMoney } from "../../../src/lib/money.ts";
import { waitUntil } from "../wait-until.ts";
import type { ChatCaller } from "./chat-gateway.ts";

type HeardUsage = {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
  charge: string;
};

type HeardChoice = {
  message?: { content: string | null };
  delta?: { content?: string | null };
  finish_reason: string | null;
};

/** A whole answer, or a chunk of one. */
type HeardBody = { choices?: HeardChoice[]; usage?: HeardUsage | null; stopped_by?: string; error?: HeardError };
type HeardError = { code: string; message: string; type: string; param: string | null };

/** What a customer received for a call, whole or as a stream. */
export type Heard = {
  status: number;
  headers: Headers;
  /** The model's text, all choices in the order of arrival. */
  text: string;
  finishReasons: string[];
  stoppedBy: string | null;
  usage: HeardUsage | null;
  error: HeardError | null;
  /** Whether a stream ended with its end marker; a whole answer has none. */
  isDone: boolean;
  bodies: HeardBody[];
};

/** A question in one message, serialized, so that its bytes can be counted. */
export function writeQuestion(model: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], ...more });
}

/** The input that a hold covers: each byte of the body, and the tokens that vendors may add per message. */
export function boundInput(question: string): number {
  return Buffer.byteLength(question) + 16;
}

/** The price of tokens in the chat catalog: 1.00, 0.50 if cached, and 2.00 per thousand. */
export function priceOf({ input = 0, cached = 0, output = 0 }: Partial<Record<"input" | "cached" | "output", number>>) {
  return presentMoney(
    nano(BigInt(input - cached) * 1_000_000n + BigInt(cached) * 500_000n + BigInt(output) * 2_000_000n),
  );
}

export async function askChat(caller: ChatCaller, question: string): Promise<Heard> {
  return await hearAll(await caller.post(question));
}

/** A streamed answer that is read as it arrives. */
export type OpenAnswer = {
  heard: Heard;
  /** Resolves when this text has arrived. */
  said(text: string): Promise<void>;
  /** Closes the connection. */
  hangUp(): void;
  /** Resolves at the end of the answer. */
  ended: Promise<Heard>;
};

export async function openAnswer(caller: ChatCaller, question: string): Promise<OpenAnswer> {
  const controller = new AbortController();
  const response = await caller.post(question, { signal: controller.signal });
  const heard = createHeard(response);
  const ended = hearBody(response, heard).catch((error: unknown) => {
    if (!controller.signal.aborted) throw error;
  });
  return {
    heard,
    said: async (text) => void (await waitUntil(`“${text}” to be said`, () => heard.text === text)),
    hangUp: () => controller.abort(),
    ended: ended.then(() => heard),
  };
}

async function hearAll(response: Response): Promise<Heard> {
  const heard = createHeard(response);
  await hearBody(response, heard);
  return heard;
}

function createHeard({ status, headers }: Response): Heard {
  const nothing = { text: "", finishReasons: [], stoppedBy: null, usage: null, error: null, isDone: false, bodies: [] };
  return { status, headers, ...nothing };
}

async function hearBody(response: Response, heard: Heard): Promise<void> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream) return hear((await response.json()) as HeardBody, heard);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      if (event === "data: [DONE]") heard.isDone = true;
      else if (event.startsWith("data: ")) hear(JSON.parse(event.slice("data: ".length)) as HeardBody, heard);
    }
  }
}

function hear(body: HeardBody, heard: Heard): void {
  heard.bodies.push(body);
  heard.usage = body.usage ?? heard.usage;
  heard.stoppedBy = body.stopped_by ?? heard.stoppedBy;
  heard.error = body.error ?? heard.error;
  for (const { message, delta, finish_reason: reason } of body.choices ?? []) {
    heard.text += message?.content ?? delta?.content ?? "";
    if (reason !== null) heard.finishReasons.push(reason);
  }
}
