import { existsSync, statfsSync } from "node:fs";
import { hostname } from "node:os";
import type { Clock } from "../../lib/clock.ts";
import { nano, presentMoney } from "../../lib/money.ts";
import { readServerConnections } from "../../platform/database/connection-budget.ts";
import type { Database } from "../../platform/database/database.ts";
import { readArchiveStanding } from "../../platform/database/log-archive.ts";
import { listNodes } from "../../platform/database/node-names.ts";
import { listReplicaLags } from "../../platform/database/replication-lag.ts";
import { listLateJobs } from "../../platform/jobs/job-store.ts";
import { findCatalog, listUpstreams, listVendorBalances } from "../catalog/index.ts";
import { sumMargins, sumUnchargedCosts } from "../costs/index.ts";
import { countFrozen, findOldestHoldEnd } from "../ledger/index.ts";
import { sumLostRequests } from "../requests/index.ts";
import { sumSlots, type TrafficSum } from "../status/index.ts";
import { readTaskLag } from "../tasks/index.ts";
import { countAttempts, readDeliveryLag } from "../webhooks/index.ts";
import type { Measured, Reading } from "./alarm.ts";
import type { RuleName } from "./alarm-rules.ts";
import { readBackupTimes } from "./backup-run-store.ts";

export type RuleSurroundings = {
  clock: Clock;
  currency: string;
  dataDir: string;
  /** Whether a database without any backup is trouble: not for development, nor where other tools make them. */
  expectsBackups: boolean;
  /** Of each process. */
  connectionsMax: number;
};

type Read = (database: Database, surroundings: RuleSurroundings, now: Date) => Promise<Reading>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Of models, upstreams and replicas: more would be one trouble in many mails. */
const subjectsMax = 50;
const callsMin = 20;
/** Longer than a vendor's endpoint is usually away. */
const balanceHours = 6;
const failingAccountsMin = 3;
const service = "service";

