import { type Nano, presentMoney } from "../../lib/money.ts";
import type { ChargedUsage } from "./quote-chat.ts";
import type { StoppedBy } from "./run-chat.ts";

/** What stands around the choices of an answer and of each of its pieces: all of it is ours, nothing the upstream's. */
export type ChatEnvelope = { id: string; created: number; model: string };

export const streamEnd = "data: [DONE]\n\n";

/** The id follows from the request's, so that either leads to the other. */
export function createEnvelope(requestId: string, model: string, now: Date): ChatEnvelope {
  return { id: `chatcmpl-${requestId.slice("req_".length)}`, created: Math.floor(now.getTime() / 1000), model };
}

export function presentCompletion(
  envelope: ChatEnvelope,
  {
    choices,
    usage,
    charge,
    stoppedBy,
  }: { choices: string; usage: ChargedUsage; charge: Nano; stoppedBy: StoppedBy | null },
): string {
  const usageText = presentUsage(usage, charge);
  const head = presentHead(envelope, "chat.completion");
  return `${head}"choices":${choices},"usage":${usageText}${presentStop(stoppedBy)}}`;
}

/** Writes pieces as events. */
export type ChunkWriter = {
  present(choices: string, stoppedBy: StoppedBy | null): string;
  presentUsage(usage: ChargedUsage, charge: Nano): string;
};

/** `includesUsage` is what the caller asked: then every chunk has the field. */
export function createChunkWriter(envelope: ChatEnvelope, options: { includesUsage: boolean }): ChunkWriter {
  return new EnvelopeWriter(envelope, options.includesUsage);
}

/** A class, because there is one for each stream. */
class EnvelopeWriter implements ChunkWriter {
  private readonly start: string;
  private readonly end: string;
  private readonly includesUsage: boolean;

  constructor(envelope: ChatEnvelope, includesUsage: boolean) {
    // Joined, and not added up: a sum of texts would be kept in all its parts for as long as the stream lasts.
    this.start = ["data: ", presentHead(envelope, "chat.completion.chunk"), '"choices":'].join("");
    this.end = includesUsage ? ',"usage":null}\n\n' : "}\n\n";
    this.includesUsage = includesUsage;
  }

  present(choices: string, stoppedBy: StoppedBy | null): string {
    if (stoppedBy === null) return this.start + choices + this.end;
    return `${this.start}${choices}${this.includesUsage ? ',"usage":null' : ""}${presentStop(stoppedBy)}}\n\n`;
  }

  presentUsage(usage: ChargedUsage, charge: Nano): string {
    return this.includesUsage ? `${this.start}[],"usage":${presentUsage(usage, charge)}}\n\n` : "";
  }
}

function presentHead({ id, created, model }: ChatEnvelope, object: string): string {
  return `{"id":"${id}","object":"${object}","created":${created},"model":${JSON.stringify(model)},`;
}

function presentStop(stoppedBy: StoppedBy | null): string {
  return stoppedBy === null ? "" : `,"stopped_by":"${stoppedBy}"`;
}

/** Written by hand: every value is a whole number, or text without anything to escape. */
function presentUsage(usage: ChargedUsage, charge: Nano): string {
  const { inputTokens, outputTokens } = usage;
  const total = inputTokens + outputTokens;
  const input = `"cached_tokens":${usage.cachedInputTokens},"cache_write_tokens":${usage.cacheWriteTokens},"audio_tokens":${usage.inputAudioTokens}`;
  const output = `"reasoning_tokens":${usage.reasoningTokens},"audio_tokens":${usage.outputAudioTokens},"accepted_prediction_tokens":0,"rejected_prediction_tokens":0`;
  return `{"prompt_tokens":${inputTokens},"completion_tokens":${outputTokens},"total_tokens":${total},"prompt_tokens_details":{${input}},"completion_tokens_details":{${output}},"charge":"${presentMoney(charge)}"}`;
}
