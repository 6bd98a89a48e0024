import type { AccountId, HoldId } from "../src/lib/ids.ts";
import { findMedian } from "./measure-cpu.ts";
import { type LedgerBench, openLedgerBench } from "./open-ledger-bench.ts";
import { readServerCpuUs } from "./read-server-cpu.ts";

const groupCommitGoalMin = 10;
const bareInsertGoalMax = 2;
const spreadGoalMax = 2;

/** The first round is warm-up, and is not counted. */
const rounds = 6;
const loadMs = 800;
const pairsCount = 400;

/** Callers that hold and settle, one cycle after another, on the accounts in turn. */
type Load = {
  callers: number;
  accountIds: readonly AccountId[];
  hold(accountId: AccountId): Promise<HoldId>;
  settle(accountId: AccountId, holdId: HoldId): Promise<void>;
};

/** CPU time is per operation; that of the server is `null` if the system does not report it. */
type Measured = { cyclesPerSecond: number; holdMs: number[]; nodeUs: number; serverUs: number | null };

type Pair = { holdMs: number; insertMs: number };

type Round = { [name in "alone" | "one" | "few" | "many" | "spread"]: Measured } & { pairs: Pair[] };

/**
 * The group commit beside one transaction per operation, a hold beside a bare insert, one account beside a thousand.
 * All take turns, so that other load of the machine affects all of them.
 */
export async function measureLedger(): Promise<void> {
  const counted = (await runRounds()).slice(1);
  const take = (name: Exclude<keyof Round, "pairs">): Measured[] => counted.map((round) => round[name]);
  const pairs = counted.flatMap((round) => round.pairs);

  const holdMs = findMedian(pairs.map((pair) => pair.holdMs));
  const insertMs = findMedian(pairs.map((pair) => pair.insertMs));
  const [alone, many, spread] = [countCycles(take("alone")), countCycles(take("many")), countCycles(take("spread"))];
  console.log(`${"".padEnd(nameWidth)}${["ledger", "beside", "ratio"].map(alignRight).join("")}   goal`);
  printGoal("hot account, 256 callers, cycles/s, beside one transaction each", {
    ledger: presentCount(many),
    beside: presentCount(alone),
    ratio: many / alone,
    goalMin: groupCommitGoalMin,
  });
  printGoal("one caller, median of a hold, beside a bare insert and commit", {
    ledger: `${holdMs.toFixed(2)} ms`,
    beside: `${insertMs.toFixed(2)} ms`,
    ratio: holdMs / insertMs,
    goalMax: bareInsertGoalMax,
  });
  printGoal("1 account, 256 callers, settlements/s, beside 1 000 accounts", {
    ledger: presentCount(many),
    beside: presentCount(spread),
    ratio: Math.max(many / spread, spread / many),
    goalMax: spreadGoalMax,
  });
  const titles = ["cycles/s", "hold p50", "hold p99", "Node CPU/op", "server CPU/op"];
  console.log(`\n${"".padEnd(nameWidth)}${titles.map(alignRight).join("")}`);
  printLoad("1 account, 1 caller", take("one"));
  printLoad("1 account, 32 callers", take("few"));
  printLoad("1 account, 256 callers", take("many"));
  printLoad("1 000 accounts, 256 callers", take("spread"));
  printLoad("1 account, 256 callers, one transaction each", take("alone"));
}

async function runRounds(): Promise<Round[]> {
  const bench = await openLedgerBench();
  const { hold, settle, accountIds } = bench;
  const hot = { hold, settle, accountIds: accountIds.slice(0, 1) };
  const alone = { hold: bench.holdAlone, settle: bench.settleAlone, accountIds: accountIds.slice(1, 2) };
  const measure = (load: Load): Promise<Measured> => measureLoad(load, bench.backendId);
  const measured: Round[] = [];
  while (measured.length < rounds) {
    measured.push({
      pairs: await measurePairs(bench),
      alone: await measure({ ...alone, callers: 256 }),
      many: await measure({ ...hot, callers: 256 }),
      spread: await measure({ hold, settle, accountIds, callers: 256 }),
      few: await measure({ ...hot, callers: 32 }),
      one: await measure({ ...hot, callers: 1 }),
    });
  }
  await bench.close();
  return measured;
}

