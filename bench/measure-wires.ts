import type { GoalRow } from "./chat-figures.ts";
import { shortPromptBytes } from "./chat-requests.ts";
import { measureRound } from "./chat-rounds.ts";
import type { ChatTarget, TargetName } from "./chat-targets.ts";
import { findMedian } from "./measure-cpu.ts";
import { type Wire, type WireAsk, wires } from "./wire-requests.ts";
import { presentTable } from "./write-results.ts";

type WireLoad = { name: string; ask: WireAsk; connections: number; isAgent: boolean };

const agent = { tools: 200, turns: 100 };
const loads: readonly WireLoad[] = [
  describeLoad("whole answer, 256 connections", { isStream: false, promptBytes: shortPromptBytes }, 256),
  describeLoad("50 chunks, 256 connections", { isStream: true, promptBytes: shortPromptBytes }, 256),
  describeLoad("32 kB agent request, 32 connections", describeAgent(32 * 1024), 32),
  describeLoad("200 kB agent request, 32 connections", describeAgent(200 * 1024), 32),
];

function describeLoad(name: string, ask: WireAsk, connections: number): WireLoad {
  return { name, ask, connections, isAgent: ask.agent !== undefined };
}

/** Like an agent's request: with all tools and turns, as a stream. */
function describeAgent(bytes: number): WireAsk {
  return { isStream: true, promptBytes: shortPromptBytes, agent: { ...agent, bytes } };
}

const ways = ["translated", "native"] as const;

/** The target, the wire format, and whether its upstream supports it natively. Chat is never translated. */
type Column = { target: TargetName; wire: Wire; upstream: (typeof ways)[number] };

const columns: readonly Column[] = wires.flatMap((wire): Column[] => [
  { target: "recording", wire, upstream: "native" },
  ...ways
    .filter((upstream) => wire !== "chat" || upstream === "translated")
    .map((upstream) => ({ target: "sluice" as const, wire, upstream })),
]);

/** The cost of a request in one wire format: the medians of the rounds. */
export type WireFigure = Column & { load: WireLoad; cpuUs: number; requestsPerSecond: number };

const rounds = 5;
const warmUpMs = 3000;

/** All wire formats take turns, so that other load of the machine affects all of them. */
export async function measureWires(targets: readonly ChatTarget[]): Promise<WireFigure[]> {
  const figures: WireFigure[] = [];
  for (const load of loads) {
    console.error(`measuring by wire: ${load.name}`);
    // Passing an answer through costs the same in every wire format.
    const taking = columns.filter(({ target }) => target === "sluice" || load.isAgent);
    const measured = new Map(taking.map((column) => [column, [] as { cpuUs: number; requestsPerSecond: number }[]]));
    // Each wire format has its own code, which must be compiled.
    for (const column of taking) await measureColumn(targets, column, load, warmUpMs);
    for (let round = 0; round < rounds; round += 1) {
      for (const [column, counted] of measured) {
        const { cpuUs, requests, tookMs } = await measureColumn(targets, column, load);
        counted.push({ cpuUs, requestsPerSecond: (requests / tookMs) * 1000 });
      }
    }
    for (const [column, counted] of measured) {
      figures.push({
        ...{ ...column, load },
        cpuUs: findMedian(counted.map(({ cpuUs }) => cpuUs)),
        requestsPerSecond: findMedian(counted.map(({ requestsPerSecond }) => requestsPerSecond)),
      });
    }
  }
  return figures;
}

function measureColumn(
  targets: readonly ChatTarget[],
  { target: name, wire, upstream }: Column,
  load: WireLoad,
  lastsMs?: number,
) {
  const target = targets.find((candidate) => candidate.name === name);
  const request = target?.writeWire?.(wire, load.ask, upstream);
  if (target === undefined || request === undefined) throw new Error(`${name} cannot be asked by ${wire}.`);
  const { ask, connections } = load;
  return measureRound({ ...target, writeRequest: () => request }, { ask, connections, way: "at-once" }, lastsMs);
}

const besideChatMax = 1.15;
const besideRecordingMax = 1.5;

export function judgeWires(figures: readonly WireFigure[]): GoalRow[] {
  return figures.flatMap((figure) => {
    const { load, wire, upstream, target } = figure;
    const other = target === "sluice" ? findOther(figures, figure) : null;
    if (other === null || (wire === "chat" && !load.isAgent)) return [];
    const goalMax = load.isAgent ? besideRecordingMax : besideChatMax;
    const ratio = figure.cpuUs / other.cpuUs;
    return {
      name: `CPU by ${wire}, ${upstream}, beside ${load.isAgent ? "the pass-through that records" : "chat"}: ${load.name}`,
      figure: `${ratio.toFixed(2)} ×`,
      goal: `≤ ${goalMax} ×`,
      isMet: ratio <= goalMax,
    };
  });
}

/** The reference of a wire format: chat, or for an agent's request the recording pass-through with the same bytes. */
function findOther(figures: readonly WireFigure[], { load, wire }: WireFigure): WireFigure | null {
  const isOther = (other: WireFigure): boolean =>
    other.load === load && (load.isAgent ? other.target === "recording" && other.wire === wire : other.wire === "chat");
  return figures.find(isOther) ?? null;
}

export function presentWires(figures: readonly WireFigure[]): string {
  const rows = figures.map((figure) => {
    const { load, target, wire, upstream, cpuUs, requestsPerSecond } = figure;
    const who = target === "sluice" ? `${wire}, ${wire === "chat" ? "as it is" : upstream}` : `${wire}, recording`;
    const other = target === "sluice" ? findOther(figures, figure) : null;
    const beside = other === null || other === figure ? "" : `${(cpuUs / other.cpuUs).toFixed(2)} ×`;
    return [`${load.name}: ${who}`, Math.round(requestsPerSecond).toLocaleString("en"), cpuUs.toFixed(0), beside];
  });
  return presentTable(["by wire", "req/s", "CPU µs/req", "beside chat or recording"], rows);
}
