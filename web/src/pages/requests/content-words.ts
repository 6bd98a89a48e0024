import type { RequestContent } from "../../api/ask-requests.ts";
import { formatBytes } from "../../parts/format/format-bytes.ts";
import { formatCount } from "../../parts/format/format-money.ts";

export type ContentBody = NonNullable<RequestContent["request"]>;

const dayMs = 24 * 60 * 60_000;

export function explainAbsence(createdAt: string, { now, days }: { now: Date; days: number }): string {
  if (now.getTime() - Date.parse(createdAt) < days * dayMs) {
    return "The key's content log was off at the time of this request.";
  }
  return `Contents expire after ${days === 1 ? "1 day" : `${formatCount(days)} days`}.`;
}

export function describeBody({ content_type: type, bytes, text }: ContentBody): string {
  if (type === null || bytes === 0) return "No body";
  const [name = type] = type.split(";");
  const length = bytes === null ? [] : [formatBytes(bytes)];
  return [name, ...length, ...(text === null ? ["not stored: binary"] : [])].join(" · ");
}

/** JSON is pretty-printed, everything else is unchanged. */
export function presentBody({ content_type: type, text, truncated }: ContentBody): string {
  if (text === null) return "";
  if (truncated || type?.includes("json") !== true) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not valid JSON: shown unchanged.
    return text;
  }
}

export function listOmissions({ hidden, left_out: leftOut, truncated }: ContentBody): string[] {
  return [
    ...(hidden === 0 ? [] : [`Secrets are redacted in ${hidden === 1 ? "1 place" : `${formatCount(hidden)} places`}.`]),
    ...(leftOut === 0 ? [] : [`${formatCount(leftOut)} characters of encoded files are left out.`]),
    ...(truncated ? ["Only the beginning is stored."] : []),
  ];
}
