import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { dataParent } from "../data-parent.ts";
import { findFreePort } from "../gateway-process.ts";
import { waitUntil } from "../wait-until.ts";
import { createCluster, type RunningPostgres, readVersion, runPostgres, runProgram } from "./external-postgres.ts";
import { openTcpGate, type TcpGate } from "./tcp-gate.ts";

type Which = "primary" | "standby";

/** Two servers: a primary, and a standby that streams from it through a gate. */
export type PostgresPair = AsyncDisposable & {
  /** Both hosts, the named one first. */
  presentUrl(first: Which): string;
  gate: TcpGate;
  /** Kills the primary, as a crash does. */
  killPrimary(): Promise<void>;
  /** Starts it in its state at the kill, unaware that the standby was promoted. */
  restartPrimary(): Promise<void>;
  promoteStandby(): Promise<void>;
  query<Row extends pg.QueryResultRow>(which: Which, statement: string): Promise<Row[]>;
};

/** Writes survive the kill of a process; a crash of the machine is not simulated. */
const common = ["fsync=off", "shared_buffers=16MB", "max_connections=50", "wal_retrieve_retry_interval=100ms"];

export async function startPostgresPair(
  binDir: string,
  replication: "synchronous" | "asynchronous",
): Promise<PostgresPair> {
  const folder = mkdtempSync(join(dataParent, "sluice-pair-"));
  const clusters = { primary: join(folder, "primary"), standby: join(folder, "standby") };
  const ports = { primary: await findFreePort(), standby: await findFreePort() };
  const password = createCluster({ binDir, folder, cluster: clusters.primary });
  const [user, database] = [`operator:${password}`, "postgres"];
  const gatePort = await findFreePort();
  const source = (port: string): string =>
    `host=127.0.0.1 port=${port} user=operator password=${password} application_name=standby`;
  const settings = { primary: common, standby: [...common, `primary_conninfo=${source(gatePort)}`] };
  const servers = new Map<string, RunningPostgres>();

  async function start(which: Which): Promise<void> {
    await waitUntil(`the ${which}`, () => {
      // Processes of a crashed server take a moment to end, and no server starts beside them.
      if (servers.get(which)?.isRunning() !== true) {
        const place = { cluster: clusters[which], port: ports[which], settings: settings[which] };
        servers.set(which, runPostgres({ binDir, folder, ...place }));
      }
      return readVersion(presentServer(which));
    });
  }

  async function stop(which: Which, signal: "SIGINT" | "SIGKILL"): Promise<void> {
    await servers.get(which)?.end(signal);
    servers.delete(which);
  }

  const presentServer = (which: Which): string => `postgres://${user}@127.0.0.1:${ports[which]}/${database}`;

  async function query<Row extends pg.QueryResultRow>(which: Which, statement: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: presentServer(which) });
    await client.connect();
    try {
      return (await client.query<Row>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  await start("primary");
  const gate = await openTcpGate({ port: Number(gatePort), targetPort: Number(ports.primary) });
  const copy = ["-D", clusters.standby, "-d", source(ports.primary), "-R", "-c", "fast", "--no-sync"];
  runProgram(join(binDir, "pg_basebackup"), ...copy);
  await start("standby");
  const isStreaming = (state: string) => async (): Promise<boolean> =>
    (await query("primary", `select 1 from pg_stat_replication where sync_state = '${state}'`)).length === 1;
  await waitUntil("the standby to stream", isStreaming("async"));
  if (replication === "synchronous") {
    await query("primary", "alter system set synchronous_standby_names = 'standby'");
    await query("primary", "select pg_reload_conf()");
    await waitUntil("the standby to be synchronous", isStreaming("sync"));
  }
  return {
    presentUrl(first) {
      const hosts = [ports[first], ports[first === "primary" ? "standby" : "primary"]].map(
        (port) => `127.0.0.1:${port}`,
      );
      return `postgres://${user}@${hosts.join(",")}/${database}?target_session_attrs=read-write`;
    },
    gate,
    killPrimary: () => stop("primary", "SIGKILL"),
    restartPrimary: () => start("primary"),
    async promoteStandby() {
      await query("standby", "select pg_promote()");
    },
    query,
    async [Symbol.asyncDispose]() {
      await gate.close();
      for (const which of ["standby", "primary"] as const) await stop(which, "SIGINT");
      rmSync(folder, { recursive: true });
    },
  };
}
