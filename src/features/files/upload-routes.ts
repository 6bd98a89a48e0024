import multipart from "@fastify/multipart";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { compileValidator } from "../../platform/http/validation.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { fileSchema, presentFile, uploadSchema } from "./file-schema.ts";
import type { RememberedAnswer } from "./keyed-requests.ts";
import { withUploadSlot } from "./limit-uploads.ts";
import { createTooLarge, type FormPart } from "./read-upload-form.ts";
import { uploadFile } from "./upload-file.ts";

const description = `Uploads one image, audio, video or PDF file as \`multipart/form-data\`. Its type is detected from its content: a damaged,
truncated or mislabeled file is rejected. With an \`Idempotency-Key\`, retries of the same upload are stored
once.`;

const uploadErrors = [
  "malformed_request",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "invalid_file",
  "idempotency_in_progress",
  "insufficient_balance",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
  "concurrency_limit_exceeded",
] as const satisfies readonly ErrorCode[];

/** More than a valid form needs, so that an invalid one gets a specific error. */
const formLimits = { fields: 8, files: 4, parts: 12, fieldSize: 2000 };
const envelopeBytesMax = 64 * 1024;

export function addUploadRoutes(v1: HttpServer, dependencies: FileDependencies): void {
  v1.register(async (http: HttpServer) => {
    await acceptForms(http, { ...formLimits, fileSize: dependencies.limits.uploadBytesMax + 1 });
    addUploadRoute(http, dependencies);
  });
}

export type FormLimits = { fields: number; files: number; parts: number; fieldSize: number; fileSize: number };

/** Makes the routes of a scope accept forms only. */
export async function acceptForms(http: HttpServer, limits: FormLimits): Promise<void> {
  http.removeAllContentTypeParsers();
  await http.register(multipart, {
    limits: { ...limits, fieldNameSize: 200, headerPairs: 32 },
    throwFileSizeLimit: false,
  });
  http.addContentTypeParser("*", (_request, _payload, done) => done(createNoForm()));
}

function addUploadRoute(http: HttpServer, dependencies: FileDependencies): void {
  const { counters, limits, keyedRequests } = dependencies;
  const { config, schema, errors } = describeEndpoint("createFile", uploadErrors);
  http.post(
    "/files",
    {
      config,
      // The body schema is for the reference only: the body is a stream, checked as it is read.
      validatorCompiler: (given) => (given.httpPart === "body" ? () => true : compileValidator(given)),
      schema: {
        ...schema,
        summary: "Upload a file",
        description,
        tags: ["Files"],
        consumes: ["multipart/form-data"],
        headers: describeHeaders("idempotency-key"),
        querystring: Type.Object({}, { additionalProperties: false }),
        body: uploadSchema,
        response: { 200: fileSchema, ...errors },
      },
    },
    async (request, reply) => {
      const { accountId } = getCaller(request);
      const key = keyedRequests.parseKey(request.headers["idempotency-key"]);
      checkHead(request, limits.uploadBytesMax);
      const outcome = await withUploadSlot(counters, { accountId, requestId: request.id }, () =>
        uploadFile(dependencies, {
          accountId,
          requestId: request.id,
          key,
          bytesMin: Number(request.headers["content-length"] ?? 0) - envelopeBytesMax,
          form: readParts(request),
          signal: watchCaller(reply),
        }),
      );
      if (outcome.kind === "answered") return replay(reply, outcome.answer);
      return presentFile(outcome.file);
    },
  );
}

/** Rejects what the headers alone show to be wrong. */
export function checkHead(request: FastifyRequest, bytesMax: number): void {
  if (!request.isMultipart()) throw createNoForm();
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new AppError("unsupported_media_type", "Compressed bodies are not supported. Send it without compression.", {
      param: "Content-Encoding",
    });
  }
  if (Number(request.headers["content-length"] ?? 0) > bytesMax + envelopeBytesMax) throw createTooLarge(bytesMax);
}

function createNoForm(): AppError {
  return new AppError("unsupported_media_type", "Send the file as multipart/form-data.", { param: "Content-Type" });
}

const uploadForm = { names: "`file` and `purpose`", param: "file" };

/** Yields the form's parts, and translates the parser's errors. */
export async function* readParts(
  request: FastifyRequest,
  form: { names: string; param: string } = uploadForm,
): AsyncIterable<FormPart> {
  try {
    for await (const part of request.parts()) {
      if (part.type === "field" && (part.fieldnameTruncated || part.valueTruncated)) {
        throw new AppError("invalid_parameter", "A field is too long.", { param: part.fieldname });
      }
      yield part.type === "file" ? { ...part, file: explainErrors(part.file, form) } : part;
    }
  } catch (error) {
    throw explainFormError(error, form);
  }
}

async function* explainErrors(
  file: AsyncIterable<Uint8Array>,
  form: { names: string; param: string },
): AsyncIterable<Uint8Array> {
  try {
    yield* file;
  } catch (error) {
    throw explainFormError(error, form);
  }
}

function explainFormError(error: unknown, { names, param }: { names: string; param: string }): unknown {
  if (error instanceof AppError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "FST_PROTO_VIOLATION") {
    return new AppError("unknown_parameter", "A field has a name that this request does not have.", { cause: error });
  }
  if (/^FST_(PARTS|FILES|FIELDS)_LIMIT$/.test(code)) {
    return new AppError("invalid_parameter", `The form has too many parts. Send ${names} only.`, {
      param,
      cause: error,
    });
  }
  return new AppError("malformed_request", `The body is not a complete form. Send ${names}.`, {
    param,
    cause: error,
  });
}

export function watchCaller(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const onClose = (): void => {
    if (!reply.raw.writableFinished) controller.abort(new Error("The client disconnected."));
  };
  reply.raw.once("close", onClose);
  if (reply.raw.destroyed) onClose();
  return controller.signal;
}

function replay(reply: FastifyReply, { status, contentType, body }: RememberedAnswer): FastifyReply {
  return reply.header("idempotent-replayed", "true").code(status).type(contentType).send(body);
}
