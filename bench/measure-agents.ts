import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type ChatRound, measureRound } from "./chat-rounds.ts";
import {
  type ChatTarget,
  describeModels,
  describeNativeModel,
  describeRecording,
  describeSluice,
} from "./chat-targets.ts";
import { checkOut, ownCheckout } from "./check-out.ts";
import { forkServer } from "./fork-server.ts";
import { findMedian } from "./measure-cpu.ts";
import { startSluice } from "./sluice-gateway.ts";
import { type Wire, wires } from "./wire-requests.ts";
import { presentTable } from "./write-results.ts";

const agent = { tools: 200, turns: 100 };
const warmUpMs = 3_000;
const roundMs = 800;

type Way = "native" | "translated";

/**
 * What agents' requests, answered by 50 chunks, cost beside a commit and beside the pass-through that records: `npm run bench
 * -- agents [commit] [--rounds 7] [--wires chat,messages,responses] [--kb 32,200] [--ways native,translated]
 * [--connections 32]`. 0 kB is a short question without tools.
 */
export async function measureAgents(words: string[]): Promise<void> {
  const options = {
    rounds: { type: "string", default: "7" },
    wires: { type: "string", default: wires.join() },
    kb: { type: "string", default: "32,200" },
    ways: { type: "string", default: "native" },
    connections: { type: "string", default: "32" },
  } as const;
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
  const [commit = "origin/main"] = positionals;
  const upstream = await forkServer("fixed-upstream.ts");
  const recording = await describeRecording(upstream.port);
  const models = [...describeModels(upstream.port), describeNativeModel(upstream.port)];
  const base = await startSluice(models, { checkoutDir: checkOut(commit) });
  const own = await startSluice(models, { checkoutDir: ownCheckout });
  const targets = [recording.target, describeSluice("other", base), describeSluice("sluice", own)];
  const rows: string[][] = [];
  try {
    for (const kilobytes of values.kb.split(",").map(Number)) {
      for (const wire of values.wires.split(",") as Wire[]) {
        for (const way of values.ways.split(",") as Way[]) {
          // Chat is always forwarded in its own form.
          if (wire === "chat" && way === "translated") continue;
          const counts = { rounds: Number(values.rounds), connections: Number(values.connections) };
          const rounds = await takeTurns(targets, { wire, way, kilobytes, ...counts });
          rows.push([`${kilobytes} kB, ${wire}, ${way}`, ...present(rounds)]);
          console.error(rows.at(-1)?.join("  "));
        }
      }
    }
  } finally {
    for (const server of [own, base, recording, upstream]) await server.close();
  }
  const titles = ["request", "recording µs", "base µs", "now µs", "base beside recording", "now beside recording"];
  console.log(presentTable([...titles, "now beside base"], rows));
  console.log(`Load average ${loadavg()[0]?.toFixed(1)}.`);
}

type AgentLoad = { wire: Wire; way: Way; kilobytes: number; rounds: number; connections: number };

async function takeTurns(targets: readonly ChatTarget[], { wire, way, kilobytes, rounds, connections }: AgentLoad) {
  const load = { ask: { isStream: true, promptBytes: 80 }, way: "at-once", connections } as const;
  const more = kilobytes === 0 ? {} : { agent: { ...agent, bytes: kilobytes * 1024 } };
  const takers = targets.map((target) => {
    const request = target.writeWire?.(wire, { ...load.ask, ...more }, way);
    if (request === undefined) throw new Error(`${target.name} cannot be asked by ${wire}.`);
    return { target: { ...target, writeRequest: () => request }, measured: [] as ChatRound[] };
  });
  for (const { target } of takers) await measureRound(target, load, warmUpMs);
  for (let round = 0; round < rounds; round += 1) {
    const first = round % takers.length;
    for (const { target, measured } of [...takers.slice(first), ...takers.slice(0, first)]) {
      measured.push(await measureRound(target, load, roundMs));
    }
  }
  return takers.map(({ measured }) => measured.map(({ cpuUs }) => cpuUs));
}

function present([recording = [], base = [], own = []]: readonly (readonly number[])[]): string[] {
  return [
    ...[recording, base, own].map((figures) => findMedian(figures).toFixed(0)),
    compare(base, recording),
    compare(own, recording),
    compare(own, base),
  ];
}

/** The median of the rounds' ratios, and their quartiles. */
function compare(figures: readonly number[], others: readonly number[]): string {
  const ratios = figures.map((figure, index) => figure / (others[index] ?? Number.NaN)).toSorted((a, b) => a - b);
  const at = (share: number): string => (ratios[Math.floor(ratios.length * share)] ?? Number.NaN).toFixed(2);
  return `${findMedian(ratios).toFixed(2)} × (${at(0.25)}–${at(0.75)})`;
}
