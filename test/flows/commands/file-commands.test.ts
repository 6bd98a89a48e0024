import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectEmbedded } from "../../harness/embedded-query.ts";
import { findFreePort, type GatewayProcess, runCommand, startGatewayProcess } from "../../harness/gateway-process.ts";
import { readError, readJson } from "../../harness/media/files-stage.ts";
import { makeMedia } from "../../harness/media/media-files.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";

const data = createPreparedDirectory();
let environment: Record<string, string>;
let gateway: GatewayProcess;

beforeAll(async () => {
  environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: await findFreePort(), SLUICE_UNPAID_FILES_MAX: "0" };
  gateway = await startGatewayProcess({ environment });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

async function upload(filename: string): Promise<string> {
  const response = await tryUpload(filename);
  expect(response.status).toBe(200);
  return (await readJson(response)).id;
}

async function tryUpload(filename: string): Promise<Response> {
  const key = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const form = new FormData();
  form.append("purpose", "generation");
  form.append("file", new Blob([new Uint8Array(await makeMedia("png"))]), filename);
  return await fetch(`http://localhost:${environment.SLUICE_PORT}/v1/files`, {
    method: "POST",
    body: form,
    headers: { authorization: `Bearer ${key}` },
  });
}

function countStored(): number {
  const folder = join(data.path, "files");
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

async function run(...words: string[]) {
  const outcome = await runCommandHere([...words, "--json"], { environment });
  expect(outcome.stderr).toBe("");
  return JSON.parse(outcome.stdout);
}

test("an operator lists files, deletes one, and deletes expired ones", async () => {
  const [first, second, third] = [await upload("one.png"), await upload("two.png"), await upload("three.png")];
  expect(await run("file", "list")).toMatchObject([
    { id: third, filename: "three.png", kind: "image", content_type: "image/png", width: 320, height: 200 },
    { id: second },
    { id: first },
  ]);
  expect(await run("file", "list", "--limit", "1")).toMatchObject([{ id: third }]);
  expect(await run("file", "list", "--account", "acct_none")).toEqual([]);
  const table = await runCommand(["file", "list"], { environment });
  expect(table.stdout).toMatch(new RegExp(`^ID +ACCOUNT.*\n${third} .*image/png.*three.png`));
  expect((await runCommandHere(["file", "list", "--limit", "0"], { environment })).stderr).toContain("from 1 to 10000");

  expect(countStored()).toBe(3);
  expect(await run("file", "purge", "--file", second)).toEqual({ id: second, deleted: true });
  expect(countStored()).toBe(2);
  const unknown = await runCommand(["file", "purge", "--file", second], { environment });
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining(`There is no file ${second}.`)]);

  const client = await connectEmbedded(data.path);
  await client.query("update files set expires_at = now() where id = $1", [first]);
  await client.end();
  // The gateway's own sweep, once a minute, may come first.
  expect(await run("file", "purge")).toEqual({ files: expect.any(Number), removed_bytes: expect.any(Number) });
  expect(countStored()).toBe(1);
  expect(await run("file", "list")).toMatchObject([{ id: third }]);
});

test("an account without credit uploads within the smaller quota, one with a plan as before", async () => {
  const [{ id }] = await run("account", "list");
  await run("credit", "adjust", id, "-10.00", "--reason", "a test");
  expect(await readError(await tryUpload("four.png"))).toMatchObject({ status: 402, code: "insufficient_balance" });
  await run("plan", "create", "team", "--name", "Team");
  await run("account", "update", id, "--plan", "team");
  expect((await tryUpload("four.png")).status).toBe(200);
});
