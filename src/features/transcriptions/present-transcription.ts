import { type Nano, presentMoney } from "../../lib/money.ts";
import { eventStreamHeaders } from "../../platform/http/event-stream.ts";
import type {
  Logprob,
  SpeakerSegment,
  Transcript,
  TranscriptionRequest,
  TranscriptPiece,
} from "../../providers/transcription.ts";
import type { CallEnd, FlatKinds, FlatPresenter } from "../calls/index.ts";
import type { CheckedTranscription } from "./check-transcription.ts";
import type { TranscribedUsage, TranscriptionTypes } from "./quote-transcription.ts";
import type { TranscriptFormat } from "./transcription-schema.ts";
import { type Cue, writeSrt, writeVtt } from "./write-cues.ts";

const jsonType = "application/json; charset=utf-8";
const textType = "text/plain; charset=utf-8";

/** OpenAI sends subtitles as plain text too. */
const contentTypes = {
  json: jsonType,
  verbose_json: jsonType,
  diarized_json: jsonType,
  text: textType,
  srt: textType,
  vtt: textType,
} as const satisfies Record<TranscriptFormat, string>;

export const transcriptTypes = ["application/json", "text/plain"];

type Presented = CheckedTranscription & { durationMs: number; isPricedByTokens: boolean };

/** Writes the transcript in the requested `response_format`. */
export class TranscriptionPresenter implements FlatPresenter<TranscriptionTypes> {
  readonly form: "whole" | "events";
  readonly contentType: string;
  private readonly presented: Presented;
  /** The streamed text so far: the last event repeats all of it. */
  private text = "";
  private readonly logprobs: Logprob[] = [];

  constructor(presented: Presented) {
    this.presented = presented;
    this.form = presented.isStreamed ? "events" : "whole";
    this.contentType = presented.isStreamed ? eventStreamHeaders["content-type"] : contentTypes[presented.format];
  }

  presentWhole({ answer, usage, settlement }: CallEnd<FlatKinds<TranscriptionTypes>>): string {
    const transcript = answer ?? emptyTranscript;
    const { format, request, durationMs } = this.presented;
    const presented = this.presentUsage(usage, settlement.charge);
    switch (format) {
      case "text":
        return `${transcript.text}\n`;
      case "srt":
        return writeSrt(listCues(transcript, durationMs));
      case "vtt":
        return writeVtt(listCues(transcript, durationMs));
      case "verbose_json":
        return JSON.stringify({ ...presentVerbose(transcript, { request, durationMs }), usage: presented });
      case "diarized_json":
        return JSON.stringify({ ...presentDiarized(transcript, durationMs), usage: presented });
      case "json": {
        const { text, logprobs } = transcript;
        return JSON.stringify({ text, ...(logprobs === null ? {} : { logprobs }), usage: presented });
      }
    }
  }

  presentPieces(pieces: readonly TranscriptPiece[]): string {
    return pieces.map((piece) => this.presentPiece(piece)).join("");
  }

  private presentPiece(piece: TranscriptPiece): string {
    if (piece.kind === "segment") return writeEvent(presentSpeaker(piece.segment));
    const { text, logprobs, segmentId } = piece;
    this.text += text;
    this.logprobs.push(...(logprobs ?? []));
    return writeEvent({
      type: "transcript.text.delta",
      delta: text,
      ...(logprobs === undefined ? {} : { logprobs }),
      ...(segmentId === undefined ? {} : { segment_id: segmentId }),
    });
  }

  presentTail({ usage, settlement }: CallEnd<FlatKinds<TranscriptionTypes>>): string {
    const { text, logprobs } = this;
    return writeEvent({
      ...{ type: "transcript.text.done", text },
      ...(logprobs.length === 0 ? {} : { logprobs }),
      usage: this.presentUsage(usage, settlement.charge),
    });
  }

  presentFailure(body: unknown): string {
    return writeEvent(body);
  }

  summarize({ usage, settlement }: CallEnd<FlatKinds<TranscriptionTypes>>): string {
    return `The recording had ${usage.seconds} seconds and cost ${presentMoney(settlement.charge)}.`;
  }

  private presentUsage({ seconds, inputTokens, audioTokens, outputTokens }: TranscribedUsage, amount: Nano) {
    const charge = presentMoney(amount);
    if (!this.presented.isPricedByTokens) return { type: "duration", seconds, charge };
    return {
      type: "tokens",
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      input_token_details: { audio_tokens: audioTokens, text_tokens: Math.max(0, inputTokens - audioTokens) },
      charge,
    };
  }
}

const emptyTranscript: Transcript = {
  text: "",
  language: null,
  segments: [],
  words: [],
  speakers: [],
  logprobs: null,
  usage: null,
};

function writeEvent(event: unknown): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** A transcript without segments becomes one cue. */
function listCues({ text, segments }: Transcript, durationMs: number): readonly Cue[] {
  if (segments.length > 0 || text === "") return segments;
  return [{ start: 0, end: durationMs / 1000, text }];
}

type Verbose = { request: TranscriptionRequest; durationMs: number };

function presentVerbose({ text, language, segments, words }: Transcript, { request, durationMs }: Verbose) {
  const { task, timestamps } = request;
  return {
    task,
    // A translation is in English. Otherwise the upstream's detection goes before the caller's `language`.
    language: task === "translate" ? "english" : (language ?? request.language ?? "unknown"),
    duration: durationMs / 1000,
    text,
    ...(timestamps.includes("segment") ? { segments } : {}),
    ...(timestamps.includes("word") ? { words } : {}),
  };
}

function presentDiarized({ text, speakers }: Transcript, durationMs: number) {
  return { task: "transcribe", duration: durationMs / 1000, text, segments: speakers.map(presentSpeaker) };
}

function presentSpeaker(segment: SpeakerSegment) {
  return { type: "transcript.text.segment", ...segment };
}
