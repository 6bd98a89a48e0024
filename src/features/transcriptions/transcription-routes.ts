import { createReadStream } from "node:fs";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { countStartedSeconds } from "../../lib/started-seconds.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeValidationProblem } from "../../platform/errors/validation-problem.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { compileValidator } from "../../platform/http/validation.ts";
import type { Recording } from "../../providers/transcription.ts";
import {
  type CallDirectory,
  type Calls,
  callErrors,
  fieldErrors,
  type IncomingCall,
  type PaidRoute,
  quotePlan,
} from "../calls/index.ts";
import type { Files, FormDescription, FormFile } from "../files/index.ts";
import type { Quotable } from "../quotes/index.ts";
import { checkAsked, prepareTranscription, type TranscriptionKinds } from "./prepare-transcription.ts";
import { transcriptTypes } from "./present-transcription.ts";
import { describeTranscriptionForm, readTranscriptionForm } from "./read-transcription-form.ts";
import {
  type TranscriptionFields,
  transcriptionBodySchema,
  transcriptionFieldsSchema,
  transcriptSchema,
  translationBodySchema,
  translationFieldsSchema,
} from "./transcription-schema.ts";

export type Transcriptions = { addRoutes(v1: HttpServer): void; quotables: readonly Quotable[] };

type TranscriptionDependencies = CallDirectory & {
  calls: Calls;
  files: Pick<Files, "acceptForms" | "receiveForm" | "inspectSound">;
};

const common = `Send the file as \`multipart/form-data\`. A file that is damaged, has no sound or is too long for the model is
rejected and costs nothing. With an \`Idempotency-Key\` you can safely retry: the call runs once and you pay once.`;

const operations = [
  {
    endpoint: "createTranscription",
    path: "/audio/transcriptions",
    task: "transcribe",
    summary: "Create a transcription",
    description: `Transcribes a recording in its own language. ${common}`,
    types: [...transcriptTypes, "text/event-stream"],
    body: transcriptionBodySchema,
    fields: transcriptionFieldsSchema,
  },
  {
    endpoint: "createTranslation",
    path: "/audio/translations",
    task: "translate",
    summary: "Create a translation",
    description: `Transcribes a recording into English. The model needs the capability \`translation\`. ${common}`,
    types: transcriptTypes,
    body: translationBodySchema,
    fields: translationFieldsSchema,
  },
] as const;
type Operation = (typeof operations)[number];

const form: FormDescription = {
  names: "`file` and `model`",
  param: "file",
  filesMax: 4,
  fieldsMax: 32,
  fieldBytesMax: 100_000,
  fileNames: ["file"],
};

const ownErrors = [
  "malformed_request",
  ...fieldErrors,
  "prompt_too_long",
  "invalid_file",
  ...callErrors,
] as const satisfies readonly ErrorCode[];

export function createTranscriptions(dependencies: TranscriptionDependencies): Transcriptions {
  return {
    quotables: operations.map((operation) => describeQuotable(operation, dependencies)),
    addRoutes(v1) {
      v1.register(async (http: HttpServer) => {
        await dependencies.files.acceptForms(http, form);
        for (const operation of operations) addRoute(http, operation, dependencies);
      });
    },
  };
}

function addRoute(http: HttpServer, operation: Operation, dependencies: TranscriptionDependencies): void {
  const { endpoint, path, summary, description, types, body, fields } = operation;
  const { config, schema, errors } = describeEndpoint(endpoint, ownErrors);
  const parseFields = createParser(path, fields);
  const { files } = dependencies;
  http.post(
    path,
    {
      config,
      // The body schema is for the API reference: the form is a stream, which is validated while it is read.
      validatorCompiler: (given) => (given.httpPart === "body" ? () => true : compileValidator(given)),
      schema: {
        ...{ ...schema, summary, description, tags: ["Transcription"], consumes: ["multipart/form-data"], body },
        headers: describeHeaders("idempotency-key", "x-quote-id"),
        ...describeAnswers({ 200: { types } }),
        response: { 200: Type.Unsafe<string>(transcriptSchema), ...errors },
      },
    },
    async (request, reply) => {
      const received = await files.receiveForm(request, reply, form);
      let isHandedOver = false;
      try {
        const sent = readTranscriptionForm(received.entries);
        const fields = parseFields(sent.fields);
        if (request.headers["idempotency-key"] !== undefined) request.rawBody = describeTranscriptionForm(sent);
        const { file } = sent;
        isHandedOver = await answer(dependencies, { operation, file, fields, request, reply, onOver: received.remove });
      } finally {
        if (!isHandedOver) await received.remove();
      }
      return reply;
    },
  );
}

