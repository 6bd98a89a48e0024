import { type TSchema, Type } from "typebox";
import type { GenerationInput, GenerationRequest } from "../../../../src/providers/generation.ts";
import type { RouteTerms } from "../../../../src/providers/route-terms.ts";

/** Where a wire comes from. A wire with an SDK is driven by it in `vendor-sdks.test.ts`. */
export type WireSource = {
  documentation: string;
  /** The vendor's own client, as a package of this repository; absent if the vendor has none that is small enough. */
  sdk?: string;
};

/** A request, and how it looks on the vendor's wire. */
type WireExample = {
  request: GenerationRequest;
  /** An input without a URL, by its role, or one with a URL. */
  inputs?: readonly (GenerationInput["role"] | { role: GenerationInput["role"]; url: string })[];
  /** Instead of the wire's own. */
  model?: string;
  route?: RouteTerms;
  path: string;
  body: unknown;
  /** The vendor has no job for it: the outputs, or the refusal for their content, come with the reply. */
  reply?: { done: unknown; refused: unknown };
};

/** A reply of the vendor: its status, its JSON, and headers that say more. */
export type WireReply = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];

/**
 * What a vendor's API sends and expects, written from its documentation and its SDK and not from our tables. `{url}`
 * stands for the address of an output, `{bytes}` for an output in base64.
 */
export type SubmissionWire = {
  source: WireSource;
  /** The path of the vendor's base URL. */
  base: string;
  model: string;
  headers: Readonly<Record<string, string>>;
  /** The bodies that the vendor accepts, by path. Unknown fields are refused, as the vendor does. */
  accepts: Readonly<Record<string, TSchema>>;
  examples: readonly [WireExample, ...WireExample[]];
  refusals: {
    key: WireReply;
    credit: WireReply;
    rate: WireReply;
    invalid: WireReply;
    content: WireReply;
    /** The vendor does not have the model, or not for this account. */
    model?: WireReply;
  };
};

/** Of a vendor with jobs. */
export type QueueWire = SubmissionWire & {
  accepted: unknown;
  /** The poll of the accepted job. */
  pollPath: string;
  /** Its id in `accepted`; `job-1` by default. */
  id?: string;
  /** The body of the poll, for vendors that are polled with POST. */
  pollBody?: unknown;
  /** The key is checked by reading this; by default by polling a job that does not exist. */
  keyPath?: string;
  states: {
    queued: unknown;
    running: unknown;
    /** With a word that no documentation has. */
    odd: unknown;
    done: unknown;
    failed: unknown;
    refused: unknown;
    canceled?: unknown;
    /** Its reply for a job that it does not know; 404 by default. */
    lost?: WireReply;
  };
  /** A job in the queue looks like one that runs. */
  isQueueHidden?: true;
  /** Its progress in `running`. */
  progress?: number;
  /** Between the result and the output. */
  file?: { path: string; reply: unknown };
  cancel?: { method: string; path: string; reply: WireReply };
};

export const film = { type: "video", prompt: "Waves", durationSeconds: 5, aspectRatio: "16:9" } as const;
export const picture = { type: "image", prompt: "A barn", width: 1024, height: 1024, count: 1 } as const;
/** The address of an input without a URL, as `addressInputs` writes it: the bytes are "pixels". */
export const pixels = "data:image/png;base64,cGl4ZWxz";
/** The same without its prefix. */
export const bare = "cGl4ZWxz";
export const barnUrl = "https://images.example.com/barn.png";
export const bearer = { authorization: "Bearer sk-1" };

/** An object with these fields and no others; `more` are optional. */
export function strict(fields: Record<string, TSchema>, more: Record<string, TSchema> = {}): TSchema {
  const optional = Object.fromEntries(Object.entries(more).map(([name, schema]) => [name, Type.Optional(schema)]));
  return Type.Object({ ...fields, ...optional }, { additionalProperties: false });
}

export function oneOf(...values: readonly (string | number)[]): TSchema {
  return Type.Union(values.map((value) => Type.Literal(value)));
}

export const text = Type.String({ minLength: 1 });
export const seed = Type.Integer({ minimum: 0, maximum: 4_294_967_295 });
export const webUrl = Type.String({ pattern: "^https://" });
/** A URL, or the bytes inside a data URI. */
export const address = Type.String({ pattern: "^(https://|data:[\\w.+-]+/[\\w.+-]+;base64,)" });
/** A URL, or the bytes without a prefix. */
export const addressOrBytes = Type.String({ pattern: "^(https://|[A-Za-z0-9+/]+=*$)" });
