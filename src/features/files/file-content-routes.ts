import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../platform/errors/app-error.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { errorAnswers } from "../../platform/http/error-answers.ts";
import { presentError } from "../../platform/http/error-response.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import type { Thumbnails } from "./create-thumbnails.ts";
import type { StoredFile } from "./file.ts";
import { planContent, presentSafeHeaders } from "./file-content.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { isLinkValid } from "./file-link.ts";
import { renameFile } from "./filename.ts";
import { createFileNotFound, getLinkedFile, getOwnFile, openFile } from "./get-file.ts";

/** Uploads and outputs; a drama's documents are JSON, and subtitles are text. */
const fileTypes = ["image/*", "audio/*", "video/*", "text/*"];

/** Only a file of the type `application/json` has it; all others are described as bytes or text. */
const documentSchema = Type.Object(
  { object: Type.Enum(["drama.script", "drama.roles", "drama.storyboard"]) },
  { additionalProperties: true, description: "The bytes of the file. A drama's documents are JSON." },
);

type NamedFile = { Params: { file_id: string } };

/** A file's content, for the account's API keys. */
export function addFileContentRoute(v1: HttpServer, dependencies: FileDependencies): void {
  const { config, schema, errors } = describeEndpoint("getFileContent", ["file_not_found", "unknown_parameter"]);
  const params = pathParams({ file_id: "file" });
  const querystring = Type.Object({}, { additionalProperties: false });

  async function answer(request: FastifyRequest<NamedFile>, reply: FastifyReply): Promise<FastifyReply> {
    const { accountId } = getCaller(request);
    const file = await getOwnFile(dependencies, request.params.file_id, { accountId, param: "file_id" });
    return await sendContent(dependencies, { file, request, reply, embedding: "same-origin" });
  }

  addReading(v1, "/files/:file_id/content", {
    config,
    schema: {
      ...schema,
      summary: "Get a file's content",
      description: "Returns the file's bytes. Use `Range` to get a part of them.",
      tags: ["Files"],
      params,
      querystring,
      headers: describeHeaders("range", "if-range", "if-none-match"),
      ...describeAnswers({
        200: { types: [...fileTypes, "application/json"], always: ["etag", "accept-ranges", "content-disposition"] },
        // A part of JSON is only bytes.
        206: {
          types: [...fileTypes, "application/*"],
          always: ["etag", "accept-ranges", "content-disposition", "content-range"],
        },
        304: { always: ["etag"] },
        416: { always: ["content-range"] },
      }),
      response: {
        200: Type.Unsafe<Buffer>(documentSchema),
        206: Type.Unsafe<Buffer>(Type.String({ description: "The requested range." })),
        304: Type.Null({ description: "Not modified." }),
        ...errors,
        416: errorAnswers(["invalid_parameter"])[400],
      },
    },
    answer,
  });
}

/** The targets of signed links. A wrong link, an expired link and a deleted file return the same error. */
export function addFileLinkRoute(http: HttpServer, dependencies: FileDependencies, thumbnails: Thumbnails): void {
  const { linkKey, clock } = dependencies;

  async function readLink(request: FastifyRequest<NamedFile>): Promise<StoredFile> {
    const { file_id: fileId } = request.params;
    const { expires, signature } = request.query as Record<string, unknown>;
    if (!isLinkValid(linkKey, { fileId, expires, signature }, clock.now())) throw createFileNotFound();
    return await getLinkedFile(dependencies, fileId);
  }

  async function answer(request: FastifyRequest<NamedFile>, reply: FastifyReply): Promise<FastifyReply> {
    const file = await readLink(request);
    const { download } = request.query as Record<string, unknown>;
    const named = typeof download === "string" ? { ...file, filename: renameFile(file.filename, download) } : file;
    return await sendContent(dependencies, { file: named, request, reply, embedding: "cross-origin" });
  }

  async function answerThumbnail(request: FastifyRequest<NamedFile>, reply: FastifyReply): Promise<FastifyReply> {
    const file = await readLink(request);
    const { contentType, bytes } = await thumbnails.read(file);
    return reply
      .headers({
        "content-type": contentType,
        ...presentSafeHeaders(file, clock.now()),
        "cross-origin-resource-policy": "cross-origin",
      })
      .send(bytes);
  }

  const schema = { hide: true, params: pathParams({ file_id: "page" }) };
  addReading(http, "/files/:file_id", { config: {}, schema, answer });
  addReading(http, "/files/:file_id/thumbnail", { config: {}, schema, answer: answerThumbnail });
}

type Reading = {
  config: object;
  schema: object;
  answer(request: FastifyRequest<NamedFile>, reply: FastifyReply): Promise<FastifyReply>;
};

/** The framework's default HEAD handler would read the whole file. */
function addReading(http: HttpServer, path: string, { config, schema, answer }: Reading): void {
  http.get<NamedFile>(path, { config, schema, exposeHeadRoute: false }, answer);
  http.head<NamedFile>(path, { config, schema: { ...schema, hide: true } }, answer);
}

type Sending = {
  file: StoredFile;
  request: FastifyRequest<NamedFile>;
  reply: FastifyReply;
  /** Which origins may embed the file. */
  embedding: "same-origin" | "cross-origin";
};

/** Sends a file or the requested range. A client that disconnects stops the read. */
async function sendContent(
  dependencies: FileDependencies,
  { file, request, reply, embedding }: Sending,
): Promise<FastifyReply> {
  const { range, "if-range": ifRange, "if-none-match": ifNoneMatch } = request.headers;
  const wanted = { range, ifRange: ifRange?.toString(), ifNoneMatch };
  const plan = planContent(file, wanted, dependencies.clock.now());
  reply.headers({ ...plan.headers, "cross-origin-resource-policy": embedding });
  if (plan.status === 416) return refuseRange(request, reply, file.bytes);
  reply.code(plan.status);
  if (plan.range === null || request.method === "HEAD") return reply.send();
  return reply.send(await openFile(dependencies, file, plan.range));
}

/** 416 is not in the error table. */
function refuseRange(request: FastifyRequest<NamedFile>, reply: FastifyReply, bytes: number): FastifyReply {
  const error = new AppError("invalid_parameter", `The range is outside the file's ${bytes} bytes.`, {
    param: "Range",
  });
  request.failure = error;
  return reply.code(416).type("application/json; charset=utf-8").send(presentError(error, request.id).body);
}
