import type { Bill } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { resolveSecret } from "../../platform/config/secrets.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { SpanAttributes } from "../../platform/tracing/span.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import { attemptsMax } from "../../providers/choose-target.ts";
import type { ChatRun, ChatSink } from "../../providers/contract.ts";
import { type CallOperation, type CallPlan, type CallTokens, holdMarginMs, type IncomingCall } from "../calls/index.ts";
import {
  type CatalogView,
  getOfferedModel,
  type LiveCatalog,
  type Price,
  presentDeprecation,
} from "../catalog/index.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import { type ChatTarget, listAbleTargets } from "./chat-target.ts";
import { type ChatTerms, createChatTerms } from "./chat-terms.ts";
import { checkChatFields, checkChatRequest } from "./check-chat-request.ts";
import { dropEmptyFields } from "./drop-empty-fields.ts";
import { explainChatFailure } from "./explain-chat-failure.ts";
import { measureInput } from "./measure-input.ts";
import { ChatMeter } from "./meter-chat.ts";
import { decideVisibility } from "./output-visibility.ts";
import { ChatPresenter, createEnvelope } from "./present-chat.ts";
import { billChat, type ChargedUsage } from "./quote-chat.ts";

export type ChatDirectory = {
  catalog: LiveCatalog;
  clock: Clock;
  listTargets(view: CatalogView, modelId: string): ChatTarget[];
};

/** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
export function prepareChat({ catalog, clock, listTargets }: ChatDirectory, incoming: IncomingCall): ChatPlan {
  const { caller, requestId } = incoming;
  // The schema has checked it.
  const request = incoming.body as ChatRequest;
  const view = catalog.current();
  const now = clock.now();
  const offered = getOfferedModel(view, request.model, caller, now);
  const { model } = offered;
  const seen = checkChatFields(request, model);
  dropEmptyFields(request, model, seen);
  const size = measureInput(request, incoming.bodyBytes);
  checkChatRequest(request, model, size);
  const able = listAbleTargets(listTargets(view, model.id), request);
  if (able.kind === "unable") {
    throw new AppError("unsupported_capability", able.obstacle.message, { param: able.obstacle.param });
  }
  const { targets } = able;
  const terms = createChatTerms({
    model,
    size,
    rates: getPrice(offered.prices),
    outputTokensAsked: request.max_completion_tokens ?? request.max_tokens ?? null,
    choices: request.n ?? 1,
    visibility: decideVisibility(model, request, targets),
    holdMs: decideHoldMs(targets),
  });
  const meter = new ChatMeter({ request, size, terms });
  const presenter = new ChatPresenter(createEnvelope(requestId, model.id, now), meter, {
    isStreamed: request.stream === true,
    includesUsage: request.stream_options?.include_usage === true,
  });
  const tokensLikely = size.tokensLikely + terms.unitsUsual;
  const headers = presentDeprecation(offered);
  const modelId = model.id;
  return new ChatPlan({ caller, requestId, modelId, request, targets, terms, meter, presenter, tokensLikely, headers });
}

/** A model is offered only with a price; of several, chat has the one that is for no other capability. */
function getPrice(prices: readonly Price[]): Price {
  const price = prices.find(({ capability }) => capability === null || capability === "chat") ?? prices[0];
  invariant(price !== undefined, "a model was offered without a price");
  return price;
}

function decideHoldMs(targets: readonly ChatTarget[]): number {
  let totalMs = 0;
  for (const { timeouts } of targets) totalMs = Math.max(totalMs, timeouts.totalMs);
  return totalMs * attemptsMax + holdMarginMs;
}

type ChatPlanFields = Omit<CallPlan<ChatKinds>, "operation" | "meter" | ChatPlanFunction> & {
  request: ChatRequest;
  terms: ChatTerms;
  meter: ChatMeter;
};

type ChatPlanFunction = "start" | "explain" | "bill" | "countTokens" | "describeUsage" | "describeSpan";

export const chatOperation: CallOperation = { name: "chat", outputType: "text" };

/** A chat call that was found good: its model, its price and where it can go. */
class ChatPlan implements CallPlan<ChatKinds> {
  readonly operation = chatOperation;
  readonly caller: Caller;
  readonly requestId: string;
  readonly modelId: string;
  readonly targets: readonly ChatTarget[];
  readonly terms: ChatTerms;
  readonly meter: ChatMeter;
  readonly presenter: CallPlan<ChatKinds>["presenter"];
  readonly tokensLikely: number;
  readonly headers: Record<string, string>;
  private readonly request: ChatRequest;

  constructor(fields: ChatPlanFields) {
    this.caller = fields.caller;
    this.requestId = fields.requestId;
    this.modelId = fields.modelId;
    this.targets = fields.targets;
    this.terms = fields.terms;
    this.meter = fields.meter;
    this.presenter = fields.presenter;
    this.tokensLikely = fields.tokensLikely;
    this.headers = fields.headers;
    this.request = fields.request;
  }

  start(target: ChatTarget, unitsMax: number, sink: ChatSink, traceparent: string | null): ChatRun {
    return sendChat(this.request, target, { unitsMax, choices: this.terms.choices, traceparent }, sink);
  }

  explain = explainChatFailure;

  bill(usage: ChargedUsage): Bill {
    return billChat(this.terms.rates, usage);
  }

  countTokens({ inputTokens: input, outputTokens: output }: ChargedUsage): CallTokens {
    return { input, output };
  }

  describeUsage({ inputTokens, outputTokens, isCounted }: ChargedUsage): Record<string, unknown> {
    const fields = { input_tokens: inputTokens, output_tokens: outputTokens };
    return isCounted ? { ...fields, counted: true } : fields;
  }

  describeSpan({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: ChargedUsage): SpanAttributes {
    return {
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.output_tokens": outputTokens,
      "gen_ai.usage.cache_read.input_tokens": cachedInputTokens === 0 ? undefined : cachedInputTokens,
      "gen_ai.usage.reasoning.output_tokens": reasoningTokens === 0 ? undefined : reasoningTokens,
      "gen_ai.response.finish_reasons": this.meter.listFinishReasons(),
    };
  }
}

/** Sends a request to a target, which may write so many tokens for all choices together. */
export function sendChat(
  request: ChatRequest,
  { chat, upstreamModel, apiKeyReference, timeouts, route }: ChatTarget,
  { unitsMax, choices, traceparent }: { unitsMax: number; choices: number; traceparent: string | null },
  sink: ChatSink,
): ChatRun {
  const { passthrough = [] } = route;
  const outputTokensMax = Math.max(Math.floor(unitsMax / choices), 1);
  const apiKey = apiKeyReference === null ? null : resolveSecret(apiKeyReference);
  return chat.startChat({ request, outputTokensMax, upstreamModel, passthrough, apiKey, timeouts, traceparent }, sink);
}
