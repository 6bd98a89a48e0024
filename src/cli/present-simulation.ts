import type { Comparison, Simulation } from "../features/simulation/index.ts";
import { nano, presentMoney } from "../lib/money.ts";
import type { CommandResult } from "./command.ts";
import { presentRows } from "./present-rows.ts";

/** The sums, every model, and the customers whose bills change most. */
export function presentSimulation(
  simulation: Simulation,
  { since, currency, customersMax }: { since: Date; currency: string; customersMax: number },
): CommandResult {
  const { models, accounts, kept } = simulation;
  const total = presentComparison(simulation);
  const byModel = sortByChange(models).map(([model, sums]) => ({ model, ...presentComparison(sums) }));
  const mostAffected = sortByChange(accounts)
    .slice(0, customersMax)
    .filter(([, { billed, simulated }]) => billed !== simulated)
    .map(([account, sums]) => ({ account, ...presentComparison(sums) }));
  const heading = Object.keys(total).map((name) => name.replaceAll("_", " ").toUpperCase());
  const present = (name: string, rows: readonly Record<string, string | number>[]): string =>
    presentRows(
      [name, ...heading],
      rows.map((row) => Object.values(row).map(String)),
    );
  const tables = [
    `Charges since ${since.toISOString()}, in ${currency}:`,
    present("", [{ name: "total", ...total }]),
    present("MODEL", byModel),
    mostAffected.length === 0 ? "No customer's bill changes." : present("ACCOUNT", mostAffected),
    ...(kept === 0 ? [] : [`${kept} charges keep their amount: their stored usage does not decide the new one.`]),
  ];
  return {
    json: { since: since.toISOString(), currency, kept, total, models: byModel, most_affected: mostAffected },
    text: tables.join("\n\n"),
  };
}

function sortByChange<K>(all: ReadonlyMap<K, Comparison>): [K, Comparison][] {
  const change = ({ billed, simulated }: Comparison): bigint =>
    simulated > billed ? simulated - billed : billed - simulated;
  return [...all].toSorted(([, a], [, b]) => Number(change(b) - change(a)));
}

function presentComparison({ calls, billed, simulated, cost }: Comparison) {
  return {
    calls,
    charged: presentMoney(billed),
    simulated: presentMoney(simulated),
    change: presentMoney(nano(simulated - billed)),
    cost: presentMoney(cost),
    margin: presentMoney(nano(simulated - cost)),
  };
}
