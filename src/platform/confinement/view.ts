/** All that a confined process sees of the disk, beside the system's libraries. */
export type View = {
  /** Files and folders that it may read. */
  reads: readonly string[];
  /** Programs that it may start, beside the one that it is. */
  runs?: readonly string[];
  /** Files and folders that it may change. A file that is not there yet is made before it starts. */
  writes: readonly string[];
};

/** What programs of this machine are linked with. No folder that people keep things in. */
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
