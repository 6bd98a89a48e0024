import { Redis } from "ioredis";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import type { CounterDecision, Counters, LeaseCheck, RateCheck } from "./counters.ts";
import { presentRate, priceDelta, priceRate } from "./gcra.ts";
import { presentLease } from "./lease.ts";
import { correctScript, type RedisScript, renewScript, takeScript } from "./redis-scripts.ts";

type RedisCountersOptions = {
  url: string;
  /** For tests only: gateways that share a Redis must use its clock. */
  clock?: Clock;
  /** Called once per outage. */
  onTrouble(error: Error): void;
  /** Deadline of every operation. */
  timeoutMs?: number;
};

const keyPrefix = "sluice:";

/** Detects a peer that disappeared without closing the connection. */
const silenceMsMax = 1000;
const reconnectDelayMsMin = 50;
const reconnectDelayMsMax = 1000;
const disconnectMsMax = 200;

/** Counters shared through Redis. Throws on a timeout. */
export function createRedisCounters(options: RedisCountersOptions): Counters {
  const timeoutMs = options.timeoutMs ?? 50;
  const client = connect(options);
  // Requests wait for the first connection attempt; later ones fail at once while disconnected.
  const firstContact = Promise.race([happens(client, "ready"), happens(client, "error"), happens(client, "end")]);

  function readNow(): string {
    return options.clock === undefined ? "" : String(options.clock.now().getTime() * 1000);
  }

  /** Applies the deadline and strips command arguments, which include the password, from ioredis errors. */
  async function ask<T>(operation: () => Promise<T>): Promise<T> {
    try {
      const answer = firstContact.then(() => {
        if (client.status !== "ready") throw new Error("not connected");
        return operation();
      });
      return await withDeadline(answer, timeoutMs);
    } catch (error) {
      throw withoutArguments(error);
    }
  }

  function run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const words = [...keys.map((key) => keyPrefix + key), readNow(), ...args];
    return ask(async () => {
      try {
        return await client.evalsha(script.sha, keys.length, ...words);
      } catch (error) {
        // EVAL also caches the script.
        if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
        return await client.eval(script.lua, keys.length, ...words);
      }
    });
  }

  return {
    async take({ rates, leases }) {
      const keys = [...rates, ...leases].map(({ key }) => key);
      const reply = await run(takeScript, keys, [
        rates.length,
        ...rates.map(priceRate).flatMap(({ neededUs, capacityUs, chargedUs }) => [neededUs, capacityUs, chargedUs]),
        ...leases.flatMap(({ max, leaseId, ttlMs }) => [max, leaseId, ttlMs]),
      ]);
      return presentDecision(parseNumbers(reply), { rates, leases });
    },

    async correct(rate) {
      await run(correctScript, [rate.key], [priceDelta(rate)]);
    },

    async renew({ key, leaseId, ttlMs }) {
      await run(renewScript, [key], [leaseId, ttlMs]);
    },

    async release(leases) {
      await ask(() => Promise.all(leases.map(({ key, leaseId }) => client.zrem(keyPrefix + key, leaseId))));
    },

    async close() {
      const isOpen = ["connecting", "connect", "ready"].includes(client.status);
      const ended = isOpen ? happens(client, "end") : undefined;
      client.disconnect();
      await ended;
    },
  };
}

function connect({ url, onTrouble }: RedisCountersOptions): Redis {
  let isReported = false;
  const client = new Redis(url, {
    // Failed commands were decided by the fallback and must not be applied later.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: silenceMsMax,
    socketTimeout: silenceMsMax,
    disconnectTimeout: disconnectMsMax,
    retryStrategy: (attempts) => Math.min(reconnectDelayMsMin * 2 ** (attempts - 1), reconnectDelayMsMax),
  });
  client.on("ready", () => {
    isReported = false;
  });
  client.on("error", (error) => {
    if (!isReported) onTrouble(withoutArguments(error));
    isReported = true;
  });
  return client;
}

function happens(client: Redis, event: "ready" | "error" | "end"): Promise<void> {
  return new Promise((settle) => client.once(event, () => settle()));
}

function withoutArguments(error: unknown): Error {
  return new Error(`Redis: ${error instanceof Error ? error.message : String(error)}`);
}

function withDeadline<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  // After a blocked event loop the reply may be unread: allow one more turn.
  const timer = setTimeout(() => setImmediate(() => reject(new Error(`no reply within ${timeoutMs} ms`))), timeoutMs);
  answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  return promise;
}

/** Replies are text, because Redis truncates Lua numbers to integers. */
function parseNumbers(reply: unknown): number[] {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  invariant(numbers.length > 0 && numbers.every(Number.isFinite), "the take script must return numbers");
  return numbers;
}

/** Parses the reply of the take script. */
function presentDecision(
  [wasAllowed, ...found]: readonly number[],
  asked: { rates: readonly RateCheck[]; leases: readonly LeaseCheck[] },
): CounterDecision {
  const isTaken = wasAllowed === 1;
  const leasesFound = found.slice(asked.rates.length);
  return {
    isAllowed: isTaken,
    isDegraded: false,
    rates: asked.rates.map((check, index) => presentRate(check, found[index] ?? 0, isTaken)),
    leases: asked.leases.map((check, index) => {
      const [liveCount = 0, isHeld, freeInUs = -1] = leasesFound.slice(3 * index, 3 * index + 3);
      const snapshot = { liveCount, isHeld: isHeld === 1, freeInUs: freeInUs < 0 ? null : freeInUs };
      return presentLease(check, snapshot, isTaken);
    }),
  };
}
