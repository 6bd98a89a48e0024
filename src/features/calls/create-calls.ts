import { createRegistry } from "../../lib/registry.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import type { SeenLimits } from "../../platform/http/request-context.ts";
import { createMetrics } from "../../platform/observability/metrics.ts";
import type { Span } from "../../platform/tracing/span.ts";
import { createClaims } from "../idempotency/index.ts";
import { releaseHold } from "../ledger/index.ts";
import { type AnswerContext, answerCall, type PaidRoute, replayCall } from "./call-routes.ts";
import { createDrainedCalls } from "./drained-calls.ts";
import type { CallKinds, CallPlan } from "./paid-endpoint.ts";
import { type RoutedOrder, type RoutedRun, type RoutedSink, type Routing, routeCall } from "./route-call.ts";
import { type CallContext, type CallListener, PaidCall, type RunningCall } from "./run-call.ts";
import { createUpstreamNotices } from "./upstream-notices.ts";
import { createWithdrawals } from "./withdrawals.ts";

export type Calls = {
  /** Answers a request by one paid call. Never throws: every error is the answer's. */
  answer<K extends CallKinds>(route: PaidRoute<K>, ...edge: Edge): void;
  /** Answers a request with what the same one was answered before; says whether there was something. */
  replay<K extends CallKinds>(route: PaidRoute<K>, ...edge: Edge): Promise<boolean>;
  /** Begins a call that ends by itself, whoever waits for it. Throws where a limit or the balance does not allow it. */
  begin<K extends CallKinds>(plan: CallPlan<K>, options: BeginOptions<K>): Promise<BegunCall<K>>;
  /** Sends a request of the gateway itself, for which nobody is charged here, to one upstream after another. */
  route<K extends CallKinds>(order: RoutedOrder<K>, sink: RoutedSink<K>): RoutedRun<K>;
  /** Resolves when no call is read to its end for nobody, or when this time is over. */
  untilDrained(timeoutMs: number): Promise<void>;
  /** Stops every call that still runs, and ends when all of them are settled. */
  close(): Promise<void>;
};

type BeginOptions<K extends CallKinds> = {
  /** `null` where the answer is not streamed. */
  listener: CallListener<K> | null;
  limits: SeenLimits | null;
  span: Span | null;
};

export type BegunCall<K extends CallKinds> = Pick<PaidCall<K>, "ended" | "hangUp" | "plan" | "routed" | "findChargeId">;

type Edge = [request: Parameters<typeof answerCall>[2], reply: Parameters<typeof answerCall>[3]];

type CallsOptions = Pick<CallContext, "clock" | "ids" | "ledger" | "counters" | "logger"> &
  Pick<Routing, "health" | "random"> & {
    database: Database;
    currency: string;
    keyValidityMs: number;
    /** For how long the database has answered without an outage. */
    liveForMs(): number;
    heartbeatMs: number;
    /** How many calls of an account may be read to their end for nobody. */
    drainedCallsMax: number;
    metrics?: CallContext["metrics"];
  };

export function createCalls(options: CallsOptions): Calls {
  const { database, clock, ids, ledger, counters, logger, currency, health, random } = options;
  const { metrics = createMetrics() } = options;
  const heartbeats = createHeartbeats(options.heartbeatMs);
  const running = createRegistry<RunningCall>();
  const drainedCalls = createDrainedCalls({ placesMax: options.drainedCallsMax });
  const withdrawals = createWithdrawals({ ledger, clock, logger });
  const routing = { health, random, clock };
  const context: AnswerContext = {
    ...{ clock, ids, ledger, counters, logger, metrics, currency },
    ...{ heartbeats, running, drainedCalls, withdrawals, routing },
    notices: createUpstreamNotices({ clock, logger }),
    claims: createClaims({
      ...{ database, clock, validityMs: options.keyValidityMs, liveForMs: options.liveForMs },
      releaseHold: async (tx, hold) => void (await releaseHold(tx, hold, clock.now())),
    }),
  };
  return {
    answer: (route, request, reply) => answerCall(context, route, request, reply),
    replay: (route, request, reply) => replayCall(context, route, request, reply),
    begin: (plan, options) => beginCall(context, plan, options),
    route: (order, sink) => routeCall(routing, order, sink),
    untilDrained: (timeoutMs) => drainedCalls.untilNone(timeoutMs),
    async close() {
      heartbeats.close();
      // A call that was being admitted meanwhile is stopped in the next round.
      for (let calls = running.list(); calls.length > 0; calls = running.list()) {
        for (const call of calls) call.stop(createStopError());
        await Promise.allSettled(calls.map(({ ended }) => ended));
        await Promise.resolve();
      }
      await withdrawals.close();
    },
  };
}

async function beginCall<K extends CallKinds>(
  context: CallContext,
  plan: CallPlan<K>,
  { listener, limits, span }: BeginOptions<K>,
): Promise<BegunCall<K>> {
  const call = new PaidCall(context, plan, span);
  await call.admit(null, limits ?? undefined);
  call.start({ listener, kept: null });
  // It may end before anybody can listen; who began it hears of that here or from `ended`.
  call.ended.catch(() => {});
  await call.authorize();
  return call;
}

function createStopError(): AppError {
  return new AppError("shutting_down", "The gateway stopped before the answer was complete.");
}
