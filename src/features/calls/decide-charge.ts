import { type Bill, capBill } from "../../lib/bill.ts";
import type { UpstreamCost } from "../../lib/upstream-cost.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import type { Authorization } from "./authorize-call.ts";
import { type CallEvent, type CallState, type ChargeRule, hasHungUp } from "./call.ts";
import { toAppError } from "./call-errors.ts";
import type { CallEnd, CallKinds, CallPlan, StoppedBy } from "./paid-endpoint.ts";

export type EventDetail<K extends CallKinds> = {
  deltas?: readonly K["delta"][];
  answer?: K["answer"];
  reported?: K["reported"] | null;
  /** Set if the caller gets an error. */
  error?: unknown;
  /** Set once the hold has ended. */
  end?: CallEnd<K>;
};

/** A transition that is being performed. */
export type CallStep<K extends CallKinds> = {
  event: CallEvent;
  from: CallState;
  charge: ChargeRule | null;
  detail: EventDetail<K>;
};

/** The charge for a response, or for a call that ended in a fault of the gateway. */
export type Verdict<K extends CallKinds> = { bill: Bill | null; cost: UpstreamCost | null } & (
  | { kind: "answered"; end: Omit<CallEnd<K>, "settlement"> }
  | { kind: "faulted"; failure: AppError }
);

type ChargedCall<K extends CallKinds> = {
  plan: CallPlan<K>;
  authorization: Pick<Authorization, "unitsHeld" | "billHold">;
  /** The target that answered or was tried last; `null` if none was. */
  routed: { readonly target: K["target"] | null };
  reportFault(error: unknown): void;
};

/** Decides what a call is charged at its end. */
export function decideCharge<K extends CallKinds>(
  call: ChargedCall<K>,
  { charge, event, from, detail }: CallStep<K>,
): Verdict<K> {
  const { plan, authorization } = call;
  const { meter } = plan;
  const isHungUp = hasHungUp(from);
  try {
    const { answer = null, reported = null } =
      detail.answer === undefined ? { reported: detail.reported } : meter.takeAnswer(detail.answer);
    if (event === "fault") return decideFault(call, charge, toAppError(detail.error), reported);
    const unitsHeld = authorization.unitsHeld();
    const concluded = meter.conclude(charge ?? "nothing", { reported, unitsHeld, hasHungUp: isHungUp });
    const { usage, isDue } = concluded;
    const end = {
      answer,
      usage,
      stoppedBy: explainCut(event) ?? concluded.stoppedBy,
      failure: detail.error === undefined ? null : toAppError(detail.error),
      hasHungUp: isHungUp,
    };
    // Work that is not charged costs the operator something only if the upstream says so.
    const cost = isDue || reported !== null ? findCost(call, usage) : null;
    return { kind: "answered", bill: isDue ? billCall(plan, usage) : null, cost, end };
  } catch (error) {
    call.reportFault(error);
    return decideFault(call, charge, toAppError(error), detail.reported ?? null);
  }
}

/** The upstream did its work: charge the reported usage, or the hold. If that throws too, charge the whole hold. */
function decideFault<K extends CallKinds>(
  call: ChargedCall<K>,
  charge: ChargeRule | null,
  failure: AppError,
  reported: K["reported"] | null,
): Verdict<K> {
  const { plan, authorization } = call;
  if (charge === null || charge === "nothing") return { kind: "faulted", bill: null, cost: null, failure };
  try {
    const unitsHeld = authorization.unitsHeld();
    const { usage } = plan.meter.conclude("reported-or-hold", { reported, unitsHeld, hasHungUp: false });
    return { kind: "faulted", bill: billCall(plan, usage), cost: findCost(call, usage), failure };
  } catch (error) {
    call.reportFault(error);
    return { kind: "faulted", bill: authorization.billHold(), cost: null, failure };
  }
}

function billCall<K extends CallKinds>(plan: CallPlan<K>, usage: K["usage"]): Bill {
  const bill = plan.bill(usage);
  return plan.quoted === undefined ? bill : capBill(bill, plan.quoted);
}

/** A fault here must not change the charge. */
function findCost<K extends CallKinds>(call: ChargedCall<K>, usage: K["usage"]): UpstreamCost | null {
  const { plan } = call;
  const { target } = call.routed;
  if (target === null || plan.findCost === undefined) return null;
  try {
    return plan.findCost(target, usage);
  } catch (error) {
    call.reportFault(error);
    return null;
  }
}

/** Why a response ends early; `null` for the output cap. */
export function explainCut(event: CallEvent): StoppedBy | null {
  return event === "exhaust" ? "insufficient_balance" : null;
}
