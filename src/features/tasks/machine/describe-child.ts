import type { IdSource } from "../../../lib/ids.ts";
import { nano } from "../../../lib/money.ts";
import type { NewChild, NewTask, Task, UnitTerms } from "../task.ts";

/** A child belongs to its parent's account and key, shares its deadline, and is paid by it. */
export function describeChild(parent: Task, child: NewChild, { ids, now }: { ids: IdSource; now: Date }): NewTask {
  const { request } = child;
  const count = request.type === "image" ? request.count : 1;
  return {
    ...child,
    accountId: parent.accountId,
    keyId: parent.keyId,
    parentId: parent.id,
    type: request.type,
    steps: [],
    terms: paidByParent,
    holdId: null,
    outputIds: Array.from({ length: count }, () => ids.next("file")),
    metadata: null,
    callbackUrl: null,
    requestId: parent.requestId,
    clientRequestId: parent.clientRequestId,
    traceparent: parent.traceparent,
    deadlineAt: parent.deadlineAt,
    createdAt: now,
  };
}

const paidByParent: UnitTerms = {
  priceId: "parent",
  rate: nano(0n),
  per: 1n,
  minimum: nano(0n),
  counts: "calls",
  unitsMax: 0n,
  quota: { kind: "video", unitsMax: 0n },
  budgetAmount: null,
};
