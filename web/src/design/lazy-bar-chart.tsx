import { lazy, Suspense } from "react";
import type { BarChartProps } from "./bar-chart.tsx";
import { Skeleton } from "./skeleton.tsx";

const load = async () => ({ default: (await import("./bar-chart.tsx")).BarChart });
const BarChart = lazy(load);

// Preload together with the page's queries; on failure the component retries and reports.
load().catch(() => {});

/** The chart library is as large as the whole sign-in page, so it loads separately. */
export function LazyBarChart(props: BarChartProps) {
  return (
    <Suspense fallback={<Skeleton className="h-69" />}>
      <BarChart {...props} />
    </Suspense>
  );
}
