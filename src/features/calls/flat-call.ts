import { type Bill, computeCharge, hungUpMark } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import { nano } from "../../lib/money.ts";
import { weighItems } from "../../lib/quota-weights.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import type { SpanAttributes } from "../../platform/tracing/span.ts";
import type { ProviderError, UpstreamTerms } from "../../providers/contract.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import { readApiKey } from "../../providers/provider-setup.ts";
import {
  type CatalogView,
  decideCost,
  type LiveCatalog,
  type OfferedModel,
  type Price,
  presentDeprecation,
  type RouteTarget,
} from "../catalog/index.ts";
import type { QuotedEstimate } from "../quotes/index.ts";
import type { ChargeRule } from "./call.ts";
import { toProviderError } from "./call-errors.ts";
import {
  boundCallMs,
  type CallAttempt,
  type CallMeter,
  type CallOperation,
  type CallPlan,
  type CallPresenter,
  type CallRun,
  type CallSink,
  type CallTerms,
  type CallTokens,
  holdMarginMs,
} from "./paid-endpoint.ts";

/**
 * A kit for flat-priced endpoints: embeddings, speech, transcriptions. Flat means that the most a call can cost is known
 * before it is sent. The whole of it is on hold from the start, so nothing is metered and no answer is cut short.
 * CONTRIBUTING.md shows the smallest endpoint.
 */

/** The types of one endpoint. */
export type FlatTypes = {
  /** The provider contract that the endpoint calls, such as `EmbeddingProvider`. */
  adapter: unknown;
  /** A piece of a streamed answer; `never` for an endpoint that does not stream. */
  piece: unknown;
  /** A whole answer; `never` for an endpoint that always streams. */
  answer: unknown;
  /** The usage as an upstream reports it. */
  reported: unknown;
  /** The usage as it is charged. */
  usage: object;
};

export type FlatTarget<A> = RouteTarget & { adapter: A; timeoutMs: number };

export type FlatKinds<T extends FlatTypes> = {
  target: FlatTarget<T["adapter"]>;
  delta: T["piece"];
  answer: T["answer"];
  reported: T["reported"];
  usage: T["usage"] & { hasHungUp: boolean };
};

/** What an endpoint needs to prepare a call. */
export type CallDirectory = { catalog: LiveCatalog; registry: ProviderRegistry; clock: Clock };

/** Everything that differs between flat-priced endpoints. */
export type FlatCall<T extends FlatTypes> = {
  operation: CallOperation;
  caller: Caller;
  requestId: string;
  offered: OfferedModel;
  targets: readonly FlatTarget<T["adapter"]>[];
  /** The most that the call can use. Its price is put on hold. */
  usageMax: T["usage"];
  bill(usage: T["usage"]): Bill;
  /** The bill by the cost sheet of a route. */
  billAt?(sheet: Price, usage: T["usage"]): Bill;
  /** By default the whole of `usageMax` is charged once there is output. */
  meter?: FlatMeter<T>;
  presenter: FlatPresenter<T>;
  /** Sends the request and passes what comes back to the sink. Throws a `ProviderError` if the upstream fails. */
  send(target: FlatTarget<T["adapter"]>, attempt: UpstreamTerms, sink: FlatSink<T>): Promise<void>;
  explain(error: ProviderError): AppError;
  /** The usage as fields of the log, and as attributes of a span. */
  describeUsage(usage: T["usage"]): Record<string, unknown>;
  describeSpan(usage: T["usage"]): SpanAttributes;
  /** For models that are priced by tokens. */
  countTokens?(usage: T["usage"]): CallTokens;
  /** Counted against the caller's tokens per minute until the usage is known. */
  tokensLikely?: number;
  /** The usage to expect, if it is not the most; for quotes. */
  estimate?(): { usage: T["usage"] } & EstimateBasis;
};

type EstimateBasis = QuotedEstimate extends infer Each ? (Each extends unknown ? Omit<Each, "charge"> : never) : never;

type FlatSink<T extends FlatTypes> = Omit<CallSink<FlatKinds<T>>, "onError" | "onHead"> & {
  /** Back-pressure: await it between pieces. It resolves once the caller has caught up. */
  untilResumed(): Promise<void>;
};

