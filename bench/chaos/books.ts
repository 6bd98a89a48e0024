import { runCommand } from "../../test/harness/gateway-process.ts";
import type { World } from "./open-world.ts";
import { parseNano } from "./prices.ts";

/** A charge as stored. */
export type ChargeRow = {
  id: string;
  accountId: string;
  holdId: string;
  paid: bigint;
  refunded: bigint;
  lost: bigint;
  inputTokens: number;
  causeKind: string;
  causeId: string;
};

/** The gateways' final state, read by plain SQL and the public API alone. */
export type Books = {
  charges: ChargeRow[];
  /** How many holds are still open. */
  openHolds: number;
  /** The state of every task in the database, by its id. */
  taskStates: Map<string, string>;
  /** Each account's balance by the API. */
  statements: { accountId: string; available: bigint; frozen: bigint; used: bigint }[];
  /** The findings of `ledger verify`; empty when there are none. */
  verdict: string;
};

export async function readBooks(world: World): Promise<Books> {
  const charges = await world.query(`
    select charges.id, charges.account_id, charges.hold_id, charges.paid::text, charges.lost::text,
        item_names, item_quantities::text[], cause_kind, cause_id,
        (select coalesce(sum(amount), 0)::text from postings where refund_of = charges.id) as refunded
      from charges join holds on holds.id = charges.hold_id`);
  const [open] = await world.query("select count(*)::int as count from holds where state = 'open'");
  const tasks = await world.query("select id, state from tasks");
  const verify = await runCommand(["ledger", "verify", "--whole"], {
    environment: { ...world.environment, SLUICE_DATA_DIR: "/nonexistent/chaos" },
  });
  return {
    charges: charges.map(toCharge),
    openHolds: Number(open?.count),
    taskStates: new Map(tasks.map(({ id, state }) => [String(id), String(state)])),
    statements: await Promise.all(world.customers.map((customer) => readStatement(world, customer))),
    verdict: verify.exitCode === 0 ? "" : verify.stdout + verify.stderr,
  };
}

function toCharge(row: Record<string, unknown>): ChargeRow {
  const names = row.item_names as string[];
  const quantities = row.item_quantities as string[];
  const at = names.indexOf("input_tokens");
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    holdId: String(row.hold_id),
    paid: BigInt(String(row.paid)),
    refunded: BigInt(String(row.refunded)),
    lost: BigInt(String(row.lost)),
    inputTokens: Number(quantities[at] ?? 0),
    causeKind: String(row.cause_kind),
    causeId: String(row.cause_id),
  };
}

async function readStatement({ nodes }: World, { accountId, headers }: World["customers"][number]) {
  const ask = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${nodes[0]?.url}${path}`, { headers })).json()) as T;
  const balance = await ask<{ available_balance: string; frozen_balance: string }>("/v1/balance");
  const usage = await ask<{ data: { charge: string }[] }>("/v1/usage?group_by=model");
  return {
    accountId,
    available: parseNano(balance.available_balance),
    frozen: parseNano(balance.frozen_balance),
    used: usage.data.reduce((sum, { charge }) => sum + parseNano(charge), 0n),
  };
}
