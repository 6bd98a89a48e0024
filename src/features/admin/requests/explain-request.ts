import { nano } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";
import { type Account, type ApiKey, findAccount, findApiKey } from "../../accounts/index.ts";
import { type ShownRequest, showRequest } from "../../requests/index.ts";
import { findTask, type Task } from "../../tasks/index.ts";
import { type ChargeMoney, findChargeMoney } from "./request-facts-store.ts";

export type ExplainedRequest = {
  request: ShownRequest;
  account: Account | null;
  key: ApiKey | null;
  /** `null` if it created none, or it is no longer stored. */
  task: Task | null;
  charge: ChargeMoney | null;
  cost: bigint | null;
};

/** A request with everything around it: who sent it, who served it, what was charged and what it cost. */
export async function explainRequest(database: Database, id: string): Promise<ExplainedRequest> {
  const request = await showRequest(database, id);
  const { accountId, keyId, taskId, chargeId } = request;
  const [account, key, task, charge] = await Promise.all([
    findAccount(database, accountId),
    findApiKey(database, keyId),
    taskId === null ? null : findTask(database, taskId),
    chargeId === null ? null : findChargeMoney(database, chargeId),
  ]);
  const costs = charge?.costs ?? [];
  const cost = costs.length === 0 ? null : costs.reduce((sum, { amount }) => sum + amount, 0n);
  return { request, account, key, task, charge, cost: cost === null ? null : nano(cost) };
}
