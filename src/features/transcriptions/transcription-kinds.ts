import type {
  Transcript,
  TranscriptionProvider,
  TranscriptPiece,
  TranscriptUsage,
} from "../../providers/transcription.ts";
import type { RouteTarget } from "../catalog/index.ts";

export type TranscriptionTarget = RouteTarget & {
  transcription: TranscriptionProvider;
  timeoutMs: number;
};

/** What is charged: the recording's length, and tokens, which the upstream told or we counted. */
export type TranscribedUsage = TranscriptUsage & { seconds: number; isCounted: boolean; hasHungUp: boolean };

/** What a paid call speaks of where it is a transcription. */
export type TranscriptionKinds = {
  target: TranscriptionTarget;
  delta: TranscriptPiece;
  answer: Transcript;
  reported: TranscriptUsage;
  usage: TranscribedUsage;
};
