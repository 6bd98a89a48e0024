import type { AlarmId } from "../../lib/ids.ts";

export const alarmStates = ["pending", "firing", "acknowledged", "silenced", "resolved"] as const;
export type AlarmState = (typeof alarmStates)[number];

/**
 * `met`: the rule is met. `held`: it has been for the time that the rule asks for. `cleared`: it was not met for long enough.
 * `silence-over`: a silence has reached its end.
 */
export const alarmEvents = ["met", "held", "cleared", "acknowledge", "silence", "silence-over"] as const;
export type AlarmEvent = (typeof alarmEvents)[number];

export type Report = "fired" | "resolved";

type Step = { to: AlarmState | "ok"; report: Report | null } | "ignore" | "impossible";

/** Every event in every state. `ok` is the absence of a row. */
export const alarmTable = {
  ok: {
    met: { to: "pending", report: null },
    held: { to: "firing", report: "fired" },
    cleared: "ignore",
    acknowledge: "impossible",
    silence: "impossible",
    "silence-over": "impossible",
  },
  pending: {
    met: "ignore",
    held: { to: "firing", report: "fired" },
    cleared: { to: "ok", report: null },
    acknowledge: "impossible",
    silence: "impossible",
    "silence-over": "impossible",
  },
  firing: {
    met: "ignore",
    held: "ignore",
    cleared: { to: "resolved", report: "resolved" },
    acknowledge: { to: "acknowledged", report: null },
    silence: { to: "silenced", report: null },
    "silence-over": "impossible",
  },
  acknowledged: {
    met: "ignore",
    held: "ignore",
    cleared: { to: "resolved", report: "resolved" },
    acknowledge: "ignore",
    silence: { to: "silenced", report: null },
    "silence-over": "impossible",
  },
  silenced: {
    met: "ignore",
    held: "ignore",
    cleared: { to: "resolved", report: null },
    acknowledge: { to: "acknowledged", report: null },
    silence: { to: "silenced", report: null },
    "silence-over": { to: "firing", report: "fired" },
  },
  resolved: {
    met: "impossible",
    held: "impossible",
    cleared: "impossible",
    acknowledge: "impossible",
    silence: "impossible",
    "silence-over": "impossible",
  },
} as const satisfies Record<AlarmState | "ok", Record<AlarmEvent, Step>>;

export function findStep(state: AlarmState | "ok", event: AlarmEvent): Step {
  return alarmTable[state][event];
}

export type Alarm = {
  id: AlarmId;
  /** A newer version may have raised it, so possibly not one of this version's rules. */
  rule: string;
  /** What it is about: a model, an upstream, a machine; `service` for all of it. */
  subject: string;
  state: AlarmState;
  /** As of the last reading that met the rule. */
  value: number;
  message: string;
  beganAt: Date;
  metAt: Date;
  silencedUntil: Date | null;
  endedAt: Date | null;
};

export type AlarmEventRecord = {
  number: number;
  kind: AlarmEvent;
  state: AlarmState;
  actor: string;
  note: string | null;
  createdAt: Date;
};

/** What a rule measured for one subject. */
export type Measured = {
  subject: string;
  value: number;
  message: string;
  /** Replaces the rule's, for this subject. */
  threshold?: number;
};

export type Reading = {
  measured: readonly Measured[];
  /** Whether this gateway can see the subject; by default all. Alarms of others are left to the gateways that see them. */
  covers?: (subject: string) => boolean;
};
