import {
  type ClockChange,
  type DatabaseClock,
  presentDifference,
  type TimeReading,
} from "../platform/database/database-clock.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Logger } from "../platform/observability/logger.ts";

/** Keeps the gateway's clock on the database's time, and out of service while the machine's clock is wrong. */
export type TimeKeeping = {
  hear(reading: TimeReading): void;
  /** Throws while the clocks of machine and database differ. */
  requireAgreement(): void;
  /** Whether they ever agreed: before that it is unknown which clock is wrong, and no work starts. */
  hasAgreed(): boolean;
  /** Calls back when they first agree, or at once. */
  whenAgreed(work: () => void): void;
  /** How far the machine's clock is ahead of the database's; negative if behind. */
  aheadMs(): number;
  close(): void;
};

/** For tests with their own clock. */
export function keepTime(clock: DatabaseClock | undefined, logger: Logger): TimeKeeping {
  let hasAgreed = clock === undefined;
  let waiting: (() => void)[] = [];

  function begin(): void {
    hasAgreed = true;
    const ready = waiting;
    waiting = [];
    for (const work of ready) work();
  }

  return {
    hear(reading) {
      if (clock === undefined) return;
      for (const news of clock.observe(reading)) tell(logger, news);
      if (!hasAgreed && clock.standing().state === "agreed") begin();
    },
    requireAgreement() {
      const { state, aheadMs } = clock?.standing() ?? { state: "agreed", aheadMs: 0 };
      if (state === "agreed" || state === "unknown") return;
      const difference = presentDifference(aheadMs);
      throw new AppError(
        "overloaded",
        `This node is out of service: its clock is ${difference}. Retry on a new connection.`,
      );
    },
    hasAgreed: () => hasAgreed,
    aheadMs: () => clock?.standing().aheadMs ?? 0,
    whenAgreed(work) {
      if (hasAgreed) work();
      else waiting.push(work);
    },
    close() {
      waiting = [];
    },
  };
}

const logEntries = {
  "machine-off": ["error", "machine clock wrong, gateway out of service"],
  "database-off": ["error", "database clock jumped, gateway out of service"],
  agreed: ["info", "clocks agree again"],
  jumped: ["warn", "clocks of machine and database jumped"],
} as const satisfies Record<ClockChange["kind"], readonly ["info" | "warn" | "error", string]>;

function tell(logger: Logger, { kind, ms }: ClockChange): void {
  const [level, message] = logEntries[kind];
  const seconds = Math.round(ms / 100) / 10;
  logger[level](kind === "jumped" ? { by_seconds: seconds } : { ahead_seconds: seconds }, message);
}
