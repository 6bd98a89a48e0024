import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { type Brand, deriveAccent, findReadable, logoEndings } from "../features/site/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";

const logoBytesMax = 256 * 1024;

/** Throws with the fix if a brand setting is invalid. */
export function readBrandSettings(settings: Settings): Brand {
  const { announcement, announcement_level: level, announcement_url: url } = settings;
  return {
    name: settings.brand_name,
    logo: settings.brand_logo_file === undefined ? null : readLogo(settings.brand_logo_file),
    accent: readAccent(settings),
    links: {
      support: presentContact(settings.support_contact),
      terms: settings.terms_url ?? null,
      privacy: settings.privacy_url ?? null,
      status: settings.status_url ?? (settings.status_page === "on" ? `${settings.site_url}/status` : null),
    },
    announcement: announcement === undefined ? null : { text: announcement, level, url: url ?? null },
  };
}

/** A URL, or a mailto link. */
function presentContact(contact: string | undefined): string | null {
  if (contact === undefined) return null;
  return /^https?:/.test(contact) ? contact : `mailto:${contact}`;
}

function readLogo(path: string): Brand["logo"] {
  const remedy = `Use a file of at most ${logoBytesMax / 1024} kB that ends in ${logoEndings.join(", ")}.`;
  const ending = logoEndings.find((known) => known === extname(path).toLowerCase());
  if (ending === undefined) throw new OperatorError(`The logo ${path} has an unsupported format.`, remedy);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new OperatorError(`Cannot read the logo ${path}.`, remedy, { cause: error });
  }
  if (bytes.length > logoBytesMax)
    throw new OperatorError(`The logo ${path} is too large: ${bytes.length} bytes.`, remedy);
  return { ending, bytes };
}

/** The dark accent derives from the light one unless set. */
function readAccent({ brand_accent: given, brand_accent_dark: givenDark }: Settings): Brand["accent"] {
  if (given === undefined && givenDark === undefined) return null;
  if (given === undefined) {
    throw new OperatorError("brand_accent_dark is set, but brand_accent is not.", "Set brand_accent too.");
  }
  return {
    light: requireReadable("brand_accent", given, "light"),
    dark: requireReadable("brand_accent_dark", givenDark ?? findReadable(given, "dark"), "dark"),
  };
}

function requireReadable(name: string, hex: string, theme: "light" | "dark") {
  const colours = deriveAccent(hex, theme);
  if (colours !== null) return colours;
  throw new OperatorError(
    `${name} ${hex} is not readable in the ${theme} theme: its contrast is below 4.5.`,
    `Write ${name}: "${findReadable(hex, theme)}", the nearest readable colour.`,
  );
}
