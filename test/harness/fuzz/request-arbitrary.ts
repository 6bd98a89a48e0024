import fc from "fast-check";
import { anyChange, hostileValue, spoil } from "../chat/chat-arbitraries.ts";
import { unicodeText } from "../unicode-text.ts";
import type { Operation, Parameter } from "./openapi-document.ts";
import { arbitraryOf, type Hints } from "./schema-arbitrary.ts";

/** A request as sent, except for its credentials. */
export type FuzzRequest = {
  path: string;
  query: string;
  headers: Readonly<Record<string, string>>;
  body: FuzzBody;
};

type FuzzBody =
  | { kind: "none" }
  | { kind: "text"; type: string | null; text: string }
  | { kind: "form"; fields: Readonly<Record<string, unknown>> };

type Values = Record<string, unknown>;
type Parts = { path: Values; query: Values; headers: Values; body: unknown };

/** How closely a request follows the document. */
export const fuzzKinds = ["valid", "nearly valid", "hostile"] as const;
export type FuzzKind = (typeof fuzzKinds)[number];

export function requestsOf(operation: Operation, kind: FuzzKind, hints: Hints): fc.Arbitrary<FuzzRequest> {
  const valid = partsOf(operation, hints);
  switch (kind) {
    case "valid":
      return valid.map((parts) => write(operation, parts));
    case "nearly valid":
      return fc
        .tuple(valid, anyChange, fc.constantFrom("path", "query", "headers", "body"))
        .map(([parts, change, place]) => {
          const spoiled = structuredClone(parts);
          const target = spoiled[place as keyof Parts];
          if (typeof target === "object" && target !== null) spoil(target, change);
          else spoiled.body = change.value;
          return write(operation, spoiled);
        });
    case "hostile":
      return hostileOf(operation);
  }
}

export function partsOf({ parameters, body }: Operation, hints: Hints): fc.Arbitrary<Parts> {
  const media = Object.values(body?.content ?? {})[0];
  const fullBody = media === undefined ? fc.constant(undefined) : arbitraryOf(media.schema ?? {}, hints);
  return fc.record({
    path: valuesOf(parameters, "path", hints),
    query: valuesOf(parameters, "query", hints),
    headers: valuesOf(parameters, "header", hints),
    body: body?.isRequired === false ? fc.oneof(fullBody, fc.constant(undefined)) : fullBody,
  });
}

function valuesOf(parameters: readonly Parameter[], place: Parameter["in"], hints: Hints): fc.Arbitrary<Values> {
  const own = parameters.filter((parameter) => parameter.in === place);
  const fields = own.map(({ name, schema }) => [name, arbitraryOf(schema, hints, name)] as const);
  const requiredKeys = own.filter(({ required }) => required === true).map(({ name }) => name);
  return fc.record(Object.fromEntries(fields), { requiredKeys });
}

export function write({ path, body }: Operation, parts: Parts): FuzzRequest {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts.query)) {
    for (const item of [value].flat()) query.append(name, toText(item));
  }
  const type = Object.keys(body?.content ?? {})[0];
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => writeSegment(parts.path[name])),
    query: query.size === 0 ? "" : `?${query}`,
    headers: writeHeaders(parts.headers),
    body: writeBody(type, parts.body),
  };
}

function writeBody(type: string | undefined, value: unknown): FuzzBody {
  if (value === undefined || type === undefined) return { kind: "none" };
  if (type !== "multipart/form-data") return { kind: "text", type, text: JSON.stringify(value) };
  return { kind: "form", fields: typeof value === "object" && value !== null ? { ...value } : {} };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value.toWellFormed() : String(JSON.stringify(value));
}

/** Every client resolves `.` and `..` segments, encoded or not. */
function writeSegment(value: unknown): string {
  const text = toText(value ?? "nothing");
  return encodeURIComponent(/^(\.|%2e){1,2}$/i.test(text) ? `${text}x` : text);
}

/** Only values that are valid in a header are sent as one. */
function writeHeaders(values: Values): Record<string, string> {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    toText(value)
      .replaceAll(/[^\x20-\x7e]/g, "?")
      .trim(),
  ]);
  return Object.fromEntries(entries.filter(([name = ""]) => /^[\w-]+$/.test(name) && !forbiddenHeaders.test(name)));
}

/** Headers of the connection, which the client sets. */
const forbiddenHeaders =
  /^(host|connection|content-length|transfer-encoding|expect|upgrade|trailer|te|keep-alive|cookie|origin|authorization|__proto__)$/i;

const anyText = fc.oneof(
  unicodeText(),
  fc.constantFrom(
    "",
    "..",
    "%",
    "%00",
    "null",
    "-1",
    "'; drop table x; --",
    "a".repeat(2000),
    "[object Object]",
    "\u202e",
  ),
);

function hostileOf(operation: Operation): fc.Arbitrary<FuzzRequest> {
  const names = operation.parameters.map(({ name }) => name);
  const anyName = fc.oneof(fc.constantFrom("limit", "after", "__proto__", ...names), fc.string({ maxLength: 10 }));
  const headerNames = operation.parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name);
  return fc
    .record({
      segment: anyText,
      query: fc.array(fc.tuple(anyName, anyText), { maxLength: 3 }),
      headers: fc.dictionary(fc.constantFrom("x-client-request-id", "range", "prefer", ...headerNames), anyText, {
        maxKeys: 3,
      }),
      body: hostileBody,
    })
    .map(({ segment, query, headers, body }) => {
      const path = operation.path.replaceAll(/\{\w+\}/g, () => writeSegment(segment));
      const text = query
        .map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${writeSegment(value)}`)
        .join("&");
      return {
        path,
        query: text === "" ? "" : `?${text}`,
        headers: writeHeaders(headers),
        body: operation.method === "GET" ? none : body,
      };
    });
}

const none: FuzzBody = { kind: "none" };

const hostileBody: fc.Arbitrary<FuzzBody> = fc.oneof(
  fc.constant(none),
  hostileValue.map((value): FuzzBody => ({ kind: "text", type: "application/json", text: JSON.stringify(value) })),
  fc.string().map((text): FuzzBody => ({ kind: "text", type: "application/json", text })),
  fc
    .constantFrom("text/plain", "application/xml", "multipart/form-data", "multipart/form-data; boundary=x", null)
    .map((type): FuzzBody => ({ kind: "text", type, text: "--x\r\n{}" })),
  fc.constantFrom(10, 5000).map((depth): FuzzBody => {
    return { kind: "text", type: "application/json", text: `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}` };
  }),
);
