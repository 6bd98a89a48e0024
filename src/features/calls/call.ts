import { invariant } from "../../lib/invariant.ts";

/**
 * One paid call: whatever is answered while its caller waits, be it text or audio, streamed or not.
 *
 * | state        | what is true                                                                        |
 * |--------------|-------------------------------------------------------------------------------------|
 * | `received`   | found good: a model, a price, upstreams that can do it                               |
 * | `admitted`   | within the caller's limits, its key claimed; the upstream may be at work already     |
 * | `authorized` | its hold is durable                                                                  |
 * | `accepted`   | an upstream has begun to answer                                                      |
 * | `streaming`  | the answer is on its way to the caller                                               |
 * | `abandoned`  | the caller hung up, and nobody knows yet whether the upstream accepts                |
 * | `draining`   | the caller hung up, and the upstream is read to its end for the usage it reports     |
 * | `settling`   | it is decided what is charged; the end of the hold is being written                  |
 * | `settled`    | charged                                                                              |
 * | `released`   | over, and nothing was charged                                                        |
 * | `refused`    | over before it began: there is no money for it                                        |
 * | `replayed`   | over before it began: answered with what the same request was answered before        |
 * | `failed`     | over, and the ledger could not be told: the hold ends by itself                      |
 */
export type CallState =
  | "received"
  | "admitted"
  | "authorized"
  | "accepted"
  | "streaming"
  | "abandoned"
  | "draining"
  | "settling"
  | "settled"
  | "released"
  | "refused"
  | "replayed"
  | "failed";

export type CallEvent =
  | "admit"
  | "replay"
  | "refuse"
  | "authorize"
  | "accept"
  | "deliver"
  /** The upstream's answer is over. */
  | "answer"
  /** The upstream, or the gateway, cannot go on. */
  | "fail"
  /** All that the account can pay for has been written. */
  | "exhaust"
  /** The caller hung up, and what the call has cost is known. */
  | "leave"
  /** The caller hung up, and only the upstream can tell. */
  | "drain"
  /** The caller hung up, only the upstream can tell, and there is no place left to wait for it. */
  | "forfeit"
  | "charged"
  | "uncharged"
  | "lost";

/** What is charged at the end of a call. */
export type ChargeRule =
  | "nothing"
  /** The usage, if anything was written, or the cap was used up. An empty answer is the upstream's fault. */
  | "if-written"
  /** The usage: the upstream has taken the request, and it was the caller who did not wait. */
  | "always"
  /** What the upstream reported; all that is on hold where it did not. */
  | "reported-or-hold";

export type Transition = { to: CallState; charge: ChargeRule | null };

const to = (state: CallState): Transition => ({ to: state, charge: null });
const end = (charge: ChargeRule): Transition => ({ to: "settling", charge });

const transitions: Readonly<Record<CallState, Readonly<Partial<Record<CallEvent, Transition>>>>> = {
  // One that is not admitted is answered with the reason, and never becomes anything else.
  received: { admit: to("admitted"), replay: to("replayed") },
  // A non-streaming answer may be here before its hold is: the ledger keeps their order.
  admitted: { authorize: to("authorized"), refuse: to("refused"), answer: end("if-written") },
  authorized: {
    accept: to("accepted"),
    deliver: to("streaming"),
    answer: end("if-written"),
    fail: end("nothing"),
    leave: end("nothing"),
    drain: to("abandoned"),
    forfeit: end("reported-or-hold"),
  },
  accepted: {
    deliver: to("streaming"),
    answer: end("if-written"),
    fail: end("nothing"),
    leave: end("always"),
    drain: to("draining"),
    forfeit: end("reported-or-hold"),
  },
  streaming: {
    deliver: to("streaming"),
    answer: end("if-written"),
    fail: end("if-written"),
    exhaust: end("if-written"),
    leave: end("always"),
    drain: to("draining"),
    forfeit: end("reported-or-hold"),
  },
  abandoned: {
    accept: to("draining"),
    deliver: to("draining"),
    answer: end("reported-or-hold"),
    fail: end("nothing"),
  },
  draining: {
    deliver: to("draining"),
    leave: end("always"),
    answer: end("reported-or-hold"),
    fail: end("reported-or-hold"),
    exhaust: end("reported-or-hold"),
  },
  settling: { charged: to("settled"), uncharged: to("released"), refuse: to("refused"), lost: to("failed") },
  settled: {},
  released: {},
  refused: {},
  replayed: {},
  failed: {},
};

/** What an event makes of a call. An event that cannot come in a state is a mistake of ours. */
export function decideTransition(state: CallState, event: CallEvent): Transition {
  const transition = transitions[state][event];
  invariant(transition !== undefined, `a call that is ${state} cannot ${event}`);
  return transition;
}

/** Whether an event means anything to a call: one that is over hears nothing more. */
export function canFollow(state: CallState, event: CallEvent): boolean {
  return transitions[state][event] !== undefined;
}

/** Nobody reads the answer any more. */
export function hasHungUp(state: CallState): boolean {
  return state === "abandoned" || state === "draining";
}

/** What becomes of an upstream whose caller has hung up, so that nobody pays less for that than for listening. */
export function decideHangUp({
  isSent,
  isCostKnown,
  hasDrainPlace,
}: {
  /** An upstream was asked. */
  isSent: boolean;
  /** What it has cost is known without it. */
  isCostKnown: boolean;
  /** Takes a place among the calls that are read to their end for nobody. */
  hasDrainPlace(): boolean;
}): "leave" | "drain" | "forfeit" {
  if (!isSent || isCostKnown) return "leave";
  return hasDrainPlace() ? "drain" : "forfeit";
}
