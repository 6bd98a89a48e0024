import { lazy, Suspense } from "react";
import type { BarChartProps } from "./bar-chart.tsx";
import { Skeleton } from "./skeleton.tsx";

const BarChart = lazy(async () => ({ default: (await import("./bar-chart.tsx")).BarChart }));

/** The chart, whose library is as large as the rest of a page: it comes after the page. */
export function LazyBarChart(props: BarChartProps) {
  return (
    <Suspense fallback={<Skeleton className="h-60" />}>
      <BarChart {...props} />
    </Suspense>
  );
}
