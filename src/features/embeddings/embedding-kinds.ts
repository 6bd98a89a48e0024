import type { EmbeddingAnswer, EmbeddingProvider } from "../../providers/embedding.ts";
import type { RouteTarget } from "../catalog/index.ts";
import type { EmbeddedUsage } from "./quote-embedding.ts";

export type EmbeddingTarget = RouteTarget & { embedding: EmbeddingProvider; timeoutMs: number };

/** What a paid call speaks of where it embeds: there is no part of an answer, and what is reported is a count of tokens. */
export type EmbeddingKinds = {
  target: EmbeddingTarget;
  delta: never;
  answer: EmbeddingAnswer;
  reported: number;
  usage: EmbeddedUsage;
};
