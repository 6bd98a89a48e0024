import { existsSync, statfsSync, statSync } from "node:fs";
import { findCatalog, listActiveSwitches, listRouteFaults } from "../features/catalog/index.ts";
import { findViolationsSinceSeals, invariants } from "../features/ledger/index.ts";
import { countStrayRequests } from "../features/requests/index.ts";
import { loadSettings, type Settings } from "../platform/config/load-settings.ts";
import { readServerConnections, type ServerConnections } from "../platform/database/connection-budget.ts";
import { type Database, readServerVersion } from "../platform/database/database.ts";
import { presentDifference, readTime } from "../platform/database/database-clock.ts";
import { hasEmbeddedDatabase } from "../platform/database/embedded/cluster-directory.ts";
import { readArchiveStanding } from "../platform/database/log-archive.ts";
import { listPendingMigrations } from "../platform/database/migrate.ts";
import { countStrayRows } from "../platform/database/month-store.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { readCertificate } from "../platform/http/certificate.ts";
import { examineDecoders } from "../platform/media/examine-decoders.ts";
import type { Command, Terminal } from "./command.ts";
import { loadSecrets } from "./load-secrets.ts";
import { presentSwitch } from "./switch-commands.ts";
import { databaseClock, systemDependencies } from "./system-dependencies.ts";
import { openForCommand } from "./with-database.ts";

type Finding = { check: string; isOk: boolean; message: string; remedy?: string };

const freeBytesWanted = 1024 ** 3;
/** For operators' commands beside the gateway. */
const commandConnections = 3;
const certificateMsWanted = 7 * 24 * 3_600_000;

export const doctorCommand: Command = {
  name: "doctor",
  summary:
    "Check settings, certificate, disk, decoders, database, connections, Redis, clock, log archive, upstreams, ledger and partitions, and show how to fix problems.",
  run: async ({ terminal }) => {
    const findings = await examine(terminal);
    const broken = findings.filter((finding) => !finding.isOk);
    const text = findings.map(presentFinding).join("\n");
    const verdict =
      broken.length === 0 ? "All checks passed." : `${broken.length} of ${findings.length} checks failed.`;
    return {
      json: { ok: broken.length === 0, checks: findings.map(presentFindingJson) },
      text: `${text}\n\n${verdict}`,
      ...(broken.length === 0 ? {} : { hasFailed: true as const }),
    };
  },
};

async function examine(terminal: Terminal): Promise<Finding[]> {
  let settings: Settings;
  try {
    settings = loadSettings(terminal.settingsPlace);
  } catch (error) {
    return [describeFailure("settings", error)];
  }
  const isExternal = settings.database_url !== undefined;
  const findings = [
    { check: "settings", isOk: true, message: `site ${settings.site_url}` },
    ...(await examineCertificate(settings)),
    examineDisk(settings),
    ...(await examineDecoders()),
    ...(await examineRedis(settings)),
  ];
  if (!isExternal && !hasEmbeddedDatabase(settings.data_dir)) {
    return [...findings, { check: "database", isOk: true, message: "not created yet; npm start creates it" }];
  }
  return [...findings, ...(await examineDatabase(settings, terminal))];
}

/** Empty without TLS. */
async function examineCertificate({ tls_cert_file: certFile, tls_key_file: keyFile }: Settings): Promise<Finding[]> {
  if (certFile === undefined || keyFile === undefined) return [];
  try {
    const { validTo } = await readCertificate({ certFile, keyFile });
    const message = `valid until ${validTo.toISOString().slice(0, 10)}`;
    const isLasting = validTo.getTime() - systemDependencies.clock.now().getTime() > certificateMsWanted;
    return isLasting
      ? [{ check: "certificate", isOk: true, message }]
      : [{ check: "certificate", isOk: false, message, remedy: `Replace ${certFile}; no restart is needed.` }];
  } catch (error) {
    return [describeFailure("certificate", error)];
  }
}

