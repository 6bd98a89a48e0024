import type { BrowserWay } from "./connect-request.ts";

/** A problem with a parameter, for the user and the program's developers. */
type EntryProblem = { param: string; message: string };

export type EntryOutcome =
  | { kind: "accepted"; client: string; way: BrowserWay }
  | { kind: "refused"; problems: EntryProblem[] };

/** The raw and the decoded value; `null` if it cannot be decoded. */
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

/** Parses the query of an authorization request. Lists all problems at once, and ignores unknown parameters. */
export function parseEntry(query: string): EntryOutcome {
  const values = readQuery(query);
  const problems: EntryProblem[] = [];

  /** The single value of a parameter, if valid. */
  function take<T>(param: Param, rule: string, read: (value: { raw: string; text: string }) => T | null): T | null {
    const [value, ...others] = values[param];
    if (value === undefined) problems.push({ param, message: `is missing. It ${rule}.` });
    else if (others.length > 0) problems.push({ param, message: "must not be repeated." });
    else if (value.text === null) problems.push({ param, message: "must be URL-encoded." });
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

/** Rebuilds the redirect URI from its validated parts. */
function rebuildRedirect(text: string): string | null {
  const [, host, port] = redirectPattern.exec(text) ?? [];
  return host === undefined || Number(port) > portMax ? null : `http://${host}:${Number(port)}/callback`;
}

/**
 * Returns `state` in the encoding it was sent in: some clients write a space as `+`, others mean a plus sign. Encodes
 * only characters that are special in a URL.
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
  // A URL contains no other characters, and the callback relies on that.
  if (/[^\x21-\x7e]/.test(text)) return null;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
