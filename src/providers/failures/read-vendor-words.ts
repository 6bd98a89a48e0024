import { asRecord, type JsonRecord, parseJson } from "../openai-compatible/json-value.ts";

/** The content of an upstream's error, in any vendor's format. */
export type VendorWords = {
  /** The vendor's codes, types and reasons, in lower case. */
  words: string;
  /** The first of them as written, for the log. */
  code: string;
  /** A message, which may quote the customer's request. */
  message: string;
  param: unknown;
  /** The path of the field at fault, in the form of Python's validators; empty if there is none. */
  place: readonly unknown[];
  /** An HTTP status in the body. */
  status: number | null;
};

/** The cause is at the start of a vendor's message. */
const charactersMax = 500;

const nothing: VendorWords = { words: "", code: "", message: "", param: undefined, place: [], status: null };

/** The body of an error: JSON or text. `undefined` for HTML or nothing: no vendor's API sends these. */
export function parseRefusal(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.startsWith("<")) return undefined;
  return parseJson(trimmed) ?? trimmed;
}

/**
 * Errors are `{error: {…}}`, `{error: "…"}`, bare, in a list, a text, or have a `detail` that is a text, an object or a
 * list of problems.
 */
export function readVendorWords(body: unknown): VendorWords {
  if (typeof body === "string") return { ...nothing, message: body.slice(0, charactersMax) };
  const outer = asRecord(Array.isArray(body) ? body[0] : body);
  if (outer === null) return nothing;
  const inner = asRecord(outer.error) ?? outer;
  const problems = [...listProblems(outer.detail), ...listProblems(asRecord(inner.message)?.detail)];
  const codes = [inner.code, inner.type, inner.status, inner.err_code, inner.category];
  const words = [...codes, ...problems.map(({ type }) => type), ...listReasons(inner)];
  const texts = words.filter(isWord).map(String);
  // xAI sends `{code, error}`, both sentences. `error` is the cause.
  const messages = [inner.message, inner.err_msg, outer.error, outer.detail, ...problems.map(({ msg }) => msg)];
  return {
    words: texts.join(" ").slice(0, charactersMax).toLowerCase(),
    code: texts[0]?.slice(0, charactersMax) ?? "",
    message: messages.find(isText)?.slice(0, charactersMax) ?? "",
    param: inner.param,
    place: problems.map(({ loc }) => loc).find(Array.isArray) ?? [],
    status: readStatus(inner.code),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isWord(value: unknown): value is string | number {
  return isText(value) || typeof value === "number";
}

function listProblems(detail: unknown): JsonRecord[] {
  const listed = Array.isArray(detail) ? detail : [detail];
  return listed.flatMap((item) => {
    const problem = asRecord(item);
    if (problem === null) return [];
    return [{ type: problem.type ?? problem.status, msg: problem.msg ?? problem.message, loc: problem.loc }];
  });
}

/** Google's reasons and quotas, and Azure's inner error, which are more specific than the error itself. */
function* listReasons(inner: JsonRecord): Generator<unknown> {
  yield asRecord(inner.innererror)?.code;
  if (!Array.isArray(inner.details)) return;
  for (const detail of inner.details.map(asRecord)) {
    yield detail?.reason;
    if (!Array.isArray(detail?.violations)) continue;
    for (const violation of detail.violations) yield asRecord(violation)?.quotaId;
  }
}

function readStatus(code: unknown): number | null {
  const status = typeof code === "number" || typeof code === "string" ? Number(code) : Number.NaN;
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : null;
}
