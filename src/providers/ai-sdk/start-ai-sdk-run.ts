import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  LanguageModelV4,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4Warning,
} from "@ai-sdk/provider";
import type { Clock } from "../../lib/clock.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import type { UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import type { Fetch, FetchCall, UpstreamFetch } from "../../platform/net/upstream-fetch.ts";
import { defaultCacheControl } from "../cache-control.ts";
import {
  type ChatAnswer,
  type ChatCall,
  type ChatPiece,
  type ChatRun,
  type ChatSink,
  ProviderError,
} from "../contract.ts";
import { type AnswerOptions, convertAnswer, createAnswerStream } from "./convert-answer.ts";
import { convertError, convertErrorBody } from "./convert-error.ts";
import { convertRequest } from "./convert-request.ts";
import type { Dialect } from "./dialects.ts";
import { type FetchImage, fetchImages } from "./fetch-images.ts";
import { findObstacle } from "./find-obstacle.ts";
import { readField } from "./read-json.ts";
import { findSchemaFailure, reparseAnswer, reparseEvent } from "./repair-answer.ts";
import { createMediaSplice } from "./splice-media.ts";

/** Creates the SDK's model, which may reach the vendor only through the given `fetch`. */
export type CreateModel<M = LanguageModelV4> = (model: {
  upstreamModel: string;
  apiKey: string | null;
  fetch: Fetch;
}) => Promise<M>;

export type AiSdkRun = ChatRun & {
  /** Settles when nothing of the run is left. */
  ended: Promise<void>;
};

type AiSdkRunContext = AnswerOptions & {
  createModel: CreateModel;
  /** Whether the package sends media as it gets it, so that stand-ins can be replaced in the body. */
  isMediaSpliced: boolean;
  fetchImage: FetchImage;
  clock: Clock;
  upstream: UpstreamFetch;
};

/** How long a connection may take to end after a complete answer, so that it can be reused. */
const lingerMsMax = 1000;

export function startAiSdkRun(call: ChatCall, sink: ChatSink, context: AiSdkRunContext): AiSdkRun {
  const { dialect, clock } = context;
  const connection = context.upstream.openCall({ timeouts: call.timeouts, onHead: accept });
  const gate = createGate();
  const pieces: ChatPiece[] = [];
  let flushTimer: NodeJS.Immediate | null = null;
  let isAccepted = false;
  let isOver = false;

  function accept(status: number, headers: UpstreamHeaders): void {
    if (!isOver) sink.onHead?.(headers);
    if (isOver || isAccepted || status < 200 || status > 299) return;
    isAccepted = true;
    sink.onAccepted();
  }

  function flush(): void {
    if (flushTimer !== null) clearImmediate(flushTimer);
    flushTimer = null;
    if (!isOver && pieces.length > 0) sink.onPieces(pieces.splice(0));
  }

  function finish(tell: () => void): void {
    if (isOver) return;
    flush();
    isOver = true;
    tell();
  }

  async function run(): Promise<void> {
    try {
      const prepared = await untilEnded(connection, prepareCall(call, context, connection));
      // The package serializes the whole request twice: yield to the event loop first.
      await nextTurn();
      if (call.request.stream) await stream(prepared);
      else await generate(prepared);
    } catch (error) {
      finish(() => sink.onError(toProviderError(error, connection, clock)));
    } finally {
      connection.end();
    }
  }

  async function generate(prepared: PreparedCall): Promise<void> {
    const result = await untilEnded(connection, prepared.generate());
    checkWarnings(result.warnings, dialect);
    const answer = readAnswer(result, context);
    finish(() => sink.onAnswer(answer));
  }

  async function stream(prepared: PreparedCall): Promise<void> {
    const { stream: upstreamParts } = await untilEnded(connection, prepared.stream());
    const answer = createAnswerStream(context);
    const reader = upstreamParts.getReader();
    while (!isOver && !answer.isFinished) {
      await gate.passed();
      const { done, value } = await reader.read();
      if (done) throw new ProviderError("bad-answer", "The upstream's stream ended without a finish reason.");
      if (isRefusedEvent(value)) {
        for (const part of await prepared.reparseEvent(value)) pieces.push(...answer.convertPart(part));
      } else {
        checkPart(value, dialect, clock);
        pieces.push(...answer.convertPart(value));
      }
      // Deliver the pieces of one network read together: all are here before the next turn of the event loop.
      if (pieces.length > 0) flushTimer ??= setImmediate(flush);
    }
    finish(() => sink.onEnd(answer.usage));
    await linger(reader, connection);
  }

  return {
    pause() {
      gate.close();
      connection.pause();
    },
    resume() {
      gate.open();
      connection.resume();
    },
    cancel() {
      isOver = true;
      connection.end();
      gate.open();
    },
    ended: run(),
  };
}

function readAnswer(result: LanguageModelV4GenerateResult, context: AnswerOptions): ChatAnswer {
  const answer = convertAnswer(result, context);
  if (answer === null) throw new ProviderError("bad-answer", "The upstream's response is empty.");
  return answer;
}

type PreparedCall = {
  generate(): Promise<LanguageModelV4GenerateResult>;
  stream(): PromiseLike<LanguageModelV4StreamResult>;
  /** The parts of an event that the package rejected. Throws if none can be recovered. */
  reparseEvent(part: ErrorPart): Promise<readonly LanguageModelV4StreamPart[]>;
};

