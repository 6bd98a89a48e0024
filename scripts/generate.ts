// Writes all generated files. With --check, writes nothing and fails if one is out of date.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { migrate } from "../src/platform/database/migrate.ts";
import { openDatabase } from "../src/platform/database/open-database.ts";
import { describeSchema } from "./generated/describe-schema.ts";
import { fillAlarmsSection } from "./generated/present-alarms-section.ts";
import { presentCommandLinePage } from "./generated/present-command-line-page.ts";
import { presentCommandsPage } from "./generated/present-commands-page.ts";
import { presentConsoleTypes } from "./generated/present-console-types.ts";
import { presentDashboard } from "./generated/present-dashboard.ts";
import { fillDeadlinesSection } from "./generated/present-deadlines-section.ts";
import { fillDialectsSection } from "./generated/present-dialects-section.ts";
import { presentDramaDocuments } from "./generated/present-drama-documents.ts";
import { presentErrorsPage } from "./generated/present-errors-page.ts";
import { fillFailuresSection } from "./generated/present-failures-section.ts";
import { presentFalEndpoints } from "./generated/present-fal-endpoints.ts";
import { fillMetricsSection } from "./generated/present-metrics-section.ts";
import { presentOpenAiPage } from "./generated/present-openai-page.ts";
import { presentOpenApi } from "./generated/present-openapi.ts";
import { presentExampleFile, presentSettingsPage } from "./generated/present-settings.ts";

const repositoryDir = join(import.meta.dirname, "..");

const { schemaSql, tablesTs } = await describeMigratedSchema();
const openApi = await presentOpenApi();
const files: Record<string, string> = {
  "sluice.example.yaml": presentExampleFile(),
  "docs/operating/settings.md": presentSettingsPage(),
  "docs/operating/observing.md": fillMetricsSection(readIfThere("docs/operating/observing.md") ?? ""),
  "docs/operating/upstreams.md": fillDialectsSection(
    fillFailuresSection(readIfThere("docs/operating/upstreams.md") ?? ""),
  ),
  "docs/operating/alarms.md": fillAlarmsSection(readIfThere("docs/operating/alarms.md") ?? ""),
  "deploy/grafana/sluice.json": presentDashboard(),
  "docs/operating/commands.md": await presentCommandsPage(),
  "docs/api/command-line.md": presentCommandLinePage(),
  "docs/api/errors.md": presentErrorsPage(),
  "docs/api/media.md": fillDeadlinesSection(readIfThere("docs/api/media.md") ?? ""),
  "docs/api/openai-clients.md": presentOpenAiPage(),
  "docs/api/openapi.json": openApi.api,
  "docs/api/console-openapi.json": openApi.console,
  "docs/operating/admin-openapi.json": openApi.admin,
  "web/src/api/console-paths.ts": presentConsoleTypes(JSON.parse(openApi.console), "docs/api/console-openapi.json"),
  "web/src/pages/admin/admin-paths.ts": presentConsoleTypes(
    JSON.parse(openApi.admin),
    "docs/operating/admin-openapi.json",
  ),
  "docs/api/drama-documents.json": presentDramaDocuments(),
  "src/providers/fal/fal-endpoints.json": presentFalEndpoints(
    readIfThere("node_modules/@fal-ai/client/src/types/endpoints.d.ts") ?? "",
  ),
  "migrations/schema.sql": schemaSql,
  "src/platform/database/tables.ts": tablesTs,
};

const outdated = Object.entries(files).filter(([path, text]) => readIfThere(path) !== text);
if (process.argv.includes("--check")) {
  for (const [path] of outdated) console.error(`${path} is out of date. Run \`npm run generate\`.`);
  process.exitCode = outdated.length === 0 ? 0 : 1;
} else {
  for (const [path, text] of outdated) writeFileSync(join(repositoryDir, path), text);
  for (const [path] of outdated) console.log(`wrote ${path}`);
}

function readIfThere(path: string): string | null {
  const file = join(repositoryDir, path);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** Applies the migrations to a real server and reads the resulting schema. */
async function describeMigratedSchema(): Promise<{ schemaSql: string; tablesTs: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-schema-"));
  const { database, address, close } = await openDatabase({
    url: undefined,
    dataDir,
    purpose: "command",
    connectionsMax: 1,
    onProgress: () => {},
    onConnectionError: () => {},
    onLost: () => {},
  });
  try {
    await migrate(address);
    const query = sql.raw<Record<string, unknown>>;
    return await describeSchema(async (statement) => (await query(statement).execute(database)).rows);
  } finally {
    await close();
    rmSync(dataDir, { recursive: true });
  }
}
