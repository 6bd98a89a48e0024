import type { FastifyRequest } from "fastify";
import { renewStreamSlot, returnStreamSlot, takeStreamSlot } from "../features/limits/index.ts";
import type { Caller } from "../lib/caller.ts";
import type { Counters } from "../platform/counters/counters.ts";
import type { Logger } from "../platform/observability/logger.ts";

export type StreamAdmission = {
  /** Counts an open stream of the key and returns the release function. Throws at the limit. */
  enter(request: Pick<FastifyRequest, "caller" | "id">): Promise<() => void>;
  close(): void;
};

type AdmissionOptions = { counters: Counters; logger: Logger; max: number };

/** The streams of a dead process are released within this time. */
const ttlMs = 60_000;
const renewMs = 20_000;

export function admitStreams({ counters, logger, max }: AdmissionOptions): StreamAdmission {
  const open = new Map<string, Caller>();
  const onTrouble = (error: unknown): void => logger.warn({ error }, "stream count failed");
  const timer = setInterval(() => {
    for (const [id, caller] of open) renewStreamSlot(counters, caller, { id, ttlMs }).catch(onTrouble);
  }, renewMs);
  timer.unref();

  return {
    async enter({ caller, id }) {
      // Pages of the site have their own limit.
      if (caller === null) return () => {};
      await takeStreamSlot(counters, caller, { id, ttlMs, max });
      open.set(id, caller);
      return () => {
        open.delete(id);
        returnStreamSlot(counters, caller, id).catch(onTrouble);
      };
    },
    close: () => clearInterval(timer),
  };
}