function examineDisk(settings: Settings): Finding {
  const { data_dir: dataDir } = settings;
  if (!existsSync(dataDir)) return { check: "disk", isOk: true, message: `${dataDir} does not exist yet` };
  if ((statSync(dataDir).mode & 0o077) !== 0) {
    return {
      check: "disk",
      isOk: false,
      message: `other users can access ${dataDir}`,
      remedy: `Restrict it: chmod 700 ${dataDir}`,
    };
  }
  const { bavail, bsize } = statfsSync(dataDir);
  const freeBytes = bavail * bsize;
  const message = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free for ${dataDir}`;
  return freeBytes >= freeBytesWanted
    ? { check: "disk", isOk: true, message }
    : { check: "disk", isOk: false, message, remedy: "Free disk space, or move data_dir to a larger disk." };
}

/** Empty without Redis. */
async function examineRedis({ redis_url: url }: Settings): Promise<Finding[]> {
  if (url === undefined) return [];
  const { createRedisCounters } = await import("../platform/counters/redis-counters.ts");
  const counters = createRedisCounters({ url, onTrouble: () => {}, timeoutMs: 2000 });
  try {
    await counters.take({ rates: [{ key: "doctor", perMinute: 1, cost: 0 }], leases: [] });
    return [{ check: "redis", isOk: true, message: "reachable" }];
  } catch {
    // The error may contain the password.
    const remedy = "Start Redis, or correct redis_url. Until then each gateway counts limits alone.";
    return [{ check: "redis", isOk: false, message: "unreachable", remedy }];
  } finally {
    await counters.close();
  }
}

async function examineDatabase(settings: Settings, terminal: Terminal): Promise<Finding[]> {
  try {
    const { database, close } = await openForCommand(settings, terminal);
    try {
      const where = settings.database_url === undefined ? "embedded" : "external";
      const version = await readServerVersion(database);
      const pending = await listPendingMigrations(database);
      databaseClock.observe(await readTime(database));
      return [
        { check: "database", isOk: true, message: `PostgreSQL ${version}, ${where}` },
        describeSchema(pending),
        describeConnections(await readServerConnections(database), settings),
        describeClock(),
        ...(await examineArchive(database)),
        ...(pending.length === 0 ? await examineHistory(database, settings) : []),
      ];
    } finally {
      await close();
    }
  } catch (error) {
    return [describeFailure("database", error)];
  }
}

function describeSchema(pending: readonly string[]): Finding {
  return pending.length === 0
    ? { check: "schema", isOk: true, message: "up to date" }
    : {
        check: "schema",
        isOk: false,
        message: `not yet applied: ${pending.join(", ")}`,
        remedy: "Apply it: npm run -s sluice -- migrate",
      };
}

/** Of this gateway: others on the same database need theirs beside it. */
function describeConnections({ max }: ServerConnections, settings: Settings): Finding {
  const { processes, database_connections: connections } = settings;
  const planned = processes * connections;
  const message = `${processes} processes × ${connections} connections are ${planned} of the server's ${max}`;
  if (planned <= max - commandConnections) return { check: "connections", isOk: true, message };
  const fitting = Math.floor((max - commandConnections) / processes);
  return {
    check: "connections",
    isOk: false,
    message,
    remedy: `Raise max_connections of PostgreSQL, set database_connections to at most ${fitting}, or run fewer processes.`,
  };
}

async function examineLedger(database: Database): Promise<Finding> {
  const violations = await findViolationsSinceSeals(database, databaseClock.now());
  return violations.length === 0
    ? { check: "ledger", isOk: true, message: `all ${invariants.length} invariants hold` }
    : {
        check: "ledger",
        isOk: false,
        message: `${violations.length} violations`,
        remedy: "See them: npm run -s sluice -- ledger verify",
      };
}

/** Empty without an archive. Unarchived segments fill the disk and cannot be restored. */
async function examineArchive(database: Database): Promise<Finding[]> {
  const standing = await readArchiveStanding(database);
  if (standing === null) return [];
  const { failing, lastArchivedAt } = standing;
  const last = lastArchivedAt === null ? "none yet" : `last ${lastArchivedAt.toISOString()}`;
  if (failing === null) return [{ check: "log archive", isOk: true, message: `segments are archived, ${last}` }];
  const message = `archiving ${failing.segment} has failed since ${failing.since.toISOString()}; archived: ${last}`;
  const remedy = "Find the reason in the database's log. Until it is fixed, the log grows and points in time are lost.";
  return [{ check: "log archive", isOk: false, message, remedy }];
}

