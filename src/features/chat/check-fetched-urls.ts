import { isUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { checkPublicUrl } from "../../platform/net/check-public-url.ts";
import type { NativeRequest } from "../../providers/contract.ts";
import { explainRawImage } from "./explain-raw-image.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The fields of each API that may contain a URL for the vendor to fetch. */
const roots = {
  messages: ["system", "messages", "tools", "mcp_servers"],
  responses: ["input", "tools"],
  completions: [],
} as const satisfies Record<NativeRequest["wire"], readonly string[]>;

/** Fields that a vendor fetches; with `ofType`, only in objects of that type. */
const fetchedFields: readonly { name: string; ofType: string | null }[] = [
  { name: "file_url", ofType: null },
  { name: "image_url", ofType: null },
  { name: "server_url", ofType: null },
  { name: "url", ofType: "url" },
];
const fetchedNames: ReadonlySet<string> = new Set(fetchedFields.map(({ name }) => name));

/** Fields with content of the model, of the caller's program, or a schema: no vendor fetches URLs in them. */
const opaqueFields: ReadonlySet<string> = new Set([
  ..."parameters input_schema schema arguments action annotations metadata citations".split(" "),
]);
/** In a tool call: its arguments. */
const callInput = "input";

/** SSRF protection: rejects URLs that the vendor must not fetch for a caller, by the same check as for images in chat. */
export function checkFetchedUrls({ wire, body }: Pick<NativeRequest, "wire" | "body">): void {
  // An outline has none.
  for (const root of roots[wire]) if (!isUnread(body, root)) walk(body[root], [root]);
}

/** The depth is limited before. The path is only formatted for an error. */
function walk(value: unknown, place: (string | number)[]): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (typeof value[index] !== "object") continue;
      place.push(index);
      walk(value[index], place);
      place.pop();
    }
    return;
  }
  walkRecord(value as Fields, place);
}

/** Looks at the names first: an agent's request has thousands of objects, most without a URL or an inner object. */
function walkRecord(record: Fields, place: (string | number)[]): void {
  let hasUrls = false;
  let hasInner = false;
  for (const field in record) {
    if (fetchedNames.has(field)) hasUrls = true;
    if (typeof record[field] === "object") hasInner = true;
  }
  if (hasUrls) checkUrls(record, place);
  if (!hasInner) return;
  for (const field in record) {
    if (typeof record[field] !== "object" || field === callInput || opaqueFields.has(field)) continue;
    place.push(field);
    walk(record[field], place);
    place.pop();
  }
}

function checkUrls(record: Fields, place: readonly (string | number)[]): void {
  for (const { name, ofType } of fetchedFields) {
    if (record[name] === undefined || (ofType !== null && record.type !== ofType)) continue;
    checkUrl(record[name], [...place, name]);
  }
}

function checkUrl(value: unknown, place: readonly (string | number)[]): void {
  if (typeof value === "object" && value !== null) {
    checkUrl((value as Fields).url, [...place, "url"]);
    return;
  }
  // Data URLs are not fetched.
  if (typeof value !== "string" || value.startsWith("data:")) return;
  const problem = explainRawImage(value) ?? checkPublicUrl(value, { allowsPrivate: false });
  if (problem !== null) throw new AppError("invalid_url", problem, { param: writePlace(place) });
}

function writePlace(place: readonly (string | number)[]): string {
  return place.map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`)).join("");
}
