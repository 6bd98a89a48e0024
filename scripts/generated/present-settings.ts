import { getSettingEntry, type SettingName, settingNames } from "../../src/platform/config/settings-table.ts";

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
    const also = alias === undefined ? "" : ` Also \`${alias}\`.`;
    return `| \`${name}\` | \`${presentStandard(name)}\` | ${shortenExpected(kind.expected)} | ${explains}${also} |`;
  });
  return [
    "# Settings",
    "",
    "<!-- Written from src/platform/config/settings-table.ts by `npm run generate`. -->",
    "",
    "Set them in `sluice.yaml` in the folder where Sluice starts (another file: `SLUICE_CONFIG=path`) or in the environment, which wins:",
    "`site_url` is `SLUICE_SITE_URL` there. With `_FILE` after its name (`SLUICE_SECRET_KEY_FILE=/run/secrets/secret_key`) a variable names",
    "a file that contains the value. An unknown or wrong setting stops the start, and the error says what to write.",
    "",
    "| setting | default | value | meaning |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

const expectedLengthMax = 200;

/** The sentence of an error message, as the cell of a table. */
function shortenExpected(expected: string): string {
  // The list of all endpoints, which the reference has.
  if (expected.length > expectedLengthMax) return "a list of operation ids of the reference, such as createImage";
  return expected
    .replace(/^an? whole number from (\S+) to (\S+)$/, "$1 to $2")
    .replace(/^one of /, "")
    .replace(/^the (path of a (?:folder|file))$/, "a path");
}

function presentStandard(name: SettingName): string {
  const { standard, otherwise } = getSettingEntry(name);
  if (otherwise !== undefined) return otherwise;
  return Array.isArray(standard) && standard.length === 0 ? "none" : String(standard);
}
