/** `few`: too few calls to say more than that there were some. */
export const dayStates = ["none", "few", "ok", "degraded", "down"] as const;
export type DayState = (typeof dayStates)[number];

export const serviceStates = ["ok", "degraded", "down"] as const;
export type ServiceState = (typeof serviceStates)[number];

type Traffic = { calls: number; failed: number };

/** With fewer calls, a single failure would look like an outage. */
const judgedCallsMin = 20;
const okShareMin = 0.99;
const degradedShareMin = 0.95;

/** Of recent minutes, where fewer calls are enough to notice that most of them fail. */
const recentCallsMin = 10;
const recentOkMin = 0.9;
const recentDegradedMin = 0.5;

export function judgeDay({ calls, failed }: Traffic): DayState {
  if (calls === 0) return "none";
  if (calls < judgedCallsMin) return "few";
  const share = (calls - failed) / calls;
  if (share >= okShareMin) return "ok";
  return share >= degradedShareMin ? "degraded" : "down";
}

/** The percentage of answered calls, rounded down so that 100 means that none failed; `null` with too few calls. */
export function presentUptime({ calls, failed }: Traffic): number | null {
  return calls < judgedCallsMin ? null : Math.floor(((calls - failed) / calls) * 10_000) / 100;
}

/** Without enough calls, it is as good as what else is known. */
export function judgeRecent({ calls, failed }: Traffic): ServiceState {
  if (calls < recentCallsMin) return "ok";
  const share = (calls - failed) / calls;
  if (share >= recentOkMin) return "ok";
  return share >= recentDegradedMin ? "degraded" : "down";
}

export function chooseWorst(states: readonly ServiceState[]): ServiceState {
  return serviceStates.findLast((state) => states.includes(state)) ?? "ok";
}
