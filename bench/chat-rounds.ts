import { type ChatAsk, shortPromptBytes } from "./chat-requests.ts";
import type { ChatTarget, TargetName, UpstreamWay } from "./chat-targets.ts";
import { readFamilyCpuUs, readProcessCpuUs, readResidentBytes } from "./process-figures.ts";
import { type LoadFigures, openLoad } from "./run-load.ts";

/** One kind of load, and its targets. */
export type ChatLoad = {
  name: string;
  ask: ChatAsk;
  way: UpstreamWay;
  connections: number;
  targets: readonly TargetName[];
  rounds: number;
};

export type ChatRound = LoadFigures & {
  /** Per request. */
  cpuUs: number;
  databaseCpuUs: number | null;
  residentBytesBefore: number;
  residentBytesAfter: number;
};

/** Each target's counted rounds; a sentence if it failed. */
export type ChatRounds = ReadonlyMap<TargetName, ChatRound[] | string>;

const whole: ChatAsk = { isStream: false, promptBytes: shortPromptBytes };
const streamed: ChatAsk = { isStream: true, promptBytes: shortPromptBytes };
const longPrompt: ChatAsk = { isStream: false, promptBytes: 32 * 1024 };

const gateways = ["bare", "recording", "sluice", "other", "portkey"] as const;
const busy = { way: "at-once", targets: gateways, rounds: 5 } as const;
const late = { way: "late", targets: ["direct", ...gateways], connections: 1, rounds: 10 } as const;

export const chatLoads = {
  whole1: { ...busy, name: "whole answer, 1 connection", ask: whole, connections: 1 },
  whole32: { ...busy, name: "whole answer, 32 connections", ask: whole, connections: 32 },
  whole256: { ...busy, name: "whole answer, 256 connections", ask: whole, connections: 256 },
  long32: { ...busy, name: "32 kB prompt, 32 connections", ask: longPrompt, connections: 32 },
  stream1: { ...busy, name: "50 chunks, 1 connection", ask: streamed, connections: 1 },
  stream32: { ...busy, name: "50 chunks, 32 connections", ask: streamed, connections: 32 },
  stream256: { ...busy, name: "50 chunks, 256 connections", ask: streamed, connections: 256 },
  oneWrite32: { ...busy, name: "50 chunks in one write, 32", ask: streamed, connections: 32, way: "one-write" },
  // An instant answer is settled together with its hold; here each is written separately.
  lateWhole256: { ...busy, name: "whole answer after 20 ms, 256", ask: whole, connections: 256, way: "late" },
  lateWhole: { ...late, name: "whole answer after 20 ms", ask: whole },
  lateStream: { ...late, name: "50 chunks after 20 ms", ask: streamed },
} as const satisfies Record<string, ChatLoad>;
export type ChatLoadName = keyof typeof chatLoads;

const roundMs = 1100;
const warmUpMs = 4000;
/** It is a reference only, so its last percent of precision does not matter. */
const portkeyRoundsMax = 2;

/** Lets compilers and caches settle before anything counts. */
export async function warmTargetsUp(targets: readonly ChatTarget[]): Promise<void> {
  for (const ask of [whole, streamed]) {
    for (const target of targets.filter(({ name }) => name !== "direct")) {
      // A target that cannot do this fails later, in its rounds.
      await measureRound(target, { ...chatLoads.whole32, ask }, warmUpMs).catch(() => {});
    }
  }
}

/** The targets take turns, so that other load of the machine affects all of them. The first round does not count. */
export async function runRounds(targets: readonly ChatTarget[], load: ChatLoad): Promise<ChatRounds> {
  const taking = targets.filter(({ name }) => load.targets.includes(name));
  const outcomes = new Map<TargetName, ChatRound[] | string>(taking.map(({ name }) => [name, []]));
  for (let round = 0; round <= load.rounds; round += 1) {
    for (const target of taking) {
      const counted = outcomes.get(target.name);
      if (!Array.isArray(counted) || (target.name === "portkey" && round > portkeyRoundsMax)) continue;
      try {
        const measured = await measureRound(target, load);
        if (round > 0) counted.push(measured);
      } catch (error) {
        // Only other gateways may fail: otherwise the table would be wrong.
        if (target.name !== "portkey") throw new Error(`${target.name}, ${load.name}`, { cause: error });
        outcomes.set(target.name, String(error));
      }
    }
  }
  return outcomes;
}

type MeasuredTarget = Omit<ChatTarget, "name">;
type MeasuredLoad = Pick<ChatLoad, "ask" | "way" | "connections">;

export async function measureRound(
  target: MeasuredTarget,
  load: MeasuredLoad,
  lastsMs: number = roundMs,
): Promise<ChatRound> {
  const { processId, databaseProcessId, port } = target;
  const { ask, way, connections } = load;
  const request = target.writeRequest(ask, way);
  const opened = await openLoad({ port, request, isStream: ask.isStream, connections });
  try {
    await opened.warmUp();
    const before = readUse(processId, databaseProcessId);
    const figures = await opened.run(lastsMs);
    const after = readUse(processId, databaseProcessId);
    return {
      ...figures,
      cpuUs: (after.cpuUs - before.cpuUs) / figures.requests,
      databaseCpuUs:
        databaseProcessId === null ? null : (after.databaseCpuUs - before.databaseCpuUs) / figures.requests,
      residentBytesBefore: before.residentBytes,
      residentBytesAfter: after.residentBytes,
    };
  } finally {
    opened.close();
  }
}

function readUse(processId: number, databaseProcessId: number | null) {
  return {
    cpuUs: readProcessCpuUs(processId),
    databaseCpuUs: databaseProcessId === null ? 0 : readFamilyCpuUs(databaseProcessId),
    residentBytes: readResidentBytes(processId),
  };
}
