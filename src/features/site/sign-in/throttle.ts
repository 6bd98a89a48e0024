import { createHash } from "node:crypto";
import { presentNetwork } from "../../../lib/network.ts";
import type { Counters, LeaseCheck } from "../../../platform/counters/counters.ts";
import { AppError } from "../../../platform/errors/app-error.ts";

/** How many attempts of a kind may be open or have failed within a time. One that succeeds is forgotten. */
export type AttemptLimit = { key: string; max: number; withinMs: number };

type Attempt = {
  /** Takes the attempt back: it was no guess. */
  succeed(): Promise<void>;
};

/**
 * Counts an attempt before it is made, so that a hundred at once are not a hundred guesses. Each stays counted for its
 * time, wherever the others are, so there is no moment at which all are free again.
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
 * Guesses of a password. One address gets few for one person, and not many for all persons. What all addresses together
 * get for one person is ten times as much: whoever wants to lock somebody out needs many addresses, must go on and on,
 * and does not keep them from a passkey, from a link by mail or from the sessions they have.
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

/** Guesses of a second factor, by somebody who knows the password or sits at an open session. */
export function limitCodeGuesses(userId: string): AttemptLimit[] {
  return [{ key: `code:${userId}`, max: 5, withinMs: 15 * minuteMs }];
}

/** Mails that somebody asks for, to an address that may not be theirs. */
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

/** Sign-ins by passkey or provider, which are begun without saying who one is. */
export function limitBeginnings(address: string): AttemptLimit[] {
  return [{ key: `begin:from:${presentNetwork(address)}`, max: 60, withinMs: 5 * minuteMs }];
}

/** Links that are tried. They cannot be guessed; this only keeps somebody from trying without end. */
export function limitLinks(address: string): AttemptLimit[] {
  return [{ key: `link:from:${presentNetwork(address)}`, max: 30, withinMs: 15 * minuteMs }];
}

/** Credit that new accounts begin with. Whoever has many mailboxes rarely has as many networks. */
export function limitWelcomes(address: string, dailyMax: number): AttemptLimit[] {
  const withinMs = 24 * 60 * minuteMs;
  return [
    { key: `welcome:from:${presentNetwork(address)}`, max: 10, withinMs },
    { key: "welcome", max: dailyMax, withinMs },
  ];
}

/** Counters may lie in a Redis that others read; whom they are about is not for them. */
function nameInKey(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
