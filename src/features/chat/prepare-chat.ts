import type { Bill } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { forgetText } from "../../lib/json-text.ts";
import { nano } from "../../lib/money.ts";
import { boundWeight, weighTokens } from "../../lib/quota-weights.ts";
import type { UpstreamCost } from "../../lib/upstream-cost.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { SpanAttributes } from "../../platform/tracing/span.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatRun, ChatSink, ChatUsage, NativeRequest } from "../../providers/contract.ts";
import { readApiKey } from "../../providers/provider-setup.ts";
import {
  boundCallMs,
  type CallAttempt,
  type CallOperation,
  type CallPlan,
  type CallPresenter,
  type Calls,
  type CallTokens,
  holdMarginMs,
  type IncomingCall,
  type UpstreamNotice,
} from "../calls/index.ts";
import {
  type CatalogView,
  decideCost,
  derivePrice,
  getOfferedModel,
  type LiveCatalog,
  type Price,
  presentDeprecation,
  serviceTiers,
} from "../catalog/index.ts";
import type { QuotedEstimate } from "../quotes/index.ts";
import { adaptVendorFields } from "./adapt-vendor-fields.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import { type ChatTarget, listAbleTargets } from "./chat-target.ts";
import { type ChatTerms, createChatTerms, findRequestedKinds, hasHourCachePrice } from "./chat-terms.ts";
import { checkChatFields, checkChatRequest } from "./check-chat-request.ts";
import { dropEmptyFields } from "./drop-empty-fields.ts";
import { explainChatFailure } from "./explain-chat-failure.ts";
import { findAffinity } from "./find-affinity.ts";
import { measureInput } from "./measure-input.ts";
import { ChatMeter } from "./meter-chat.ts";
import { decideVisibility } from "./output-visibility.ts";
import { ChatPresenter, createEnvelope } from "./present-chat.ts";
import { billChat, type ChargedUsage, createUsage, priceUsage } from "./quote-chat.ts";
import { startParts } from "./start-parts.ts";
import { CallersFieldError } from "./translate-error.ts";

export type ChatDependencies = {
  calls: Calls;
  catalog: LiveCatalog;
  clock: Clock;
  logger: Logger;
  listTargets(view: CatalogView, modelId: string): ChatTarget[];
};

/** What an upstream gets. */
export type ChatPart = { request: ChatRequest; native?: NativeRequest | undefined };

/** A request in the chat format, from any API. */
export type ChatOrder = {
  caller: Caller;
  requestId: string;
  bodyBytes: number;
  request: ChatRequest;
  /** The same request as the caller sent it, if it arrived through another API. */
  native?: NativeRequest;
  /** The requests to send in its place, if it is a list of them: `request` then stands for all together. */
  parts?: readonly ChatPart[];
  /** The conversation's name from a request header. */
  session?: string | null;
  /** The fields of the caller's API, for suggestions; chat's by default. */
  fieldNames?: readonly string[];
  /** Writes the answer in the caller's format. */
  createPresenter(answer: ExpectedAnswer): CallPresenter<ChatKinds>;
};

type ExpectedAnswer = { requestId: string; modelId: string; now: Date; meter: ChatMeter };

/** Validates a request and plans the call, without side effects. Throws if the request is invalid. */
export function prepareChat(dependencies: ChatDependencies, incoming: IncomingCall): CallPlan<ChatKinds> {
  const { caller, requestId, bodyBytes, session = null } = incoming;
  // Validated by the schema.
  const request = incoming.body as ChatRequest;
  return planChat(dependencies, {
    caller,
    requestId,
    bodyBytes,
    request,
    session,
    createPresenter: ({ modelId, now, meter }) =>
      new ChatPresenter(createEnvelope(requestId, modelId, now), meter, {
        isStreamed: request.stream === true,
        includesUsage: request.stream_options?.include_usage === true,
      }),
  });
}

