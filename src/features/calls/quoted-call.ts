import { type Nano, nano } from "../../lib/money.ts";
import type { RequestHeaders } from "../../platform/http/console-edge.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import type { QuotedTerms, Quotes } from "../quotes/index.ts";
import type { CallKinds, CallPlan, CallTerms } from "./paid-endpoint.ts";

/** What the quote of a plan promises: the hold of its longest response. */
export function quotePlan<K extends CallKinds>(plan: CallPlan<K>, basis?: string): QuotedTerms {
  const { modelId, terms } = plan;
  const most = terms.isFree ? nano(0n) : terms.price(terms.unitsMax);
  const estimate = plan.estimate?.() ?? { charge: most, basis: "exact_price" as const };
  return {
    ...{ modelId, most, units: BigInt(terms.unitsMax), quota: terms.quota },
    // Estimates are rough, and the most is certain.
    estimate: estimate.charge > most ? { ...estimate, charge: most } : estimate,
    ...(basis === undefined ? {} : { basis }),
  };
}

/** Whatever contains the plan. */
export type QuotedPlanned = { plan: Pick<CallPlan<CallKinds>, "modelId" | "terms" | "quoted"> };

export type QuotedRoute = {
  path: string;
  /** The request as it is quoted, if it is not the body. */
  quotedBody?: unknown;
  /** What the request refers to beside its body. */
  findBasis?(): string;
};

type QuotedHttpRequest = Parameters<typeof getCaller>[0] & { headers: RequestHeaders; body: unknown };

/** Plans a call of a request that names a quote, and caps it. Throws if the quote is not for it. */
export function planQuoted<P extends QuotedPlanned>(
  quotes: Pick<Quotes, "open">,
  request: QuotedHttpRequest,
  { path, quotedBody, findBasis }: QuotedRoute,
  prepare: () => P,
): P {
  const { accountId } = getCaller(request);
  // Planning may change the body.
  const body = quotedBody ?? request.body;
  const quote = quotes.open(String(request.headers["x-quote-id"]), { accountId, path, body });
  const basis = findBasis?.();
  const prepared = prepare();
  const { plan } = prepared;
  const { modelId, terms } = plan;
  const units = BigInt(terms.unitsMax);
  plan.quoted = quote.cap({ modelId, units, ...(basis === undefined ? {} : { basis }) });
  return prepared;
}

/** The terms of a call that costs at most its quote: beyond that, output is free. */
export function capTerms(terms: CallTerms, quoted: Nano): CallTerms {
  const { priceId, unitsMax, unitsUsual, isMetered, quota, holdMs } = terms;
  return {
    ...{ priceId, unitsMax, unitsUsual, isMetered, quota, holdMs },
    isFree: terms.isFree || quoted === 0n,
    price(units) {
      const amount = terms.price(units);
      return amount < quoted ? amount : quoted;
    },
    countAffordable: (amount) => (amount >= quoted ? Number.MAX_SAFE_INTEGER : terms.countAffordable(amount)),
  };
}
