/** How to reach a database: an external one by its URL, the embedded one by its socket. */
export type DatabaseAddress =
  | { connectionString: string }
  | { host: string; user: string; password: string; database: string };
