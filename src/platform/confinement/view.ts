/** The paths that a confined process can access, besides the system's libraries. */
export type View = {
  reads: readonly string[];
  /** Programs that it may start. */
  runs?: readonly string[];
  /** Missing files are created first. */
  writes: readonly string[];
};

/** Shared libraries. */
export const systemPaths = [
  "/lib",
  "/lib64",
  "/usr/lib",
  "/usr/lib64",
  "/usr/local/lib",
  "/etc/ld.so.cache",
  "/etc/alternatives",
];

export const readableDevices = ["/dev/zero", "/dev/random", "/dev/urandom"];
export const writableDevices = ["/dev/null"];
