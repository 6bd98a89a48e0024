import { homedir } from "node:os";
import { parseMoney } from "../../lib/money.ts";
import { isNetwork } from "../../lib/network.ts";
import { parseDatabaseUrl } from "../database/database-address.ts";

/** Parses the value of a setting from YAML (any type) or the environment (always text). */
export type SettingKind<T> = {
  /** Completes the remedy "Write …". */
  expected: string;
  /** `undefined` means that the value is not of this kind. */
  parse(raw: unknown): T | undefined;
};

export function wholeNumber(range: { min: number; max: number }): SettingKind<number> {
  return {
    expected: `a whole number from ${range.min} to ${range.max}`,
    parse(raw) {
      const value = typeof raw === "string" && /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
      const isInRange = Number.isInteger(value) && Number(value) >= range.min && Number(value) <= range.max;
      return isInRange ? Number(value) : undefined;
    },
  };
}

/** Several whole numbers, or none. */
export function wholeNumbers(range: { min: number; max: number; countMax: number }): SettingKind<readonly number[]> {
  const one = wholeNumber(range);
  return {
    expected: `up to ${range.countMax} whole numbers from ${range.min} to ${range.max}, with commas between them`,
    parse(raw) {
      const items = typeof raw === "string" ? raw.split(",").map((item) => item.trim()) : raw;
      if (!Array.isArray(items) || items.length > range.countMax) return undefined;
      const numbers = items.filter((item) => item !== "").map((item) => one.parse(item));
      return numbers.every((number) => number !== undefined) ? numbers : undefined;
    },
  };
}

/** A part of a whole, from 0 to 1. */
export function share(): SettingKind<number> {
  return {
    expected: "a number from 0 to 1, such as 0.05",
    parse(raw) {
      const value = typeof raw === "string" && /^\d{0,10}(\.\d{1,15})?$/.test(raw) && raw !== "" ? Number(raw) : raw;
      return typeof value === "number" && value >= 0 && value <= 1 ? value : undefined;
    },
  };
}

export function text(expected: string): SettingKind<string> {
  return { expected, parse: (raw) => (typeof raw === "string" && raw.trim() !== "" ? raw.trim() : undefined) };
}

/** One line of text without control characters. */
export function line(charactersMax: number): SettingKind<string> {
  return {
    expected: `a text of 1 to ${charactersMax} characters on one line`,
    parse(raw) {
      const value = typeof raw === "string" ? raw.trim() : "";
      return value !== "" && value.length <= charactersMax && !/\p{Cc}/u.test(value) ? value : undefined;
    },
  };
}

