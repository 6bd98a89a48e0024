import { presentNetwork } from "../../../lib/network.ts";
import type { Counters, RateCheck } from "../../../platform/counters/counters.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { AttemptLimit } from "../sign-in/throttle.ts";

const minuteMs = 60_000;

/** Limits per minute: by network, and in total. */
type ConnectRate = { name: string; perNetwork: number; inAll: number };

/** Requests are stored for at least ten minutes, so their number is bounded. */
export const entryRate: ConnectRate = { name: "entry", perNetwork: 60, inAll: 3000 };
export const deviceRate: ConnectRate = { name: "device", perNetwork: 20, inAll: 600 };
/** Secrets cannot be guessed; the limit bounds brute force. Many devices may share a network. */
export const exchangeRate: ConnectRate = { name: "exchange", perNetwork: 60, inAll: 6000 };
export const pollRate: ConnectRate = { name: "poll", perNetwork: 300, inAll: 30_000 };

/** Counts one request. Returns `null`, or the seconds to wait. */
export async function takeRate(counters: Counters, rate: ConnectRate, address: string): Promise<number | null> {
  const rates: RateCheck[] = [
    { key: `connect:${rate.name}:from:${presentNetwork(address)}`, perMinute: rate.perNetwork, cost: 1 },
    { key: `connect:${rate.name}`, perMinute: rate.inAll, cost: 1 },
  ];
  const decision = await counters.take({ rates, leases: [] });
  if (decision.isAllowed) return null;
  return Math.max(1, Math.ceil(Math.max(...decision.rates.map(({ retryAfterMs }) => retryAfterMs)) / 1000));
}

export async function requireRate(counters: Counters, rate: ConnectRate, address: string): Promise<void> {
  const seconds = await takeRate(counters, rate, address);
  if (seconds === null) return;
  throw new AppError("rate_limit_exceeded", `Too many requests. Try again in ${seconds} s.`, {
    headers: { "retry-after": String(seconds) },
  });
}

/**
 * Wrong device codes by signed-in users. With 25 billion codes, constant guessing hits one of a hundred waiting devices
 * about once in twenty years, and gives it a key to the guesser's own account.
 */
export function limitUserCodes(userId: string, address: string): AttemptLimit[] {
  const withinMs = 15 * minuteMs;
  return [
    { key: `user-code:${userId}`, max: 10, withinMs },
    { key: `user-code:from:${presentNetwork(address)}`, max: 30, withinMs },
    { key: "user-code", max: 300, withinMs },
  ];
}
