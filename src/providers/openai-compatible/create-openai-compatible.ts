import type { Clock } from "../../lib/clock.ts";
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHandler,
  UpstreamHeaders,
} from "../../platform/net/upstream-call.ts";
import { createConnect, createUpstreamPool } from "../../platform/net/upstream-pool.ts";
import { type ChatCall, type ChatProvider, type ChatRun, type ChatSink, ProviderError } from "../contract.ts";
import { buildUpstreamBody, isAskedFor, isStreamNeeded, type UpstreamHabits } from "./build-upstream-request.ts";
import { capOutput } from "./cap-output.ts";
import { createKnownForms, type KnownForms } from "./choices-form.ts";
import { collectAnswer } from "./collect-answer.ts";
import {
  type AnswerReader,
  createBadAnswer,
  createOutlet,
  type ErrorReader,
  type Outlet,
  type OutletOwner,
  type Rest,
} from "./outlet.ts";
import { createAnswerReader } from "./read-answer.ts";
import { createRefusalReader } from "./read-refusal.ts";
import { createStreamReader } from "./read-stream.ts";
import { readUpstreamError } from "./read-upstream-error.ts";

export type OpenAiCompatibleOptions = UpstreamHabits & {
  /** Up to where `/chat/completions` follows: `https://api.example.com/v1`. */
  baseUrl: string;
  /** Beyond the usual ones. */
  headers: Readonly<Record<string, string>>;
  /** How the key is sent. */
  authHeader?: { name: string; prefix: string };
  connectionsMax: number;
  clock: Clock;
};

const connectMs = 30_000;
const bearer = { name: "authorization", prefix: "Bearer " };

/** Chat by the API that OpenAI made common: its own, and that of everybody who copied it. */
export function createOpenAiCompatible(options: OpenAiCompatibleOptions): ChatProvider {
  const { clock, connectionsMax, authHeader = bearer } = options;
  const { origin, pathname, search } = new URL(options.baseUrl);
  const path = `${pathname.replace(/\/+$/, "")}/chat/completions${search}`;
  const pool = createUpstreamPool({ origin, clock, connect: createConnect({ timeoutMs: connectMs }), connectionsMax });
  const headers = {
    stream: listHeaders({ accept: "text/event-stream" }, options.headers),
    whole: listHeaders({ accept: "application/json" }, options.headers),
  };

  const context: ReadingContext = { clock, forms: createKnownForms(), habits: options };
  /** Made once for each key that calls are sent with. */
  const headersOfKeys = new Map<string, typeof headers>();

  function getHeaders(apiKey: string | null): typeof headers {
    if (apiKey === null) return headers;
    const known = headersOfKeys.get(apiKey);
    if (known !== undefined) return known;
    const secret = [authHeader.name, authHeader.prefix + apiKey];
    const made = { stream: [...secret, ...headers.stream], whole: [...secret, ...headers.whole] };
    headersOfKeys.set(apiKey, made);
    return made;
  }

  return {
    findObstacle(request) {
      const field = options.unsupportedFields.find((name) => isAskedFor(request, name));
      return field === undefined ? null : { param: field, message: `This model does not support \`${field}\`.` };
    },

    startChat(call, sink) {
      const chat = new OpenAiChat(context, call, sink);
      const { apiKey, traceparent = null } = call;
      const usual = getHeaders(apiKey)[isStreamNeeded(call.request, options) ? "stream" : "whole"];
      chat.upstream = pool.dispatch(
        {
          path,
          headers: traceparent === null ? usual : [...usual, "traceparent", traceparent],
          body: buildUpstreamBody(call, options),
          timeouts: call.timeouts,
        },
        chat,
      );
      return chat;
    },

    reportsStreamUsage: options.hasStreamUsage,
    close: () => pool.close(),
  };
}

type ReadingContext = { clock: Clock; forms: KnownForms; habits: UpstreamHabits };

const noHeaders: UpstreamHeaders = {};

/**
 * One call: looks at the head of its answer and has the rest read by whoever can. A class, because functions of its own
 * would be most of what a call keeps while its upstream is silent.
 */
class OpenAiChat implements ChatRun, UpstreamHandler, OutletOwner, ErrorReader {
  readonly sink: ChatSink;
  /** Set before anything is heard of it. */
  upstream: UpstreamCall | null = null;
  private readonly context: ReadingContext;
  private readonly call: ChatCall;
  private readonly outlet: Outlet;
  private reader: AnswerReader | null = null;
  private status = 0;
  private headers = noHeaders;

  constructor(context: ReadingContext, call: ChatCall, sink: ChatSink) {
    this.context = context;
    this.call = call;
    this.sink = sink;
    this.outlet = createOutlet(this);
  }

  pause(): void {
    this.upstream?.pause();
  }

  resume(): void {
    this.upstream?.resume();
  }

  cancel(): void {
    this.outlet.shut();
    this.upstream?.cancel();
  }

  onOver(rest: Rest): void {
    if (rest === "drained") this.upstream?.drain();
    else this.upstream?.cancel();
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    const { outlet } = this;
    if (!outlet.isOpen()) return;
    this.status = status;
    this.headers = headers;
    if (status >= 400) {
      this.reader = createRefusalReader(outlet, this);
    } else if (status >= 300) {
      outlet.fail(createBadAnswer("The upstream wants to send us elsewhere.", { status }));
    } else if (!isPlainText(headers)) {
      outlet.fail(createBadAnswer("The answer is compressed, though nobody asked for that."));
    } else {
      this.reader = this.chooseReader(headers);
      this.sink.onAccepted();
    }
  }

  onData(chunk: Buffer): void {
    this.reader?.add(chunk);
  }

  onEnd(): void {
    this.reader?.end();
  }

  onError(error: UpstreamError): void {
    const translated = translateError(error);
    if (this.reader === null) this.outlet.fail(translated);
    else this.reader.fail(translated);
  }

  readError(body: unknown): ProviderError {
    const { status, headers } = this;
    return readUpstreamError({ status, headers, body, clock: this.context.clock });
  }

  /** The answer decides in which form it is read, and the caller in which form it is told. */
  private chooseReader(headers: UpstreamHeaders): AnswerReader {
    const { habits, forms } = this.context;
    const { request, outputTokensMax } = this.call;
    const isStreamWanted = request.stream === true;
    const choicesAsked = request.n ?? 1;
    const type = String(headers["content-type"] ?? "");
    // Where the type says neither, it is what was asked for.
    const isStream = type.includes("event-stream") || (isStreamNeeded(request, habits) && !type.includes("json"));
    let outlet = isStreamWanted || !isStream ? this.outlet : collectAnswer(this.outlet);
    if (habits.outputCapField === "none") outlet = capOutput(outlet, outputTokensMax * choicesAsked);
    return isStream
      ? createStreamReader({ outlet, choicesAsked, forms, errors: this })
      : createAnswerReader({ outlet, isStreamWanted, errors: this });
  }
}

function isPlainText(headers: UpstreamHeaders): boolean {
  const encoding = headers["content-encoding"];
  return encoding === undefined || encoding === "identity";
}

function listHeaders(...sources: readonly Readonly<Record<string, string>>[]): string[] {
  const byName = new Map([
    ["content-type", "application/json"],
    ["user-agent", "sluice"],
  ]);
  for (const source of sources) {
    for (const [name, value] of Object.entries(source)) byName.set(name.toLowerCase(), value);
  }
  return [...byName].flat();
}

function translateError(error: UpstreamError): ProviderError {
  return new ProviderError(error.kind, error.message, { cause: error.cause ?? error });
}