/** Plans the paid call of a chat request, for every API. Throws if the request is invalid. */
export function planChat(
  { catalog, clock, logger, listTargets }: ChatDependencies,
  order: ChatOrder,
): CallPlan<ChatKinds> {
  const { caller, requestId, request, native, session = null } = order;
  const view = catalog.current();
  const now = clock.now();
  const offered = getOfferedModel(view, request.model, caller, now);
  const { model } = offered;
  // The request may name it by an alias.
  if (native !== undefined) native.envelope.model = model.id;
  const seen = checkChatFields(request, model, order.fieldNames);
  if (dropEmptyFields(request, model, seen)) {
    forgetText(request);
    // Both share some values.
    if (native !== undefined) forgetText(native.body);
  }
  if (seen.hasVendorFields) adaptVendorFields(request, model);
  const size = measureInput(request, order.bodyBytes);
  checkChatRequest(request, model, size);
  // The parts of a list differ only in their texts.
  const able = listAbleTargets(listTargets(view, model.id), order.parts?.[0]?.request ?? request, native);
  if (able.kind === "unable") {
    const { param, message, names } = able.obstacle;
    const Refusal = names === "caller" ? CallersFieldError : AppError;
    throw new Refusal("unsupported_capability", message, { param });
  }
  const { targets } = able;
  const callMs = findCallMs(targets);
  const { quotaWeights = null } = caller;
  const rates = findRates(getPrice(offered.prices), request);
  if (order.parts !== undefined && hasPriceOfCall(rates))
    throw new AppError(
      "unsupported_capability",
      "This model has a price or minimum charge per call. Send one prompt per request.",
      { param: "messages" },
    );
  const terms = createChatTerms({
    model,
    size,
    rates,
    kinds: findRequestedKinds({ request, native, size, rates }),
    outputTokensAsked: request.max_completion_tokens ?? request.max_tokens ?? null,
    choices: request.n ?? 1,
    visibility: decideVisibility(model, { request, native }, targets),
    holdMs: callMs + holdMarginMs,
    weigh: quotaWeights === null ? null : (tokens) => boundWeight(quotaWeights, model.id, tokens),
  });
  const meter = new ChatMeter({ request, size, terms, logger, requestId, modelId: model.id });
  const presenter = order.createPresenter({ requestId, modelId: model.id, now, meter });
  const tokensLikely = size.tokensLikely + terms.unitsUsual;
  const headers = presentDeprecation(offered);
  const modelId = model.id;
  return new ChatPlan({
    caller,
    requestId,
    modelId,
    request,
    native,
    parts: order.parts,
    session,
    targets,
    callMs,
    terms,
    meter,
    presenter,
    tokensLikely,
    headers,
  });
}

/** Offered models have at least one price. Chat uses the one that is for no other capability. */
function getPrice(prices: readonly Price[]): Price {
  const price = prices.find(({ capability }) => capability === null || capability === "chat") ?? prices[0];
  invariant(price !== undefined, "a model was offered without a price");
  return price;
}

/** The price of requests like this one. Most ask for nothing that has a factor or a fee of its own. */
function findRates(price: Price, { service_tier: tier, web_search_options: search }: ChatRequest): Price {
  const searches = search !== undefined && search !== null;
  const serviceTier = serviceTiers.find((one) => one === tier) ?? null;
  return searches || serviceTier !== null ? derivePrice(price, { serviceTier, searches }) : price;
}

/** What a target charges for a request with this usage. */
export function findChatCost(target: ChatTarget, request: ChatRequest, usage: ChatUsage): UpstreamCost | null {
  const { costNano: reportedNano = null } = usage;
  return decideCost(target, { reportedNano, compute: (sheet) => priceUsage(findRates(sheet, request), usage) });
}

/** Then a list would cost as much as one of its requests. */
function hasPriceOfCall({ amounts, minimumCharge }: Price): boolean {
  return amounts.billingType !== "token" || amounts.fees.length > 0 || minimumCharge > 0n;
}

export function findCallMs(targets: readonly ChatTarget[]): number {
  return boundCallMs(targets.map(({ timeouts }) => timeouts.totalMs));
}

type ChatPlanFields = Omit<CallPlan<ChatKinds>, "operation" | "meter" | ChatPlanFunction> & {
  request: ChatRequest;
  native: NativeRequest | undefined;
  parts: readonly ChatPart[] | undefined;
  session: string | null;
  terms: ChatTerms;
  meter: ChatMeter;
};

type ChatPlanFunction =
  | "start"
  | "findAffinity"
  | "estimate"
  | "explain"
  | "bill"
  | "findCost"
  | "countTokens"
  | "describeUsage"
  | "findNotice"
  | "describeSpan";

export const chatOperation: CallOperation = { name: "chat", outputType: "text" };

/** A valid chat call: its model, its price and its targets. */
class ChatPlan implements CallPlan<ChatKinds> {
  readonly operation = chatOperation;
  readonly caller: Caller;
  readonly requestId: string;
  readonly modelId: string;
  readonly targets: readonly ChatTarget[];
  readonly callMs: number;
  readonly terms: ChatTerms;
  readonly meter: ChatMeter;
  readonly presenter: CallPlan<ChatKinds>["presenter"];
  readonly tokensLikely: number;
  readonly headers: Record<string, string>;
  private readonly request: ChatRequest;
  private readonly native: NativeRequest | undefined;
  private readonly parts: readonly ChatPart[] | undefined;
  private readonly session: string | null;

