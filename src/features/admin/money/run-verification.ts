import type { Clock } from "../../../lib/clock.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { hastenJob } from "../../../platform/jobs/job-store.ts";
import { appendAudit } from "../../audit/index.ts";
import { type CheckOutcome, checkEverything, checkSinceSeals, type Violation } from "../../ledger/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import {
  endVerification,
  getVerification,
  insertVerification,
  startOpenVerification,
  type Verification,
  type VerificationScope,
} from "./verification-store.ts";

const verificationJob = "verify-ledger";
const violationsKept = 20;

/** Asks for a check of the ledger; a job runs it. One at a time. */
export async function askVerification(
  { database, clock, ids }: Pick<AdminDependencies, "database" | "clock" | "ids">,
  { scope, acting }: { scope: VerificationScope; acting: Acting },
): Promise<Verification> {
  const id = ids.next("ver");
  const askedAt = clock.now();
  await inTransaction(database, async (tx) => {
    const isNew = await insertVerification(tx, { id, scope, askedBy: nameActor(acting.actor), askedAt });
    if (!isNew) {
      throw new AppError("invalid_parameter", "A verification is already waiting or running. Wait for its end.");
    }
    await hastenJob(tx, verificationJob, askedAt);
    await appendAudit(tx, {
      ...{ ...acting, action: "ledger.verification_started", subject: id, accountId: null, reason: null },
      ...{ before: null, after: { scope } },
    });
  });
  return await getVerification(database, id);
}

type Running = {
  database: Database;
  clock: Clock;
  signal: AbortSignal;
  /** Reports violations like the nightly check. */
  onFound(outcome: CheckOutcome): void;
};

/** Runs the check that an operator asked for, if there is one. An interrupted run starts again. */
export async function runVerification({ database, clock, signal, onFound }: Running): Promise<void> {
  const open = await startOpenVerification(database, clock.now());
  if (open === null) return;
  const found: Violation[] = [];
  const check = {
    now: clock.now(),
    signal,
    onFound(outcome: CheckOutcome) {
      found.push(...outcome.violations);
      onFound(outcome);
    },
  };
  const covered =
    open.scope === "whole"
      ? await checkEverything(database, { ...check, place: "own" })
      : await checkSinceSeals(database, check);
  if (covered === null || signal.aborted) return;
  await endVerification(database, open.id, {
    endedAt: clock.now(),
    accounts: BigInt(covered.accounts),
    entries: covered.entries,
    holds: BigInt(covered.holds),
    violationCount: found.length,
    violations: found.slice(0, violationsKept),
  });
}
