import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { Usage } from "../../api/fetch-spending.ts";
import { buttonClasses } from "../../design/button.tsx";
import type { ChartBar } from "../../design/chart-bar.ts";
import { LazyBarChart } from "../../design/lazy-bar-chart.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Money } from "../../parts/format/money.tsx";
import { writeTick } from "../../parts/format/write-tick.ts";
import { arrangeUsage, isNamed } from "../usage/arrange-usage.ts";

type SpendingChartProps = { usage: Usage | undefined; error: Error | null; onRetry(): void };

/** Each bar links to its charges. */
export function SpendingChart({ usage, error, onRetry }: SpendingChartProps) {
  const link = (
    <Link to="/console/usage" className={buttonClasses("quiet", "-mr-2")}>
      See all usage
    </Link>
  );
  const total =
    usage === undefined ? (
      " "
    ) : (
      <>
        <Money amount={usage.total.charge} currency={usage.currency} /> in the last 30 days
      </>
    );
  return (
    <Section title="Spending" intro={total} actions={link}>
      {error !== null && usage === undefined && <LoadFailure error={error} onRetry={onRetry} />}
      {error === null && usage === undefined && <Skeleton className="h-69" />}
      {usage !== undefined && <Chart usage={usage} />}
    </Section>
  );
}

function Chart({ usage }: { usage: Usage }) {
  const navigate = useNavigate();
  const { currency } = usage;
  const bars = useMemo(() => arrangeSpending(usage), [usage]);
  const write = useCallback((value: number) => writeTick(value, currency), [currency]);
  return (
    <LazyBarChart
      label="Charges of the last 30 days by model. Use arrow keys to move between bars and Enter to open one."
      bars={bars}
      isWhole={false}
      writeTick={write}
      onOpen={(bar, part) =>
        void navigate({
          to: "/console/usage",
          search: { bar, ...(part !== null && isNamed(part) ? { part } : {}) },
        })
      }
    />
  );
}

function arrangeSpending(usage: Usage): readonly ChartBar[] {
  return arrangeUsage(usage, { by: "model", show: "charge", cut: "day", nameOf: (id) => id }).bars;
}
