import { getSettingEntry, type SettingName, settingNames } from "../../src/platform/config/settings-table.ts";

/** The example file: every setting, commented out, with its default. */
export function presentExampleFile(): string {
  const entries = settingNames.map((name) => {
    const { description, kind, example } = getSettingEntry(name);
    return [
      `# ${description.replaceAll("`", "")}`,
      `# Write ${kind.expected}. Default: ${presentDefault(name)}.`,
      `# ${name}: ${example}`,
    ].join("\n");
  });
  return [
    "# Settings of Sluice. Copy this file to sluice.yaml and uncomment the settings you change.",
    "# Environment variables take precedence: SLUICE_SITE_URL sets site_url.",
    "# Generated from src/platform/config/settings-table.ts by `npm run generate`.",
    "",
    entries.join("\n\n"),
    "",
  ].join("\n");
}

/** `docs/operating/settings.md`. */
export function presentSettingsPage(): string {
  const rows = settingNames.map((name) => {
    const { description, kind, alias } = getSettingEntry(name);
    const also = alias === undefined ? "" : ` Also \`${alias}\`.`;
    return `| \`${name}\` | \`${presentDefault(name)}\` | ${shortenExpected(kind.expected)} | ${description}${also} |`;
  });
  return [
    "# Settings",
    "",
    "<!-- Generated from src/platform/config/settings-table.ts by `npm run generate`. -->",
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

/** Shortens an error message's text for a table cell. */
function shortenExpected(expected: string): string {
  // The list of all endpoints is too long; the reference has it.
  if (expected.length > expectedLengthMax) return "a list of operation ids of the reference, such as createImage";
  return expected
    .replace(/^an? whole number from (\S+) to (\S+)$/, "$1 to $2")
    .replace(/^one of /, "")
    .replace(/^the (path of a (?:folder|file))$/, "a path");
}

function presentDefault(name: SettingName): string {
  const { default: value, defaultText } = getSettingEntry(name);
  if (defaultText !== undefined) return defaultText;
  return Array.isArray(value) && value.length === 0 ? "none" : String(value);
}
