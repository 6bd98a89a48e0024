import type { ExplainedCharge } from "../../api/ask-spending.ts";
import { type Fact, FactList } from "../../design/fact-list.tsx";
import { Notice } from "../../design/notice.tsx";
import { Section } from "../../design/section.tsx";
import { formatAmount, nameQuota } from "../../parts/format/format-amount.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { isMoneyZero } from "../../parts/format/sum-money.ts";
import { useSession } from "../../parts/session/use-session.ts";

/** Hold, credit buckets, refunds and the balance after. */
export function ChargeMoney({ charge, currency }: { charge: ExplainedCharge; currency: string }) {
  const { time_zone: timeZone } = useSession().account;
  const { unit, buckets, refunds, held, lost, balance_after: after } = charge;
  const write = (amount: string): string => formatAmount({ unit, amount, currency });
  const nameBucket = (kind: "cash" | "gift" | "quota"): string =>
    kind === "cash" ? "Cash" : kind === "gift" || unit === "money" ? "Gift" : nameQuota(unit);
  const paid = buckets.map(
    ({ kind, amount, expires_at: expiresAt }, index): Fact => ({
      id: `bucket ${index}`,
      name: `${nameBucket(kind)}${expiresAt === null ? "" : `, expires ${formatMoment(expiresAt, timeZone)}`}`,
      value: write(amount),
    }),
  );
  const back = refunds.map(
    ({ id, amount, created }): Fact => ({
      id,
      name: `Refunded ${formatMoment(new Date(created * 1000).toISOString(), timeZone)}`,
      value: `+${write(amount)}`,
    }),
  );
  return (
    <Section title="Paid from">
      {!isMoneyZero(lost) && <Notice kind="hint">{write(lost)} of the cost was not charged. You do not owe it.</Notice>}
      <FactList
        facts={[
          { name: "Hold before the call", value: write(held) },
          ...paid,
          ...back,
          ...(after === null ? [] : [{ name: "Balance after", value: write(after) }]),
        ]}
      />
    </Section>
  );
}
