import type { Bill } from "../../lib/bill.ts";
import { countStartedSeconds } from "../../lib/started-seconds.ts";
import type {
  Transcript,
  TranscriptionProvider,
  TranscriptPiece,
  TranscriptUsage,
} from "../../providers/transcription.ts";
import type { Price } from "../catalog/index.ts";

/** Vendors count one token for each tenth of a second of speech. */
const audioTokensPerSecond = 10;
/** Upper bounds over all vendors, for a second of audio and for its transcript. */
const audioTokensPerSecondMax = 40;
const outputTokensPerSecondMax = 25;
const outputTokensLeast = 100;
/** Tokens that vendors add to the prompt. */
const promptTokensLeast = 50;

/** Charged usage. `isCounted`: the gateway counted the tokens, because the upstream reported none. */
export type TranscribedUsage = TranscriptUsage & { seconds: number; isCounted: boolean };

export type TranscriptionTypes = {
  adapter: TranscriptionProvider;
  piece: TranscriptPiece;
  answer: Transcript;
  reported: TranscriptUsage;
  usage: TranscribedUsage;
};

/** What decides the most that a transcription can cost, before it runs. */
export type QuotedTranscription = {
  price: Price;
  seconds: number;
  /** The length of `prompt`. */
  promptBytes: number;
  tokensMax: TranscriptUsage;
};

export function quoteTranscription(
  price: Price,
  asked: { durationMs: number; prompt: string | null; outputTokensMax: number | undefined },
): QuotedTranscription {
  const seconds = countStartedSeconds(asked.durationMs);
  const promptBytes = Buffer.byteLength(asked.prompt ?? "");
  const audioTokens = seconds * audioTokensPerSecondMax;
  const outputTokens = Math.min(
    asked.outputTokensMax ?? Number.POSITIVE_INFINITY,
    seconds * outputTokensPerSecondMax + outputTokensLeast,
  );
  return {
    price,
    seconds,
    promptBytes,
    tokensMax: { inputTokens: audioTokens + promptBytes + promptTokensLeast, audioTokens, outputTokens },
  };
}

/** The gateway's own count, for upstreams that report no usage. */
export function countUsage({ seconds, promptBytes }: QuotedTranscription, outputTokens: number): TranscriptUsage {
  const audioTokens = seconds * audioTokensPerSecond;
  return { inputTokens: audioTokens + Math.ceil(promptBytes / 4), audioTokens, outputTokens };
}

/** Caps the usage at the hold, whatever the upstream reports. */
export function boundUsage({ tokensMax }: QuotedTranscription, usage: TranscriptUsage): TranscriptUsage {
  const audioTokens = Math.min(usage.audioTokens, tokensMax.audioTokens);
  const textTokens = Math.min(usage.inputTokens - usage.audioTokens, tokensMax.inputTokens - tokensMax.audioTokens);
  const outputTokens = Math.min(usage.outputTokens, tokensMax.outputTokens);
  return { inputTokens: audioTokens + textTokens, audioTokens, outputTokens };
}

export function isPricedByTokens({ price }: QuotedTranscription): boolean {
  return price.amounts.billingType === "token";
}

/** A plan's text quota counts a second of audio as `audioTokensPerSecond` tokens. */
export function billTranscription({ price, seconds }: QuotedTranscription, usage: TranscribedUsage): Bill {
  const { amounts, marks, id: priceId, minimumCharge: minimum } = price;
  const bill = { priceId, minimum, per: amounts.per };
  if (amounts.billingType === "token") {
    const kind = usage.isCounted ? "counted_" : "";
    // Without an audio price, audio tokens cost as much as text tokens.
    const audioTokens = amounts.audioInputPrice === null ? 0 : usage.audioTokens;
    const audioRate = amounts.audioInputPrice ?? amounts.inputPrice;
    return {
      ...bill,
      quotaUnits: BigInt(usage.inputTokens) + BigInt(usage.outputTokens),
      items: [
        { name: `${kind}input_tokens`, quantity: BigInt(usage.inputTokens - audioTokens), rate: amounts.inputPrice },
        { name: "audio_input_tokens", quantity: BigInt(audioTokens), rate: audioRate },
        { name: `${kind}output_tokens`, quantity: BigInt(usage.outputTokens), rate: amounts.outputPrice },
        ...marks,
      ],
    };
  }
  const item =
    amounts.unit === "second"
      ? { name: "seconds", quantity: BigInt(seconds), rate: amounts.price }
      : { name: "calls", quantity: 1n, rate: amounts.price };
  return { ...bill, quotaUnits: BigInt(seconds * audioTokensPerSecond), items: [item, ...marks] };
}
