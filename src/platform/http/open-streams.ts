import type { Clock } from "../../lib/clock.ts";
import type { AccountId, SessionId } from "../../lib/ids.ts";
import { AppError } from "../errors/app-error.ts";

/** Somebody who reads a stream that has no end of its own. */
type StreamReader = {
  accountId: AccountId;
  /** Of a page of the site. */
  sessionId: SessionId | null;
  /** Asks whether they may still read, and throws an `AppError` when not. Answers when their right ends by itself. */
  check(): Promise<Date | null>;
  end(refusal: AppError): void;
};

/**
 * The streams that are open. Each is looked at when it is opened, when something changed about its reader, and when the
 * reader's time is over; who may not read any more reads no further.
 */
export type OpenStreams = {
  /** Answers what to call when the stream has ended in another way. */
  add(reader: StreamReader): () => void;
  /** Something changed about these readers, or may have. */
  look(isMeant: (reader: StreamReader) => boolean): void;
  close(): void;
};

type Watched = StreamReader & { endsAt: Date | null; isDue: boolean; isLooking: boolean };

const sweepEveryMs = 500;

export function createOpenStreams(dependencies: {
  clock: Clock;
  /** Told of each look that failed, and of each that did not. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
}): OpenStreams {
  const open = new Set<Watched>();
  const timer = setInterval(() => {
    const now = dependencies.clock.now();
    for (const watched of open) {
      if (watched.isDue || (watched.endsAt !== null && watched.endsAt <= now)) lookAt(watched);
    }
  }, sweepEveryMs);
  timer.unref();

  function lookAt(watched: Watched): void {
    watched.isDue = true;
    if (!watched.isLooking) void decide(watched);
  }

  /** What changes while the question is on its way is asked about again. */
  async function decide(watched: Watched): Promise<void> {
    watched.isLooking = true;
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
        // The database did not answer, so the next sweep asks again.
        watched.isDue = true;
        dependencies.onTrouble(error);
      }
    } finally {
      watched.isLooking = false;
    }
  }

  return {
    add(reader) {
      const watched: Watched = { ...reader, endsAt: null, isDue: false, isLooking: false };
      open.add(watched);
      // Between the reader's admission and now, a change would have gone unheard.
      lookAt(watched);
      return () => void open.delete(watched);
    },
    look(isMeant) {
      for (const watched of open) if (isMeant(watched)) lookAt(watched);
    },
    close: () => clearInterval(timer),
  };
}
