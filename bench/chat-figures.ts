import { type ChatLoadName, type ChatRound, type ChatRounds, chatLoads } from "./chat-rounds.ts";
import type { TargetName } from "./chat-targets.ts";
import { findMedian } from "./measure-cpu.ts";

export type Outcomes = Readonly<Record<ChatLoadName, ChatRounds>>;

/** The summary of a target's rounds under one load. */
export type ChatFigures = {
  requestsPerSecond: number;
  cpuUs: number;
  databaseCpuUs: number | null;
  p50Ms: number;
  p99Ms: number;
  firstDataP50Ms: number;
  residentBytesBefore: number;
  residentBytesAfter: number;
};

export type GoalRow = { name: string; figure: string; goal: string; isMet: boolean };

/** A sentence if the target failed, and `null` if it did not take part. */
export function sumUp(outcomes: Outcomes, load: ChatLoadName, target: TargetName): ChatFigures | string | null {
  const rounds = outcomes[load].get(target);
  return rounds === undefined || typeof rounds === "string" ? (rounds ?? null) : sumUpRounds(rounds);
}

function sumUpRounds(rounds: readonly ChatRound[]): ChatFigures {
  const takeMedian = (read: (round: ChatRound) => number): number => findMedian(rounds.map(read));
  const wholeMs = rounds.flatMap((round) => round.wholeMs).toSorted((a, b) => a - b);
  return {
    requestsPerSecond: takeMedian(({ requests, tookMs }) => (requests / tookMs) * 1000),
    cpuUs: takeMedian(({ cpuUs }) => cpuUs),
    databaseCpuUs: rounds[0]?.databaseCpuUs === null ? null : takeMedian(({ databaseCpuUs }) => databaseCpuUs ?? 0),
    p50Ms: findMedian(wholeMs),
    p99Ms: wholeMs[Math.floor(wholeMs.length * 0.99)] ?? Number.NaN,
    firstDataP50Ms: findMedian(rounds.flatMap((round) => round.firstDataMs)),
    residentBytesBefore: rounds[0]?.residentBytesBefore ?? Number.NaN,
    residentBytesAfter: rounds.at(-1)?.residentBytesAfter ?? Number.NaN,
  };
}

/** The goals that a run can judge. */
export function judgeGoals(outcomes: Outcomes): GoalRow[] {
  const cpuRatio = (load: ChatLoadName, goalMax: number): GoalRow => {
    const ratio = compareCpu(outcomes, load, "recording");
    return {
      name: `CPU beside the pass-through that records: ${chatLoads[load].name}`,
      figure: `${ratio.toFixed(2)} ×`,
      goal: `≤ ${goalMax} ×`,
      isMet: ratio <= goalMax,
    };
  };
  const added = (name: string, ms: number, goalMax: number): GoalRow => ({
    name: `added to the upstream's 20 ms: ${name}`,
    figure: `${ms.toFixed(2)} ms`,
    goal: `≤ ${goalMax} ms`,
    isMet: ms <= goalMax,
  });
  const whole = getAdded(outcomes, "lateWhole");
  const streamed = getAdded(outcomes, "lateStream");
  return [
    ...(Object.keys(chatLoads) as ChatLoadName[])
      .filter((load) => !load.startsWith("late") || load === "lateWhole256")
      .map((load) => cpuRatio(load, 1)),
    ...judgePortkey(outcomes),
    added("whole answer, p50", whole.p50Ms, 1.5),
    added("whole answer, p99", whole.p99Ms, 6),
    added("first data of a stream, p50", streamed.firstDataP50Ms, 1),
  ];
}

const portkeyShareMax = 1 / 8;

function judgePortkey(outcomes: Outcomes): GoalRow[] {
  const portkey = sumUp(outcomes, "whole256", "portkey");
  if (portkey === null || typeof portkey === "string") return [];
  const share = compareCpu(outcomes, "whole256", "portkey");
  return [
    {
      name: `CPU beside Portkey: ${chatLoads.whole256.name}`,
      figure: `1/${(1 / share).toFixed(1)}`,
      goal: "≤ 1/8",
      isMet: share <= portkeyShareMax,
    },
  ];
}

/** Whether a target took part, and did not fail. */
export function hasFigures(outcomes: Outcomes, load: ChatLoadName, target: TargetName): boolean {
  return Array.isArray(outcomes[load].get(target));
}

/** Sluice's CPU time as a multiple of another's. */
export function compareCpu(outcomes: Outcomes, load: ChatLoadName, other: TargetName): number {
  return getFigures(outcomes, load, "sluice").cpuUs / getFigures(outcomes, load, other).cpuUs;
}

/** The time that Sluice adds to a direct call of the upstream. */
function getAdded(outcomes: Outcomes, load: ChatLoadName): Pick<ChatFigures, "p50Ms" | "p99Ms" | "firstDataP50Ms"> {
  const sluice = getFigures(outcomes, load, "sluice");
  const direct = getFigures(outcomes, load, "direct");
  return {
    p50Ms: sluice.p50Ms - direct.p50Ms,
    p99Ms: sluice.p99Ms - direct.p99Ms,
    firstDataP50Ms: sluice.firstDataP50Ms - direct.firstDataP50Ms,
  };
}

function getFigures(outcomes: Outcomes, load: ChatLoadName, target: TargetName): ChatFigures {
  const figures = sumUp(outcomes, load, target);
  if (figures === null || typeof figures === "string") throw new Error(`${target} has no figures for ${load}.`);
  return figures;
}
