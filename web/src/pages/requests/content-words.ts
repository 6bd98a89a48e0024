import type { RequestContent } from "../../api/ask-requests.ts";
import { formatBytes } from "../../parts/format/format-bytes.ts";
import { formatCount } from "../../parts/format/format-money.ts";

export type ContentBody = NonNullable<RequestContent["request"]>;

const dayMs = 24 * 60 * 60_000;

/** Why a request has no content. */
export function explainAbsence(createdAt: string, { now, days }: { now: Date; days: number }): string {
  if (now.getTime() - Date.parse(createdAt) < days * dayMs) {
    return "The content log of the key was off when the request was made.";
  }
  return `Contents are kept for ${days === 1 ? "a day" : `${formatCount(days)} days`}, and these are over.`;
}

/** Its type and its length. */
export function describeBody({ content_type: type, bytes, text }: ContentBody): string {
  if (type === null || bytes === 0) return "No body";
  const [name = type] = type.split(";");
  const length = bytes === null ? [] : [formatBytes(bytes)];
  return [name, ...length, ...(text === null ? ["not kept, because it is no text"] : [])].join(" · ");
}

/** The text as people read it: JSON with its lines broken, everything else as it was sent. */
export function presentBody({ content_type: type, text, truncated }: ContentBody): string {
  if (text === null) return "";
  if (truncated || type?.includes("json") !== true) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // What was refused for being no JSON is shown as it came.
    return text;
  }
}

/** What of the body is not in the text. */
export function listOmissions({ hidden, left_out: leftOut, truncated }: ContentBody): string[] {
  return [
    ...(hidden === 0 ? [] : [`Secrets are hidden in ${hidden === 1 ? "1 place" : `${formatCount(hidden)} places`}.`]),
    ...(leftOut === 0 ? [] : [`${formatCount(leftOut)} characters of encoded files are left out.`]),
    ...(truncated ? ["Only the beginning is kept."] : []),
  ];
}
