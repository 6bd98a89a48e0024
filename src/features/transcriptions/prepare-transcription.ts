import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { Recording, TranscriptionRequest } from "../../providers/transcription.ts";
import { boundCallMs, type CallPlan, type CallTerms, holdMarginMs } from "../calls/index.ts";
import {
  type Capability,
  getOfferedModel,
  type LiveCatalog,
  type OfferedModel,
  type Price,
  presentDeprecation,
} from "../catalog/index.ts";
import {
  type CheckedTranscription,
  capabilityByTask,
  checkDuration,
  checkFileBytes,
  checkTranscription,
} from "./check-transcription.ts";
import { explainTranscriptionFailure } from "./explain-transcription-failure.ts";
import { TranscriptionMeter } from "./meter-transcription.ts";
import { TranscriptionPresenter } from "./present-transcription.ts";
import {
  billTranscription,
  isPricedByTokens,
  type QuotedTranscription,
  quoteMost,
  quoteTranscription,
} from "./quote-transcription.ts";
import { sendTranscription } from "./send-transcription.ts";
import type { TranscriptionKinds, TranscriptionTarget } from "./transcription-kinds.ts";
import type { TranscriptionFields } from "./transcription-schema.ts";

export type TranscriptionDirectory = { catalog: LiveCatalog; registry: ProviderRegistry; clock: Clock };

type AskedTranscription = {
  caller: Caller;
  task: TranscriptionRequest["task"];
  fields: TranscriptionFields;
  fileBytes: number;
};

/** What is good about a request without its file having been looked into, and where it can go. */
type AbleTranscription = CheckedTranscription & { offered: OfferedModel; targets: readonly TranscriptionTarget[] };

/** Recordings may be long. */
const timeoutMsUsual = 600_000;

/** All that can be checked before anybody looks into the file. Throws what is wrong. */
export function checkAsked(
  { catalog, registry, clock }: TranscriptionDirectory,
  { caller, task, fields, fileBytes }: AskedTranscription,
): AbleTranscription {
  const offered = getOfferedModel(catalog.current(), fields.model, caller, clock.now());
  const checked = checkTranscription(fields, task, offered.model);
  checkFileBytes(offered.model, fileBytes);
  const targets = listAbleTargets(listTargets({ catalog, registry }, offered.model.id), checked.request);
  return { ...checked, offered, targets };
}

/** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
export function prepareTranscription(
  directory: TranscriptionDirectory,
  asked: AskedTranscription & { requestId: string; recording: Recording },
): CallPlan<TranscriptionKinds> {
  const { caller, task, requestId, recording } = asked;
  const { durationMs } = recording;
  const { offered, targets, ...checked } = checkAsked(directory, asked);
  const { model, prices } = offered;
  const { request, isStreamed } = checked;
  checkDuration(model, durationMs);
  const price = getPrice(prices, capabilityByTask[task]);
  const outputTokensMax = model.limits.max_output_tokens;
  const quoted = quoteTranscription(price, { durationMs, prompt: request.prompt, outputTokensMax });
  const isByTokens = isPricedByTokens(quoted);
  const callMs = boundCallMs(targets.map(({ timeoutMs }) => timeoutMs));
  return {
    ...{ caller, requestId, modelId: model.id, targets, callMs },
    operation: { name: "generate_content", outputType: "text" },
    terms: describeTerms(quoted, callMs + holdMarginMs),
    meter: new TranscriptionMeter(quoted),
    presenter: new TranscriptionPresenter({ ...checked, durationMs, isPricedByTokens: isByTokens }),
    tokensLikely: 0,
    headers: presentDeprecation(offered),
    start: (target, _unitsMax, sink, { traceparent, remainingMs }) =>
      sendTranscription(target, { request, recording, isStreamed, traceparent, remainingMs }, sink),
    explain: explainTranscriptionFailure,
    bill: (usage) => billTranscription(quoted, usage),
    countTokens: ({ inputTokens, outputTokens }) =>
      isByTokens ? { input: inputTokens, output: outputTokens } : { input: 0, output: 0 },
    describeUsage: ({ seconds, inputTokens, outputTokens }) =>
      isByTokens ? { seconds, input_tokens: inputTokens, output_tokens: outputTokens } : { seconds },
    describeSpan: ({ seconds, inputTokens, outputTokens }) => ({
      "sluice.usage.seconds": seconds,
      "gen_ai.usage.input_tokens": isByTokens ? inputTokens : undefined,
      "gen_ai.usage.output_tokens": isByTokens ? outputTokens : undefined,
    }),
  };
}

/** Who can write something down as the model, at the moment. */
function listTargets(
  { catalog, registry }: Pick<TranscriptionDirectory, "catalog" | "registry">,
  modelId: string,
): TranscriptionTarget[] {
  return (catalog.current().targetsByModelId.get(modelId) ?? []).flatMap((target) => {
    const transcription = registry.getTranscription(target.provider);
    if (transcription === null) return [];
    const { provider, route } = target;
    const timeoutMs = route.timeouts?.total_ms ?? provider.timeouts?.total_ms ?? timeoutMsUsual;
    return [{ ...target, transcription, timeoutMs }];
  });
}

/** Those that can do all that is asked for. Where there are some and none can, what stands in the way is told. */
function listAbleTargets(
  targets: readonly TranscriptionTarget[],
  request: TranscriptionRequest,
): readonly TranscriptionTarget[] {
  const judged = targets.map((target) => ({ target, obstacle: target.transcription.findObstacle(request) }));
  const able = judged.filter(({ obstacle }) => obstacle === null).map(({ target }) => target);
  const obstacle = judged[0]?.obstacle ?? null;
  if (able.length > 0 || obstacle === null) return able;
  throw new AppError("unsupported_capability", obstacle.message, { param: obstacle.param });
}

function getPrice(prices: readonly Price[], used: Capability): Price {
  const price =
    prices.find(({ capability }) => capability === used) ?? prices.find(({ capability }) => capability === null);
  if (price !== undefined) return price;
  throw new AppError("unsupported_capability", `This model has no price for ${used}.`, { param: "model" });
}

/** The price of all of it is on hold: an upstream that has the recording cannot be stopped where money ends. */
function describeTerms(quoted: QuotedTranscription, holdMs: number): CallTerms {
  const { amount, quotaUnits } = quoteMost(quoted);
  return {
    priceId: quoted.price.id,
    isFree: amount === 0n,
    unitsMax: 1,
    unitsUsual: 1,
    isMetered: false,
    quota: { kind: "text", units: quotaUnits },
    holdMs,
    price: () => amount,
    countAffordable: (available) => (available >= amount ? 1 : 0),
  };
}
