import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type ChatLoadName, chatLoads } from "./chat-rounds.ts";
import { checkOut, ownCheckout } from "./check-out.ts";
import { type Comparison, compareCheckouts } from "./measure-variants.ts";
import { presentTable } from "./write-results.ts";

const allLoads = "whole1,whole32,whole256,stream1,stream32,stream256,long32,lateWhole,lateStream";

/**
 * What a call cost at each of some commits, and costs in the working tree: `npm run bench -- history <commit> …
 * [--rounds 9] [--loads whole32,…]`. The first commit is what the others are compared with.
 */
export async function measureHistory(words: string[]): Promise<void> {
  const options = { rounds: { type: "string", default: "9" }, loads: { type: "string", default: allLoads } } as const;
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
  const loads = values.loads.split(",") as ChatLoadName[];
  const checkouts = positionals.map((commit) => {
    console.error(`preparing ${commit}`);
    return checkOut(commit);
  });
  const rows: string[][] = [];
  await compareCheckouts([...checkouts, ownCheckout], { loads, rounds: Number(values.rounds) }, (load, comparisons) => {
    for (const [index, comparison] of comparisons.entries()) {
      rows.push([chatLoads[load].name, positionals[index] ?? "working tree", ...present(comparison)]);
      console.error(rows.at(-1)?.join("  "));
    }
  });
  const beside = `beside ${positionals[0]}`;
  console.log(presentTable(["load", "commit", "gateway µs", beside, "PostgreSQL µs", beside, "both"], rows));
  console.log(`Load average ${loadavg()[0]?.toFixed(1)}.`);
}

function present({ cpu, database, both }: Comparison): string[] {
  return [
    ...[cpu, database].flatMap(({ medianUs, ratio, lowerQuartile, upperQuartile }) => [
      medianUs.toFixed(0),
      `${ratio.toFixed(2)} × (${lowerQuartile.toFixed(2)}–${upperQuartile.toFixed(2)})`,
    ]),
    `${both.ratio.toFixed(2)} ×`,
  ];
}
