import type { Clock } from "../../lib/clock.ts";
import type { UpstreamError, UpstreamHandler, UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import { createUpstreamPool } from "../../platform/net/upstream-pool.ts";
import { type ChatCall, type ChatProvider, type ChatSink, ProviderError } from "../contract.ts";
import { buildUpstreamBody, isAskedFor, isStreamNeeded, type UpstreamHabits } from "./build-upstream-request.ts";
import { capOutput } from "./cap-output.ts";
import { createKnownForms, type KnownForms } from "./choices-form.ts";
import { collectAnswer } from "./collect-answer.ts";
import { type AnswerReader, createBadAnswer, createOutlet, type Outlet } from "./outlet.ts";
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

const connectTimeoutMs = 30_000;
const bearer = { name: "authorization", prefix: "Bearer " };

/** Chat by the API that OpenAI made common: its own, and that of everybody who copied it. */
export function createOpenAiCompatible(options: OpenAiCompatibleOptions): ChatProvider {
  const { clock, connectionsMax, authHeader = bearer } = options;
  const { origin, pathname, search } = new URL(options.baseUrl);
  const path = `${pathname.replace(/\/+$/, "")}/chat/completions${search}`;
  const pool = createUpstreamPool({ origin, clock, connectTimeoutMs, connectionsMax });
  const headers = {
    stream: listHeaders({ accept: "text/event-stream" }, options.headers),
    whole: listHeaders({ accept: "application/json" }, options.headers),
  };

  const forms = createKnownForms();
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
      const outlet = createOutlet({
        sink,
        onOver: (rest) => (rest === "drained" ? upstream.drain() : upstream.cancel()),
      });
      const upstream = pool.dispatch(
        {
          path,
          headers: getHeaders(call.apiKey)[isStreamNeeded(call.request, options) ? "stream" : "whole"],
          body: buildUpstreamBody(call, options),
          timeouts: call.timeouts,
        },
        createHandler({ call, sink, outlet, clock, forms, habits: options }),
      );
      return {
        pause: upstream.pause,
        resume: upstream.resume,
        cancel() {
          outlet.shut();
          upstream.cancel();
        },
      };
    },

    close: () => pool.close(),
  };
}

type HandlerParts = {
  call: ChatCall;
  sink: ChatSink;
  outlet: Outlet;
  clock: Clock;
  forms: KnownForms;
  habits: UpstreamHabits;
};

/** Looks at the head of an answer and has the rest read by whoever can. */
function createHandler(parts: HandlerParts): UpstreamHandler {
  const { outlet, sink } = parts;
  let reader: AnswerReader | null = null;
  return {
    onHead(status, headers) {
      if (!outlet.isOpen()) return;
      const readError = (body: unknown): ProviderError =>
        readUpstreamError({ status, headers, body, clock: parts.clock });
      if (status >= 400) {
        reader = createRefusalReader(outlet, readError);
      } else if (status >= 300) {
        outlet.fail(createBadAnswer("The upstream wants to send us elsewhere.", { status }));
      } else if (!isPlainText(headers)) {
        outlet.fail(createBadAnswer("The answer is compressed, though nobody asked for that."));
      } else {
        reader = chooseReader(headers, readError, parts);
        sink.onAccepted();
      }
    },
    onData: (chunk) => reader?.add(chunk),
    onEnd: () => reader?.end(),
    onError(error) {
      const translated = translateError(error);
      if (reader === null) outlet.fail(translated);
      else reader.fail(translated);
    },
  };
}

/** The answer decides in which form it is read, and the caller in which form it is told. */
function chooseReader(
  headers: UpstreamHeaders,
  readError: (body: unknown) => ProviderError,
  { call, habits, forms, outlet }: HandlerParts,
): AnswerReader {
  const { request, outputTokensMax } = call;
  const isStreamWanted = request.stream === true;
  const choicesAsked = request.n ?? 1;
  const type = String(headers["content-type"] ?? "");
  // Where the type says neither, it is what was asked for.
  const isStream = type.includes("event-stream") || (isStreamNeeded(request, habits) && !type.includes("json"));
  let into = isStreamWanted || !isStream ? outlet : collectAnswer(outlet);
  if (habits.outputCapField === "none") into = capOutput(into, outputTokensMax * choicesAsked);
  return isStream
    ? createStreamReader({ outlet: into, choicesAsked, forms, readError })
    : createAnswerReader({ outlet: into, isStreamWanted, readError });
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
