/** A plausible mistake: `find` occurs once in the file and is replaced by `replace`. */
export type PlantedBug = { name: string; file: string; find: string; replace: string };

const holds = "src/features/ledger/apply-hold-operations.ts";
const credits = "src/features/ledger/apply-credit-operations.ts";
const draft = "src/features/ledger/draft.ts";
const batch = "src/features/ledger/apply-batch.ts";
const fingerprint = "src/features/ledger/fingerprint.ts";
const needs = "src/features/ledger/list-needs.ts";
const bill = "src/lib/bill.ts";
const budget = "src/lib/budget.ts";

export const plantedBugs: readonly PlantedBug[] = [
  // Available amounts, and the order of spending
  {
    name: "what is held counts as available",
    file: draft,
    find: "total += getAvailable(draft, draft.findBucket(id), unit);",
    replace: "total += draft.findBucket(id)?.unit === unit ? (draft.findBucket(id)?.posted ?? 0n) : 0n;",
  },
  {
    name: "held amounts can be held again",
    file: draft,
    find: "? 0n : bucket.posted - bucket.held;",
    replace: "? 0n : bucket.posted;",
  },
  {
    name: "expired gifts are spent",
    file: draft,
    find: "return bucket.expiresAt !== null && bucket.expiresAt <= now;",
    replace: "return false;",
  },
  {
    name: "a gift is good for one moment more",
    file: draft,
    find: "bucket.expiresAt <= now;",
    replace: "bucket.expiresAt < now;",
  },
  {
    name: "quotas disturb the order of gifts",
    file: draft,
    find: 'if ((a.kind === "cash") !== (b.kind === "cash"))',
    replace: "if (a.kind !== b.kind)",
  },
  {
    name: "a gift that a refund opened again is not seen by the rest of its batch",
    file: draft,
    find: "if (!bucket.isOpen) addToOrder(bucket);",
    replace: "",
  },
  {
    name: "buckets are not sorted again when one is opened",
    file: draft,
    find: "    spendOrder.delete(accountId);",
    replace: "",
  },
  { name: "cash before gifts", file: draft, find: '"cash" ? 1 : -1', replace: '"cash" ? -1 : 1' },
  {
    name: "the last to expire is spent first",
    file: draft,
    find: "!Number.isNaN(difference)) return difference;",
    replace: "!Number.isNaN(difference)) return -difference;",
  },
  {
    name: "gifts that expire together are spent in reverse",
    file: draft,
    find: "return a.id < b.id ? -1 : Number(a.id > b.id);",
    replace: "return a.id < b.id ? 1 : -Number(a.id > b.id);",
  },
  {
    name: "a quota pays a part",
    file: holds,
    find: "sumAvailable(draft, accountId, quota.kind) >= quota.units",
    replace: "sumAvailable(draft, accountId, quota.kind) > 0n",
  },
  {
    name: "a quota that is just enough does not pay",
    file: holds,
    find: "sumAvailable(draft, accountId, quota.kind) >= quota.units",
    replace: "sumAvailable(draft, accountId, quota.kind) > quota.units",
  },

  // State within a batch
  {
    name: "a hold of the same batch is not known",
    file: draft,
    find: "changes.holds.get(id) ?? state.holds.get(id)",
    replace: "state.holds.get(id)",
  },
  {
    name: "a movement of the same batch is not known",
    file: draft,
    find: "changes.transactions.get(id) ?? state.transactions.get(id)",
    replace: "state.transactions.get(id)",
  },
  {
    name: "a balance of the same batch is not known",
    file: draft,
    find: "changes.buckets.get(id) ?? state.buckets.get(id)",
    replace: "state.buckets.get(id) ?? changes.buckets.get(id)",
  },
  {
    name: "the spending of the same batch is not known",
    file: draft,
    find: "changes.spending.get(nameSpending(name)) ??",
    replace: "",
  },
  {
    name: "a gift of the same batch is not spent",
    file: draft,
    find: "changes.accountIds.add(bucket.accountId);\n      addToOrder(bucket);",
    replace: "changes.accountIds.add(bucket.accountId);",
  },
  {
    name: "a refusal alone is not written",
    file: draft,
    find: "changes.openedHoldIds.add(hold.id);\n      changes.holds.set(hold.id, hold);\n      changes.accountIds.add(hold.accountId);",
    replace: "changes.openedHoldIds.add(hold.id);\n      changes.holds.set(hold.id, hold);",
  },
  {
    name: "a hold that is opened is written as if it were there",
    file: draft,
    find: "changes.openedHoldIds.add(hold.id);",
    replace: "",
  },
  {
    name: "a charge is not loaded for its refund",
    file: needs,
    find: "needs.transactionIds.push(operation.id, operation.chargeId);",
    replace: "needs.transactionIds.push(operation.id);",
  },

  // Entries
  {
    name: "a credit does not raise the entry number",
    file: draft,
    find: "posted: bucket.posted + amount, entryCount: bucket.entryCount + 1n",
    replace: "posted: bucket.posted + amount, entryCount: bucket.entryCount",
  },
  {
    name: "a debit does not raise the entry number",
    file: draft,
    find: "held: bucket.held - parts.unheld,\n    entryCount: bucket.entryCount + 1n,",
    replace: "held: bucket.held - parts.unheld,",
  },
  {
    name: "an entry tells the balance before it",
    file: draft,
    find: "changed, { debit: from",
    replace: "{ ...changed, posted: bucket.posted }, { debit: from",
  },
  {
    name: "an empty gift stays open",
    file: draft,
    find: 'const isOpen = bucket.kind === "cash" || bucket.posted !== 0n || bucket.held !== 0n;',
    replace: "const isOpen = true;",
  },
  {
    name: "an empty gift is not opened again by a refund",
    file: draft,
    find: 'const isOpen = bucket.kind === "cash" || bucket.posted !== 0n || bucket.held !== 0n;',
    replace: 'const isOpen = bucket.isOpen && (bucket.kind === "cash" || bucket.posted !== 0n || bucket.held !== 0n);',
  },

  // Holds
  {
    name: "another hold with a known id is taken for the known one",
    file: holds,
    find: 'if (known.fingerprint !== fingerprint) return { kind: "id-reused" };',
    replace: "",
  },
  {
    name: "a refusal is forgotten",
    file: holds,
    find: "draft.openHold(hold);\n  if (refusal !== null)",
    replace: "if (refusal === null) draft.openHold(hold);\n  if (refusal !== null)",
  },
  {
    name: "a refusal is not repeated",
    file: holds,
    find: 'if (known.refusal !== null) return { kind: "refused", ...known.refusal, isReplay: true };',
    replace: "",
  },
  {
    name: "a frozen account can hold",
    file: holds,
    find: 'if (draft.findWallet(operation.accountId)?.isFrozen === true) return { reason: "account-frozen", missing: 0n };',
    replace: "",
  },
  {
    name: "a hold does not use up the budget",
    file: holds,
    find: "addToSpending(draft, hold, { held: hold.amount, spent: 0n, budget: operation.budget?.amount ?? null });",
    replace: "",
  },
  {
    name: "the budget left ignores what is held",
    file: holds,
    find: "const left = amount - held - spent;",
    replace: "const left = amount - spent;",
  },
  {
    name: "the budget left ignores what was spent",
    file: holds,
    find: "const left = amount - held - spent;",
    replace: "const left = amount - held;",
  },
  {
    name: "a quota uses up the budget",
    file: holds,
    find: 'budget: payment.unit === "money" && refusal === null ?',
    replace: "budget: refusal === null ?",
  },
  {
    name: "a quota is refused for the budget",
    file: holds,
    find: 'if (payment.unit !== "money") return null;',
    replace: "",
  },
  {
    name: "a hold looks for money before it looks at the budget",
    file: holds,
    find: "const period = findBudgetPeriod(operation, draft.now);\n  if (operation.budget !== null && period !== null) {",
    replace:
      "const period = findBudgetPeriod(operation, draft.now);\n" +
      "  if (sumAvailable(draft, operation.accountId, payment.unit) >= payment.amount && operation.budget !== null && period !== null) {",
  },

  // Extensions
  {
    name: "an extension sent again adds again",
    file: holds,
    find: "const more = wanted > hold.amount ? wanted - hold.amount : 0n;",
    replace: "const more = wanted;",
  },
  {
    name: "a frozen account can extend",
    file: holds,
    find: 'if (draft.findWallet(hold.accountId)?.isFrozen === true) return refuse("account-frozen", 0n);',
    replace: "",
  },
  {
    name: "an extension ignores the budget",
    file: holds,
    find: 'if (left !== null && left < more) return refuse("key-budget-exceeded", more - left);',
    replace: "",
  },
  {
    name: "an extension does not use up the budget",
    file: holds,
    find: "addToSpending(draft, hold, { held: more, spent: 0n, budget });",
    replace: "",
  },
  {
    name: "an extension to the held amount is written",
    file: holds,
    find: "if (more === 0n) return hold;",
    replace: "",
  },
  {
    name: "an extension can shorten",
    file: holds,
    find: "operation.expiresAt !== null && operation.expiresAt > raised.expiresAt;",
    replace: "operation.expiresAt !== null;",
  },
  {
    name: "an extension forgets what was held in the same bucket",
    file: holds,
    find: "(amounts.get(bucketId) ?? 0n) + amount",
    replace: "amount",
  },

  // Settlements
  {
    name: "a settled hold stays open and can be settled twice",
    file: holds,
    find: 'state: "settled",\n    settled: paid,',
    replace: "settled: paid,",
  },
  {
    name: "another bill is taken for the one that was paid",
    file: holds,
    find: 'if (known.settlementFingerprint !== fingerprint) return { kind: "already-resolved", state: "settled" };',
    replace: "",
  },
  {
    name: "a settled hold is seen by other accounts",
    file: holds,
    find: 'known?.state === "settled" && known.accountId === operation.accountId',
    replace: 'known?.state === "settled"',
  },
  {
    name: "an overrun is taken although it should be refused",
    file: holds,
    find: 'if (missing > 0n && operation.overrun === "refuse") return { kind: "over-hold", missing };',
    replace: "",
  },
  {
    name: "an overrun is taken although the hold is all that may be charged",
    file: holds,
    find: 'if (operation.overrun === "charge-hold") return 0n;',
    replace: "",
  },
  {
    name: "an overrun goes beyond the budget",
    file: holds,
    find: "const budgetLeft = sumHoldBudgetLeft(draft, hold, operation.budgetAmount);",
    replace: "const budgetLeft = null;",
  },
  {
    name: "an overrun is taken from a frozen account",
    file: holds,
    find: "if (missing === 0n || draft.findWallet(hold.accountId)?.isFrozen === true) return 0n;",
    replace: "if (missing === 0n) return 0n;",
  },
  {
    name: "a loss is not booked",
    file: holds,
    find: "if (lost > 0n) postLoss(draft, raised, { amount: lost, leg: legs.length, charge });",
    replace: "",
  },
  {
    name: "a charge has two legs with one number",
    file: holds,
    find: 'leg: legs.length, kind: "charge"',
    replace: 'leg: 0, kind: "charge"',
  },
  {
    name: "what a settlement does not need of a bucket stays held",
    file: holds,
    find: "const { bucketId, amount: unheld } = line;",
    replace: "const { bucketId } = line;\n      const unheld = amount;",
  },
  {
    name: "buckets that a settlement does not need stay held",
    file: holds,
    find: "if (amount === 0n) {\n      unholdBucket(draft, line);",
    replace: "if (amount === 0n) {",
  },
  {
    name: "a settlement charges buckets in the order in which they were held",
    file: holds,
    find: "for (const line of sortLines(draft, hold.lines)) {",
    replace: "for (const line of hold.lines) {",
  },
  {
    name: "a settlement gives the budget only what was paid",
    file: holds,
    find: "{ held: -raised.amount, spent: paid, budget: null }",
    replace: "{ held: -paid, spent: paid, budget: null }",
  },
  {
    name: "a loss of the house is counted as spent by the key",
    file: holds,
    find: "{ held: -raised.amount, spent: paid, budget: null }",
    replace: "{ held: -raised.amount, spent: cost, budget: null }",
  },
  {
    name: "a price is rounded down",
    file: bill,
    find: "(2n * total + per) / (2n * per)",
    replace: "total / per",
  },
  {
    name: "a half is rounded down",
    file: bill,
    find: "(2n * total + per) / (2n * per)",
    replace: "(2n * total + per - 1n) / (2n * per)",
  },
  {
    name: "each item is rounded by itself",
    file: bill,
    find: "total += quantity * rate;",
    replace: "total += ((2n * quantity * rate + per) / (2n * per)) * per;",
  },
  { name: "the minimum is not charged", file: bill, find: "rounded > minimum ? rounded : minimum", replace: "rounded" },

  // Ends without a settlement
  {
    name: "a hold that has ended ends again",
    file: holds,
    find: 'return hold.state === "open" ? hold : { kind: "already-resolved", state: hold.state };',
    replace: "return hold;",
  },
  {
    name: "a settled hold can be released",
    file: holds,
    find: 'return hold.state === "open" ? hold :',
    replace: 'return hold.state === "open" || hold.state === "settled" ? hold :',
  },
  {
    name: "another account's hold can be ended",
    file: holds,
    find: "if (hold === undefined || hold.accountId !== asked.accountId)",
    replace: "if (hold === undefined)",
  },
  {
    name: "a hold expires before its time",
    file: holds,
    find: 'if (hold.expiresAt > draft.now) return { kind: "not-due" };',
    replace: "",
  },
  {
    name: "a hold expires a moment too late",
    file: holds,
    find: "if (hold.expiresAt > draft.now)",
    replace: "if (hold.expiresAt >= draft.now)",
  },
  {
    name: "a released hold stays in the budget",
    file: holds,
    find: "addToSpending(draft, hold, { held: -hold.amount, spent: 0n, budget: null });",
    replace: "",
  },
  {
    name: "a released hold keeps the money",
    file: holds,
    find: "for (const line of hold.lines) unholdBucket(draft, line);",
    replace: "",
  },

  // Credits
  {
    name: "other money under a known id is taken for the known",
    file: credits,
    find: "return known.fingerprint === fingerprintOperation(operation)",
    replace: "return known !== undefined",
  },
  {
    name: "a top-up may exceed the maximum",
    file: credits,
    find: 'return { kind: "too-large" };\n  creditCash(',
    replace: "void 0;\n  creditCash(",
  },
  {
    name: "a correction may exceed the maximum",
    file: credits,
    find: 'return { kind: "too-large" };\n  if (operation.amount > 0n) {',
    replace: "void 0;\n  if (operation.amount > 0n) {",
  },
  {
    name: "a grant may exceed the maximum",
    file: credits,
    find: 'if (total + amount > (unit === "money" ? amountMax : quotaMax)) return { kind: "too-large" };',
    replace: "",
  },
  {
    name: "a quota may be as large as money",
    file: credits,
    find: 'if (total + amount > (unit === "money" ? amountMax : quotaMax))',
    replace: "if (total + amount > amountMax)",
  },
  {
    name: "a grant looks at itself alone for the maximum",
    file: credits,
    find: "if (total + amount > (",
    replace: "if (amount > (",
  },
  {
    name: "a refund may exceed the maximum",
    file: credits,
    find: "requireBucket(draft, bucketId).posted + amount > max",
    replace: "false",
  },
  {
    name: "a gift may have expired before it is given",
    file: credits,
    find: 'if (expiresAt !== null && expiresAt <= draft.now) return { kind: "already-expired" };',
    replace: "",
  },
  {
    name: "a correction takes what is held",
    file: credits,
    find: "const missing = amount - (bucket.posted - bucket.held);",
    replace: "const missing = amount - bucket.posted;",
  },
  {
    name: "a charge is refunded twice in one batch",
    file: credits,
    find: "draft.changes.transactions.set(operation.chargeId, { ...charge, refunded: charge.refunded + operation.amount });",
    replace: "",
  },
  {
    name: "a charge is refunded twice",
    file: credits,
    find: "0n) - charge.refunded;",
    replace: "0n);",
  },
  { name: "a refund goes back the wrong way", file: credits, find: "legs.toReversed()", replace: "legs" },
  {
    name: "a second refund begins where the first began",
    file: credits,
    find: "let skipped = refunded;",
    replace: "let skipped = 0n;",
  },
  {
    name: "another account's charge can be refunded",
    file: credits,
    find: "charge.accountId !== operation.accountId || ",
    replace: "",
  },
  {
    name: "whatever was booked can be refunded",
    file: credits,
    find: ' || charge.kind !== "charge"',
    replace: "",
  },
  {
    name: "a refund does not say what it refunds",
    file: credits,
    find: 'refundOf: operation.kind === "refund" ? operation.chargeId : null,',
    replace: "refundOf: null,",
  },
  {
    name: "a bucket is emptied before its time",
    file: credits,
    find: 'if (!isDue && operation.when === "due") return { kind: "not-due" };',
    replace: "",
  },
  {
    name: "what is held expires with its bucket",
    file: credits,
    find: "const amount = ended.posted - ended.held;",
    replace: "const amount = ended.posted;",
  },
  {
    name: "a bucket that is ended at once goes on",
    file: credits,
    find: "const ended = isDue ? bucket : { ...bucket, expiresAt: draft.now };",
    replace: "const ended = bucket;",
  },
  { name: "cash can expire", file: credits, find: ' || bucket.kind === "cash"', replace: "" },
  {
    name: "another account's bucket can be emptied",
    file: credits,
    find: "bucket.accountId !== operation.accountId || ",
    replace: "",
  },

  // Fingerprints
  {
    name: "a hold's fingerprint leaves out the quota",
    file: fingerprint,
    find: "String(amount), String(quota?.kind), String(quota?.units)]",
    replace: "String(amount)]",
  },
  {
    name: "a hold's fingerprint leaves out the key",
    file: fingerprint,
    find: "String(budget?.keyId), ",
    replace: "",
  },
  {
    name: "a hold's fingerprint leaves out what it is for",
    file: fingerprint,
    find: "cause.kind, cause.id)",
    replace: "cause.kind)",
  },
  {
    name: "a hold's fingerprint includes its end",
    file: fingerprint,
    find: "function describeHold({ kind, accountId, amount, quota, budget, cause }: HoldOperation): string[] {\n  const texts = [",
    replace:
      "function describeHold({ kind, accountId, amount, quota, budget, cause, expiresAt }: HoldOperation): string[] {\n  const texts = [String(expiresAt), ",
  },
  {
    name: "a top-up's fingerprint leaves out the channel",
    file: fingerprint,
    find: "String(operation.amount), operation.channel]",
    replace: "String(operation.amount)]",
  },
  {
    name: "a grant's fingerprint leaves out the unit",
    file: fingerprint,
    find: "String(amount), unit, channel]",
    replace: "String(amount), channel]",
  },
  {
    name: "a refund's fingerprint leaves out the charge",
    file: fingerprint,
    find: "String(operation.amount), operation.chargeId]",
    replace: "String(operation.amount)]",
  },
  {
    name: "a bill's fingerprint leaves out the rates",
    file: fingerprint,
    find: "String(quantity), String(rate))",
    replace: "String(quantity))",
  },
  {
    name: "a bill's fingerprint leaves out the minimum",
    file: fingerprint,
    find: "String(bill.minimum), ",
    replace: "",
  },
  {
    name: "a settlement's fingerprint leaves out what an overrun does",
    file: fingerprint,
    find: "accountId, overrun, bill.priceId]",
    replace: "accountId, bill.priceId]",
  },

  // Additions to the writes of other processes
  {
    name: "an amount is added that a second bucket was opened for",
    file: draft,
    find: "if (available < left) draft.requireExact(accountId);",
    replace: "",
  },
  {
    name: "an amount is added that others may have taken",
    file: draft,
    find: "draft.noteAvailable(bucketId, available - part - (reservedHere > 0n ? reservedHere : 0n));",
    replace: "",
  },
  {
    name: "a hold is added to a budget that others may have used up",
    file: holds,
    find: "spent: 0n, budget: operation.budget?.amount ?? null }",
    replace: "spent: 0n, budget: null }",
  },
  {
    name: "a refusal is added to what others may have changed",
    file: batch,
    find: "default:\n      return false;",
    replace: "default:\n      return true;",
  },
  {
    name: "a loss is added though others may have given money back",
    file: batch,
    find: "return !result.isReplay && result.lost === 0n;",
    replace: "return !result.isReplay;",
  },

  // Budget periods
  {
    name: "weeks begin on Sundays",
    file: budget,
    find: "((now.getUTCDay() + daysOfWeek - 1) % daysOfWeek)",
    replace: "now.getUTCDay()",
  },
  {
    name: "months last a year",
    file: budget,
    find: "Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)",
    replace: "Date.UTC(now.getUTCFullYear(), 0, 1)",
  },
  {
    name: "a budget without a period resets each day",
    file: budget,
    find: "return new Date(0);",
    replace: "return new Date(midnightMs);",
  },
];
