import { formatCount, formatMoney } from "../../parts/format/format-money.ts";
import type { Estimate } from "./estimate-charge.ts";

type EstimateLineProps = {
  estimate: Estimate | null;
  currency: string;
  /** The basis of the estimate. */
  source?: "script" | "storyboard";
};

export function EstimateLine({ estimate, currency, source = "script" }: EstimateLineProps) {
  if (estimate === null) return null;
  return (
    <p className="text-sm text-ink-soft tabular-nums">
      {words[estimate.kind]} <span className="font-medium text-ink">{formatMoney(estimate.amount, currency)}</span>
      {estimate.kind === "range" && (
        <span className="block text-xs">At most {formatMoney(estimate.most, currency)}, which is put on hold.</span>
      )}
      {estimate.kind === "about" && (
        <span className="block text-xs">
          Estimated from the {source}: {formatCount(estimate.shots)} {estimate.shots === 1 ? "shot" : "shots"}, about{" "}
          {formatCount(estimate.seconds)} s. At most {formatMoney(estimate.most, currency)} for{" "}
          {formatCount(estimate.secondsMax)} s, which is put on hold.
        </span>
      )}
    </p>
  );
}

const words = { exact: "Costs", most: "Costs at most", range: "Costs about", about: "Costs about" } as const;
