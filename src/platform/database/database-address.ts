import type pg from "pg";

/** How to reach one server: an external one by its URL, the embedded one by its socket. */
export type ServerAddress =
  | { connectionString: string }
  | { host: string; user: string; password: string; database: string };

/** How to reach a database: the one server that there is, or whichever of several takes writes. */
export type DatabaseAddress = ServerAddress | { hosts: DatabaseHosts };

/** Several servers, of which one takes writes: a primary and its standbys. */
export type DatabaseHosts = {
  /** The server that took writes when this was last looked into. */
  current(): ServerAddress;
  /** A connection to the current server, which is cut when another one takes its place. To be said when it is created. */
  join(client: pg.ClientBase): void;
  /** Refuses a connection, now that it is there, to a server that takes no writes, or that is not the current one any more. */
  accept(client: pg.ClientBase): Promise<void>;
  /** Looks which server takes writes; whoever asks meanwhile shares the look. Throws when none does. */
  look(): Promise<void>;
};

/** What connects a client to the database. */
export function locate(address: DatabaseAddress): ServerAddress {
  return "hosts" in address ? address.hosts.current() : address;
}

/** Has it looked into where the database is, where it may be elsewhere by now. */
export function doubt(address: DatabaseAddress): void {
  // In vain, it is looked into again by the next one who fails.
  if ("hosts" in address) address.hosts.look().catch(() => {});
}

/** What is asked of a server before it is used. */
type SessionTarget = "read-write" | "any";

type ParsedUrl = { servers: { host: string; url: string }[]; target: SessionTarget };

const sessionTargets: readonly string[] = ["read-write", "any"] satisfies SessionTarget[];

/** Takes the form of libpq apart: several hosts with commas between them. `null` when it is no such address. */
export function parseDatabaseUrl(text: string): ParsedUrl | null {
  const [, before = "", hosts = "", after = ""] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/i.exec(text) ?? [];
  const servers = hosts.split(",").map((host) => ({ host, url: `${before}${host}${after}` }));
  const urls = servers.map(({ url }) => URL.parse(url));
  if (urls.some((url) => url === null || (urls.length > 1 && url.hostname === ""))) return null;
  const target = urls[0]?.searchParams.get("target_session_attrs") ?? "read-write";
  // A single host is used whatever it takes, and what else its address asks for is not looked at.
  if (servers.length > 1 && !sessionTargets.includes(target)) return null;
  return { servers, target: target === "any" ? "any" : "read-write" };
}
