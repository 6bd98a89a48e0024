// @module-tag extended
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { externalBinaries, startExternalPostgres } from "../../harness/servers/external-postgres.ts";
import { openTaskGateway } from "../../harness/tasks/task-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const patienceMs = 60_000;

describe.skipIf(externalBinaries === null)("on an external PostgreSQL", () => {
  test("tasks continue after the database was restarted in the middle of them", { timeout: 400_000 }, async () => {
    await using server = await startExternalPostgres(externalBinaries ?? "");
    const own = { url: server.url, close: async () => {} };
    let restarted: AsyncDisposable | null = null;
    {
      await using place = await openTaskGateway({ sharedDatabase: own, settings: { shutdown_timeout_ms: 2_000 } });
      const gate = place.upstream.gate();
      place.media.always({ beforeFinish: gate });
      const caller = await place.createCaller();
      const numbers = Array.from({ length: 10 }, (_, index) => index);
      const tasks = await Promise.all(numbers.map((number) => caller.submitImage("image", `Restart ${number}`)));
      await gate.reached(10);
      await waitUntil("every task to be asked about", () =>
        place.media.jobs.every(({ statusCount }) => statusCount > 0),
      );
      restarted = await restartPostgres(server.url);
      const restartedAt = performance.now();
      gate.open();
      const isOver = async (): Promise<boolean> => {
        // The test's own connections broke as well.
        const leases = await place.listLeases().catch(() => null);
        return leases?.length === 0;
      };
      await waitUntil("every task to end", isOver, patienceMs);
      console.log(`restart: tasks went on and ended within ${Math.round(performance.now() - restartedAt)} ms`);
      for (const { id } of tasks) expect(await caller.readTask(id)).toMatchObject({ status: "succeeded" });
      expect(numbers.map((number) => place.media.submissionsOf(`Restart ${number}`).length)).toEqual(
        numbers.map(() => 1),
      );
      // New ones as well, through the queue that was connected to the old server.
      const { id } = await caller.submitImage("image", "Afterwards");
      expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
    }
    await restarted?.[Symbol.asyncDispose]();
  });
});

/** Stops a server immediately, as a restart of its machine does, and starts it on the same data. */
async function restartPostgres(url: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  const { rows } = await client.query("select pg_read_file('postmaster.pid') as text");
  await client.end();
  const processId = Number(String(rows[0].text).split("\n")[0]);
  const words = readFileSync(`/proc/${processId}/cmdline`, "utf8").split("\0").filter(Boolean);
  process.kill(processId, "SIGINT");
  await waitUntil("the end of the server", () => !isAlive(processId));
  const asOther = process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534"] : [];
  const [program = "", ...rest] = [...asOther, ...words];
  const server = spawn(program, rest, { stdio: "ignore" });
  const exited = new Promise((settle) => server.once("exit", settle));
  return {
    async [Symbol.asyncDispose]() {
      server.kill("SIGINT");
      await exited;
    },
  };
}

function isAlive(processId: number): boolean {
  try {
    // A zombie process is not alive.
    return !readFileSync(`/proc/${processId}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
