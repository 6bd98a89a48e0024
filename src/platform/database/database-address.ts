import type pg from "pg";

/** How to reach one server: an external one by its URL, the embedded one by its socket. */
export type ServerAddress =
  | { connectionString: string }
  | { host: string; user: string; password: string; database: string };

/** One server, or several of which one accepts writes. */
export type DatabaseAddress = ServerAddress | { hosts: DatabaseHosts };

/** A primary and its standbys. */
export type DatabaseHosts = {
  /** The primary found by the last check. */
  current(): ServerAddress;
  /** Registers a new connection to the current server. It is destroyed when another server becomes current. */
  join(client: pg.ClientBase): void;
  /** Call it once connected: throws if the server accepts no writes, or is not the current one any more. */
  accept(client: pg.ClientBase): Promise<void>;
  /** Finds the server that accepts writes, single-flight. Throws if there is none. */
  look(): Promise<void>;
};

export function locate(address: DatabaseAddress): ServerAddress {
  return "hosts" in address ? address.hosts.current() : address;
}

/** After a failure: checks in the background whether another host is the primary now. */
export function recheckHosts(address: DatabaseAddress): void {
  // If this fails, the next failed query starts another check.
  if ("hosts" in address) address.hosts.look().catch(() => {});
}

/** libpq's `target_session_attrs`. */
type SessionTarget = "read-write" | "any";

type ParsedUrl = { servers: { host: string; url: string }[]; target: SessionTarget };

const sessionTargets: readonly string[] = ["read-write", "any"] satisfies SessionTarget[];

/** Parses libpq's form with several hosts separated by commas. `null` if it is invalid. */
export function parseDatabaseUrl(text: string): ParsedUrl | null {
  const [, before = "", hosts = "", after = ""] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/i.exec(text) ?? [];
  const servers = hosts.split(",").map((host) => ({ host, url: `${before}${host}${after}` }));
  const urls = servers.map(({ url }) => URL.parse(url));
  if (urls.some((url) => url === null || (urls.length > 1 && url.hostname === ""))) return null;
  const target = urls[0]?.searchParams.get("target_session_attrs") ?? "read-write";
  // For a single host the target is not checked.
  if (servers.length > 1 && !sessionTargets.includes(target)) return null;
  return { servers, target: target === "any" ? "any" : "read-write" };
}