/** Holds and bare inserts, alternating. */
async function measurePairs(bench: LedgerBench): Promise<Pair[]> {
  const [accountId] = bench.accountIds;
  if (accountId === undefined) throw new Error("There is no account.");
  const holdIds: HoldId[] = [];
  const measureHold = async (): Promise<number> => {
    const startedAt = performance.now();
    holdIds.push(await bench.hold(accountId));
    return performance.now() - startedAt;
  };
  const measureInsert = async (): Promise<number> => {
    const startedAt = performance.now();
    await bench.insertBare(accountId);
    return performance.now() - startedAt;
  };
  const pairs: Pair[] = [];
  while (pairs.length < pairsCount) pairs.push({ holdMs: await measureHold(), insertMs: await measureInsert() });
  await Promise.all(holdIds.map((holdId) => bench.settle(accountId, holdId)));
  return pairs;
}

async function measureLoad({ callers, accountIds, hold, settle }: Load, backendId: number): Promise<Measured> {
  const holdMs: number[] = [];
  let turn = 0;
  const serverBeforeUs = readServerCpuUs(backendId);
  const nodeBefore = process.cpuUsage();
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    while (performance.now() - startedAt < loadMs) {
      const accountId = accountIds[turn % accountIds.length];
      if (accountId === undefined) throw new Error("There is no account.");
      turn += 1;
      const heldAt = performance.now();
      const holdId = await hold(accountId);
      holdMs.push(performance.now() - heldAt);
      await settle(accountId, holdId);
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  const tookMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(nodeBefore);
  const serverAfterUs = readServerCpuUs(backendId);
  const operations = 2 * turn;
  return {
    cyclesPerSecond: (turn / tookMs) * 1000,
    holdMs,
    nodeUs: (user + system) / operations,
    serverUs: serverBeforeUs === null || serverAfterUs === null ? null : (serverAfterUs - serverBeforeUs) / operations,
  };
}

const nameWidth = 66;

const alignRight = (text: string): string => text.padStart(15);
const countCycles = (measured: readonly Measured[]): number => findMedian(measured.map((one) => one.cyclesPerSecond));
const presentCount = (count: number): string => Math.round(count).toLocaleString("en");

type Goal = { ledger: string; beside: string; ratio: number } & ({ goalMin: number } | { goalMax: number });

function printGoal(name: string, { ledger, beside, ratio, ...goal }: Goal): void {
  const isMet = "goalMin" in goal ? ratio >= goal.goalMin : ratio <= goal.goalMax;
  const bound = "goalMin" in goal ? `≥ ${goal.goalMin} ×` : `≤ ${goal.goalMax} ×`;
  const figures = [ledger, beside, `${ratio.toFixed(2)} ×`].map(alignRight).join("");
  console.log(`${name.padEnd(nameWidth)}${figures}   ${bound}: ${isMet ? "met" : "MISSED"}`);
  if (!isMet) process.exitCode = 1;
}

function printLoad(name: string, measured: readonly Measured[]): void {
  const holdMs = measured.flatMap((one) => one.holdMs).toSorted((a, b) => a - b);
  const serverUs = measured.flatMap((one) => one.serverUs ?? []);
  const figures = [
    presentCount(countCycles(measured)),
    `${findMedian(holdMs).toFixed(2)} ms`,
    `${(holdMs[Math.floor(holdMs.length * 0.99)] ?? Number.NaN).toFixed(2)} ms`,
    `${findMedian(measured.map(({ nodeUs }) => nodeUs)).toFixed(0)} µs`,
    serverUs.length === 0 ? "unknown" : `${findMedian(serverUs).toFixed(0)} µs`,
  ];
  console.log(`${name.padEnd(nameWidth)}${figures.map(alignRight).join("")}`);
}
