import { type Bill, computeCharge, hungUpMark } from "../../lib/bill.ts";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderError } from "../../providers/contract.ts";
import type { AudioFormat, SpeechAudio, SpeechRequest } from "../../providers/generation.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import {
  boundCallMs,
  type CallEnd,
  type CallMeter,
  type CallPlan,
  type CallPresenter,
  type CallTerms,
  type ChargeRule,
  holdMarginMs,
  type IncomingCall,
} from "../calls/index.ts";
import { getOfferedModel, getPrice, type LiveCatalog, presentDeprecation } from "../catalog/index.ts";
import {
  billTask,
  checkSpeech,
  countCharacters,
  explainFailure,
  quoteTask,
  type SpeechBody,
  type UnitTerms,
} from "../tasks/index.ts";
import { type SpeechKinds, type SpeechTarget, type SpokenUsage, sendSpeech } from "./send-speech.ts";

export type SpeechDirectory = { catalog: LiveCatalog; registry: ProviderRegistry; clock: Clock };

export const audioTypes = { mp3: "audio/mpeg", wav: "audio/wav", pcm: "audio/pcm" } as const satisfies Record<
  AudioFormat,
  string
>;

const timeoutMsUsual = 120_000;

/** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
export function prepareSpeech(
  { catalog, registry, clock }: SpeechDirectory,
  { caller, body, requestId }: IncomingCall,
): CallPlan<SpeechKinds> {
  const speech = body as SpeechBody;
  const offered = getOfferedModel(catalog.current(), speech.model, caller, clock.now());
  const modelId = offered.model.id;
  const { request, capability } = checkSpeech(speech, offered.model);
  invariant(request.type === "speech", "speech was checked as something else");
  const targets = listSpeechTargets({ catalog, registry }, modelId);
  const callMs = boundCallMs(targets.map(({ timeoutMs }) => timeoutMs));
  const budgetAmount = caller.budget?.amount ?? null;
  const terms = quoteTask(getPrice(offered.prices, capability), { request, audioSeconds: null, budgetAmount });
  const meter = new SpeechMeter(request);
  return {
    ...{ caller, requestId, modelId, targets, callMs, meter, tokensLikely: 0 },
    operation: { name: "generate_content", outputType: "speech" },
    terms: describeTerms(terms, callMs + holdMarginMs),
    presenter: createPresenter(audioTypes[request.format]),
    headers: presentDeprecation(offered),
    start: (target, _unitsMax, sink, { traceparent, remainingMs }) => {
      const onAudio = (audio: SpeechAudio): void => meter.follow(audio);
      return sendSpeech(target, { requestId, request, traceparent, remainingMs, onAudio }, sink);
    },
    explain: explainSpeechFailure,
    bill: (usage) => billSpeech(terms, usage),
    countTokens: () => ({ input: 0, output: 0 }),
    describeUsage: ({ characters }) => ({ characters }),
    describeSpan: ({ characters }) => ({ "sluice.usage.characters": characters }),
  };
}

/** Who can say something as the model, at the moment. */
function listSpeechTargets(
  { catalog, registry }: Pick<SpeechDirectory, "catalog" | "registry">,
  modelId: string,
): SpeechTarget[] {
  return (catalog.current().targetsByModelId.get(modelId) ?? []).flatMap((target) => {
    const speech = registry.getSpeech(target.provider);
    if (speech === null) return [];
    const { provider, route } = target;
    const timeoutMs = route.timeouts?.total_ms ?? provider.timeouts?.total_ms ?? timeoutMsUsual;
    return [{ ...target, speech, timeoutMs }];
  });
}

/** The price of the full text is on hold: an upstream that has it cannot be stopped where money ends. */
function describeTerms(terms: UnitTerms, holdMs: number): CallTerms {
  const price = computeCharge(billTask(terms, terms.unitsMax));
  return {
    priceId: terms.priceId,
    isFree: price === 0n,
    unitsMax: 1,
    unitsUsual: 1,
    isMetered: false,
    quota: { kind: terms.quota.kind, units: terms.quota.unitsMax },
    holdMs,
    price: () => price,
    countAffordable: (amount: Nano) => (amount >= price ? 1 : 0),
  };
}

function billSpeech(terms: UnitTerms, { characters, hasHungUp }: SpokenUsage): Bill {
  const bill = billTask(terms, terms.counts === "characters" ? BigInt(characters) : terms.unitsMax);
  return hasHungUp ? { ...bill, items: [...bill.items, hungUpMark] } : bill;
}

/** What a caller is told whose text could not be said. */
function explainSpeechFailure(failure: ProviderError): AppError {
  const { code, message, param } = explainFailure(failure);
  return new AppError(code, message, { cause: failure, ...(param === null ? {} : { param: "input" }) });
}

/** Charges the characters that an upstream was given: all of them, whether anybody listens to the end or not. */
class SpeechMeter implements CallMeter<SpeechKinds> {
  private readonly characters: number;
  private audio: SpeechAudio | null = null;
  private hasSpoken = false;

  constructor({ text }: SpeechRequest) {
    this.characters = countCharacters(text);
  }

  follow(audio: SpeechAudio): void {
    this.audio = audio;
  }

  begin(): void {}

  take(chunks: readonly Uint8Array[]): number {
    this.hasSpoken = true;
    return chunks.length;
  }

  takeAnswer(answer: never): { answer: never; reported: null } {
    return { answer, reported: null };
  }

  written(): number {
    return 0;
  }

  writtenMax(): number {
    return 0;
  }

  isComplete(): boolean {
    return false;
  }

  isPastCap(): boolean {
    return false;
  }

  /** An upstream that accepts has taken all of the text. */
  isCostKnown(): boolean {
    return true;
  }

  conclude(
    rule: ChargeRule,
    { reported, hasHungUp }: { reported: { characters: number } | null; hasHungUp: boolean },
  ): { usage: SpokenUsage; isDue: boolean; stoppedBy: null } {
    // An upstream that broke off may know how far it came; else it was given all of the text.
    const spoken = reported === null && !hasHungUp ? this.audio?.spokenCharacters?.() : null;
    const characters = Math.min(spoken ?? this.characters, this.characters);
    const isDue = rule === "if-written" ? this.hasSpoken && characters > 0 : rule !== "nothing";
    return { usage: { characters: isDue ? characters : 0, hasHungUp }, isDue, stoppedBy: null };
  }
}

function createPresenter(contentType: string): CallPresenter<SpeechKinds> {
  return {
    form: "bytes",
    contentType,
    presentPieces: (chunks) => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    presentWhole: () => "",
    presentCut: () => "",
    presentTail: () => "",
    presentFailure: () => null,
    summarize: ({ usage, settlement }: CallEnd<SpeechKinds>) =>
      `It said ${usage.characters} characters and cost ${presentMoney(settlement.charge)}.`,
  };
}
