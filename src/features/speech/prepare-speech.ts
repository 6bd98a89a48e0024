import type { Bill } from "../../lib/bill.ts";
import { invariant } from "../../lib/invariant.ts";
import { presentMoney } from "../../lib/money.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import { eventStreamHeaders } from "../../platform/http/event-stream.ts";
import { ProviderError } from "../../providers/contract.ts";
import type { AudioFormat, SpeechAudio, SpeechProvider } from "../../providers/generation.ts";
import {
  type CallDirectory,
  type CallPlan,
  explainCallFailure,
  type FailureTexts,
  type FlatKinds,
  type FlatPresenter,
  flatCall,
  type IncomingCall,
  isChargeDue,
  listFlatTargets,
} from "../calls/index.ts";
import { getOfferedModel, getPrice } from "../catalog/index.ts";
import { billTask, checkSpeech, countCharacters, quoteTask, type SpeechBody, type UnitTerms } from "../tasks/index.ts";

type Spoken = { characters: number };

type SpeechTypes = {
  adapter: SpeechProvider;
  /** Audio. */
  piece: Uint8Array;
  answer: never;
  reported: Spoken;
  usage: Spoken;
};

export type SpeechKinds = FlatKinds<SpeechTypes>;

export const audioTypes = {
  mp3: "audio/mpeg",
  opus: "audio/opus",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
} as const satisfies Record<AudioFormat, string>;

const timeoutMsUsual = 120_000;

/** Checks and prices a call before anything is sent. Throws if the request is invalid. */
export function prepareSpeech(
  { catalog, registry, clock }: CallDirectory,
  { caller, body, requestId }: IncomingCall,
): CallPlan<SpeechKinds> {
  const speech = body as SpeechBody;
  const view = catalog.current();
  const offered = getOfferedModel(view, speech.model, caller, clock.now());
  const { request, capability } = checkSpeech(speech, offered.model);
  invariant(request.type === "speech", "speech was checked as something else");
  const targets = listFlatTargets(view, offered.model.id, {
    getAdapter: (provider) => registry.getSpeech(provider),
    findObstacle: (adapter, { route }) => adapter.findObstacle(request, route),
    timeoutMsUsual,
  });
  const budgetAmount = caller.budget?.amount ?? null;
  const price = getPrice(offered.prices, capability);
  const quotable = { request, inputImages: 0, audioSeconds: null, budgetAmount };
  const terms = quoteTask(price, quotable);
  const textCharacters = countCharacters(request.text);
  let audio: SpeechAudio | null = null;
  let hasOutput = false;
  return flatCall<SpeechTypes>({
    ...{ caller, requestId, offered, targets },
    operation: { name: "generate_content", outputType: "speech" },
    usageMax: { characters: textCharacters },
    bill: (usage) => billSpoken(terms, usage),
    billAt: (sheet, usage) => billSpoken(quoteTask(sheet, quotable), usage),
    meter: {
      // An upstream that accepts has the whole text.
      isCostKnown: true,
      take() {
        hasOutput = true;
      },
      conclude(rule, { reported, hasHungUp }) {
        // An upstream that broke off may know how many characters it spoke.
        const spoken = reported === null && !hasHungUp ? audio?.spokenCharacters?.() : null;
        const characters = Math.min(spoken ?? textCharacters, textCharacters);
        const isDue = isChargeDue(rule, hasOutput && characters > 0);
        return { usage: { characters: isDue ? characters : 0 }, isDue };
      },
    },
    presenter: speech.stream_format === "sse" ? eventPresenter : presentBytes(request.format),
    async send({ adapter, route }, attempt, sink) {
      const { signal } = attempt;
      const started = await adapter.startSpeech({ ...attempt, taskId: requestId, request, route });
      if (signal.aborted) return;
      audio = started;
      sink.onAccepted();
      let bytes = 0;
      for await (const chunk of started.chunks) {
        if (signal.aborted) return;
        bytes += chunk.length;
        sink.onPieces([chunk]);
        await sink.untilResumed();
        if (signal.aborted) return;
      }
      if (bytes === 0) throw new ProviderError("bad-answer", "The upstream sent no audio.");
      sink.onEnd({ characters: textCharacters });
    },
    explain: explainSpeechFailure,
    describeUsage: ({ characters }) => ({ characters }),
    describeSpan: ({ characters }) => ({ "sluice.usage.characters": characters }),
  });
}

function billSpoken(terms: UnitTerms, { characters }: Spoken): Bill {
  return billTask(terms, terms.counts === "characters" ? BigInt(characters) : terms.unitsMax);
}

const summarize: FlatPresenter<SpeechTypes>["summarize"] = ({ usage, settlement }) =>
  `It had ${usage.characters} characters and cost ${presentMoney(settlement.charge)}.`;

function presentBytes(format: AudioFormat): FlatPresenter<SpeechTypes> {
  return {
    form: "bytes",
    contentType: audioTypes[format],
    presentPieces: (chunks) => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    summarize,
  };
}

/** Quotas count the same. */
const charactersPerToken = 4;

/** OpenAI's events. It counts tokens, and this service characters: the tokens are an estimate. */
const eventPresenter: FlatPresenter<SpeechTypes> = {
  form: "events",
  contentType: eventStreamHeaders["content-type"],
  presentPieces: (chunks) =>
    chunks.map((chunk) => writeEvent({ type: "speech.audio.delta", audio: toBase64(chunk) })).join(""),
  presentTail({ usage: { characters }, settlement }) {
    const tokens = Math.ceil(characters / charactersPerToken);
    const counts = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens, characters };
    return writeEvent({
      type: "speech.audio.done",
      usage: { ...counts, charge: presentMoney(settlement.charge) },
    });
  },
  presentFailure: writeEvent,
  summarize,
};

function toBase64(chunk: Uint8Array): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("base64");
}

function writeEvent(event: unknown): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

const failureTexts: FailureTexts = {
  tooLong: { code: "prompt_too_long", message: "The text is too long for this model.", param: "input" },
  contentParam: "input",
};

function explainSpeechFailure(error: ProviderError): AppError {
  return explainCallFailure(error, failureTexts);
}
