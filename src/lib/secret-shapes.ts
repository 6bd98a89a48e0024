export type Span = { start: number; end: number };

/** Separates texts that are scanned together. */
export const textEnd = "\0";

/** The prefix and the body of a secret. */
type Shape = {
  prefix: string;
  rest: RegExp;
  /** The prefix also ends common words: require a word boundary and a random-looking body. */
  isCommon?: true;
};

const letters = (least: number): RegExp => new RegExp(`[0-9A-Za-z]{${least},}`, "y");
const wordLetters = (least: number): RegExp => new RegExp(`[0-9A-Za-z_-]{${least},}`, "y");
const named = (prefixes: readonly string[], rest: RegExp): Shape[] => prefixes.map((prefix) => ({ prefix, rest }));
const common = (prefixes: readonly string[], rest: RegExp): Shape[] =>
  prefixes.map((prefix) => ({ prefix, rest, isCommon: true }));

/** Our own keys and those of well-known services, found by their prefixes. */
const shapes: readonly Shape[] = [
  ...named(["sk-slc-"], letters(4)),
  ...named(["whsec_"], /[0-9A-Za-z+/=_-]{8,}/y),
  ...named(["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-"], wordLetters(8)),
  ...common(["sk-"], /(?!(?:slc|ant|proj|or|svcacct)-)[0-9A-Za-z_-]{16,}/y),
  ...common(["gsk_", "hf_", "r8_", "fw_", "xai-", "pplx-", "nvapi-", "tgp_"], wordLetters(16)),
  ...named(["sk_live_", "sk_test_", "rk_live_", "rk_test_"], letters(4)),
  ...named(["AIza"], wordLetters(30)),
  ...common(["ya29.", "SG."], /[0-9A-Za-z_.-]{16,}/y),
  ...named(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], letters(20)),
  ...named(["github_pat_", "glpat-", "npm_", "pypi-", "dop_v1_", "shpat_", "lin_api_"], wordLetters(16)),
  ...named(["AKIA", "ASIA"], /[0-9A-Z]{16}/y),
  ...named(["xoxb-", "xoxp-", "xoxa-", "xoxs-", "xoxr-", "xapp-"], /[0-9A-Za-z-]{10,}/y),
];

/**
 * Secrets without a prefix, recognized by the text before them. The first group is that text and is kept. No pattern
 * backtracks without a bound, or matches beyond `textEnd`.
 */
const surroundings: readonly { pattern: RegExp; isCommon?: true }[] = [
  { pattern: /(\bbearer[ \t]{1,8})[0-9A-Za-z._~+/=-]{8,}/gi, isCommon: true },
  {
    pattern:
      /((?:\bx-api-key|authorization)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:basic|token|bearer)[ \t]{1,4})?)[^\s"',;\\\0]{6,}/gi,
  },
  { pattern: /((?:api[_-]?key|access[_-]?key|secret|passwd|password|token|signature)=)[^\s"'&;,)\]}\\\0]{6,}/gi },
  // A JWT. The word boundary prevents a match attempt at every letter.
  { pattern: /((?<![0-9A-Za-z_-]))eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{4,}\.[0-9A-Za-z_-]*/g },
  { pattern: /(:\/\/[^\s"'/@:\0]{0,128}:)[^\s"'@/\0]{1,256}(?=@)/g },
  { pattern: /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-"\0]{1,16384}/g },
];

const drawnCharactersMin = 32;

const hiddenMark = "[hidden]";

/** Redacts everything that looks like a secret. */
export function hideSecrets(text: string): string {
  return hideSpans(text, matchShapes(text)).text;
}

/** Replaces each range with a mark and counts them. */
export function hideSpans(text: string, found: Span[]): { text: string; hidden: number } {
  const spans = mergeSpans(found);
  let redacted = "";
  let done = 0;
  for (const { start, end } of spans) {
    redacted += text.slice(done, start) + hiddenMark;
    done = end;
  }
  return { text: redacted + text.slice(done), hidden: spans.length };
}

/** Sorts the ranges and merges those that touch. */
function mergeSpans(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (end <= start) continue;
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

/** Finds the ranges that look like secrets. */
export function matchShapes(text: string): Span[] {
  return [...matchPrefixes(text), ...matchSurroundings(text)];
}

function* matchPrefixes(text: string): Generator<Span> {
  for (const { prefix, rest, isCommon } of shapes) {
    for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + prefix.length)) {
      const start = at + prefix.length;
      rest.lastIndex = start;
      const found = rest.exec(text)?.[0];
      if (found === undefined) continue;
      if (isCommon === true && (isInWord(text, at) || !looksDrawn(found))) continue;
      yield { start, end: start + found.length };
      at = start + found.length - prefix.length;
    }
  }
}

function* matchSurroundings(text: string): Generator<Span> {
  for (const { pattern, isCommon } of surroundings) {
    for (const { 0: whole, 1: before = "", index } of text.matchAll(pattern)) {
      if (isCommon === true && !looksDrawn(whole.slice(before.length))) continue;
      yield { start: index + before.length, end: index + whole.length };
    }
  }
}

function isInWord(text: string, at: number): boolean {
  return at > 0 && /[0-9A-Za-z]/.test(text.charAt(at - 1));
}

/** Natural words have no digits and are shorter. */
function looksDrawn(text: string): boolean {
  return text.length >= drawnCharactersMin || /[0-9]/.test(text);
}

const secretNames =
  /(?:apikey|accesskey|secretkey|privatekey|signingkey|authorization|passw(?:or)?d|passphrase|secret|accesstoken|refreshtoken|authtoken|apitoken|bearertoken|sessiontoken|idtoken|credentials|cookie)$/;
const nameCharactersMax = 128;

/** Whether a field name implies a secret: `api_key`, `X-Api-Key`, `db.password`, `clientSecret` … */
export function isSecretName(name: string): boolean {
  return name.length <= nameCharactersMax && secretNames.test(name.toLowerCase().replaceAll(/[^a-z]/g, ""));
}