  constructor(fields: ChatPlanFields) {
    this.caller = fields.caller;
    this.requestId = fields.requestId;
    this.modelId = fields.modelId;
    this.targets = fields.targets;
    this.callMs = fields.callMs;
    this.terms = fields.terms;
    this.meter = fields.meter;
    this.presenter = fields.presenter;
    this.tokensLikely = fields.tokensLikely;
    this.headers = fields.headers;
    this.request = fields.request;
    this.native = fields.native;
    this.parts = fields.parts;
    this.session = fields.session;
  }

  start(target: ChatTarget, unitsMax: number, sink: ChatSink, attempt: CallAttempt): ChatRun {
    const { request, native, parts } = this;
    const { choices, rates } = this.terms;
    const { traceparent, remainingMs } = attempt;
    const limits = { unitsMax, choices, allowsHour: hasHourCachePrice(rates), traceparent, remainingMs };
    if (parts === undefined) return sendChat({ request, native }, target, limits, sink);
    const starts = parts.map((part) => (own: ChatSink) => sendChat(part, target, limits, own));
    return startParts({ starts, choicesEach: choices / parts.length }, sink);
  }

  findAffinity(): number {
    const { caller, request, session } = this;
    return findAffinity({ accountId: caller.accountId, request, session });
  }

  /** The expected input and a usual answer. */
  estimate(): QuotedEstimate {
    const { rates, unitsUsual, inputTokensMax, isFree } = this.terms;
    const inputTokens = Math.min(this.tokensLikely - unitsUsual, inputTokensMax);
    const usage = createUsage(inputTokens, unitsUsual);
    const charge = isFree ? nano(0n) : priceUsage(rates, usage);
    return { charge, basis: "usual_answer", inputTokens, outputTokens: unitsUsual };
  }

  explain = explainChatFailure;

  bill(usage: ChargedUsage): Bill {
    const bill = billChat(this.terms.rates, usage);
    const { quotaWeights = null } = this.caller;
    if (quotaWeights === null) return bill;
    const { cachedInputTokens: cached, inputTokens, outputTokens: output } = usage;
    const quotaUnits = weighTokens(quotaWeights, this.modelId, { input: inputTokens - cached, cached, output });
    return { ...bill, quotaUnits };
  }

  findCost(target: ChatTarget, usage: ChargedUsage): UpstreamCost | null {
    return findChatCost(target, this.request, usage.reported ?? usage);
  }

  countTokens(usage: ChargedUsage): CallTokens {
    return {
      input: usage.inputTokens,
      output: usage.outputTokens,
      cachedInput: usage.cachedInputTokens,
      cacheWrites: usage.cacheWriteTokens,
      reasoning: usage.reasoningTokens,
      audioInput: usage.inputAudioTokens,
      audioOutput: usage.outputAudioTokens,
    };
  }

  describeUsage({ inputTokens, outputTokens, isCounted }: ChargedUsage): Record<string, unknown> {
    const fields = { input_tokens: inputTokens, output_tokens: outputTokens };
    return isCounted ? { ...fields, counted: true } : fields;
  }

  findNotice(usage: ChargedUsage): UpstreamNotice | null {
    return this.meter.findNotice(usage);
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

type SendingTerms = CallAttempt & { unitsMax: number; choices: number; allowsHour: boolean };

/** Sends a request to a target, with a cap of output tokens for all choices together. */
export function sendChat(
  { request, native }: ChatPart,
  target: ChatTarget,
  { unitsMax, choices, allowsHour, traceparent, remainingMs }: SendingTerms,
  sink: ChatSink,
): ChatRun {
  const { chat, upstreamModel, timeouts: own, route, provider } = target;
  const { passthrough = [] } = route;
  const outputTokensMax = Math.max(Math.floor(unitsMax / choices), 1);
  const cacheControl = { isAutomatic: provider.cache_marks === "automatic", allowsHour };
  const apiKey = readApiKey(target);
  const timeouts = remainingMs >= own.totalMs ? own : { ...own, totalMs: Math.ceil(remainingMs) };
  const spoken = native !== undefined && chat.nativeWires?.has(native.wire) === true ? { native } : {};
  const run = chat.startChat(
    { request, ...spoken, outputTokensMax, upstreamModel, passthrough, cacheControl, apiKey, timeouts, traceparent },
    sink,
  );
  // A stream would retain the received bytes to its end. Another attempt writes the request again.
  forgetText(request);
  if (native !== undefined) forgetText(native.body);
  return run;
}
