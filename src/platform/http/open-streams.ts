import type { Clock } from "../../lib/clock.ts";
import type { AccountId, SessionId } from "../../lib/ids.ts";
import { repeat } from "../../lib/repeat.ts";
import { AppError } from "../errors/app-error.ts";

/** The reader of a stream without a natural end. */
type StreamReader = {
  accountId: AccountId;
  /** Set for pages of the site. */
  sessionId: SessionId | null;
  /** Throws an `AppError` if the reader has lost access. Returns when the access expires. */
  check(): Promise<Date | null>;
  end(reason: AppError): void;
};

/**
 * The open streams. Each reader's access is checked when the stream opens, when the reader's account or session changes,
 * and when the access expires. Streams of readers without access end.
 */
export type OpenStreams = {
  /** Returns a function to call when the stream has ended. */
  add(reader: StreamReader): () => void;
  /** Checks the matching readers again. */
  recheck(isMatch: (reader: StreamReader) => boolean): void;
  close(): void;
};

type Watched = StreamReader & { endsAt: Date | null; isDue: boolean; isChecking: boolean };

const sweepEveryMs = 500;

export function createOpenStreams(dependencies: {
  clock: Clock;
  /** Called for each failed check; `onRecovery` for each successful one. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
}): OpenStreams {
  const open = new Set<Watched>();
  const stopSweeping = repeat(sweepEveryMs, () => {
    const now = dependencies.clock.now();
    for (const watched of open) {
      if (watched.isDue || (watched.endsAt !== null && watched.endsAt <= now)) scheduleCheck(watched);
    }
  });

  function scheduleCheck(watched: Watched): void {
    watched.isDue = true;
    if (!watched.isChecking) void runChecks(watched);
  }

  /** Repeats the check if another change arrived meanwhile. */
  async function runChecks(watched: Watched): Promise<void> {
    watched.isChecking = true;
    try {
      while (watched.isDue && open.has(watched)) {
        watched.isDue = false;
        watched.endsAt = await watched.check();
        dependencies.onRecovery?.();
      }
    } catch (error) {
      if (error instanceof AppError) {
        if (open.delete(watched)) watched.end(error);
      } else {
        // The database is unavailable: retry at the next sweep.
        watched.isDue = true;
        dependencies.onTrouble(error);
      }
    } finally {
      watched.isChecking = false;
    }
  }

  return {
    add(reader) {
      const watched: Watched = { ...reader, endsAt: null, isDue: false, isChecking: false };
      open.add(watched);
      // Access may have changed since admission.
      scheduleCheck(watched);
      return () => void open.delete(watched);
    },
    recheck(isMatch) {
      for (const watched of open) if (isMatch(watched)) scheduleCheck(watched);
    },
    close: stopSweeping,
  };
}
