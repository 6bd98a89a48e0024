import type { FastifySchema } from "fastify";
import {
  type AnswerDescription,
  type AnswerHeader,
  answersKey,
  describeHeaderComponents,
  referToHeader,
} from "./answer-headers.ts";
import { errorAnswers } from "./error-answers.ts";
import { describeHeaders } from "./request-headers.ts";

/**
 * Completes the OpenAPI document of @fastify/swagger: common request headers and errors of all routes, and what the
 * plugin does not support (response headers, content types other than JSON, optional bodies).
 */

type Body = { nullable?: boolean; type?: unknown };

const optionalBodyKey = "x-optional-body";

/** Adds the headers and errors that all routes share. */
export function completeRoute(schema: FastifySchema, { method, url }: { method: string; url: string }): FastifySchema {
  const body = schema.body as Body | undefined;
  return {
    ...schema,
    headers: { ...(schema.headers as object), ...mergeHeaders(schema.headers) },
    response: { ...errorAnswers(listEdgeErrors({ method, url })), ...(schema.response as object) },
    ...(body?.nullable === true ? describeOptionalBody(body) : {}),
  };
}

function mergeHeaders(own: unknown): object {
  const { properties } = describeHeaders("x-client-request-id");
  return { type: "object", properties: { ...(own as { properties?: object } | undefined)?.properties, ...properties } };
}

/** Converts `nullable`, which the validator reads, to the form of OpenAPI 3.1. */
function describeOptionalBody({ nullable: _, type, ...rest }: Body): object {
  return { body: { ...rest, type: [type, "null"] }, [optionalBodyKey]: true };
}

/** Marks the body as required, for routes that reject a request without one. */
export function requireBody({ [optionalBodyKey]: _, ...schema }: FastifySchema & { [optionalBodyKey]?: boolean }) {
  return schema;
}

function listEdgeErrors({ method, url }: { method: string; url: string }) {
  return [
    "invalid_parameter" as const,
    ...(url.includes(":") || url.includes("{") || url.includes("*") ? ["not_found" as const] : []),
    ...(method === "GET" ? [] : (["invalid_json", "payload_too_large", "unsupported_media_type"] as const)),
  ];
}

type Answer = { $ref?: string; headers?: Record<string, object>; content?: Record<string, { schema?: object }> };
type Parameter = { in: string; name: string };
type Operation = {
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: { properties?: object } }> };
  responses: Record<string, Answer>;
  "x-stability"?: string;
  [answersKey]?: Readonly<Record<string, AnswerDescription>>;
  [optionalBodyKey]?: boolean;
};
type WrittenDocument = {
  paths: Record<string, Record<string, Operation>>;
  components?: Record<string, object>;
};

export function completeDocument<T extends object>(written: T): T {
  const document = written as T & WrittenDocument;
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const operation of Object.values(methods)) completeOperation(operation, path);
  }
  const responses = shareErrors(document);
  document.components = { ...document.components, headers: describeHeaderComponents(), responses };
  return document;
}

/** Moves errors to shared components; otherwise the document would be several times as long. */
function shareErrors({ paths }: WrittenDocument): Record<string, object> {
  const names = new Map<string, string>();
  const shared: Record<string, object> = {};
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, answer] of Object.entries(responses)) {
      if (isSuccess(status)) continue;
      const text = JSON.stringify(answer);
      const count = [...names.values()].filter((name) => name.startsWith(status)).length;
      const name = names.get(text) ?? (count === 0 ? status : `${status}-${count + 1}`);
      names.set(text, name);
      shared[name] = answer;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}

function completeOperation(operation: Operation, path: string): void {
  const { [answersKey]: described = {}, [optionalBodyKey]: isBodyOptional } = operation;
  delete operation[answersKey];
  delete operation[optionalBodyKey];
  if (isBodyOptional === true && operation.requestBody !== undefined) operation.requestBody.required = false;
  const usual = listUsualHeaders(operation, path);
  for (const [status, answer] of Object.entries(operation.responses)) {
    const { types, always = [], sometimes = [] } = described[status] ?? {};
    if (types !== undefined) answer.content = describeContent(types, answer);
    answer.headers = describeAnswerHeaders(status, operation, {
      always,
      sometimes: [...sometimes, ...(isSuccess(status) ? usual : [])],
    });
  }
}

function isSuccess(status: string): boolean {
  return Number(status) < 400;
}

/** Headers of successful responses that depend on the request's parameters. */
function listUsualHeaders({ parameters = [], requestBody }: Operation, path: string): AnswerHeader[] {
  const has = (name: string): boolean =>
    parameters.some((parameter) => parameter.in === "header" && parameter.name === name);
  const [media] = Object.values(requestBody?.content ?? {});
  const hasModel = path.startsWith("/models/") || Object.hasOwn(media?.schema?.properties ?? {}, "model");
  return [
    ...(has("idempotency-key") ? ["idempotent-replayed" as const] : []),
    ...(has("prefer") ? ["preference-applied" as const] : []),
    ...(hasModel ? (["deprecation", "sunset"] as const) : []),
  ];
}

/** Only JSON has a schema; other content is text or binary. */
function describeContent(types: readonly string[], { content = {} }: Answer): NonNullable<Answer["content"]> {
  const { schema = {} } = content["application/json"] ?? {};
  return Object.fromEntries(
    types.map((type) => {
      if (type === "application/json") return [type, { schema }];
      const isText = type.startsWith("text/");
      return [type, { schema: isText ? { type: "string" } : { type: "string", format: "binary" } }];
    }),
  );
}

const limitHeaders = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
] as const satisfies readonly AnswerHeader[];

const errorHeaders: Readonly<Record<string, Required<Pick<AnswerDescription, "always" | "sometimes">>>> = {
  402: { always: ["x-should-retry"], sometimes: [] },
  409: { always: [], sometimes: ["retry-after", "x-should-retry", "idempotent-replayed"] },
  429: { always: ["retry-after"], sometimes: ["retry-after-ms"] },
  501: { always: ["x-should-retry"], sometimes: [] },
  503: { always: ["retry-after"], sometimes: ["x-should-retry", "idempotent-replayed"] },
};

function describeAnswerHeaders(
  status: string,
  operation: Operation,
  own: { always: readonly AnswerHeader[]; sometimes: readonly AnswerHeader[] },
): Record<string, object> {
  const ofError = errorHeaders[status] ?? { always: [], sometimes: [] };
  const counted = operation["x-stability"] === undefined ? [] : limitHeaders;
  const always = new Set<AnswerHeader>([
    "x-request-id",
    ...(isSuccess(status) ? counted.slice(0, 3) : []),
    ...ofError.always,
    ...own.always,
  ]);
  const sometimes = ["x-client-request-id" as const, ...counted, ...ofError.sometimes, ...own.sometimes];
  return {
    ...Object.fromEntries(sometimes.map((name) => [name, referToHeader(name, "sometimes")])),
    ...Object.fromEntries([...always].map((name) => [name, referToHeader(name, "always")])),
  };
}
