import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../platform/observability/logger.ts";

/** Warnings about an upstream's misbehaviour, each at most once an hour per route. */
export type UpstreamNotices = {
  warn(route: { providerId: string; upstreamModel: string }, notice: UpstreamNotice, fields: object): void;
};

const upstreamNotices = {
  "cap-ignored": {
    message: "upstream ignored the output cap",
    fix: "Set output_cap_field to the field that this upstream reads, or to none so that Sluice streams and stops it.",
  },
  "usage-too-low": {
    message: "upstream reported far less output than it delivered",
    fix: "Check the upstream's bill. Customers are charged what it reports.",
  },
  "cost-above-charge": {
    message: "upstream cost more than the call was charged",
    fix: "Raise the model's price, or remove the route. `sluicectl margin` has the sums.",
  },
  "cost-differs": {
    message: "upstream reported another cost than the cost sheet computes",
    fix: "Compare cost_sheet with the vendor's prices.",
  },
} as const satisfies Record<string, { message: string; fix: string }>;
export type UpstreamNotice = keyof typeof upstreamNotices;

const intervalMs = 60 * 60_000;
/** More routes than any catalog has. Beyond it, some routes warn again early. */
const routesMax = 10_000;

export function createUpstreamNotices({ clock, logger }: { clock: Clock; logger: Logger }): UpstreamNotices {
  const warnedAtMs = new Map<string, number>();
  return {
    warn({ providerId, upstreamModel }, notice, fields) {
      const key = `${notice} ${providerId} ${upstreamModel}`;
      const nowMs = clock.monotonicMs();
      const lastMs = warnedAtMs.get(key);
      if (lastMs !== undefined && nowMs - lastMs < intervalMs) return;
      if (warnedAtMs.size >= routesMax) warnedAtMs.clear();
      warnedAtMs.set(key, nowMs);
      const { message, fix } = upstreamNotices[notice];
      logger.warn({ ...fields, fix }, message);
    },
  };
}
