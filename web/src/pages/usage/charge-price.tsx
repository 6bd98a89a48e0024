import type { ExplainedCharge } from "../../api/ask-spending.ts";
import { Badge } from "../../design/badge.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { FactList } from "../../design/fact-list.tsx";
import { describeMinimum, describePrice } from "../../parts/format/describe-price.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";

type ChargePriceProps = { price: NonNullable<ExplainedCharge["price"]>; currency: string };

/** The price version at the start of the work. Versions are immutable. */
export function ChargePrice({ price, currency }: ChargePriceProps) {
  const { time_zone: timeZone } = useSession().account;
  const minimum = describeMinimum(price, currency);
  return (
    <section aria-label="Price" className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h2 className="font-semibold">Price</h2>
        <Badge kind={price.is_current ? "good" : "neutral"}>{price.is_current ? "Current price" : "Superseded"}</Badge>
      </div>
      <FactList
        facts={[
          ...describePrice(price, currency, "charge").map(({ name, text }) => ({ name: name ?? "Price", value: text })),
          ...(minimum === null ? [] : [{ name: "Minimum", value: minimum }]),
          { name: "Effective since", value: formatMoment(price.effective_at, timeZone) },
          { name: "Version", value: <CopyableText text={price.id} label="price ID" /> },
        ]}
      />
    </section>
  );
}