type QuotedFields = TranscriptionFields & { duration_seconds: number };

const durationSeconds = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 });

/** A quote has the recording's length in place of the file. */
function describeQuotable(
  { endpoint, path, task, fields: { properties } }: Operation,
  { catalog, registry, clock }: TranscriptionDependencies,
): Quotable {
  return {
    ...{ endpoint, path },
    schema: Type.Object({ ...properties, duration_seconds: durationSeconds }, { additionalProperties: false }),
    open: requireNoFile,
    describe: (body) => describeQuoted(body as TranscriptionFields, (body as QuotedFields).duration_seconds * 1000),
    quote({ caller, body, requestId }) {
      const { duration_seconds: seconds, ...fields } = body as QuotedFields;
      const recording: Recording = { ...unreadRecording, durationMs: Math.round(seconds * 1000) };
      const asked = { caller, task, fields, fileBytes: 0, requestId, recording };
      return quotePlan(prepareTranscription({ catalog, registry, clock }, asked));
    },
  };
}

const unreadRecording: Recording = {
  ...{ contentType: "audio/mpeg", durationMs: 0, bytes: 0 },
  open: () => Promise.reject(new Error("a quoted recording is not read")),
};

function requireNoFile(body: unknown): void {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "file")) return;
  const message = "A file can't be quoted. Send its length as `duration_seconds` instead.";
  throw new AppError("unknown_parameter", message, { param: "file" });
}

/** A recording is charged by its started seconds. */
function describeQuoted(fields: TranscriptionFields, durationMs: number): unknown {
  return { ...fields, duration_seconds: countStartedSeconds(durationMs) };
}

function createParser(path: string, schema: Operation["fields"]): (fields: unknown) => TranscriptionFields {
  const validate = compileValidator({ schema, method: "POST", url: path, httpPart: "body" });
  return (fields) => {
    if (validate(fields) === true) return fields as TranscriptionFields;
    const { code, message, param } = describeValidationProblem(validate.errors ?? [], "body");
    throw new AppError(code, message, param === null ? {} : { param });
  };
}

type Received = {
  operation: Operation;
  file: FormFile;
  fields: TranscriptionFields;
  request: FastifyRequest;
  reply: FastifyReply;
  onOver(): Promise<void>;
};

/** Returns true if a call has taken the file. The call then runs `onOver` once it no longer needs it. */
async function answer(dependencies: TranscriptionDependencies, received: Received): Promise<boolean> {
  const { calls, files, catalog, registry, clock } = dependencies;
  const { operation, file, fields, request, reply, onOver } = received;
  const path = `/v1${operation.path}`;
  const asked = { caller: getCaller(request), task: operation.task, fields };
  const directory = { catalog, registry, clock };
  const fileBytes = file.spooled.bytes;
  // Replay before inspecting the file: a repeated request needs no second inspection.
  if (await calls.replay<TranscriptionKinds>({ path, prepare: neverPrepared }, request, reply)) return false;
  checkAsked(directory, { ...asked, fileBytes });
  const { contentType, durationMs } = await files.inspectSound(file, { param: "file" });
  const open = async () => createReadStream(file.spooled.path);
  const recording: Recording = { contentType, durationMs, bytes: fileBytes, open };
  const route: PaidRoute<TranscriptionKinds> = {
    path,
    quotedBody: describeQuoted(fields, durationMs),
    prepare: ({ requestId }: IncomingCall) =>
      prepareTranscription(directory, { ...asked, fileBytes, requestId, recording }),
    onOver: () => void onOver(),
  };
  calls.answer(route, request, reply);
  return true;
}

function neverPrepared(): never {
  throw new Error("calls.replay prepares nothing");
}
