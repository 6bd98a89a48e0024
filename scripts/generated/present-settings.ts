import {
  getEnvironmentName,
  getSettingEntry,
  type SettingName,
  settingNames,
} from "../../src/platform/config/settings-table.ts";

/** The commented example file: every setting, switched off, with what holds without it. */
export function presentExampleFile(): string {
  const entries = settingNames.map((name) => {
    const { explains, kind, example } = getSettingEntry(name);
    return [
      `# ${explains.replaceAll("`", "")}`,
      `# Write ${kind.expected}. Without it: ${presentStandard(name)}.`,
      `# ${name}: ${example}`,
    ].join("\n");
  });
  return [
    "# The settings of Sluice. Copy this file to sluice.yaml and remove the # before what you set.",
    "# Each can also be set in the environment, which wins: site_url is SLUICE_SITE_URL there.",
    "# This file is written from src/platform/config/settings-table.ts by `npm run generate`.",
    "",
    entries.join("\n\n"),
    "",
  ].join("\n");
}

/** The page of the operators' guide. */
export function presentSettingsPage(): string {
  const rows = settingNames.map((name) => {
    const { explains, kind, alias } = getSettingEntry(name);
    const variables = [getEnvironmentName(name), ...(alias === undefined ? [] : [alias])];
    const cells = [
      `\`${name}\``,
      variables.map((variable) => `\`${variable}\``).join(", "),
      `\`${presentStandard(name)}\``,
      `${explains} Write ${kind.expected}.`,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "# Settings",
    "",
    "<!-- Written from src/platform/config/settings-table.ts by `npm run generate`. -->",
    "",
    "Settings come from `sluice.yaml` in the folder where Sluice starts (another file: `SLUICE_CONFIG=path`) and from",
    "the environment, which wins. An unknown or wrong setting stops the start with a sentence that says what to write.",
    "A variable with `_FILE` after its name (`SLUICE_SECRET_KEY_FILE=/run/secrets/secret_key`) names a file that has the value;",
    "the same goes for the variables that a catalog names for its upstreams' keys, whose files are read again while the gateway runs.",
    "",
    "| setting | in the environment | without it | meaning |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function presentStandard(name: SettingName): string {
  const { standard, otherwise } = getSettingEntry(name);
  if (otherwise !== undefined) return otherwise;
  return Array.isArray(standard) && standard.length === 0 ? "none" : String(standard);
}
