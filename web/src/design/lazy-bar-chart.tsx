import { lazy, Suspense } from "react";
import type { BarChartProps } from "./bar-chart.tsx";
import { Skeleton } from "./skeleton.tsx";

const load = async () => ({ default: (await import("./bar-chart.tsx")).BarChart });
const BarChart = lazy(load);

// Begun together with what the page asks the server for; where it fails, the chart's own try tells.
load().catch(() => {});

/** The chart, whose library is as large as all of sign-in: it is not part of any page. */
export function LazyBarChart(props: BarChartProps) {
  return (
    <Suspense fallback={<Skeleton className="h-69" />}>
      <BarChart {...props} />
    </Suspense>
  );
}