export type FlatMeter<T extends FlatTypes> = {
  /** Whether the cost is known as soon as an upstream accepts. If not, a call is read to its end after a hang-up. */
  readonly isCostKnown: boolean;
  take?(pieces: readonly T["piece"][]): void;
  /** Returns the usage that came with the answer. */
  takeAnswer?(answer: T["answer"]): T["reported"] | null;
  conclude(
    rule: ChargeRule,
    end: { reported: T["reported"] | null; hasHungUp: boolean },
  ): { usage: T["usage"]; isDue: boolean };
};

type Presenter<T extends FlatTypes> = CallPresenter<FlatKinds<T>>;
/** An endpoint writes only the functions of its form. */
export type FlatPresenter<T extends FlatTypes> = Pick<Presenter<T>, "form" | "contentType" | "summarize"> &
  Partial<Pick<Presenter<T>, "presentWhole" | "presentPieces" | "presentTail" | "presentFailure">>;

const noTokens: CallTokens = { input: 0, output: 0 };

export function flatCall<T extends FlatTypes>(call: FlatCall<T>): CallPlan<FlatKinds<T>> {
  const { operation, caller, requestId, offered, targets, usageMax, tokensLikely = 0 } = call;
  const callMs = boundCallMs(targets.map(({ timeoutMs }) => timeoutMs));
  const meter = call.meter ?? chargeAll<T>(usageMax);
  const { quotaWeights = null } = caller;
  const modelId = offered.model.id;
  const billWeighed = (usage: T["usage"]): Bill => {
    const bill = call.bill(usage);
    return quotaWeights === null ? bill : { ...bill, quotaUnits: weighItems(quotaWeights, modelId, bill) };
  };
  return {
    ...{ operation, caller, requestId, modelId, targets, callMs, tokensLikely },
    terms: createTerms(billWeighed(usageMax), callMs + holdMarginMs),
    meter: createMeter(meter),
    presenter: createPresenter(call.presenter),
    headers: presentDeprecation(offered),
    ...(call.estimate === undefined ? {} : { estimate: () => estimateCall(call) }),
    start: (target, _unitsMax, sink, attempt) => startAttempt(call, { target, attempt, sink }),
    explain: call.explain,
    bill(usage) {
      const bill = billWeighed(usage);
      return usage.hasHungUp ? { ...bill, items: [...bill.items, hungUpMark] } : bill;
    },
    findCost(target, usage) {
      const { billAt } = call;
      return billAt === undefined
        ? null
        : decideCost(target, { compute: (sheet) => computeCharge(billAt(sheet, usage)) });
    },
    countTokens: (usage) => call.countTokens?.(usage) ?? noTokens,
    describeUsage: (usage) => call.describeUsage(usage),
    describeSpan: (usage) => call.describeSpan(usage),
  };
}

function estimateCall<T extends FlatTypes>(call: FlatCall<T>): QuotedEstimate {
  const { usage, ...basis } = call.estimate?.() ?? { usage: call.usageMax, basis: "exact_price" as const };
  return { ...basis, charge: computeCharge(call.bill(usage)) } as QuotedEstimate;
}

/** One unit is the whole call. */
function createTerms(most: Bill, holdMs: number): CallTerms {
  const isFree = most.minimum === 0n && most.items.every(({ rate }) => rate === 0n);
  const charge = computeCharge(most);
  // A price that rounds to zero still needs a hold.
  const amount = isFree || charge > 0n ? charge : nano(1n);
  return {
    ...{ priceId: most.priceId, isFree, unitsMax: 1, unitsUsual: 1, isMetered: false, holdMs },
    quota: { kind: "text", units: most.quotaUnits },
    price: () => amount,
    countAffordable: (available) => (available >= amount ? 1 : 0),
  };
}

/** Whether a call is charged, given the rule that its end comes under. */
export function isChargeDue(rule: ChargeRule, hasOutput: boolean): boolean {
  return rule === "if-written" ? hasOutput : rule !== "nothing";
}

function chargeAll<T extends FlatTypes>(usage: T["usage"]): FlatMeter<T> {
  let hasOutput = false;
  return {
    isCostKnown: true,
    take() {
      hasOutput = true;
    },
    takeAnswer() {
      hasOutput = true;
      return null;
    },
    conclude: (rule) => ({ usage, isDue: isChargeDue(rule, hasOutput) }),
  };
}

