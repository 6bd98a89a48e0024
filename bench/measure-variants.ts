import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type ChatLoadName, type ChatRound, chatLoads, measureRound } from "./chat-rounds.ts";
import { type ChatTarget, describeModels, describeSluice } from "./chat-targets.ts";
import { forkServer } from "./fork-server.ts";
import { findMedian } from "./measure-cpu.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable } from "./write-results.ts";

const roundMs = 1_000;
const warmUpMs = 4_000;

type Variant = { name: string; gateway: SluiceGateway; target: ChatTarget };

/**
 * The savings of an optimization: `npm run bench -- variants <checkout with it> <checkout without> …`, each installed. A
 * checkout may have its own settings, as environment variables: `.?SLUICE_LOG_LEVEL=warn&…`.
 */
export async function measureVariants(words: string[]): Promise<void> {
  const options = {
    rounds: { type: "string", default: "20" },
    loads: { type: "string", default: "whole32,whole256,stream32,stream256" },
  } as const;
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
  const loads = values.loads.split(",") as ChatLoadName[];
  const rows: string[][] = [];
  await compareCheckouts(positionals, { loads, rounds: Number(values.rounds) }, (load, comparisons) => {
    rows.push(...comparisons.map((comparison) => presentComparison(load, comparison)));
    console.error(rows.at(-1)?.join("  "));
  });
  const titles = ["load", "variant", "CPU µs", "beside the first", "quartiles", "PostgreSQL µs", "beside the first"];
  console.log(presentTable(titles, rows));
}

/** The figures of a checkout at one load, and their ratios to those of the first checkout, round by round. */
export type Comparison = { name: string; cpu: Figures; database: Figures; both: Figures };
type Figures = { medianUs: number; ratio: number; lowerQuartile: number; upperQuartile: number };

/** Starts all checkouts at once and measures them in turns, one load after another. */
export async function compareCheckouts(
  checkouts: readonly string[],
  { loads, rounds }: { loads: readonly ChatLoadName[]; rounds: number },
  onMeasured: (load: ChatLoadName, comparisons: readonly Comparison[]) => void,
): Promise<void> {
  const upstream = await forkServer("fixed-upstream.ts");
  const variants: Variant[] = [];
  try {
    for (const variant of checkouts) {
      const [folder = "", given = ""] = variant.split("?");
      const checkoutDir = resolve(folder);
      const settings = Object.fromEntries(new URLSearchParams(given));
      const gateway = await startSluice(describeModels(upstream.port), { checkoutDir, settings });
      const name = [basename(checkoutDir), ...(given === "" ? [] : [given])].join("?");
      variants.push({ name, gateway, target: describeSluice("other", gateway) });
    }
    for (const { target } of variants) for (const load of loads) await measureRound(target, chatLoads[load], warmUpMs);
    for (const load of loads) onMeasured(load, compareRounds(await takeTurns(variants, load, rounds)));
  } finally {
    for (const { gateway } of variants) await gateway.close();
    await upstream.close();
  }
}

/** Each one is first in turn: the load of the previous one affects the next. */
async function takeTurns(variants: readonly Variant[], load: ChatLoadName, rounds: number) {
  const measured = new Map<string, ChatRound[]>(variants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % variants.length;
    for (const { name, target } of [...variants.slice(first), ...variants.slice(0, first)]) {
      measured.get(name)?.push(await measureRound(target, chatLoads[load], roundMs));
    }
  }
  return measured;
}

function compareRounds(measured: ReadonlyMap<string, readonly ChatRound[]>): Comparison[] {
  const [base = []] = measured.values();
  return [...measured].map(([name, rounds]) => {
    const compare = (read: (round: ChatRound) => number): Figures => {
      const ratios = rounds.flatMap((round, index) => {
        const other = base[index];
        return other === undefined ? [] : [read(round) / read(other)];
      });
      const sorted = ratios.toSorted((a, b) => a - b);
      return {
        medianUs: findMedian(rounds.map(read)),
        ratio: findMedian(ratios),
        lowerQuartile: sorted[Math.floor(sorted.length * 0.25)] ?? Number.NaN,
        upperQuartile: sorted[Math.floor(sorted.length * 0.75)] ?? Number.NaN,
      };
    };
    return {
      name,
      cpu: compare(({ cpuUs }) => cpuUs),
      database: compare(({ databaseCpuUs }) => databaseCpuUs ?? Number.NaN),
      both: compare(({ cpuUs, databaseCpuUs }) => cpuUs + (databaseCpuUs ?? Number.NaN)),
    };
  });
}

function presentComparison(load: ChatLoadName, { name, cpu, database }: Comparison): string[] {
  return [
    chatLoads[load].name,
    name,
    cpu.medianUs.toFixed(0),
    `${cpu.ratio.toFixed(3)} ×`,
    `${cpu.lowerQuartile.toFixed(2)}–${cpu.upperQuartile.toFixed(2)}`,
    database.medianUs.toFixed(0),
    `${database.ratio.toFixed(3)} ×`,
  ];
}
