import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { presentMoney } from "../../lib/money.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { presentError, toAppError } from "../../platform/http/error-response.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { takeOver } from "../../platform/http/take-over.ts";
import type { AudioFormat } from "../../providers/generation.ts";
import { type Claim, type KeptAnswer, parseIdempotencyKey, recallAnswer } from "../idempotency/index.ts";
import { checkSpeech } from "./check-generation.ts";
import {
  type GenerationRouteParts,
  presentSubmissionHeaders,
  submissionAnswer,
  submissionErrors,
  submit,
} from "./generation-routes.ts";
import { type SpeechBody, speechRequestSchema } from "./generation-schema.ts";
import { parsePrefer } from "./prefer.ts";
import { prepareMedia } from "./prepare-media.ts";
import { admitSpeech, type CheckedSpeech, checkSpeechCall, runSpeech, type SpeakParts } from "./speak.ts";
import { presentNow, watchCaller } from "./task-routes.ts";
import { taskSchema } from "./task-schema.ts";
import { findTask } from "./task-store.ts";
import { keptTaskType } from "./write-submissions.ts";

export type SpeechRouteParts = GenerationRouteParts & SpeakParts & { counters: Counters };

const path = "/audio/speech";
const contentTypes = { mp3: "audio/mpeg", wav: "audio/wav", pcm: "audio/pcm" } as const satisfies Record<
  AudioFormat,
  string
>;

const description = `Says a text. The answer is the audio itself, as it is made. With \`Prefer: respond-async\` it is a task like those of
the other media. With an \`Idempotency-Key\` the call can be sent again: it is done and paid once.`;

export function addSpeechRoutes(http: HttpServer, parts: SpeechRouteParts): void {
  const { config, schema, errors } = describeEndpoint("createSpeech", [
    ...submissionErrors,
    "already_completed",
    "content_policy_violation",
    "upstream_unavailable",
    "upstream_timeout",
  ]);
  http.post(
    path,
    {
      config,
      schema: {
        ...schema,
        summary: "Say a text",
        description,
        tags: ["Speech"],
        headers: describeHeaders("idempotency-key", "prefer"),
        ...describeAnswers({ 200: { types: Object.values(contentTypes) }, 202: submissionAnswer }),
        body: speechRequestSchema,
        response: { 200: Type.Unsafe<Buffer>(Type.String({ description: "The audio." })), 202: taskSchema, ...errors },
      },
    },
    async (request, reply) => {
      if (parsePrefer(request.headers.prefer).isAsync) {
        const known = await recallSpeech(parts, request);
        if (known !== null) return await replay(parts, reply, known);
        reply.header("preference-applied", "respond-async");
        return await submit<SpeechBody>(parts, { request, reply, path, prepare: prepareMedia(parts, checkSpeech) });
      }
      return await speak(parts, request, reply);
    },
  );
}

/** Says the text into the answer as it is made. The answer ends when its charge is durable. */
async function speak(parts: SpeechRouteParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = getCaller(request);
  const keyed = readKey(request);
  const known = await recallSpeech(parts, request);
  if (known !== null) return await replay(parts, reply, known);
  const { speech, headers } = checkSpeechCall(parts, {
    caller,
    body: request.body as SpeechBody,
    requestId: request.id,
  });
  reply.headers(headers);
  const admission = await admitSpeech(parts, speech, { keyed, seen: request.limits ?? undefined });
  if (admission.kind === "answered") return await replay(parts, reply, admission.answer);
  request.limits = admission.limits;
  return await deliver(parts, { request, reply, speech, claim: admission.claim });
}

/** Of the method, the path and the bytes as they were sent. */
function readKey(request: FastifyRequest): { key: string; fingerprint: Buffer } | null {
  const key = parseIdempotencyKey(request.headers["idempotency-key"]);
  if (key === null || request.rawBody === null) return null;
  const text = Buffer.concat([Buffer.from(`POST ${path}\n`), request.rawBody]);
  return { key, fingerprint: hash("sha256", text, "buffer") };
}

/** What the same request was answered before, be it audio or a task. */
async function recallSpeech(parts: SpeechRouteParts, request: FastifyRequest): Promise<KeptAnswer | null> {
  const keyed = readKey(request);
  return keyed === null ? null : await recallAnswer(parts, { accountId: getCaller(request).accountId, ...keyed });
}

async function replay(parts: SpeechRouteParts, reply: FastifyReply, kept: KeptAnswer): Promise<FastifyReply> {
  reply.header("idempotent-replayed", "true");
  const { status, contentType, body, summary } = kept;
  if (body === null) {
    const message = `This request was answered already, at too great a length to keep. ${summary}`;
    throw new AppError("already_completed", message, { param: "Idempotency-Key" });
  }
  if (contentType !== keptTaskType) {
    if (status >= 500) reply.header("x-should-retry", "false");
    return reply.code(status).type(contentType).send(body);
  }
  const task = await findTask(parts.database, body.toString());
  const answer = task === null ? null : await presentNow(parts, task);
  if (task !== null) reply.headers(presentSubmissionHeaders(parts, task));
  return reply.code(status).type("application/json; charset=utf-8").send(JSON.stringify(answer));
}

type Delivery = { request: FastifyRequest; reply: FastifyReply; speech: CheckedSpeech; claim: Claim | null };

async function deliver(parts: SpeechRouteParts, { request, reply, speech, claim }: Delivery): Promise<FastifyReply> {
  const { format } = speech.request;
  const contentType = contentTypes[format];
  let opened: ServerResponse | null = null;

  function open(): ServerResponse {
    const { clock } = parts;
    const { response, headers } = takeOver(reply, {
      clock,
      answer: "going-on",
      headers: { "content-type": contentType },
    });
    return response.writeHead(200, headers);
  }

  const end = await runSpeech(parts, speech, {
    claim,
    contentType,
    // With a key the audio is kept for whoever asks again, whether anybody listens or not.
    hungUp: claim === null ? watchCaller(reply) : new AbortController().signal,
    presentFailure: (error) => presentError(toAppError(error, request), request.id),
    async write(chunk) {
      opened ??= open();
      if (!opened.destroyed && !opened.write(chunk)) await untilDrained(opened);
    },
  });
  request.logFields = {
    model: speech.modelId,
    characters: Number(end.spoken),
    charge: presentMoney(end.charge),
  };
  if (end.hasHungUp) {
    const { accountId, keyId } = speech.caller;
    const fields = { request_id: request.id, account_id: accountId, key_id: keyId, hung_up: true };
    parts.logger.info({ ...fields, ...request.logFields }, "a call was settled after its caller hung up");
  }
  if (end.failure !== null && opened === null) throw end.failure;
  const response = opened ?? open();
  // A break in the transfer is the only way to say that the rest is missing.
  if (end.failure !== null) response.destroy();
  else response.end();
  return reply;
}

const readerMsMax = 60_000;

/** A reader who takes nothing for a minute has gone. */
async function untilDrained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => response.destroy(), readerMsMax);
  response.once("drain", resolve).once("close", resolve);
  await promise;
  clearTimeout(timer);
  response.off("drain", resolve).off("close", resolve);
}
