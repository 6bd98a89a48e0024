import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDataDirectory, findFreePort, startGatewayProcess } from "../../harness/gateway-process.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

test("after SIGHUP pages show the announcement of the settings file; with an invalid file the old one stays", async () => {
  await using stack = new AsyncDisposableStack();
  const database = await createTestDatabase();
  stack.defer(() => database.close());
  const data = stack.use(createDataDirectory());
  const port = await findFreePort();
  const settingsFile = join(data.path, "sluice.yaml");
  writeFileSync(settingsFile, "announcement: Closed on Sunday.\n");
  const gateway = stack.use(
    await startGatewayProcess({
      environment: {
        ...{ DATABASE_URL: database.url, SLUICE_DATA_DIR: data.path, SLUICE_PORT: port, SLUICE_CONFIG: settingsFile },
      },
    }),
  );
  const readPage = async () => (await fetch(`http://localhost:${port}/sign-in`)).text();
  expect(await readPage()).toContain("Closed on Sunday.");

  writeFileSync(settingsFile, "announcement: Open again.\nbrand_name: Example AI\n");
  gateway.kill("SIGHUP");
  await waitUntil("the new brand", () => gateway.output().includes('"msg":"brand reloaded'));
  const page = await readPage();
  expect(page).toContain("Open again.");
  expect(page).toContain("<title>Example AI</title>");

  writeFileSync(settingsFile, 'announcement: Too pale.\nbrand_accent: "#ffff00"\n');
  gateway.kill("SIGHUP");
  await waitUntil("the refusal", () => gateway.output().includes('"msg":"brand reload rejected, settings invalid"'));
  expect(gateway.output()).toContain("is not readable in the light theme");
  expect(await readPage()).toContain("Open again.");
  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
});
