/**
 * | state           | what is true                                                                  |
 * |-----------------|-------------------------------------------------------------------------------|
 * | `asking`        | a target is asked; if it fails, the next one is                                |
 * | `accepted`      | the same, and one of those that were asked has accepted                        |
 * | `last`          | a target is asked, and it is the last: the caller is gone                      |
 * | `last-accepted` | the same, and one of those that were asked has accepted                        |
 * | `answering`     | data has come: no other target is tried                                        |
 * | `over`          | ended, failed or canceled: whatever a provider still tells is dropped          |
 */
export type RouteState = "asking" | "accepted" | "last" | "last-accepted" | "answering" | "over";

/** `fail`: another target may do better. `refuse`: none would. `exhaust`: none is left to ask, or no time. */
export type RouteEvent = "accept" | "data" | "finish" | "fail" | "refuse" | "exhaust" | "stop-failover" | "cancel";

/** What has to be done when a state is entered. */
type RouteEffect =
  | "nothing"
  | "tell-accepted"
  /** The target is well. */
  | "report-answered"
  | "ask-next"
  | "tell-failure"
  | "cancel"
  /** The same, and how the target would have answered stays unknown. */
  | "report-abandoned";

type RouteStep = { to: RouteState; effect: RouteEffect };

const go = (to: RouteState, effect: RouteEffect = "nothing"): RouteStep => ({ to, effect });
const ignore = null;
const answering = go("answering", "report-answered");
const finished = go("over", "report-answered");
const failed = go("over", "tell-failure");
const abandoned = go("over", "report-abandoned");

/** What follows each event in each state; `null` where it changes nothing. */
export const routeTable: Readonly<Record<RouteState, Readonly<Record<RouteEvent, RouteStep | null>>>> = {
  asking: {
    ...{ accept: go("accepted", "tell-accepted"), data: answering, finish: finished },
    ...{ fail: go("asking", "ask-next"), refuse: failed, exhaust: failed },
    ...{ "stop-failover": go("last"), cancel: abandoned },
  },
  accepted: {
    ...{ accept: ignore, data: answering, finish: finished },
    ...{ fail: go("accepted", "ask-next"), refuse: failed, exhaust: failed },
    ...{ "stop-failover": go("last-accepted"), cancel: abandoned },
  },
  last: {
    ...{ accept: go("last-accepted", "tell-accepted"), data: answering, finish: finished },
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
