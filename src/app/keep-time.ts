import {
  type ClockChange,
  type DatabaseClock,
  presentDifference,
  type TimeReading,
} from "../platform/database/database-clock.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Logger } from "../platform/observability/logger.ts";

/** Keeps a gateway's clock on the database's time, and the gateway out of service while the machine's is off. */
export type TimeKeeping = {
  hear(reading: TimeReading): void;
  /** Throws while the machine's clock and the database's do not agree. */
  requireAgreement(): void;
  /** Whether they ever did: who begins with a wrong clock cannot know which of the two it is, and touches nothing. */
  hasAgreed(): boolean;
  /** Calls back at once, or when they agree first. */
  whenAgreed(work: () => void): void;
  /** How far the machine's clock is ahead of the database's; negative where it is behind. */
  aheadMs(): number;
  /** Calls nobody back any more. */
  close(): void;
};

/** Without a clock to keep, as in tests that move their own, all agree. */
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
      throw new AppError("overloaded", `This node is out of service: its machine's clock is ${difference}.`);
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
  "machine-off": ["error", "this machine's clock is off, so that the gateway is out of service until it is right"],
  "database-off": ["error", "the database's clock has jumped, so that the gateway is out of service until it is right"],
  agreed: ["info", "this machine's clock and the database's agree again"],
  jumped: ["warn", "the clocks of this machine and of the database have jumped, so that the gateway's time has"],
} as const satisfies Record<ClockChange["kind"], readonly ["info" | "warn" | "error", string]>;

function tell(logger: Logger, { kind, ms }: ClockChange): void {
  const [level, message] = logEntries[kind];
  const seconds = Math.round(ms / 100) / 10;
  logger[level](kind === "jumped" ? { by_seconds: seconds } : { ahead_seconds: seconds }, message);
}
