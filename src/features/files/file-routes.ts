import { Type } from "typebox";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import {
  deletedFileSchema,
  fileListQuerySchema,
  fileListSchema,
  fileSchema,
  presentFile,
  presentFileList,
} from "./file-schema.ts";
import { listFiles } from "./file-store.ts";
import { createFileNotFound, getOwnFile } from "./get-file.ts";

const filesStandard = 20;
const tags = ["Files"];
const params = pathParams({ file_id: "file" });
const querystring = Type.Object({}, { additionalProperties: false });
const oneFileErrors = ["file_not_found", "unknown_parameter"] as const satisfies readonly ErrorCode[];

export function addFileRoutes(http: HttpServer, dependencies: FileDependencies): void {
  addFileList(http, dependencies);
  addFileDetail(http, dependencies);
  addFileDeletion(http, dependencies);
}

function addFileList(http: HttpServer, { database, clock }: FileDependencies): void {
  const { config, schema, errors } = describeEndpoint("listFiles", ["invalid_parameter", "unknown_parameter"]);
  http.get(
    "/files",
    {
      config,
      schema: {
        ...schema,
        summary: "List files",
        description: "The account's uploads and the outputs of its ended tasks, newest first by default.",
        tags,
        querystring: fileListQuerySchema,
        response: { 200: fileListSchema, ...errors },
      },
    },
    async (request) => {
      const { limit = filesStandard, order = "desc", after, purpose } = request.query;
      const filter = { accountId: getCaller(request).accountId, unexpiredAt: clock.now(), hidesWithheld: true };
      const files = await listFiles(
        database,
        { ...filter, ...(purpose === undefined ? {} : { purpose }) },
        { ...(after === undefined ? {} : { after }), order, limit: limit + 1 },
      );
      return presentFileList(files, limit);
    },
  );
}

function addFileDetail(http: HttpServer, dependencies: FileDependencies): void {
  const { config, schema, errors } = describeEndpoint("getFile", oneFileErrors);
  http.get(
    "/files/:file_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a file",
        description: "Returns a file's metadata. Its bytes are at `/files/{file_id}/content`.",
        tags,
        params,
        querystring,
        response: { 200: fileSchema, ...errors },
      },
    },
    async (request) => {
      const { accountId } = getCaller(request);
      return presentFile(await getOwnFile(dependencies, request.params.file_id, { accountId, param: "file_id" }));
    },
  );
}

function addFileDeletion(http: HttpServer, dependencies: FileDependencies): void {
  const { config, schema, errors } = describeEndpoint("deleteFile", oneFileErrors);
  http.delete(
    "/files/:file_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Delete a file",
        description: "Deletes a file at once and permanently. A task that still needs the file fails.",
        tags,
        params,
        querystring,
        response: { 200: deletedFileSchema, ...errors },
      },
    },
    async (request) => {
      const { accountId } = getCaller(request);
      const { id } = await getOwnFile(dependencies, request.params.file_id, { accountId, param: "file_id" });
      // Of two concurrent deletions, one gets a 404.
      if (!(await dependencies.removal.deleteFile({ fileId: id, accountId }))) throw createFileNotFound("file_id");
      return { id, object: "file" as const, deleted: true as const };
    },
  );
}
