import { resolveSecret } from "../../platform/config/secrets.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { chooseTarget } from "../../providers/choose-target.ts";
import { ProviderError } from "../../providers/contract.ts";
import type { SpeechAudio, SpeechProvider, SpeechRequest } from "../../providers/generation.ts";
import { describeOutcome, isWorthAnotherTarget } from "../../providers/judge-failure.ts";
import type { RouteTarget } from "../catalog/index.ts";
import { explainFailure } from "./explain-failure.ts";
import type { SpeechCaller } from "./follow-speech-caller.ts";
import type { TaskParts } from "./task-parts.ts";

export type SpeechTarget = RouteTarget & { speech: SpeechProvider; apiKey: string | null; timeoutMs: number };

type RoutingParts = Pick<TaskParts, "health" | "random" | "logger">;

export const attemptsMax = 3;
const timeoutMsUsual = 120_000;

/** Who can say something as the model, at the moment. */
export function listSpeechTargets(
  { catalog, registry }: Pick<TaskParts, "catalog" | "registry">,
  modelId: string,
): SpeechTarget[] {
  return (catalog.current().targetsByModelId.get(modelId) ?? []).flatMap((target) => {
    const speech = registry.getSpeech(target.provider);
    if (speech === null) return [];
    const { provider, route, apiKeyReference } = target;
    const timeoutMs = route.timeouts?.total_ms ?? provider.timeouts?.total_ms ?? timeoutMsUsual;
    return [{ ...target, speech, timeoutMs, apiKey: apiKeyReference === null ? null : resolveSecret(apiKeyReference) }];
  });
}

/**
 * One target after another until one begins to speak, or, once nobody listens, only the one that was asked. Throws what
 * the caller is to be told when none does.
 */
export async function startSpeech(
  parts: RoutingParts,
  { request, requestId, targets }: { request: SpeechRequest; requestId: string; targets: readonly SpeechTarget[] },
  { upstreamSignal: signal, hasHungUp }: Pick<SpeechCaller, "upstreamSignal" | "hasHungUp">,
): Promise<SpeechAudio> {
  const tried: SpeechTarget[] = [];
  let failure: ProviderError | null = null;
  while (tried.length < attemptsMax && !hasHungUp()) {
    const choice = chooseTarget<SpeechTarget>(targets, { tried, waitMs: parts.health.waitMs, random: parts.random });
    if (choice.kind === "none") break;
    const { target } = choice;
    tried.push(target);
    const call = { isProbe: parts.health.begin(target) };
    try {
      const { upstreamModel, apiKey, timeoutMs } = target;
      const audio = await target.speech.startSpeech({
        taskId: requestId,
        request,
        upstreamModel,
        apiKey,
        timeoutMs,
        signal,
      });
      parts.health.report(target, { kind: "answered" }, call);
      return audio;
    } catch (error) {
      failure = toProviderError(error);
      parts.health.report(target, signal.aborted ? { kind: "abandoned" } : describeOutcome(failure), call);
      if (signal.aborted) break;
      const { providerId, keyNumber } = target;
      parts.logger.warn({ request: requestId, provider: providerId, key_number: keyNumber, error }, "upstream failed");
      if (!isWorthAnotherTarget(failure)) break;
    }
  }
  throw toCallerError(failure);
}

export function toProviderError(error: unknown): ProviderError {
  return error instanceof ProviderError
    ? error
    : new ProviderError("bad-answer", "The speech failed.", { cause: error });
}

/** What a caller is told whose text could not be said. */
export function toCallerError(failure: ProviderError | null): AppError {
  if (failure === null) {
    return new AppError("model_unroutable", "Nothing can serve this model at the moment.", { param: "model" });
  }
  const { code, message, param } = explainFailure(failure);
  return new AppError(code, message, { cause: failure, ...(param === null ? {} : { param: "input" }) });
}
