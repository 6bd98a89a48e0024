/**
 * | state           | what is true                                                          |
 * |-----------------|-----------------------------------------------------------------------|
 * | `trying`        | a target is tried; if it fails, the next one is                       |
 * | `accepted`      | as `trying`, and a target has accepted                                |
 * | `last`          | a target is tried, and no other will be: the caller has hung up       |
 * | `last-accepted` | as `last`, and a target has accepted                                  |
 * | `answering`     | data has arrived: no other target is tried                            |
 * | `over`          | ended, failed or canceled: later events of an adapter are dropped     |
 */
export type RouteState = "trying" | "accepted" | "last" | "last-accepted" | "answering" | "over";

/** `fail`: another target may succeed. `refuse`: none would. `exhaust`: no target or no time is left. */
export type RouteEvent = "accept" | "data" | "finish" | "fail" | "refuse" | "exhaust" | "stop-failover" | "cancel";

type RouteEffect =
  | "nothing"
  | "emit-accepted"
  /** Reports a success to the circuit breaker. */
  | "report-answered"
  | "try-next"
  | "emit-failure"
  | "cancel"
  /** Cancels, and reports to the circuit breaker that the outcome is unknown. */
  | "report-abandoned";

type RouteStep = { to: RouteState; effect: RouteEffect };

const go = (to: RouteState, effect: RouteEffect = "nothing"): RouteStep => ({ to, effect });
const ignore = null;
const answering = go("answering", "report-answered");
const finished = go("over", "report-answered");
const failed = go("over", "emit-failure");
const abandoned = go("over", "report-abandoned");

/** `null` ignores the event. */
export const routeTable: Readonly<Record<RouteState, Readonly<Record<RouteEvent, RouteStep | null>>>> = {
  trying: {
    ...{ accept: go("accepted", "emit-accepted"), data: answering, finish: finished },
    ...{ fail: go("trying", "try-next"), refuse: failed, exhaust: failed },
    ...{ "stop-failover": go("last"), cancel: abandoned },
  },
  accepted: {
    ...{ accept: ignore, data: answering, finish: finished },
    ...{ fail: go("accepted", "try-next"), refuse: failed, exhaust: failed },
    ...{ "stop-failover": go("last-accepted"), cancel: abandoned },
  },
  last: {
    ...{ accept: go("last-accepted", "emit-accepted"), data: answering, finish: finished },
    ...{ fail: failed, refuse: failed, exhaust: failed, "stop-failover": ignore, cancel: abandoned },
  },
  "last-accepted": {
    ...{ accept: ignore, data: answering, finish: finished },
    ...{ fail: failed, refuse: failed, exhaust: failed, "stop-failover": ignore, cancel: abandoned },
  },
  answering: {
    ...{ accept: ignore, data: ignore, finish: go("over") },
    ...{ fail: failed, refuse: failed, exhaust: failed, "stop-failover": ignore, cancel: go("over", "cancel") },
  },
  over: {
    ...{ accept: ignore, data: ignore, finish: ignore, fail: ignore, refuse: ignore, exhaust: ignore },
    ...{ "stop-failover": ignore, cancel: ignore },
  },
};
