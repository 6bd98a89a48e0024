import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { EmbeddingRequest } from "../../providers/embedding.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import { boundCallMs, type CallPlan, holdMarginMs, type IncomingCall } from "../calls/index.ts";
import { getOfferedModel, type LiveCatalog, type Price, presentDeprecation } from "../catalog/index.ts";
import type { EmbeddingKinds, EmbeddingTarget } from "./embedding-kinds.ts";
import type { EmbeddingBody } from "./embedding-schema.ts";
import { explainEmbeddingFailure } from "./explain-embedding-failure.ts";
import { EmbeddingMeter } from "./meter-embedding.ts";
import { createEmbeddingPresenter } from "./present-embedding.ts";
import { billEmbedding, describeTerms, measureEmbedding } from "./quote-embedding.ts";
import { readEmbeddingRequest } from "./read-embedding-request.ts";
import { sendEmbedding } from "./send-embedding.ts";

export type EmbeddingDirectory = { catalog: LiveCatalog; registry: ProviderRegistry; clock: Clock };

const timeoutMsUsual = 60_000;
/** Of models that do not tell how long their vectors are. */
const dimensionsMaxUsual = 8192;

/** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
export function prepareEmbedding(
  { catalog, registry, clock }: EmbeddingDirectory,
  { caller, body, bodyBytes, requestId }: IncomingCall,
): CallPlan<EmbeddingKinds> {
  // The schema has checked it.
  const asked = body as EmbeddingBody;
  const offered = getOfferedModel(catalog.current(), asked.model, caller, clock.now());
  const { id: modelId, limits } = offered.model;
  const request = readEmbeddingRequest(asked, offered.model);
  const targets = listAbleTargets({ catalog, registry }, modelId, request);
  const price = getPrice(offered.prices);
  const size = measureEmbedding(request.input, { bodyBytes, contextWindow: limits.context_window });
  const callMs = boundCallMs(targets.map(({ timeoutMs }) => timeoutMs));
  const dimensionsMax = limits.max_dimensions ?? dimensionsMaxUsual;
  return {
    ...{ caller, requestId, modelId, targets, callMs, tokensLikely: size.tokensLikely },
    operation: { name: "embeddings", outputType: null },
    terms: describeTerms(price, size, callMs + holdMarginMs),
    meter: new EmbeddingMeter(request.input, size),
    presenter: createEmbeddingPresenter(modelId),
    headers: presentDeprecation(offered),
    start: (target, _unitsMax, sink, { traceparent, remainingMs }) =>
      sendEmbedding(target, { request, dimensionsMax, traceparent, remainingMs }, sink),
    explain: explainEmbeddingFailure,
    bill: (usage) => billEmbedding(price, usage),
    countTokens: ({ inputTokens }) => ({ input: inputTokens, output: 0 }),
    describeUsage: ({ inputTokens, isCounted }) =>
      isCounted ? { input_tokens: inputTokens, counted: true } : { input_tokens: inputTokens },
    describeSpan: ({ inputTokens }) => ({ "gen_ai.usage.input_tokens": inputTokens }),
  };
}

/** A model is offered only with a price. */
function getPrice([price]: readonly Price[]): Price {
  invariant(price !== undefined, "a model was offered without a price");
  return price;
}

/** Who can embed this as the model. Where nobody can for what it asks, that is the caller's to change. */
function listAbleTargets(
  { catalog, registry }: Pick<EmbeddingDirectory, "catalog" | "registry">,
  modelId: string,
  request: EmbeddingRequest,
): EmbeddingTarget[] {
  const able: EmbeddingTarget[] = [];
  let refusal: AppError | null = null;
  for (const target of catalog.current().targetsByModelId.get(modelId) ?? []) {
    const { provider, route } = target;
    const embedding = registry.getEmbedding(provider);
    const obstacle = embedding?.findObstacle(request) ?? null;
    if (obstacle !== null) {
      refusal ??= new AppError("unsupported_capability", obstacle.message, { param: obstacle.param });
      continue;
    }
    if (embedding === null) continue;
    const timeoutMs = route.timeouts?.total_ms ?? provider.timeouts?.total_ms ?? timeoutMsUsual;
    able.push({ ...target, embedding, timeoutMs });
  }
  if (able.length === 0 && refusal !== null) throw refusal;
  return able;
}
