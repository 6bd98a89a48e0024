import { type Bill, computeCharge, hungUpMark } from "../../lib/bill.ts";
import type { Nano } from "../../lib/money.ts";
import { countStartedSeconds } from "../../lib/started-seconds.ts";
import type { TranscriptUsage } from "../../providers/transcription.ts";
import type { Price } from "../catalog/index.ts";
import type { TranscribedUsage } from "./transcription-kinds.ts";

/** As vendors count audio that is spoken: one token for each tenth of a second. */
const audioTokensPerSecond = 10;
/** More than any vendor makes of a second of audio, or of what can be said in one. */
const audioTokensPerSecondMax = 40;
const outputTokensPerSecondMax = 25;
const outputTokensLeast = 100;
/** What vendors add to the prompt on their own. */
const promptTokensLeast = 50;
const tokensPerPrice = 1000n;

/** What is known of a transcription before it runs that decides what it may cost. */
export type QuotedTranscription = {
  price: Price;
  seconds: number;
  /** Of the text that is sent with the recording. */
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

/** Our own count where the upstream tells none. */
export function countUsage({ seconds, promptBytes }: QuotedTranscription, outputTokens: number): TranscriptUsage {
  const audioTokens = seconds * audioTokensPerSecond;
  return { inputTokens: audioTokens + Math.ceil(promptBytes / 4), audioTokens, outputTokens };
}

/** Nobody is charged beyond what was on hold, whatever an upstream reports. */
export function boundUsage({ tokensMax }: QuotedTranscription, usage: TranscriptUsage): TranscriptUsage {
  const audioTokens = Math.min(usage.audioTokens, tokensMax.audioTokens);
  const textTokens = Math.min(usage.inputTokens - usage.audioTokens, tokensMax.inputTokens - tokensMax.audioTokens);
  const outputTokens = Math.min(usage.outputTokens, tokensMax.outputTokens);
  return { inputTokens: audioTokens + textTokens, audioTokens, outputTokens };
}

export function isPricedByTokens({ price }: QuotedTranscription): boolean {
  return price.amounts.billingType === "token";
}

/** The bill of a usage. Of a plan's quota of text, a second of audio is as many tokens as it usually comes to. */
export function billTranscription({ price, seconds }: QuotedTranscription, usage: TranscribedUsage): Bill {
  const { amounts, id: priceId, minimumCharge: minimum } = price;
  const mark = usage.hasHungUp ? [hungUpMark] : [];
  if (amounts.billingType === "token") {
    const kind = usage.isCounted ? "counted_" : "";
    // Without a price of its own, audio is input like any other.
    const audioTokens = amounts.audioInputPrice === null ? 0 : usage.audioTokens;
    const audioRate = amounts.audioInputPrice ?? amounts.inputPrice;
    return {
      ...{ priceId, minimum, per: tokensPerPrice },
      quotaUnits: BigInt(usage.inputTokens) + BigInt(usage.outputTokens),
      items: [
        { name: `${kind}input_tokens`, quantity: BigInt(usage.inputTokens - audioTokens), rate: amounts.inputPrice },
        { name: "audio_input_tokens", quantity: BigInt(audioTokens), rate: audioRate },
        { name: `${kind}output_tokens`, quantity: BigInt(usage.outputTokens), rate: amounts.outputPrice },
        ...mark,
      ],
    };
  }
  const item =
    amounts.unit === "second"
      ? { name: "seconds", quantity: BigInt(seconds), rate: amounts.price }
      : { name: "calls", quantity: 1n, rate: amounts.price };
  return { ...{ priceId, minimum, per: 1n }, quotaUnits: countQuota(seconds), items: [item, ...mark] };
}

/** The most that it can cost, and the most that it can take of a quota. */
export function quoteMost(quoted: QuotedTranscription): { amount: Nano; quotaUnits: bigint } {
  const { seconds, tokensMax } = quoted;
  const bill = billTranscription(quoted, { ...tokensMax, seconds, isCounted: false, hasHungUp: false });
  return { amount: computeCharge(bill), quotaUnits: bill.quotaUnits };
}

function countQuota(seconds: number): bigint {
  return BigInt(seconds) * BigInt(audioTokensPerSecond);
}
