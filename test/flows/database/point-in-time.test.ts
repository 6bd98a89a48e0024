// @module-tag extended
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import type pg from "pg";
import { expect, test } from "vitest";
import { openEmbeddedPostgres } from "../../../src/platform/database/embedded/embedded-postgres.ts";
import { connectEmbedded } from "../../harness/embedded-query.ts";
import { createDataDirectory, findFreePort, startGatewayProcess } from "../../harness/gateway-process.ts";
import { makeMedia } from "../../harness/media/media-files.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { startS3Server } from "../../harness/servers/s3-server.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type Environment = Record<string, string>;

async function succeed(words: readonly string[], environment: Environment) {
  const { exitCode, stdout, stderr } = await runCommandHere([...words, "--json"], { environment });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
}

async function ask(client: OpenAI): Promise<void> {
  await client.chat.completions.create({ model: "sandbox-chat", messages: [{ role: "user", content: "Hello!" }] });
}

/** Switches the WAL segment, and waits until it is in the archive. */
async function shipLog(client: pg.Client, dataDir: string): Promise<void> {
  const { rows } = await client.query("select pg_walfile_name(pg_switch_wal()) as name");
  const name: string = rows[0].name;
  await waitUntil("the log is archived", async () => {
    const { rows: archived } = await client.query("select last_archived_wal >= $1 as is_done from pg_stat_archiver", [
      name,
    ]);
    return archived[0].is_done === true && !existsSync(join(dataDir, "wal", name));
  });
}

test("a lost machine is restored as of a moment between two charges, with the files of then", async () => {
  await using bucket = await startS3Server();
  using data = createDataDirectory();
  const common = {
    SLUICE_S3_ENDPOINT: bucket.endpoint,
    SLUICE_S3_ACCESS_KEY_ID: "S3RVER",
    SLUICE_S3_SECRET_ACCESS_KEY: "S3RVER",
    SLUICE_S3_PATH_STYLE: "on",
  };
  const place = `s3://${bucket.bucket}/archive`;
  const here = { ...common, SLUICE_DATA_DIR: data.path, SLUICE_PORT: await findFreePort(), SLUICE_WAL_ARCHIVE: place };
  const gateway = await startGatewayProcess({ environment: here });
  const apiKey = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const client = new OpenAI({ apiKey, baseURL: `http://localhost:${here.SLUICE_PORT}/v1` });
  const picture = await makeMedia("png");
  const upload = () => client.files.create({ file: new File([new Uint8Array(picture)], "a.png"), purpose: "vision" });
  const before = await upload();
  await succeed(["backup", "base", "--secrets", "include"], here);
  const after = await upload();
  await ask(client);
  const database = await connectEmbedded(data.path);
  const { rows } = await database.query("select clock_timestamp() as now");
  const moment: string = rows[0].now.toISOString();
  await ask(client);
  for (const { id } of [before, after]) await client.files.delete(id);
  await shipLog(database, data.path);
  await database.end();
  gateway.kill("SIGKILL");
  await gateway.exited;
  rmSync(data.path, { recursive: true });

  using elsewhere = createDataDirectory();
  const there = { ...common, SLUICE_DATA_DIR: elsewhere.path };
  const restored = await succeed(["restore", place, "--to", moment], there);
  expect(restored).toMatchObject({ to: moment, files: 2, missing: [], ledger: { ok: true } });
  await withCopy(elsewhere.path, async (copy) => {
    const charges = await copy.query("select id from charges");
    expect(charges.rows).toHaveLength(1);
    const files = await copy.query("select id, encode(sha256, 'hex') as sha256 from files order by id");
    expect(files.rows.map(({ id }) => id)).toEqual([before.id, after.id].toSorted());
    expect(listHashes(join(elsewhere.path, "files"))).toEqual(files.rows.map(({ sha256 }) => sha256));
    const states = await copy.query("select state from copy_states");
    expect(states.rows).toEqual([{ state: "unconfirmed" }]);
  });

  const again = await runCommandHere(["restore", place, "--to", "latest"], { environment: there });
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("The data directory is not empty")]);
  using another = createDataDirectory();
  const environment = { ...common, SLUICE_DATA_DIR: another.path };
  mkdirSync(join(another.path, "wal-restored"));
  const half = await runCommandHere(["account", "list"], { environment });
  expect([half.exitCode, half.stderr]).toEqual([1, expect.stringContaining("is half restored")]);
  const early = await runCommandHere(["restore", place, "--to", "2020-01-01T00:00:00Z"], { environment });
  expect([early.exitCode, early.stderr]).toEqual([
    1,
    expect.stringContaining("The earliest time that can be restored"),
  ]);
});

/** Queries a copy, with its own password. */
async function withCopy(dataDir: string, look: (client: pg.Client) => Promise<void>): Promise<void> {
  const server = await openEmbeddedPostgres({ dataDir, purpose: "command", onProgress() {}, onLost() {} });
  const client = await connectEmbedded(dataDir);
  await look(client).finally(() => client.end());
  await server.close();
}

function listHashes(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return found.map(({ parentPath, name }) =>
    createHash("sha256")
      .update(readFileSync(join(parentPath, name)))
      .digest("hex"),
  );
}
