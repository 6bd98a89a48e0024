import { createPrice } from "../../src/features/catalog/compile-price.ts";
import type { ItemName, Price, PriceIdentity, PriceTerms, Unit } from "../../src/features/catalog/price.ts";
import { nano } from "../../src/lib/money.ts";

type Fields = Partial<PriceIdentity> &
  Partial<Pick<PriceTerms, "items" | "tierScope" | "serviceTiers">> & {
    /** Rates without conditions, after the items. */
    rates?: Partial<Record<ItemName, bigint | null>>;
    unit?: Unit;
    minimum?: bigint;
  };

const billingTypes = { "1K tokens": "token", second: "duration" } as const satisfies Partial<Record<Unit, string>>;

/** A public price in force since time 0, per token unless the fields say otherwise. */
export function createTestPrice(fields: Fields): Price {
  const { rates = {}, items = [], unit = "1K tokens", minimum = 0n, tierScope = "call", serviceTiers = {} } = fields;
  const { id = "price_1", modelId = "open", capability = null, planId = null, accountId = null } = fields;
  const { effectiveAt = new Date(0) } = fields;
  const plain = (Object.entries(rates) as [ItemName, bigint | null][]).flatMap(([item, rate]) =>
    rate === null ? [] : [{ item, rate: nano(rate) }],
  );
  return createPrice(
    { id, modelId, capability, planId, accountId, effectiveAt },
    {
      billingType: unit in billingTypes ? billingTypes[unit as keyof typeof billingTypes] : "per_call",
      ...{ unit, items: [...items, ...plain], tierScope, serviceTiers, minimumCharge: nano(minimum) },
    },
  );
}