function createMeter<T extends FlatTypes>(meter: FlatMeter<T>): CallMeter<FlatKinds<T>> {
  return {
    begin() {},
    take(pieces) {
      meter.take?.(pieces);
      return pieces.length;
    },
    takeAnswer: (answer) => ({ answer, reported: meter.takeAnswer?.(answer) ?? null }),
    written: () => 0,
    writtenMax: () => 0,
    isComplete: () => false,
    isPastCap: () => false,
    isCostKnown: () => meter.isCostKnown,
    conclude(rule, { reported, hasHungUp }) {
      const { usage, isDue } = meter.conclude(rule, { reported, hasHungUp });
      return { usage: { ...usage, hasHungUp }, isDue, stoppedBy: null };
    },
  };
}

function createPresenter<T extends FlatTypes>(presenter: FlatPresenter<T>): Presenter<T> {
  const { form, contentType } = presenter;
  return {
    ...{ form, contentType },
    presentWhole: (end) => presenter.presentWhole?.(end) ?? "",
    presentPieces: (pieces) => presenter.presentPieces?.(pieces) ?? "",
    presentCut: () => "",
    presentTail: (end) => presenter.presentTail?.(end) ?? "",
    presentFailure: (body) => presenter.presentFailure?.(body) ?? null,
    summarize: (end) => presenter.summarize(end),
  };
}

type Attempt<T extends FlatTypes> = {
  target: FlatTarget<T["adapter"]>;
  attempt: CallAttempt;
  sink: CallSink<FlatKinds<T>>;
};

function startAttempt<T extends FlatTypes>(call: FlatCall<T>, { target, attempt, sink }: Attempt<T>): CallRun {
  const stopped = new AbortController();
  const { signal } = stopped;
  let resumed = Promise.withResolvers<void>();
  resumed.resolve();
  const unlessOver =
    <A extends unknown[]>(pass: (...values: A) => void) =>
    (...values: A): void => {
      if (!signal.aborted) pass(...values);
    };

  async function run(): Promise<void> {
    const { upstreamModel } = target;
    const { traceparent, remainingMs } = attempt;
    const timeoutMs = Math.min(target.timeoutMs, Math.ceil(remainingMs));
    const onHead = unlessOver((headers: UpstreamHeaders) => sink.onHead?.(headers));
    const own = { upstreamModel, apiKey: readApiKey(target), timeoutMs, signal, traceparent, onHead };
    await call.send(target, own, {
      onAccepted: unlessOver(() => sink.onAccepted()),
      onPieces: unlessOver((pieces: readonly T["piece"][]) => sink.onPieces(pieces)),
      onEnd: unlessOver((reported: T["reported"] | null) => sink.onEnd(reported)),
      onAnswer: unlessOver((answer: T["answer"]) => sink.onAnswer(answer)),
      untilResumed: () => resumed.promise,
    });
  }

  run().catch(unlessOver((error: unknown) => sink.onError(toProviderError(error))));
  return {
    pause() {
      resumed.resolve();
      resumed = Promise.withResolvers();
    },
    resume: () => resumed.resolve(),
    cancel() {
      stopped.abort(new Error("The call is over."));
      resumed.resolve();
    },
  };
}

type TargetSearch<A> = {
  /** The provider's adapter for this endpoint; `null` if it has none. */
  getAdapter(provider: ProviderDefinition): A | null;
  /** The field of the request that an adapter does not support. */
  findObstacle?(adapter: A, target: RouteTarget): { param: string; message: string } | null;
  /** For providers and routes whose catalog sets no timeout. */
  timeoutMsUsual: number;
};

/** The targets of a model that support the request. Throws if every one of them has an obstacle. */
export function listFlatTargets<A>(view: CatalogView, modelId: string, search: TargetSearch<A>): FlatTarget<A>[] {
  const { getAdapter, findObstacle = () => null, timeoutMsUsual } = search;
  const able: FlatTarget<A>[] = [];
  let refusal: AppError | null = null;
  for (const target of view.targetsByModelId.get(modelId) ?? []) {
    const { provider, route } = target;
    const adapter = getAdapter(provider);
    if (adapter === null) continue;
    const obstacle = findObstacle(adapter, target);
    if (obstacle !== null) {
      refusal ??= new AppError("unsupported_capability", obstacle.message, { param: obstacle.param });
      continue;
    }
    const timeoutMs = route.timeouts?.total_ms ?? provider.timeouts?.total_ms ?? timeoutMsUsual;
    able.push({ ...target, adapter, timeoutMs });
  }
  if (able.length === 0 && refusal !== null) throw refusal;
  return able;
}