/** Checks that need an up-to-date schema. */
async function examineHistory(database: Database, settings: Settings): Promise<Finding[]> {
  return [
    await examineUpstreams(database, settings),
    ...(await describeSwitches(database)),
    await examineLedger(database),
    await examineRequestLog(database),
    await examineMonths(database),
  ];
}

/** Uses this command's environment variables: run it with the gateway's. */
async function examineUpstreams(database: Database, settings: Settings): Promise<Finding> {
  const { packages_dir: packagesDir } = settings;
  if (existsSync(packagesDir) && (statSync(packagesDir).mode & 0o022) !== 0) {
    const message = `other users can modify ${packagesDir}, whose packages the gateway executes`;
    return { check: "upstreams", isOk: false, message, remedy: `Restrict it: chmod go-w ${packagesDir}` };
  }
  const secrets = await loadSecrets(database, settings);
  const faults = listRouteFaults(await findCatalog(database), { packagesFolder: packagesDir, secrets });
  if (faults.length === 0) return { check: "upstreams", isOk: true, message: "every route of the catalog is usable" };
  const message = [...new Set(faults.map(({ target, fault }) => `${target.providerId}: ${fault.message}`))].join(" ");
  const remedy = [...new Set(faults.map(({ fault }) => fault.remedy))].join(" ");
  return { check: "upstreams", isOk: false, message, remedy };
}

/** Empty while nothing is switched off. */
async function describeSwitches(database: Database): Promise<Finding[]> {
  const switches = await listActiveSwitches({ database, clock: databaseClock });
  if (switches.length === 0) return [];
  return [{ check: "switched off", isOk: true, message: switches.map(presentSwitch).join("; ") }];
}

/** Rows outside monthly partitions mean that the partition job did not run, or a clock was wrong. */
async function examineRequestLog(database: Database): Promise<Finding> {
  const strays = await countStrayRequests(database);
  return strays === 0
    ? { check: "request log", isOk: true, message: "every call is in the partition of its month" }
    : {
        check: "request log",
        isOk: false,
        message: `${strays} calls are outside the monthly partitions`,
        remedy: "Run a gateway for an hour: its job roll-request-log moves them.",
      };
}

/** The same for the other partitioned tables. */
async function examineMonths(database: Database): Promise<Finding> {
  const strays = (await countStrayRows(database)).filter(({ count }) => count > 0);
  return strays.length === 0
    ? { check: "months", isOk: true, message: "every task, event and charge is in the partition of its month" }
    : {
        check: "months",
        isOk: false,
        message: `outside the monthly partitions: ${strays.map(({ table, count }) => `${count} of ${table}`).join(", ")}`,
        remedy:
          "Run a gateway for an hour: its job make-months moves them. Rows that remain have ids from a wrong clock.",
      };
}

/** Gateways use the database's time; one whose clock differs too much does not serve. */
function describeClock(): Finding {
  const { state, aheadMs } = databaseClock.standing();
  const message = presentDifference(aheadMs);
  return state !== "machine-off"
    ? { check: "clock", isOk: true, message }
    : {
        check: "clock",
        isOk: false,
        message,
        remedy: "Synchronize both machines by NTP. Until then gateways on this machine do not serve.",
      };
}

function describeFailure(check: string, error: unknown): Finding {
  if (error instanceof OperatorError) return { check, isOk: false, message: error.message, remedy: error.remedy };
  return { check, isOk: false, message: error instanceof Error ? error.message : String(error) };
}

function presentFinding({ check, isOk, message, remedy }: Finding): string {
  const line = `${isOk ? "✓" : "✗"} ${check.padEnd(13)}${message}`;
  return remedy === undefined ? line : `${line}\n  ${"".padEnd(13)}${remedy}`;
}

function presentFindingJson({ check, isOk, message, remedy }: Finding): Record<string, unknown> {
  return { check, ok: isOk, message, ...(remedy === undefined ? {} : { remedy }) };
}
