import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadSettings, type Settings } from "../../src/platform/config/load-settings.ts";
import { getEnvironmentName, getSettingEntry, settingNames } from "../../src/platform/config/settings-table.ts";
import { presentExampleFile, presentSettingsPage } from "./present-settings.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-example-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function loadFile(text: string): Settings {
  writeFileSync(join(directory, "sluice.yaml"), text);
  return loadSettings({ environment: {}, directory });
}

/** The example file with the given settings uncommented. */
function uncomment(names: readonly string[]): string {
  return presentExampleFile().replace(/^# ([a-z0-9_]+)(: .*)$/gm, (line, name: string, rest: string) =>
    names.includes(name) ? name + rest : line,
  );
}

/** Settings that are valid only together: exposure with a public site_url, a certificate with its key. */
const companions: Readonly<Record<string, readonly string[]>> = {
  host: ["site_url"],
  trusted_proxies: ["site_url"],
  tls_cert_file: ["tls_key_file"],
  tls_key_file: ["tls_cert_file"],
};

/** Values whose parsed form differs from the YAML. */
const meanings: Readonly<Record<string, unknown>> = {
  otlp_headers: { authorization: "${COLLECTOR_AUTHORIZATION}" },
  welcome_credit: "2.5",
  new_account_daily_spend_max: "20",
};

describe("the example file", () => {
  test("changes nothing by default", () => {
    expect(loadFile(presentExampleFile())).toEqual(loadFile(""));
  });

  test.each(settingNames)("shows a valid value of %s", (name) => {
    expect(uncomment([name])).not.toBe(presentExampleFile());
    expect(loadFile(uncomment([name, ...(companions[name] ?? [])]))[name]).toEqual(
      meanings[name] ?? parse(getSettingEntry(name).example),
    );
  });

  test("is valid with all settings uncommented", () => {
    expect(loadFile(uncomment(settingNames)).base_url).toBe("https://ai.example.com/v1");
  });

  test("contains every setting exactly once", () => {
    const named = [...presentExampleFile().matchAll(/^# ([a-z0-9_]+): /gm)].map(([, name]) => name);
    expect(named).toEqual(settingNames);
  });
});

describe("the page", () => {
  const rows = presentSettingsPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()));

  test("has one row of four cells for each setting", () => {
    expect(rows.map(([, name]) => name)).toEqual(settingNames.map((name) => `\`${name}\``));
    for (const cells of rows) expect(cells).toHaveLength(6); // four, and the empty ones outside the outer bars
  });

  test("documents the variable names and the alias of database_url", () => {
    for (const name of settingNames) expect(getEnvironmentName(name)).toBe(`SLUICE_${name.toUpperCase()}`);
    expect(presentSettingsPage()).toContain("Also `DATABASE_URL`.");
  });

  test("shows the default of each setting", () => {
    const standards = Object.fromEntries(rows.map(([, name = "", standard]) => [name.replaceAll("`", ""), standard]));
    expect(standards).toMatchObject({
      site_url: "`http://localhost:<port>`",
      port: "`4242`",
      trusted_proxies: "`none`",
      json_body_bytes_max: "`20971520`",
    });
    expect(Object.values(standards)).not.toContain("`undefined`");
  });
});
