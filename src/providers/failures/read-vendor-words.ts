import { asRecord, type JsonRecord, parseJson } from "../openai-compatible/json-value.ts";

/** What an upstream's error says, whatever form the vendor gives it. */
export type VendorWords = {
  /** Codes, types and reasons: fixed words of the vendor's, in small letters. */
  words: string;
  /** The first of them as it was written, for the log. */
  code: string;
  /** A sentence, which may quote what the customer sent. */
  message: string;
  param: unknown;
  /** A number of HTTP's that stands in the body. */
  status: number | null;
};

/** What is wrong stands at the beginning of what a vendor says. */
const charactersMax = 500;

const nothing: VendorWords = { words: "", code: "", message: "", param: undefined, status: null };

/** The body of a refusal: JSON, or a text. A page for browsers, or nothing, is `undefined`: the vendor's API sends neither. */
export function parseRefusal(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.startsWith("<")) return undefined;
  return parseJson(trimmed) ?? trimmed;
}

/**
 * Errors are `{error: {…}}`, `{error: "…"}`, bare, in a list, a text, or with a `detail` that is a text, an object or a
 * list of problems, depending on who wrote the server.
 */
export function readVendorWords(body: unknown): VendorWords {
  if (typeof body === "string") return { ...nothing, message: body.slice(0, charactersMax) };
  const outer = asRecord(Array.isArray(body) ? body[0] : body);
  if (outer === null) return nothing;
  const inner = asRecord(outer.error) ?? outer;
  const problems = [...listProblems(outer.detail), ...listProblems(asRecord(inner.message)?.detail)];
  const words = [inner.code, inner.type, inner.status, ...problems.map(({ type }) => type), ...listReasons(inner)];
  const texts = words.filter(isWord).map(String);
  // xAI writes `{code, error}`, both sentences: the one in `error` is what happened.
  const messages = [inner.message, outer.error, outer.detail, ...problems.map(({ msg }) => msg)];
  return {
    words: texts.join(" ").slice(0, charactersMax).toLowerCase(),
    code: texts[0]?.slice(0, charactersMax) ?? "",
    message: messages.find(isText)?.slice(0, charactersMax) ?? "",
    param: inner.param,
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
    return [{ type: problem.type ?? problem.status, msg: problem.msg ?? problem.message }];
  });
}

/** Google's reasons and quotas, and Azure's inner error, which say more than the error itself. */
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