export function colour(): SettingKind<string> {
  return {
    expected: 'a colour as "#rrggbb", in quotes, such as "#6d28d9"',
    parse: (raw) => (typeof raw === "string" && /^#[0-9a-f]{6}$/i.test(raw) ? raw.toLowerCase() : undefined),
  };
}

/** The target of a site link: a web page or a mailto address. */
export function linkTarget(): SettingKind<string> {
  return {
    expected: "an https, http or mailto address, such as https://example.com/terms",
    parse(raw) {
      const url = typeof raw === "string" ? URL.parse(raw) : null;
      return url !== null && ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : undefined;
    },
  };
}

export function folder(): SettingKind<string> {
  return pathOf("the path of a folder");
}

export function file(expected: string): SettingKind<string> {
  return pathOf(expected);
}

function pathOf(expected: string): SettingKind<string> {
  const path = text(expected);
  return { ...path, parse: (raw) => path.parse(raw)?.replace(/^~(?=\/|$)/, homedir()) };
}

export function oneOf<const T extends string>(choices: readonly T[]): SettingKind<T> {
  return {
    expected: `one of ${choices.join(", ")}`,
    // YAML true and false are accepted for on and off.
    parse: (raw) => choices.find((choice) => choice === (typeof raw === "boolean" ? (raw ? "on" : "off") : raw)),
  };
}

/** An http or https URL without query, fragment or user. Trailing slashes are removed. */
export function webAddress(): SettingKind<string> {
  return {
    expected: "an http or https address without a query, such as https://ai.example.com",
    parse(raw) {
      const url = typeof raw === "string" ? URL.parse(raw) : null;
      if (url === null || !["http:", "https:"].includes(url.protocol)) return undefined;
      if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") return undefined;
      return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
    },
  };
}

export function currencyCode(): SettingKind<string> {
  return {
    expected: "the three letters of a currency, such as USD",
    parse: (raw) => (typeof raw === "string" && /^[A-Z]{3}$/.test(raw) ? raw : undefined),
  };
}

/** An amount of money, stored as text: binary fractions are not exact. */
export function amount(): SettingKind<string> {
  return {
    expected: "an amount in the currency, such as 2.50",
    parse(raw) {
      const text = typeof raw === "number" ? String(raw) : raw;
      return typeof text === "string" && parseMoney(text) !== null ? text : undefined;
    },
  };
}

/** An e-mail address or a URL. */
export function contact(): SettingKind<string> {
  return {
    expected: "an e-mail address such as help@example.com, or an http or https address",
    parse(raw) {
      if (typeof raw !== "string") return undefined;
      if (/^[^\s@<>"']+@[^\s@<>"']+$/.test(raw)) return raw;
      const url = URL.parse(raw);
      return url !== null && ["http:", "https:"].includes(url.protocol) ? url.href : undefined;
    },
  };
}

/** Any number of the given words. */
export function someOf(choices: readonly string[]): SettingKind<readonly string[]> {
  return listOf(`a list of any of ${choices.join(", ")}`, (item) => choices.includes(item));
}

/** At least one of the given words. */
export function oneOrMoreOf<const T extends string>(choices: readonly T[]): SettingKind<readonly T[]> {
  const some = someOf(choices);
  return {
    expected: `one or more of ${choices.join(", ")}, with commas between them`,
    parse(raw) {
      const given = some.parse(raw);
      return given === undefined || given.length === 0 ? undefined : choices.filter((choice) => given.includes(choice));
    },
  };
}

export function networks(): SettingKind<readonly string[]> {
  return listOf("a list of addresses or networks, such as 10.0.0.0/8, 192.168.1.5", isNetwork);
}

export function mailAddresses(): SettingKind<readonly string[]> {
  return listOf("a list of e-mail addresses, such as ops@example.com, night@example.com", (item) =>
    /^[^\s@<>"',]+@[^\s@<>"',]+$/.test(item),
  );
}

/** A YAML list, or text with commas. */
function listOf(expected: string, isItem: (item: string) => boolean): SettingKind<readonly string[]> {
  return {
    expected,
    parse(raw) {
      const items = typeof raw === "string" ? raw.split(",").map((item) => item.trim()) : raw;
      if (!Array.isArray(items)) return undefined;
      const given = items.filter((item) => item !== "");
      return given.every((item) => typeof item === "string" && isItem(item)) ? given : undefined;
    },
  };
}

/** HTTP headers in the form of OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`. */
export function headerList(): SettingKind<Readonly<Record<string, string>>> {
  return {
    expected: "headers as name=value with commas between them, such as authorization=Bearer%20token",
    parse(raw) {
      if (typeof raw !== "string") return undefined;
      const given = raw.split(",").map((item) => item.trim());
      const headers = given.filter((item) => item !== "").map(parseHeader);
      return headers.every((header) => header !== null) ? Object.fromEntries(headers) : undefined;
    },
  };
}

function parseHeader(item: string): [name: string, value: string] | null {
  const [, name = "", encoded = ""] = /^([!#$%&'*+.^_`|~\w-]+)\s*=\s*(.*)$/.exec(item) ?? [];
  if (name === "") return null;
  try {
    const value = decodeURIComponent(encoded);
    return /^[\t\x20-\x7e]*$/.test(value) ? [name.toLowerCase(), value] : null;
  } catch {
    // Not URL-encoded; the caller reports the expected form.
    return null;
  }
}

export function databaseAddress(): SettingKind<string> {
  return {
    expected: "an address such as postgres://user:password@host:5432/database",
    parse: (raw) => (typeof raw === "string" && parseDatabaseUrl(raw) !== null ? raw : undefined),
  };
}

export function redisAddress(): SettingKind<string> {
  return serverAddress(["redis:", "rediss:"], "redis://user:password@host:6379");
}

export function mailServerAddress(): SettingKind<string> {
  return serverAddress(["smtp:", "smtps:"], "smtp://user:password@mail.example.com:587");
}

/** An OpenID Connect provider in the settings. */
export type ProviderSetting = { id: string; name: string; issuer: string; client_id: string; client_secret: string };

const providerFields = ["id", "name", "issuer", "client_id", "client_secret"] as const;

/** A YAML list of maps, or the same as JSON. */
export function signInProviders(): SettingKind<readonly ProviderSetting[]> {
  return {
    expected: `a list of services, each with ${providerFields.join(", ")}; the issuer is an https address`,
    parse(raw) {
      const items = typeof raw === "string" ? parseJson(raw) : raw;
      if (!Array.isArray(items) || !items.every(isProvider)) return undefined;
      const hasTwins = new Set(items.map(({ id }) => id)).size !== items.length;
      return hasTwins ? undefined : items;
    },
  };
}

function isProvider(item: unknown): item is ProviderSetting {
  if (typeof item !== "object" || item === null) return false;
  const fields = item as Record<string, unknown>;
  const isComplete = providerFields.every((name) => typeof fields[name] === "string" && fields[name] !== "");
  const isKnown = Object.keys(fields).every((name) => providerFields.some((known) => known === name));
  const issuer = URL.parse(String(fields.issuer));
  const isSafe = issuer?.protocol === "https:" || (issuer?.protocol === "http:" && isLoopbackHost(issuer.hostname));
  return isComplete && isKnown && isSafe && /^[a-z0-9-]{1,32}$/.test(String(fields.id));
}

export function isLoopbackHost(hostname: string): boolean {
  return ["localhost", "::1", "[::1]"].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON; the caller reports the expected form.
    return undefined;
  }
}

function serverAddress(protocols: readonly string[], example: string): SettingKind<string> {
  return {
    expected: `an address such as ${example}`,
    parse(raw) {
      const url = typeof raw === "string" ? URL.parse(raw) : null;
      return url !== null && protocols.includes(url.protocol) ? String(raw) : undefined;
    },
  };
}
