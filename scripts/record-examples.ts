// Calls every operation on the sandbox and records requests and responses as the reference's examples.
// Run it after a change to an operation's request or response: node scripts/record-examples.ts && npm run generate
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/lib/clock.ts";
import { invariant } from "../src/lib/invariant.ts";
import { createDatabase } from "../src/platform/database/database.ts";
import { getClusterPaths } from "../src/platform/database/embedded/cluster-directory.ts";
import { evenOut } from "./examples/even-out.ts";
import { createExampleRecorder } from "./examples/example-recorder.ts";
import { recordCalls } from "./examples/record-calls.ts";
import { startOwnGateway } from "./start-own-gateway.ts";

const repositoryDir = join(import.meta.dirname, "..");
const document = JSON.parse(await readFile(join(repositoryDir, "docs/api/openapi.json"), "utf8"));
const startedAt = systemClock.now();
const dataDir = await mkdtemp(join(tmpdir(), "record-examples-"));
const receiver = createServer((request, response) => request.resume().on("end", () => response.end())).listen(0);
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const siteUrl = "http://localhost:4242";
const gateway = await startOwnGateway({
  data_dir: dataDir,
  port: 0,
  host: "127.0.0.1",
  site_url: siteUrl,
  base_url: `${siteUrl}/v1`,
});

try {
  invariant(gateway.firstRun !== null, "the folder was empty");
  await keepContents(dataDir);
  const baseUrl = `http://127.0.0.1:${gateway.port}/v1`;
  const recorder = createExampleRecorder(document, { baseUrl, key: gateway.firstRun.keyText });
  await recordCalls(recorder, { receiverUrl });
  const examples = evenOut(recorder.recorded, { startedAt, receiverUrl });
  await writeFile(join(repositoryDir, "src/app/recorded-examples.json"), `${JSON.stringify(examples, null, 2)}\n`);
  console.log(`Recorded ${Object.keys(recorder.recorded).length} operations.`);
} finally {
  await gateway.close();
  receiver.close();
  await rm(dataDir, { recursive: true, force: true });
}

/** Enables the key's content log in the database: the API cannot, and this script has no console session. */
async function keepContents(folder: string): Promise<void> {
  const { socketDir, passwordFile } = getClusterPaths(folder);
  const password = await readFile(passwordFile, "utf8");
  const address = { host: socketDir, user: "sluice", password, database: "sluice" };
  const database = createDatabase({ address, connectionsMax: 1, onConnectionError: () => {} });
  await database.updateTable("api_keys").set({ logs_content: true }).execute();
  await database.destroy();
}
