import type { Behaviour } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { createDelay, endlessSilence } from "./gate.ts";
import { VendorRefusal } from "./vendor-refusal.ts";

type FaultWord = { word: string; means: string; read(value: string): Behaviour };

/** A date in the future whenever the fake runs. */
const farDate = "Fri, 01 Jan 2100 00:00:00 GMT";

/** The words that a prompt may contain, as `<<fault:word>>` or `<<fault:word=value>>`; several are combined. */
export const faultWords: readonly FaultWord[] = [
  word("status=429", "an error with this status", (value) => ({ status: readNumber(value, 599) })),
  word("burst=2", "500 for the first so many calls with this prompt", (value) => ({ burst: readNumber(value, 1e6) })),
  word("code=context_length_exceeded", "the code of the error", (value) => ({ error: { code: value } })),
  word("html", "502 with a page of HTML, as from a proxy", () => htmlError),
  word("retry-after=7", "asks to be left alone for so many seconds", (value) => retryIn({ "retry-after": value })),
  word("retry-after-ms=7", "the same in milliseconds", (value) => retryIn({ "retry-after-ms": value })),
  word("retry-after-date", "the same with a date", () => retryIn({ "retry-after": farDate })),
  word("slow=500", "so many milliseconds before the head", (value) => ({ beforeHead: readDelay(value) })),
  word("hang", "no head, ever", () => ({ beforeHead: endlessSilence })),
  word("silence", "the head, then nothing, ever", () => ({ afterHead: endlessSilence })),
  word("pace=100", "so many milliseconds before each piece", (value) => ({ beforePiece: readDelay(value) })),
  word("stall", "all pieces, but no end", () => ({ beforeEnd: endlessSilence })),
  word("reset", "the connection is reset when the request was read", () => ({ isReset: true })),
  word("cut-before-head", "the connection ends before the head", () => ({ cut: "before-head" })),
  word("cut-after-head", "the connection ends after the head", () => ({ cut: "after-head" })),
  word("cut=2", "the connection ends after so many pieces", (value) => ({
    cut: { afterPieces: readNumber(value, 1e6) },
  })),
  word("cut-inside=2", "the same, in the middle of the next chunk", (value) => ({
    cut: { afterPieces: readNumber(value, 1e6), where: "inside-chunk" },
  })),
  word("close", "the connection is closed after the answer, without a word", () => ({ isClosedAfter: true })),
  word("error=2", "an error event after so many pieces", (value) => ({ errorAfterPieces: readNumber(value, 1e6) })),
  word("malformed", "what should be JSON is not", () => ({ isMalformed: true })),
  word("content-type=text/html", "another content type", (value) => ({ contentType: value })),
  word("whole", "a whole answer, though a stream was asked for", () => ({ form: "whole" })),
  word("stream", "a stream, though a whole answer was asked for", () => ({ form: "stream" })),
  word("bytes", "every byte in a write of its own", () => ({ isSplitAtEveryByte: true })),
  word("crlf", "lines end with CR and LF", () => ({ lineEnding: "\r\n" })),
  word("comments", "comments between the events", () => ({ hasComments: true })),
  word("no-space", "no space after data:", () => ({ hasNoSpace: true })),
  word("no-done", "no [DONE] or message_stop", () => ({ hasNoDone: true })),
  word("no-finish", "no finish reason", () => ({ hasNoFinish: true })),
  word("finish=stop", "this finish reason", (value) => ({ finishReason: value })),
  word("unknown-finish", "a finish reason that nobody knows", () => ({ finishReason: `${canary}_reason` })),
  word("blocked", "the vendor's filter refuses", () => ({ isBlocked: true })),
  word("empty", "an answer without content", () => ({ text: "" })),
  word("text=Hello", "this answer", (value) => ({ text: value })),
  word("thinking", "the model shows what it thinks", () => ({ thinking: "Let me think about this." })),
  word("tool=get_weather", "calls this tool", (value) => ({ toolCalls: [{ name: value, fragments: ["{", "}"] }] })),
  word("huge=10", "an answer of so many megabytes, whatever the limit", (value) => ({
    pieces: Array.from({ length: readNumber(value, 256) * 16 }, () => "x".repeat(2 ** 16)),
  })),
  word("endless", "goes on until the other side goes", () => ({ isEndless: true })),
  word("huge-header=100000", "a header of so many bytes", (value) => ({ hugeHeaderBytes: readNumber(value, 1e7) })),
  word("redirect", "a redirect to a private address", () => ({ redirectTo: `http://169.254.169.254/${canary}` })),
  word("no-usage", "no usage is reported", () => ({ usage: null })),
  word("usage=10/20", "this many tokens in and out", (value) => ({ usage: readUsage(value) })),
  word("vendor-fields", "fields that only this vendor has", () => ({ hasVendorFields: true })),
];

const htmlError: Behaviour = {
  status: 502,
  contentType: "text/html",
  body: `<html><head><title>502 Bad Gateway</title></head><body><center>${canary}</center></body></html>\n`,
};

const pattern = /<<fault:([a-z-]+)(?:=([^>]*))?>>/g;

/** The behaviour for the words in a prompt; `null` when there are none. */
export function readFaultWords(prompt: string): Behaviour | null {
  const found = [...prompt.matchAll(pattern)].map(([, name = "", value = ""]) => {
    const known = faultWords.find(({ word }) => word.split("=")[0] === name);
    if (known === undefined) throw new VendorRefusal(`There is no fault called ${name}.`, { param: "prompt" });
    return known.read(value);
  });
  return found.length === 0 ? null : Object.assign({}, ...found);
}

export function removeFaultWords(prompt: string): string {
  return prompt.replaceAll(pattern, "").trim();
}

function word(example: string, means: string, read: (value: string) => Behaviour): FaultWord {
  return { word: example, means, read };
}

function retryIn(headers: Record<string, string>): Behaviour {
  const seconds = headers["retry-after"];
  return { status: 429, headers, ...(seconds === undefined ? {} : { retryDelay: `${seconds}s` }) };
}

function readDelay(value: string): NonNullable<Behaviour["beforeHead"]> {
  return createDelay(readNumber(value, 600_000));
}

function readUsage(value: string): NonNullable<Behaviour["usage"]> {
  const [input = "", output = ""] = value.split("/");
  return { inputTokens: readNumber(input, 1e15), outputTokens: readNumber(output, 1e15) };
}

function readNumber(value: string, max: number): number {
  const number = Number(value);
  if (value === "" || !Number.isInteger(number) || number < 0 || number > max) {
    throw new VendorRefusal(`A fault needs a whole number up to ${max}, not '${value}'.`, { param: "prompt" });
  }
  return number;
}
