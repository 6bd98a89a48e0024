import type { IncomingHttpHeaders } from "node:http";
import type { AnswerPlan, Ask } from "./answer-plan.ts";
import type { Behaviour } from "./behaviour.ts";
import { canary } from "./canary.ts";

/** A call in a vendor's format. The path is relative to the vendor's base URL. */
export type VendorRequest = { path: string; query: URLSearchParams; headers: IncomingHttpHeaders; body: unknown };

/** One vendor's format of requests, answers and errors. */
export type VendorWire = {
  /** The path of a base URL, as clients are configured with it. */
  basePath: string;
  isChatPath(path: string): boolean;
  findKey(request: Omit<VendorRequest, "body">): string | null;
  findModel(request: VendorRequest): string | null;
  /** Parses the request. Throws a refusal if the vendor would answer 400. */
  parseAsk(request: VendorRequest): Ask;
  presentWhole(plan: AnswerPlan, envelope: Envelope): unknown;
  presentEvents(plan: AnswerPlan, envelope: Envelope): WireEvent[];
  presentError(error: VendorError, callNumber: number): unknown;
  /** The error in its mid-stream format. */
  presentErrorEvent(error: VendorError, callNumber: number): WireEvent;
  /** The headers of every answer. */
  listHeaders(callNumber: number): Record<string, string | string[]>;
  /** The answer to a caller without a key, or with a wrong one. */
  keyRefusal: { status: number; message: string };
};

/** Everything that an answer needs besides its content. */
export type Envelope = { ask: Ask; behaviour: Behaviour; callNumber: number };

/** An event of a stream; its kind selects what scripts do to it. `data` is the text after `data:`. */
export type WireEvent = { name?: string; data: string; kind: "start" | "piece" | "finish" | "usage" | "done" };

export type VendorError = {
  status: number;
  message: string;
  code: string | null;
  type: string | null;
  param: string | null;
  retryDelay: string | null;
};

/** The same in every run, so that answers can be compared. */
export const answeredAt = new Date("2026-11-01T12:00:00Z");

/** Vendors return their own version of a model's name. */
export function nameServedModel(model: string): string {
  return model.includes(canary) ? model : `${model}-${canary}-001`;
}

export function writeEvent(kind: WireEvent["kind"], data: unknown, name?: string): WireEvent {
  return { kind, data: JSON.stringify(data), ...(name === undefined ? {} : { name }) };
}

/** Headers that any vendor's edge adds. */
export function listEdgeHeaders(callNumber: number): Record<string, string | string[]> {
  return {
    server: canary,
    via: `1.1 ${canary}`,
    [`x-${canary}-request-id`]: `${canary}-${callNumber}`,
    "set-cookie": [`__cf_bm=${canary}-${callNumber}; path=/; domain=.${canary}.example; HttpOnly`, `_cfuvid=${canary}`],
    "cf-ray": `${canary}-${callNumber}`,
    "alt-svc": `h3="${canary}.example:443"; ma=86400`,
  };
}

/** A rough count of input tokens. Images, audio and files count little, as with vendors. */
export function countInputTokens(...parts: readonly unknown[]): number {
  const media = ["data", "url", "file_data", "fileUri"];
  const text = parts.map((part) => JSON.stringify(part, (key, value) => (media.includes(key) ? "media" : value)) ?? "");
  return Math.ceil(text.join("").length / 4);
}

/** The arguments of a tool call as a value. A test may script fragments that are not JSON; then they are a text. */
export function parseFragments(fragments: readonly string[]): unknown {
  const json = fragments.join("");
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
