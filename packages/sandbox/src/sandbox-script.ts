import { ProviderError, type ProviderErrorKind } from "../../../src/providers/contract.ts";

/** The effects of words in double brackets in a prompt, so that callers can test their error handling. */
export type SandboxScript = {
  failure: ProviderError | null;
  /** Before the first data of the answer. */
  delayMs: number;
  /** Between two pieces. */
  slowMs: number;
  /** After this many pieces the connection breaks. */
  cutAfterPieces: number | null;
  longTokens: number | null;
  isEmpty: boolean;
  isSilent: boolean;
  hasUsage: boolean;
};

const waitSecondsMax = 120;
const piecesMax = 100_000;
/** The maximum length of an answer. */
export const longTokensMax = 100_000;

const wordPattern = / ?\[\[([a-z0-9_-]{1,32}(?::[a-z0-9_.]{1,32})?)\]\]/gi;
const numberPattern = /^\d{1,9}(?:\.\d{1,9})?$/;

/** Isolated: it must not affect the circuit for other callers. */
export function createScriptedError(
  kind: ProviderErrorKind,
  message: string,
  options: { retryAfterMs?: number } = {},
): ProviderError {
  return new ProviderError(kind, message, { ...options, isIsolated: true });
}

const plainWords: Record<string, () => Partial<SandboxScript>> = {
  "fail:content_policy": () => fail(createScriptedError("content-refused", "The script refuses the content.")),
  "fail:too_long": () => fail(createScriptedError("too-long", "The script finds the request too long.")),
  "fail:rejected": () => fail(createScriptedError("rejected", "The script rejects the request.")),
  "429": () => fail(createScriptedError("rate-limited", "The script limits the rate.", { retryAfterMs: 2000 })),
  "500": () => fail(createScriptedError("overloaded", "The script answers with status 500.")),
  "503": () => fail(createScriptedError("overloaded", "The script answers with status 503.")),
  timeout: () => fail(createScriptedError("timeout", "The script lets the time run out.")),
  empty: () => ({ isEmpty: true }),
  silent: () => ({ isSilent: true }),
  "no-usage": () => ({ hasUsage: false }),
};

const numberWords: Record<string, (value: number) => Partial<SandboxScript>> = {
  delay: (seconds) => ({ delayMs: Math.min(seconds, waitSecondsMax) * 1000 }),
  slow: (seconds) => ({ slowMs: Math.min(seconds, waitSecondsMax) * 1000 }),
  cut: (pieces) => ({ cutAfterPieces: Math.min(Math.floor(pieces), piecesMax) }),
  long: (tokens) => ({ longTokens: Math.min(Math.floor(tokens), longTokensMax) }),
};

/** Removes script words from a text. Unknown words in double brackets stay. */
export function parseScript(text: string): { text: string; script: SandboxScript } {
  const script = createQuietScript();
  const rest = text.replace(wordPattern, (whole, word: string) => {
    const change = readWord(word.toLowerCase());
    Object.assign(script, change);
    return change === null ? whole : "";
  });
  return { text: rest.trim(), script };
}

function createQuietScript(): SandboxScript {
  return {
    failure: null,
    delayMs: 0,
    slowMs: 0,
    cutAfterPieces: null,
    longTokens: null,
    isEmpty: false,
    isSilent: false,
    hasUsage: true,
  };
}

function readWord(word: string): Partial<SandboxScript> | null {
  if (Object.hasOwn(plainWords, word)) return plainWords[word]?.() ?? null;
  const [name = "", value = ""] = word.split(":");
  const isKnown = Object.hasOwn(numberWords, name) && numberPattern.test(value);
  return isKnown ? (numberWords[name]?.(Number(value)) ?? null) : null;
}

function fail(failure: ProviderError): Partial<SandboxScript> {
  return { failure };
}
