import { Redis } from "ioredis";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import type { CounterDecision, Counters, LeaseCheck, RateCheck } from "./counters.ts";
import { presentRate, priceDelta, priceRate } from "./gcra.ts";
import { presentLease } from "./lease.ts";
import { correctScript, type RedisScript, renewScript, takeScript } from "./redis-scripts.ts";

type RedisCountersOptions = {
  url: string;
  /** For tests, in place of Redis' own clock. Gateways on one Redis must never go by clocks of their own. */
  clock?: Clock;
  /** Told once when the connection fails, and again only after it was back. */
  onTrouble(error: Error): void;
  /** Every operation has ended by then, if need be with an error. */
  timeoutMs?: number;
};

const keyPrefix = "sluice:";

/** A peer that went away without a word is only noticed by its silence. */
const silenceMsMax = 1000;
const reconnectDelayMsMin = 50;
const reconnectDelayMsMax = 1000;
const disconnectMsMax = 200;

/** Counts for every process that uses the same Redis. Throws where it does not answer in time. */
export function createRedisCounters(options: RedisCountersOptions): Counters {
  const timeoutMs = options.timeoutMs ?? 50;
  const client = connect(options);
  // Until it is known whether Redis is there, a request waits; afterwards one that finds it away fails at once.
  const firstContact = Promise.race([happens(client, "ready"), happens(client, "error"), happens(client, "end")]);

  function readNow(): string {
    return options.clock === undefined ? "" : String(options.clock.now().getTime() * 1000);
  }

  /** All within one deadline, and without what the library attaches to errors: arguments, the password among them. */
  async function ask<T>(operation: () => Promise<T>): Promise<T> {
    try {
      const answer = firstContact.then(() => {
        if (client.status !== "ready") throw new Error("There is no connection.");
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
        // A fresh Redis does not know the script yet; with this call it does.
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
  let isTroubleTold = false;
  const client = new Redis(url, {
    // What could not be asked at once or was not answered is decided elsewhere and must not be counted later.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: silenceMsMax,
    socketTimeout: silenceMsMax,
    disconnectTimeout: disconnectMsMax,
    retryStrategy: (attempts) => Math.min(reconnectDelayMsMin * 2 ** (attempts - 1), reconnectDelayMsMax),
  });
  client.on("ready", () => {
    isTroubleTold = false;
  });
  client.on("error", (error) => {
    if (!isTroubleTold) onTrouble(withoutArguments(error));
    isTroubleTold = true;
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
  // When this process itself stood still, the answer may be here but not read yet: one more turn of the loop reads it.
  const timer = setTimeout(
    () => setImmediate(() => reject(new Error(`There was no answer within ${timeoutMs} ms.`))),
    timeoutMs,
  );
  answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  return promise;
}

/** Everything comes as text, because Redis would cut numbers to whole ones. */
function parseNumbers(reply: unknown): number[] {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  invariant(numbers.length > 0 && numbers.every(Number.isFinite), "Redis answers the counters with numbers");
  return numbers;
}

/** Reads the answer of the take script; it says there what it consists of. */
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
      const look = { liveCount, isHeld: isHeld === 1, freeInUs: freeInUs < 0 ? null : freeInUs };
      return presentLease(check, look, isTaken);
    }),
  };
}
