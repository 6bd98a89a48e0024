import { systemClock } from "../../../src/lib/clock.ts";
import type { ChatRequest } from "../../../src/providers/chat-request.ts";
import type {
  ChatAnswer,
  ChatPiece,
  ChatProvider,
  ChatRun,
  ChatTimeouts,
  ChatUsage,
  ProviderError,
} from "../../../src/providers/contract.ts";
import {
  createOpenAiCompatible,
  type OpenAiCompatibleOptions,
} from "../../../src/providers/openai-compatible/create-openai-compatible.ts";
import { type RawStep, rawChunk, rawLastChunk, rawStreamHead, startRawUpstream } from "../upstreams/raw-upstream.ts";
import { waitUntil } from "../wait-until.ts";

const patient: ChatTimeouts = { connectMs: 30_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 30_000 };

export type Heard = {
  run: ChatRun;
  pieces: ChatPiece[];
  batches: number;
  usage: ChatUsage | null;
  answer: ChatAnswer | null;
  error: ProviderError | null;
  /** The callbacks in order; consecutive pieces are merged. */
  order: string[];
};

type Wish = Partial<ChatRequest> & {
  timeouts?: Partial<ChatTimeouts>;
  apiKey?: string | null;
  outputTokensMax?: number;
};

export function startChat(provider: ChatProvider, wish: Wish = {}, onPieces: (heard: Heard) => void = () => {}): Heard {
  const { timeouts = {}, apiKey = "sk-1", outputTokensMax = 100, ...request } = wish;
  const heard: Omit<Heard, "run"> = { pieces: [], batches: 0, usage: null, answer: null, error: null, order: [] };
  const run = provider.startChat(
    {
      request: { model: "ours", messages: [{ role: "user", content: "Hi" }], ...request },
      upstreamModel: "vendor-9",
      apiKey,
      outputTokensMax,
      timeouts: { ...patient, ...timeouts },
    },
    {
      onAccepted: () => heard.order.push("accepted"),
      onPieces(pieces) {
        heard.pieces.push(...pieces);
        heard.batches += 1;
        if (heard.order.at(-1) !== "pieces") heard.order.push("pieces");
        onPieces(whole);
      },
      onEnd(usage) {
        heard.usage = usage;
        heard.order.push("end");
      },
      onAnswer(answer) {
        heard.answer = answer;
        heard.order.push("answer");
      },
      onError(error) {
        heard.error = error;
        heard.order.push("error");
      },
    },
  );
  const whole = Object.assign(heard, { run });
  return whole;
}

export function isOver({ order }: Heard): boolean {
  return ["end", "answer", "error"].includes(order.at(-1) ?? "");
}

export async function openChatUpstream(more: Partial<OpenAiCompatibleOptions> = {}) {
  const upstream = await startRawUpstream();
  const provider = createOpenAiCompatible({
    baseUrl: `${upstream.origin}/v1`,
    headers: {},
    outputCapField: "max_completion_tokens",
    asksStreamUsage: true,
    reportsStreamUsage: true,
    vendorFields: new Set(),
    dialect: null,
    systemRole: "as-sent",
    unsupportedFields: [],
    connectionsMax: 10,
    clock: systemClock,
    ...more,
  });
  return {
    upstream,
    provider,
    /** Returns the callbacks for an answer of these bytes. */
    async ask(steps: readonly RawStep[], wish: Wish = { stream: true }): Promise<Heard> {
      upstream.answer(...steps);
      const heard = startChat(provider, wish);
      await waitUntil("the call to be over", () => isOver(heard));
      return heard;
    },
    async [Symbol.asyncDispose]() {
      await provider.close();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const envelope = {
  id: "chatcmpl-9",
  object: "x",
  created: 1,
  model: "vendor-9",
  system_fingerprint: "fp",
  provider: "Vendor",
};

export function event(choices: unknown[], more: object = {}): string {
  return `data: ${JSON.stringify({ ...envelope, choices, ...more })}\n\n`;
}

export function words(...texts: string[]): string {
  return texts.map((content) => event([{ index: 0, delta: { content }, finish_reason: null }])).join("");
}

export const stop = event([{ index: 0, delta: {}, finish_reason: "stop" }]);
export const done = "data: [DONE]\n\n";
export const reported = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
export const usage = {
  inputTokens: 7,
  outputTokens: 3,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
};

export function stream(...events: string[]): string[] {
  return [rawStreamHead, ...events.map(rawChunk), rawLastChunk];
}

export function textOf({ pieces }: Heard): string {
  return pieces.map(({ choices }) => JSON.parse(choices)[0].delta.content ?? "").join("");
}

export function completion(message: object, more: object = {}): object {
  return { ...envelope, choices: [{ index: 0, message, finish_reason: "stop" }], usage: reported, ...more };
}
