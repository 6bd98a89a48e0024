import type { GenerationInput, GenerationRequest, GenerationTraits } from "../generation.ts";
import type { VendorErrors } from "../read-vendor-reply.ts";
import type { FieldRules } from "../route-terms.ts";

/**
 * A vendor that takes a job over JSON, answers with its id, is polled, and then names the outputs. Places in replies are
 * paths such as `data.task_id` and `output.*.url`, where `*` stands for each item of a list.
 */
export type QueueVendor = VendorErrors & {
  baseUrl: string;
  auth: { name: string; prefix: string };
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  makes: Readonly<Partial<Record<GenerationRequest["type"], QueueProduct>>>;
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
  /** How inputs without a URL are written: as data URIs by default. */
  inline?: "data-uri" | "base64";
  /** The inputs that the vendor takes by URL only. */
  urlOnly?: readonly GenerationInput["role"][];
  /** The URLs of the outputs; the first place that has some. */
  outputs: readonly string[];
  /** The outputs are ids of files, whose URLs are asked for: `{id}` in the path, and the place of the URL. */
  files?: { path: string; url: string };
};

export type QueuePhase = "queued" | "running" | "done" | "failed" | "canceled" | "lost";

type QueuePoll = {
  /** `{id}` stands for the job's id. */
  path: string;
  status: string;
  /** An unknown word counts as running: failing would abandon a job that may still finish and be billed. */
  words: Readonly<Record<string, QueuePhase>>;
  /** The place of the progress, and its maximum. */
  progress?: { at: string; max: 1 | 100 };
  /** A reply without a status means that the vendor does not know the job. */
  isLostWithoutStatus?: true;
};
