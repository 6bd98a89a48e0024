import type { Caller } from "../../lib/caller.ts";
import { createTokenMeter } from "../../lib/token-meter.ts";
import type { Recording, Transcript, TranscriptionRequest, TranscriptPiece } from "../../providers/transcription.ts";
import {
  type CallDirectory,
  type CallPlan,
  explainCallFailure,
  type FailureTexts,
  type FlatKinds,
  type FlatMeter,
  flatCall,
  isChargeDue,
  listFlatTargets,
} from "../calls/index.ts";
import { getOfferedModel, getPrice } from "../catalog/index.ts";
import { capabilityByTask, checkDuration, checkFileBytes, checkTranscription } from "./check-transcription.ts";
import { TranscriptionPresenter } from "./present-transcription.ts";
import {
  billTranscription,
  boundUsage,
  countUsage,
  isPricedByTokens,
  type QuotedTranscription,
  quoteTranscription,
  type TranscriptionTypes,
} from "./quote-transcription.ts";
import type { TranscriptionFields } from "./transcription-schema.ts";

export type TranscriptionKinds = FlatKinds<TranscriptionTypes>;

type AskedTranscription = {
  caller: Caller;
  task: TranscriptionRequest["task"];
  fields: TranscriptionFields;
  fileBytes: number;
};

/** People speak about three words a second. */
const spokenTokensPerSecond = 4;
/** Long recordings take minutes. */
const timeoutMsUsual = 600_000;

const failureTexts: FailureTexts = {
  tooLong: {
    code: "invalid_file",
    message: "The recording is too long for this model. Send a shorter one.",
    param: "file",
  },
  explainRejection: (param) =>
    param === "file" ? { code: "invalid_file", message: "The model rejected this file. Check its format." } : null,
};

/** Checks everything that does not need the contents of the file. Throws if the request is invalid. */
export function checkAsked(
  { catalog, registry, clock }: CallDirectory,
  { caller, task, fields, fileBytes }: AskedTranscription,
) {
  const view = catalog.current();
  const offered = getOfferedModel(view, fields.model, caller, clock.now());
  const checked = checkTranscription(fields, task, offered.model);
  checkFileBytes(offered.model, fileBytes);
  const targets = listFlatTargets(view, offered.model.id, {
    getAdapter: (provider) => registry.getTranscription(provider),
    findObstacle: (adapter) => adapter.findObstacle(checked.request),
    timeoutMsUsual,
  });
  return { checked, offered, targets };
}

/** Checks and prices a call before anything is sent. Throws if the request is invalid. */
export function prepareTranscription(
  directory: CallDirectory,
  asked: AskedTranscription & { requestId: string; recording: Recording },
): CallPlan<TranscriptionKinds> {
  const { caller, task, requestId, recording } = asked;
  const { durationMs } = recording;
  const { checked, offered, targets } = checkAsked(directory, asked);
  const { model, prices } = offered;
  const { request, isStreamed } = checked;
  checkDuration(model, durationMs);
  const price = getPrice(prices, capabilityByTask[task]);
  const outputTokensMax = model.limits.max_output_tokens;
  const quoted = quoteTranscription(price, { durationMs, prompt: request.prompt, outputTokensMax });
  const isByTokens = isPricedByTokens(quoted);
  return flatCall<TranscriptionTypes>({
    ...{ caller, requestId, offered, targets },
    operation: { name: "generate_content", outputType: "text" },
    usageMax: { ...quoted.tokensMax, seconds: quoted.seconds, isCounted: false },
    bill: (usage) => billTranscription(quoted, usage),
    ...(isByTokens ? { estimate: () => estimateLength(quoted) } : {}),
    billAt: (sheet, usage) => billTranscription({ ...quoted, price: sheet }, usage),
    meter: createMeter(quoted),
    presenter: new TranscriptionPresenter({ ...checked, durationMs, isPricedByTokens: isByTokens }),
    async send({ adapter }, attempt, sink) {
      let hasPieces = false;
      const onPieces = (pieces: readonly TranscriptPiece[]): void => {
        if (pieces.length === 0) return;
        hasPieces = true;
        // A transcript is little text: no back-pressure.
        sink.onPieces(pieces);
      };
      const { onAccepted } = sink;
      const call = { ...attempt, request, recording, onAccepted, onPieces: isStreamed ? onPieces : null };
      const transcript = await adapter.transcribe(call);
      if (!isStreamed) {
        sink.onAnswer(transcript);
        return;
      }
      if (!hasPieces) onPieces(listPieces(transcript));
      sink.onEnd(transcript.usage);
    },
    explain: (error) => explainCallFailure(error, failureTexts),
    countTokens: ({ inputTokens, outputTokens }) =>
      isByTokens ? { input: inputTokens, output: outputTokens } : { input: 0, output: 0 },
    describeUsage: ({ seconds, inputTokens, outputTokens }) =>
      isByTokens ? { seconds, input_tokens: inputTokens, output_tokens: outputTokens } : { seconds },
    describeSpan: ({ seconds, inputTokens, outputTokens }) => ({
      "sluice.usage.seconds": seconds,
      "gen_ai.usage.input_tokens": isByTokens ? inputTokens : undefined,
      "gen_ai.usage.output_tokens": isByTokens ? outputTokens : undefined,
    }),
  });
}

/** The tokens of speech at a usual speed. */
function estimateLength(quoted: QuotedTranscription) {
  const { seconds } = quoted;
  const usage = boundUsage(quoted, countUsage(quoted, seconds * spokenTokensPerSecond));
  return { usage: { ...usage, seconds, isCounted: true }, basis: "recording_length" as const, seconds };
}

/** The whole transcript as pieces, for an upstream that does not stream. */
function listPieces({ text, logprobs, speakers }: Transcript): TranscriptPiece[] {
  const whole: TranscriptPiece[] =
    text === "" ? [] : [{ kind: "text", text, ...(logprobs === null ? {} : { logprobs }) }];
  return [...whole, ...speakers.map((segment) => ({ kind: "segment" as const, segment }))];
}

/** Charges for the whole recording, also if the caller hangs up; by tokens, for those that the upstream reports. */
function createMeter(quoted: QuotedTranscription): FlatMeter<TranscriptionTypes> {
  const tokens = createTokenMeter();
  let hasText = false;
  const count = (text: string): void => {
    tokens.add(text);
    if (text !== "") hasText = true;
  };
  return {
    // The length of the recording is known; tokens are known only from the upstream's report.
    isCostKnown: !isPricedByTokens(quoted),
    take(pieces) {
      for (const piece of pieces) if (piece.kind === "text") count(piece.text);
    },
    takeAnswer({ text, usage }) {
      count(text);
      return usage;
    },
    conclude(rule, { reported }) {
      const isHoldDue = rule === "reported-or-hold" && reported === null;
      const counted = isHoldDue ? quoted.tokensMax : countUsage(quoted, tokens.tokens());
      const bounded = boundUsage(quoted, reported ?? counted);
      const usage = { ...bounded, seconds: quoted.seconds, isCounted: reported === null };
      return { usage, isDue: isChargeDue(rule, hasText) };
    },
  };
}
