import { type Nano, nano } from "./money.ts";

/** What an attempt at an upstream costs the operator. Customers never see it. */
export type UpstreamCost = {
  providerId: string;
  upstreamModel: string;
  /** As the vendor reported it, else as the cost sheet computes it. */
  amount: Nano;
  /** What the cost sheet computes, if the vendor reported the amount. */
  computed: Nano | null;
};

/** An item of a bill, which imports this file. */
type CostItem = { name: string; quantity: bigint; rate: Nano };

const prefixes = { amount: "cost:", computed: "cost_computed:" } as const;
type CostKind = keyof typeof prefixes;

/**
 * A cost as items of its charge. They have no rate, so they change no amount, and the roll-ups of charges sum them by route
 * without a statement of their own.
 */
export function itemizeCost({ providerId, upstreamModel, amount, computed }: UpstreamCost): CostItem[] {
  const route = `${upstreamModel}@${providerId}`;
  const itemize = (kind: CostKind, quantity: bigint): CostItem => ({
    name: `${prefixes[kind]}${route}`,
    quantity,
    rate: nano(0n),
  });
  return [itemize("amount", amount), ...(computed === null ? [] : [itemize("computed", computed)])];
}

export function isCostItem(name: string): boolean {
  return name.startsWith(prefixes.amount) || name.startsWith(prefixes.computed);
}

/** Stores that read bills for customers drop the costs, so that no presenter can show them. */
export function withoutCosts<T extends { name: string }>(items: readonly T[]): T[] {
  return items.filter(({ name }) => !isCostItem(name));
}

/** Sums of cost by route, read from the items of charges. */
export function readCosts(items: readonly Pick<CostItem, "name" | "quantity">[]): UpstreamCost[] {
  return items.flatMap(({ name, quantity }) => {
    const route = parseRoute(name, "amount");
    if (route === null) return [];
    const computed = items.find((other) => other.name === `${prefixes.computed}${route}`);
    return [
      {
        ...splitRoute(route),
        amount: nano(quantity),
        computed: computed === undefined ? null : nano(computed.quantity),
      },
    ];
  });
}

function parseRoute(name: string, kind: CostKind): string | null {
  return name.startsWith(prefixes[kind]) ? name.slice(prefixes[kind].length) : null;
}

/** No provider's id contains an `@`. */
function splitRoute(route: string): { upstreamModel: string; providerId: string } {
  const at = route.lastIndexOf("@");
  return { upstreamModel: route.slice(0, at), providerId: route.slice(at + 1) };
}
