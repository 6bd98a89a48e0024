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
 * The savings of an optimization: `npm run bench -- variants <checkout with it> <checkout without> …`, each installed.
 * All of them run at once and are measured in turns; the figures are the medians of the ratios to the first, round by
 * round. A checkout may have its own settings, as environment variables: `.?SLUICE_LOG_LEVEL=warn&…`.
 */
export async function measureVariants(words: string[]): Promise<void> {
  const options = {
    rounds: { type: "string", default: "20" },
    loads: { type: "string", default: "whole32,whole256,stream32,stream256" },
  } as const;
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
  const loads = values.loads.split(",") as ChatLoadName[];
  const upstream = await forkServer("fixed-upstream.ts");
  const variants: Variant[] = [];
  const rows: string[][] = [];
  try {
    for (const variant of positionals) {
      const [folder = "", given = ""] = variant.split("?");
      const checkoutDir = resolve(folder);
      const settings = Object.fromEntries(new URLSearchParams(given));
      const gateway = await startSluice(describeModels(upstream.port), { checkoutDir, settings });
      const name = [basename(checkoutDir), ...(given === "" ? [] : [given])].join("?");
      variants.push({ name, gateway, target: describeSluice("other", gateway) });
    }
    for (const { target } of variants) for (const load of loads) await measureRound(target, chatLoads[load], warmUpMs);
    for (const load of loads) {
      rows.push(...presentRounds(load, await takeTurns(variants, load, Number(values.rounds))));
      console.error(rows.at(-1)?.join("  "));
    }
  } finally {
    for (const { gateway } of variants) await gateway.close();
    await upstream.close();
  }
  const titles = ["load", "variant", "CPU µs", "beside the first", "quartiles", "PostgreSQL µs", "beside the first"];
  console.log(presentTable(titles, rows));
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

function presentRounds(load: ChatLoadName, measured: ReadonlyMap<string, readonly ChatRound[]>): string[][] {
  const [base = []] = measured.values();
  return [...measured].map(([name, rounds]) => {
    const compare = (read: (round: ChatRound) => number): number[] =>
      rounds.flatMap((round, index) => {
        const other = base[index];
        return other === undefined ? [] : [read(round) / read(other)];
      });
    const ratios = compare(({ cpuUs }) => cpuUs).toSorted((a, b) => a - b);
    const quartile = (part: number): string => (ratios[Math.floor(ratios.length * part)] ?? Number.NaN).toFixed(2);
    return [
      chatLoads[load].name,
      name,
      findMedian(rounds.map(({ cpuUs }) => cpuUs)).toFixed(0),
      `${findMedian(ratios).toFixed(3)} ×`,
      `${quartile(0.25)}–${quartile(0.75)}`,
      findMedian(rounds.map(({ databaseCpuUs }) => databaseCpuUs ?? 0)).toFixed(0),
      `${findMedian(compare(({ databaseCpuUs }) => databaseCpuUs ?? 0)).toFixed(3)} ×`,
    ];
  });
}
