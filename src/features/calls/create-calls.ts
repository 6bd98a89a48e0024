import type { AccountId } from "../../lib/ids.ts";
import { createRegistry } from "../../lib/registry.ts";
import type { UpstreamCost } from "../../lib/upstream-cost.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import type { SeenLimits } from "../../platform/http/request-context.ts";
import { toMetricAmount } from "../../platform/observability/metric-amount.ts";
import { createMetrics } from "../../platform/observability/metrics.ts";
import type { Span } from "../../platform/tracing/span.ts";
import { createUnchargedCosts } from "../costs/index.ts";
import { createClaims, type KeptAnswer } from "../idempotency/index.ts";
import { type RefusalTexts, releaseHold } from "../ledger/index.ts";
import type { Quotes } from "../quotes/index.ts";
import type { KeyedRequest } from "./admit-call.ts";
import type { CallContext, CallListener, KeptCall, Routing, RunningCall } from "./call-context.ts";
import { type AnswerContext, answerCall, type PaidRoute, replayCall } from "./call-routes.ts";
import { createDrainedCalls } from "./drained-calls.ts";
import type { CallKinds, CallPlan } from "./paid-endpoint.ts";
import { planQuoted, type QuotedPlanned, type QuotedRoute } from "./quoted-call.ts";
import { type RoutedOrder, type RoutedRun, type RoutedSink, routeCall } from "./route-call.ts";
import { PaidCall } from "./run-call.ts";
import { createUpstreamNotices } from "./upstream-notices.ts";
import { createWithdrawals } from "./withdrawals.ts";

export type Calls = {
  /** Answers a request with one paid call. Never throws: errors become the response. */
  answer<K extends CallKinds>(route: PaidRoute<K>, ...edge: Edge): void;
  /** Plans a call of a request that names a quote, and caps it. Throws if the quote is not for it. */
  planQuoted<P extends QuotedPlanned>(request: Edge[0], route: QuotedRoute, prepare: () => P): P;
  /** Sends the stored response of the request's idempotency key; `false` if there is none. */
  replay<K extends CallKinds>(route: PaidRoute<K>, ...edge: Edge): Promise<boolean>;
  /**
   * Starts a run of a call that no caller waits for; or returns the stored end of an earlier run that was charged. A run of
   * a dead process is taken over and its hold released. Throws if that process may be alive, or if a limit or the balance is
   * exceeded.
   */
  begin<K extends CallKinds>(plan: CallPlan<K>, options: BeginOptions<K>): Promise<Begun<K>>;
  /** Sends a request of the gateway's own, with failover and without a charge. */
  route<K extends CallKinds>(order: RoutedOrder<K>, sink: RoutedSink<K>): RoutedRun<K>;
  /** Stores what a request of the gateway's own cost. */
  noteCost(cost: UpstreamCost | null, payer: CostPayer): void;
  /** The account's calls that have not ended, also those whose caller hung up. */
  countRunning(accountId: AccountId): number;
  /** Resolves when no call of a hung-up caller is being drained, or after `timeoutMs`. */
  untilDrained(timeoutMs: number): Promise<void>;
  /** Stops every running call and resolves when all are settled. */
  close(): Promise<void>;
};

/** Whom a cost counts for. */
export type CostPayer = { accountId: AccountId; modelId: string };

type BeginOptions<K extends CallKinds> = {
  /** `null` for a whole response. */
  listener: CallListener<K> | null;
  limits: SeenLimits | null;
  span: Span | null;
  /** The key that all runs of the call claim. */
  run: Required<KeyedRequest>;
  /** The end of the call, which is stored with its charge. */
  kept: Omit<KeptCall<K>, "claim">;
};

export type BegunCall<K extends CallKinds> = Pick<
  PaidCall<K>,
  "ended" | "hangUp" | "stop" | "plan" | "routed" | "findChargeId"
>;

type Begun<K extends CallKinds> = { kind: "running"; call: BegunCall<K> } | { kind: "answered"; answer: KeptAnswer };