type ErrorPart = Extract<LanguageModelV4StreamPart, { type: "error" }>;

/** Everything that is needed before the vendor is called. */
async function prepareCall(
  { request, upstreamModel, apiKey, outputTokensMax, cacheControl = defaultCacheControl }: ChatCall,
  { dialect, createModel, isMediaSpliced, fetchImage, seal }: AiSdkRunContext,
  { fetch, signal }: FetchCall,
): Promise<PreparedCall> {
  const obstacle = findObstacle(request, dialect, upstreamModel);
  if (obstacle !== null) throw new ProviderError("rejected", obstacle.message, { param: obstacle.param });
  const images = await fetchImages(request, { fetchImage, signal });
  const media = createMediaSplice();
  const model = await createModel({ upstreamModel, apiKey, fetch: media.restore(fetch) });
  const options = convertRequest(request, {
    ...{ dialect, upstreamModel, outputTokensMax, seal, images, cacheControl },
    ...(isMediaSpliced ? { hideMedia: media.hide } : {}),
  });
  const asked = { ...options, abortSignal: signal };
  /** A model that gets this body as its response. */
  const createReplay = (body: string, contentType: string): Promise<LanguageModelV4> => {
    const answer = async (): Promise<Response> => new Response(body, { headers: { "content-type": contentType } });
    return createModel({ upstreamModel, apiKey, fetch: answer });
  };
  return {
    generate: () =>
      Promise.resolve(model.doGenerate(asked)).catch((error: unknown) =>
        reparseAnswer(error, async (body) => (await createReplay(body, "application/json")).doGenerate(asked)),
      ),
    stream: () => model.doStream(asked),
    reparseEvent: ({ error }) =>
      reparseEvent(error, async (body) => (await createReplay(body, "text/event-stream")).doStream(asked)),
  };
}

/** Rejects as soon as the call ends, even if `work` never settles. */
export function untilEnded<T>({ signal }: FetchCall, work: PromiseLike<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const end = (): void => reject(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  Promise.resolve(work)
    .finally(() => signal.removeEventListener("abort", end))
    .then(resolve, reject);
  return promise;
}

/** Whether it is a vendor's event that the package rejects. */
function isRefusedEvent(part: LanguageModelV4StreamPart): part is ErrorPart {
  return part.type === "error" && findSchemaFailure(part.error) !== null;
}

/** Throws for parts that end an answer. */
function checkPart(part: LanguageModelV4StreamPart, dialect: Dialect, clock: Clock): void {
  if (part.type === "stream-start") checkWarnings(part.warnings, dialect);
  if (part.type === "error") throw convertError(part.error, clock.now());
  const broken = part.type === "raw" ? readField(part.rawValue, "error") : undefined;
  if (broken !== undefined && broken !== null) throw convertErrorBody(broken, clock.now());
}

export function toProviderError(error: unknown, { failure }: FetchCall, clock: Clock): ProviderError {
  if (error instanceof ProviderError) return error;
  // The configured package cannot be used; that it is installed was checked before.
  if (error instanceof OperatorError) return new ProviderError("misconfigured", error.message);
  if (failure === null) return convertError(error, clock.now());
  return new ProviderError(failure.kind, `The upstream failed: ${failure.kind}.`, {
    detail: { reason: failure.reason },
  });
}

async function linger(
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  connection: FetchCall,
): Promise<void> {
  const timer = setTimeout(connection.end, lingerMsMax);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer was complete, so a broken connection does not matter.
  } finally {
    clearTimeout(timer);
  }
}

/** Blocks a loop while closed. */
function createGate() {
  let closed: PromiseWithResolvers<void> | null = null;
  return {
    close() {
      closed ??= Promise.withResolvers();
    },
    open() {
      closed?.resolve();
      closed = null;
    },
    async passed(): Promise<void> {
      while (closed !== null) await closed.promise;
    },
  };
}

/** Request fields by the SDK's names. */
const paramsOfFeatures: ReadonlyMap<string, string> = new Map([
  ["frequencyPenalty", "frequency_penalty"],
  ["presencePenalty", "presence_penalty"],
  ["providerOptions.anthropic.effort", "reasoning_effort"],
  ["providerOptions.anthropic.thinking", "reasoning_effort"],
  ["reasoning", "reasoning_effort"],
  ["responseFormat", "response_format"],
  ["seed", "seed"],
  ["stopSequences", "stop"],
  ["strict", "tools"],
  ["temperature", "temperature"],
  ["toolChoice", "tool_choice"],
  ["topK", "top_k"],
  ["topP", "top_p"],
]);

/**
 * Treats a package's warning that it dropped a part of the request as a rejection: the answer would be to another
 * question. `findObstacle` should have caught it.
 */
function checkWarnings(warnings: readonly SharedV4Warning[], dialect: Dialect): void {
  for (const warning of warnings) {
    if (warning.type !== "unsupported" || dialect.harmlessWarnings.has(warning.feature)) continue;
    throw new ProviderError("rejected", "The vendor's package dropped a part of the request.", {
      param: paramsOfFeatures.get(warning.feature) ?? null,
      detail: { feature: warning.feature },
    });
  }
}
