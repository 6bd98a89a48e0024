import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";
import type { Logprob, SpeakerSegment, Transcript, TranscriptPiece, TranscriptUsage } from "../transcription.ts";
import { asRecord, type JsonRecord, parseJson } from "./json-value.ts";
import { createEventReader } from "./read-events.ts";
import { readLogprobs, readSpeaker, readTranscriptUsage } from "./read-transcript.ts";
import { readUpstreamError } from "./read-upstream-error.ts";

type Reading = {
  onPieces(pieces: readonly TranscriptPiece[]): void;
  clock: Clock;
};

/** Reads a streamed transcript and emits its pieces. Fails if the last event is missing. */
export async function readTranscriptEvents(
  chunks: AsyncIterable<Buffer>,
  { onPieces, clock }: Reading,
): Promise<Transcript> {
  const stream = new TranscriptStream(clock);
  const reader = createEventReader(stream);
  for await (const chunk of chunks) {
    if (!reader.add(chunk)) throw new ProviderError("bad-answer", "An event of the stream is too long.");
    onPieces(stream.takePieces());
  }
  reader.end();
  onPieces(stream.takePieces());
  return stream.conclude();
}

/** The transcript so far. */
class TranscriptStream {
  private readonly clock: Clock;
  private pieces: TranscriptPiece[] = [];
  private text = "";
  private readonly speakers: SpeakerSegment[] = [];
  private readonly logprobs: Logprob[] = [];
  private usage: TranscriptUsage | null = null;
  private isDone = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  onEvent(text: string, from: number, to: number): void {
    const event = asRecord(parseJson(text.slice(from, to)));
    if (event === null || this.isDone) return;
    if (event.error !== undefined)
      throw readUpstreamError({ status: 200, headers: {}, body: event, clock: this.clock });
    if (event.type === "transcript.text.delta") this.addText(event);
    else if (event.type === "transcript.text.segment") this.addSegment(event);
    else if (event.type === "transcript.text.done") this.end(event);
  }

  private addText({ delta, logprobs, segment_id: segmentId }: JsonRecord): void {
    if (typeof delta !== "string" || delta === "") return;
    this.text += delta;
    const told = readLogprobs(logprobs);
    this.logprobs.push(...told);
    this.pieces.push({
      ...{ kind: "text", text: delta },
      ...(told.length === 0 ? {} : { logprobs: told }),
      ...(typeof segmentId === "string" ? { segmentId } : {}),
    });
  }

  private addSegment(event: JsonRecord): void {
    const segment = readSpeaker(event, this.speakers.length);
    if (segment === null) return;
    this.speakers.push(segment);
    this.pieces.push({ kind: "segment", segment });
  }

  /** Some upstreams send the whole text here and nothing before. */
  private end(event: JsonRecord): void {
    this.isDone = true;
    if (this.text === "") this.addText({ ...event, delta: event.text });
    this.usage = readTranscriptUsage(event.usage);
  }

  takePieces(): readonly TranscriptPiece[] {
    const { pieces } = this;
    this.pieces = [];
    return pieces;
  }

  conclude(): Transcript {
    if (!this.isDone) throw new ProviderError("unreachable", "The stream ended before the transcript was complete.");
    const { text, speakers, logprobs, usage } = this;
    return {
      ...{ text, speakers, usage, language: null, segments: [], words: [] },
      logprobs: logprobs.length === 0 ? null : logprobs,
    };
  }
}
