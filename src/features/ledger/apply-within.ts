import { notifyAccountChange } from "../../platform/database/account-changes.ts";
import type { Database } from "../../platform/database/database.ts";
import { checkOperation } from "./check-operation.ts";
import { collectDebts } from "./claw-back.ts";
import { decideWithin } from "./decide-within.ts";
import type {
  HoldOperation,
  Operation,
  ReleaseOperation,
  ResultOf,
  SettleOperation,
  TopUpOperation,
} from "./operation.ts";

/**
 * Applies one operation in the caller's transaction, so both commit or neither does. Incoming cash pays the account's debt
 * first.
 */
export async function applyWithin<O extends Operation>(tx: Database, operation: O, now: Date): Promise<ResultOf<O>> {
  checkOperation(operation, now);
  const { results } = await decideWithin(tx, [operation], { now });
  if (bringsCash(operation)) await collectDebts(tx, operation.accountId, now);
  // Credit is rare and may come from a process without watchers, such as the CLI: notify through the database.
  if (!("holdId" in operation) && operation.kind !== "hold") {
    await notifyAccountChange(tx, operation.accountId, "balance");
  }
  return results[0] as ResultOf<O>;
}

function bringsCash(operation: Operation): boolean {
  if (operation.kind === "adjust") return operation.amount > 0n && operation.reverses === undefined;
  return operation.kind === "top-up" || operation.kind === "refund";
}

type Request<O extends Operation> = Omit<O, "kind">;

export function openHold(tx: Database, request: Request<HoldOperation>, now: Date): Promise<ResultOf<HoldOperation>> {
  return applyWithin(tx, { kind: "hold", ...request }, now);
}

/** Opens several holds in the caller's transaction; results are in the order of the requests. */
export async function openHolds(
  tx: Database,
  requests: readonly Request<HoldOperation>[],
  now: Date,
): Promise<ResultOf<HoldOperation>[]> {
  const operations = requests.map((request): HoldOperation => ({ kind: "hold", ...request }));
  for (const operation of operations) checkOperation(operation, now);
  const { results } = await decideWithin(tx, operations, { now });
  return results as ResultOf<HoldOperation>[];
}

export function settleHold(
  tx: Database,
  request: Request<SettleOperation>,
  now: Date,
): Promise<ResultOf<SettleOperation>> {
  return applyWithin(tx, { kind: "settle", ...request }, now);
}

export function releaseHold(
  tx: Database,
  request: Request<ReleaseOperation>,
  now: Date,
): Promise<ResultOf<ReleaseOperation>> {
  return applyWithin(tx, { kind: "release", ...request }, now);
}

export function bookTopUp(
  tx: Database,
  request: Request<TopUpOperation>,
  now: Date,
): Promise<ResultOf<TopUpOperation>> {
  return applyWithin(tx, { kind: "top-up", ...request }, now);
}
