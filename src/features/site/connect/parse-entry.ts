import type { BrowserWay } from "./connect-request.ts";

/** A sentence about what a program sent, for the person who sees the page and whoever wrote the program. */
type EntryProblem = { param: string; message: string };

export type EntryOutcome =
  | { kind: "accepted"; client: string; way: BrowserWay }
  | { kind: "refused"; problems: EntryProblem[] };

/** A value in both its forms: `null` where its percent signs make no text. */
type QueryValue = { raw: string; text: string | null };

const params = ["client", "response_type", "redirect_uri", "state", "code_challenge", "code_challenge_method"] as const;
type Param = (typeof params)[number];
type Values = Readonly<Record<Param, QueryValue[]>>;

const clientPattern = /^[A-Za-z0-9._-]{2,64}$/;
const redirectPattern = /^http:\/\/(127\.0\.0\.1|localhost):([1-9][0-9]{0,4})\/callback$/;
const challengePattern = /^[A-Za-z0-9_-]{43}$/;
const portMax = 65_535;
const stateCharactersMax = 1024;

export const clientRule = "must have 2 to 64 letters, digits, dots, hyphens or underscores";
const redirectRule = "must be http://127.0.0.1:<port>/callback or http://localhost:<port>/callback";

/**
 * Reads what a program asks for from the query of its address, as it was sent. Everything is judged, so that who writes
 * a program sees all that is wrong at once. Parameters that we do not know are left alone.
 */
export function parseEntry(query: string): EntryOutcome {
  const values = readQuery(query);
  const problems: EntryProblem[] = [];

  /** The one text of a parameter, if it passes. */
  function take<T>(param: Param, rule: string, read: (value: { raw: string; text: string }) => T | null): T | null {
    const [value, ...others] = values[param];
    if (value === undefined) problems.push({ param, message: `is missing. It ${rule}.` });
    else if (others.length > 0) problems.push({ param, message: "is there more than once." });
    else if (value.text === null) problems.push({ param, message: "is not encoded as part of an address." });
    else {
      const result = read({ raw: value.raw, text: value.text });
      if (result === null) problems.push({ param, message: `${rule}.` });
      return result;
    }
    return null;
  }

  const client = take("client", clientRule, ({ text }) => (isClientName(text) ? text : null));
  take("response_type", "must be api_key", ({ text }) => (text === "api_key" ? text : null));
  const redirectUri = take("redirect_uri", redirectRule, ({ text }) => rebuildRedirect(text));
  const clientState = take("state", `must have 1 to ${stateCharactersMax} characters`, encodeState);
  const hasChallenge = values.code_challenge.length + values.code_challenge_method.length > 0;
  const codeChallenge = hasChallenge
    ? take("code_challenge", "must be the SHA-256 of the verifier in base64url, 43 characters", ({ text }) =>
        challengePattern.test(text) ? text : null,
      )
    : null;
  if (hasChallenge) take("code_challenge_method", "must be S256", ({ text }) => (text === "S256" ? text : null));

  if (problems.length > 0 || client === null || redirectUri === null || clientState === null) {
    return { kind: "refused", problems };
  }
  return { kind: "accepted", client, way: { kind: "browser", redirectUri, clientState, codeChallenge } };
}

export function isClientName(text: string): boolean {
  return clientPattern.test(text);
}

/** The address of the program, made anew of what was checked. */
function rebuildRedirect(text: string): string | null {
  const [, host, port] = redirectPattern.exec(text) ?? [];
  return host === undefined || Number(port) > portMax ? null : `http://${host}:${Number(port)}/callback`;
}

/**
 * The program gets back what it sent, in the form in which it sent it: some write a space as `+`, others mean the `+`,
 * and only they know. What could mean something else in an address is encoded.
 */
function encodeState({ raw, text }: { raw: string; text: string }): string | null {
  const length = [...text].length;
  if (length < 1 || length > stateCharactersMax) return null;
  return raw.replaceAll(/[^A-Za-z0-9._~%+-]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function readQuery(query: string): Values {
  const values: Record<Param, QueryValue[]> = {
    client: [],
    response_type: [],
    redirect_uri: [],
    state: [],
    code_challenge: [],
    code_challenge_method: [],
  };
  for (const pair of query.split("&")) {
    const [name = "", ...rest] = pair.split("=");
    const param = params.find((known) => known === decode(name));
    const raw = rest.join("=");
    if (param !== undefined) values[param].push({ raw, text: decode(raw) });
  }
  return values;
}

function decode(text: string): string | null {
  // An address has no others, and what goes back relies on that.
  if (/[^\x21-\x7e]/.test(text)) return null;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
