import { createHash } from "node:crypto";
import { presentNetwork } from "../../../lib/network.ts";
import type { Counters, LeaseCheck } from "../../../platform/counters/counters.ts";
import { AppError } from "../../../platform/errors/app-error.ts";

/** Maximum of pending or failed attempts within a period. Successful ones are released. */
export type AttemptLimit = { key: string; max: number; withinMs: number };

type Attempt = {
  /** Releases the attempt: it was not a guess. */
  succeed(): Promise<void>;
};

/**
 * Counts an attempt before it runs, so concurrent attempts are limited too. Each expires on its own, so the limit never
 * resets all at once.
 */
export type BeginAttempt = (limits: readonly AttemptLimit[]) => Promise<Attempt>;

const minuteMs = 60_000;

export function createThrottle(counters: Counters, randomBytes: (count: number) => Uint8Array): BeginAttempt {
  return async (limits) => {
    const leaseId = Buffer.from(randomBytes(12)).toString("hex");
    const leases: LeaseCheck[] = limits.map(({ key, max, withinMs }) => ({ key, max, leaseId, ttlMs: withinMs }));
    const decision = await counters.take({ rates: [], leases });
    if (!decision.isAllowed) {
      const waitMs = Math.max(...decision.leases.map(({ retryAfterMs }) => retryAfterMs));
      throw createTooManyAttempts(Math.max(1, Math.ceil(waitMs / 1000)));
    }
    return { succeed: async () => await counters.release(leases) };
  };
}

function createTooManyAttempts(seconds: number): AppError {
  const wait = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new AppError("too_many_attempts", `Too many attempts. Try again in ${wait}.`, {
    headers: { "retry-after": String(seconds) },
  });
}

/**
 * Password guesses: few per user and network, more per network in total. The limit per user over all networks is ten
 * times higher, so locking out a user takes many networks and constant effort; passkeys, mailed links and open sessions
 * still work.
 */
export function limitPasswordGuesses(email: string, address: string): AttemptLimit[] {
  const person = nameInKey(email.toLowerCase());
  const network = presentNetwork(address);
  const withinMs = 15 * minuteMs;
  return [
    { key: `sign-in:${person}:${network}`, max: 10, withinMs },
    { key: `sign-in:${person}`, max: 100, withinMs },
    { key: `sign-in:from:${network}`, max: 50, withinMs },
  ];
}

/** Second factor guesses, by someone with the password or an open session. */
export function limitCodeGuesses(userId: string): AttemptLimit[] {
  return [{ key: `code:${userId}`, max: 5, withinMs: 15 * minuteMs }];
}

/** Mails to an address that may not be the requester's. */
export function limitMails(email: string, address: string): AttemptLimit[] {
  const person = nameInKey(email.toLowerCase());
  const network = presentNetwork(address);
  const withinMs = 60 * minuteMs;
  return [
    { key: `mail:${person}:${network}`, max: 5, withinMs },
    { key: `mail:${person}`, max: 20, withinMs },
    { key: `mail:from:${network}`, max: 30, withinMs },
  ];
}

/** Passkey and provider sign-ins, which start without naming a user. */
export function limitBeginnings(address: string): AttemptLimit[] {
  return [{ key: `begin:from:${presentNetwork(address)}`, max: 60, withinMs: 5 * minuteMs }];
}

/** Link tokens cannot be guessed; the limit bounds brute force. */
export function limitLinks(address: string): AttemptLimit[] {
  return [{ key: `link:from:${presentNetwork(address)}`, max: 30, withinMs: 15 * minuteMs }];
}

/** Welcome credits. Someone with many mailboxes rarely has as many networks. */
export function limitWelcomes(address: string, dailyMax: number): AttemptLimit[] {
  const withinMs = 24 * 60 * minuteMs;
  return [
    { key: `welcome:from:${presentNetwork(address)}`, max: 10, withinMs },
    { key: "welcome", max: dailyMax, withinMs },
  ];
}

/** Hashed, since others may read a shared Redis. */
function nameInKey(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
