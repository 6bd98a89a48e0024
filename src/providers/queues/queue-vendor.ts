import type { GenerationInput, GenerationRequest, GenerationTraits } from "../generation.ts";
import type { VendorErrors } from "../read-vendor-reply.ts";
import type { FieldRules } from "../route-terms.ts";
import type { VendorHook } from "../vendor-hook.ts";

/**
 * A vendor that makes media over JSON. Places in replies are paths such as `data.task_id` and `output.*.url`, where `*`
 * stands for each item of a list.
 */
export type MediaVendor = VendorErrors & {
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  makes: Products;
  /** Models that have another API than the vendor's other ones; the first that fits. */
  families?: readonly { models: RegExp; makes: Products }[];
  /** How it calls back when a job has changed; absent if it does not, or not per job. */
  hook?: VendorHook;
  /** A header that only the vendor's own errors have, never those of a proxy. */
  ownErrorHeader?: string;
};

export type Products = Readonly<Partial<Record<GenerationRequest["type"], QueueProduct>>>;

/** A vendor that takes a job, answers with its id, is polled, and then names the outputs. */
export type QueueVendor = MediaVendor & {
  baseUrl: string;
  auth: { name: string; prefix: string };
  /** What only callers with a key may read; absent: the poll of a job that does not exist. */
  keyPath?: string;
  /** The job's id in the reply to a submission. */
  id: string;
  poll: QueuePoll;
  cancel?: { method: "POST" | "DELETE"; path: string; works: Exclude<GenerationTraits["cancels"], "never"> };
  /** The cause of a failed job. */
  failure: { code?: string; message: string };
  /** The vendor's fastest polling interval. */
  pollMsMin: number;
};

/** What the vendor makes of one type. `{model}` stands for the upstream model. */
export type QueueProduct = {
  path: string | ((fields: Readonly<Record<string, unknown>>) => string);
  fields: FieldRules;
  /** The field with the upstream model; absent if only the path has it. */
  modelField?: string;
  /** Puts written fields where the vendor expects them, if names alone cannot. */
  arrange?(fields: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** How inputs without a URL are written: as data URIs by default. `always`: also inputs with a URL. */
  inline?: "data-uri" | "base64" | "always";
  /** The inputs that the vendor takes by URL only. */
  urlOnly?: readonly GenerationInput["role"][];
  /** The outputs come with the reply to the submission: there is no job. */
  isImmediate?: true;
  /** The URLs of the outputs; the first place that has some. */
  outputs: readonly string[];
  /** The outputs are the files themselves, in base64. */
  isEncoded?: true;
  /** Where the vendor says that it withheld an output for its content, and in which words; absent: in any. */
  withheld?: { at: readonly string[]; words?: RegExp };
  /** The outputs are ids of files, whose URLs are asked for: `{id}` in the path, and the place of the URL. */
  files?: { path: string; url: string };
};

export type QueuePhase = "queued" | "running" | "done" | "failed" | "canceled" | "lost";

type QueuePoll = {
  /** `{id}` stands for the job's id. */
  path: string | ((id: string) => string);
  /** The body, for vendors that are polled with POST. */
  ask?(id: string): object;
  /** The place of the word for its state, or how to find the word. */
  status: string | ((body: unknown) => string | null);
  /** An unknown word counts as running: failing would abandon a job that may still finish and be billed. */
  words: Readonly<Record<string, QueuePhase>>;
  /** The place of the progress, and its maximum. */
  progress?: { at: string; max: 1 | 100 };
  /** A reply without a status means that the vendor does not know the job. */
  isLostWithoutStatus?: true;
};