type Edge = [request: Parameters<typeof answerCall>[2], reply: Parameters<typeof answerCall>[3]];

type CallsOptions = Pick<CallContext, "clock" | "ids" | "ledger" | "counters" | "logger" | keyof RefusalTexts> &
  Pick<Routing, "health" | "random"> & {
    database: Database;
    quotes: Pick<Quotes, "open">;
    keyValidityMs: number;
    /** How long the database has been available without an outage. */
    liveForMs(): number;
    heartbeatMs: number;
    /** How many calls per account may be drained after a hang-up. */
    drainedCallsMax: number;
    metrics?: CallContext["metrics"];
  };

export function createCalls(options: CallsOptions): Calls {
  const { database, quotes, clock, ids, ledger, counters, logger, currency, siteUrl, health, random } = options;
  const { metrics = createMetrics() } = options;
  const heartbeats = createHeartbeats(options.heartbeatMs);
  const running = createRegistry<RunningCall>();
  const drainedCalls = createDrainedCalls({ placesMax: options.drainedCallsMax });
  const withdrawals = createWithdrawals({ ledger, clock, logger });
  const unchargedCosts = createUnchargedCosts({ database, clock, ids, logger });
  const routing = { health, random, clock };
  const context: AnswerContext = {
    ...{ clock, ids, ledger, counters, logger, metrics, currency },
    ...(siteUrl === undefined ? {} : { siteUrl }),
    ...{ quotes, heartbeats, running, drainedCalls, withdrawals, routing, unchargedCosts },
    notices: createUpstreamNotices({ clock, logger }),
    claims: createClaims({
      ...{ database, clock, validityMs: options.keyValidityMs, liveForMs: options.liveForMs },
      releaseHold: async (tx, hold) => void (await releaseHold(tx, hold, clock.now())),
    }),
  };
  return {
    answer: (route, request, reply) => answerCall(context, route, request, reply),
    planQuoted: (request, route, prepare) => planQuoted(quotes, request, route, prepare),
    replay: (route, request, reply) => replayCall(context, route, request, reply),
    begin: (plan, options) => beginCall(context, plan, options),
    route: (order, sink) => routeCall(routing, order, sink),
    noteCost(cost, payer) {
      if (cost === null) return;
      unchargedCosts.add({ ...cost, ...payer });
      metrics.upstreamCost.at(payer.modelId, cost.providerId, "other").add(toMetricAmount(cost.amount));
    },
    countRunning: (accountId) => running.list().filter(({ plan }) => plan.caller.accountId === accountId).length,
    untilDrained: (timeoutMs) => drainedCalls.untilNone(timeoutMs),
    async close() {
      heartbeats.close();
      // The next round stops calls that were being admitted in this one.
      for (let calls = running.list(); calls.length > 0; calls = running.list()) {
        for (const call of calls) call.stop(createStopError());
        await Promise.allSettled(calls.map(({ ended }) => ended));
        await Promise.resolve();
      }
      await withdrawals.close();
      await unchargedCosts.close();
    },
  };
}

async function beginCall<K extends CallKinds>(
  context: CallContext,
  plan: CallPlan<K>,
  { listener, limits, span, run, kept }: BeginOptions<K>,
): Promise<Begun<K>> {
  const { claims, logger } = context;
  const call = new PaidCall(context, plan, span);
  const admission = await call.admit(run, limits ?? undefined);
  if (admission.kind === "answered") return admission;
  const { claim } = admission;
  call.start({ listener, kept: claim && { ...kept, claim }, isHandedOver: true });
  const onTrouble = (error: unknown): void => logger.warn({ error }, "idempotency claim not renewed");
  const leave = claim === null ? () => {} : claims.renew(claim, onTrouble);
  // The call may end before its caller attaches a handler to `ended`.
  call.ended.then(leave, leave);
  await call.authorize();
  return { kind: "running", call };
}

function createStopError(): AppError {
  return new AppError("shutting_down", "The gateway stopped before the response was complete. Retry the request.");
}