/** How each rule is read. All of it exists for other reasons; nothing is measured for alarms alone. */
export const ruleReaders: { [Name in RuleName]: Read } = {
  async "negative-margin"(database, { currency }, now) {
    const lines = await sumMargins(database, {
      ...{ from: new Date(now.getTime() - dayMs), to: now, by: new Set(["model"] as const) },
      ...{ limit: subjectsMax, isPaidOnly: true },
    });
    return {
      measured: lines.flatMap(({ model, revenue, cost }) => {
        if (model === null || cost === 0n) return [];
        // Without any revenue, each loss is one of all of it.
        const percent = revenue === 0n ? 100 : Number(((cost - revenue) * 10_000n) / revenue) / 100;
        const message = `${model} cost ${presentMoney(cost)} ${currency} in 24 hours and was charged ${presentMoney(revenue)} ${currency}.`;
        return [{ subject: model, value: percent, message }];
      }),
    };
  },
  async "uncharged-cost"(database, { currency }, now) {
    const cost = await sumUnchargedCosts(database, new Date(now.getTime() - dayMs));
    const message = `Calls without a charge cost ${presentMoney(cost)} ${currency} in 24 hours.`;
    return { measured: [{ subject: service, value: Number(cost) / 1e9, message }] };
  },
  async "model-errors"(database, _surroundings, now) {
    return { measured: measureFailures(await sumSlots(database, "model", findRecent(now)), "calls of") };
  },
  async "upstream-errors"(database, _surroundings, now) {
    return { measured: measureFailures(await sumSlots(database, "upstream", findRecent(now)), "attempts at") };
  },
  async "circuit-open"(database, { clock }) {
    const upstreams = await listUpstreams({ database, clock });
    return {
      measured: upstreams.slice(0, 1000).flatMap(({ providerId, upstreamModel, keyNumber, off, reports }) => {
        const open = reports.filter(({ state }) => state === "open" || state === "half-open");
        if (off !== null || open.length === 0) return [];
        const subject = `${providerId}/${upstreamModel} key ${keyNumber}`;
        const message = `${open.length} gateway processes have stopped calling ${subject}: ${open[0]?.lastFailure ?? ""}.`;
        return [{ subject, value: open.length, message }];
      }),
    };
  },
  async "vendor-balance"(database, _surroundings, now) {
    const catalog = await findCatalog(database);
    const providers = new Map((catalog?.providers ?? []).map((provider) => [provider.id, provider]));
    const since = new Date(now.getTime() - balanceHours * hourMs);
    const stored = await listVendorBalances(database);
    return {
      measured: stored.slice(0, subjectsMax).flatMap(({ providerId, keyNumber, balance }) => {
        const provider = providers.get(providerId);
        if (provider === undefined || balance === null || balance.readAt < since) return [];
        const subject = (provider.api_keys ?? []).length > 1 ? `${providerId} key ${keyNumber + 1}` : providerId;
        const amount = `${presentMoney(nano(balance.amountNano))} ${balance.currency}`;
        const low = provider.balance_low;
        return [
          {
            ...{ subject, value: Number(balance.amountNano) / 1e9 },
            message: `${amount} are left at ${subject}.`,
            ...(low === undefined ? {} : { threshold: Number(low) }),
          },
        ];
      }),
    };
  },
  async "tasks-due"(database, _surroundings, now) {
    const { oldestDueAt } = await readTaskLag(database);
    return measureAge(oldestDueAt, now, { unitMs: 1000, say: (text) => `The oldest due task has waited ${text} s.` });
  },
  async "tasks-queued"(database, _surroundings, now) {
    const { oldestQueuedAt, queued } = await readTaskLag(database);
    const say = (text: string): string => `The oldest of ${queued} queued tasks is ${text} s old.`;
    return measureAge(oldestQueuedAt, now, { unitMs: 1000, say });
  },
  async "webhooks-due"(database, _surroundings, now) {
    const { oldestDueAt, pending } = await readDeliveryLag(database);
    const say = (text: string): string => `The oldest due webhook of ${pending} pending ones has waited ${text} s.`;
    return measureAge(oldestDueAt, now, { unitMs: 1000, say });
  },
  async "webhooks-failing"(database, _surroundings, now) {
    const { attempts, failed, failedAccounts } = await countAttempts(database, new Date(now.getTime() - hourMs));
    if (attempts < callsMin || failedAccounts < failingAccountsMin) return { measured: [] };
    const message = `${failed} of ${attempts} webhook attempts failed in an hour, for ${failedAccounts} accounts.`;
    return { measured: [{ subject: service, value: (100 * failed) / attempts, message }] };
  },
  async "holds-overdue"(database, _surroundings, now) {
    const end = await findOldestHoldEnd(database);
    return measureAge(end, now, {
      unitMs: minuteMs,
      say: (text) => `The oldest open hold is ${text} minutes past its end.`,
    });
  },
  async "jobs-late"(database, _surroundings, now) {
    const late = await listLateJobs(database, { now, before: new Date(now.getTime() - minuteMs) });
    return {
      measured: late.slice(0, subjectsMax).map(({ name, dueAt }) => {
        const minutes = Math.floor((now.getTime() - dueAt.getTime()) / minuteMs);
        return { subject: name, value: minutes, message: `The job ${name} has been due for ${minutes} minutes.` };
      }),
    };
  },
  async "accounts-frozen"(database) {
    const { count, accountIds } = await countFrozen(database);
    const message = `${count} accounts are frozen: ${accountIds.join(", ")}${count > accountIds.length ? ", …" : ""}.`;
    return { measured: [{ subject: service, value: count, message }] };
  },
  async "disk-space"(_database, { dataDir }) {
    const subject = `${hostname()}:${dataDir}`;
    const covers = (other: string): boolean => other === subject;
    if (!existsSync(dataDir)) return { measured: [], covers };
    const { bavail, bsize } = statfsSync(dataDir);
    const gigabytes = (bavail * bsize) / 1024 ** 3;
    const message = `${gigabytes.toFixed(1)} GB are free for ${dataDir} on ${hostname()}.`;
    return { measured: [{ subject, value: gigabytes, message }], covers };
  },
  async "replication-lag"(database) {
    const replicas = await listReplicaLags(database);
    if (replicas.some(({ seconds }) => seconds === null)) {
      throw new Error(
        "This database user may not see replication. Grant it the role pg_monitor, or switch the rule off.",
      );
    }
    return {
      measured: replicas.slice(0, subjectsMax).map(({ name, seconds }) => {
        const value = seconds ?? 0;
        return { subject: name, value, message: `The replica ${name} is ${value.toFixed(1)} s behind.` };
      }),
    };
  },
  async "connection-budget"(database, { connectionsMax }) {
    const { max, open } = await readServerConnections(database);
    const processes = (await listNodes(database)).length;
    const planned = processes * connectionsMax;
    const message = `${processes} processes × ${connectionsMax} connections are ${planned} of ${max}; ${open} are open.`;
    return { measured: [{ subject: service, value: (100 * Math.max(planned, open)) / max, message }] };
  },
  async "backup-age"(database, { expectsBackups }, now) {
    const { newestAt, createdAt } = await readBackupTimes(database);
    if (newestAt === null && (!expectsBackups || createdAt === null)) return { measured: [] };
    const since = newestAt ?? createdAt;
    const hours = since === null ? 0 : (now.getTime() - since.getTime()) / hourMs;
    const message =
      newestAt === null
        ? `No backup was ever made, ${hours.toFixed(0)} hours after the first account.`
        : `The newest backup is ${hours.toFixed(0)} hours old.`;
    return { measured: [{ subject: service, value: hours, message }] };
  },
  async "archive-failing"(database, _surroundings, now) {
    const standing = await readArchiveStanding(database);
    const say = (text: string): string => `The database's log has not been archived for ${text} minutes.`;
    return measureAge(standing?.failing?.since ?? null, now, { unitMs: minuteMs, say });
  },
  async "requests-lost"(database, _surroundings, now) {
    const lost = await sumLostRequests(database, new Date(now.getTime() - hourMs));
    return {
      measured: [{ subject: service, value: lost, message: `${lost} calls of the last hour are missing in the log.` }],
    };
  },
};

/** Two whole slots, and what is counted of the current one. */
function findRecent(now: Date): Date {
  return new Date(now.getTime() - 15 * minuteMs);
}

function measureFailures(sums: readonly TrafficSum[], what: string): Measured[] {
  return sums
    .filter(({ calls }) => calls >= callsMin)
    .map(({ subject, calls, failed }) => ({
      subject,
      value: (100 * failed) / calls,
      message: `${failed} of ${calls} ${what} ${subject} failed in the last minutes.`,
    }))
    .toSorted((a, b) => b.value - a.value)
    .slice(0, subjectsMax);
}

function measureAge(
  since: Date | null,
  now: Date,
  { unitMs, say }: { unitMs: number; say(text: string): string },
): Reading {
  if (since === null) return { measured: [] };
  const value = Math.max(0, Math.floor((now.getTime() - since.getTime()) / unitMs));
  return { measured: [{ subject: service, value, message: say(String(value)) }] };
}
