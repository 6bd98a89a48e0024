export type LockEntry = {
  version?: string;
  integrity?: string;
  resolved?: string;
  /** A workspace of the repository itself, which is in no registry. */
  link?: boolean;
  optionalDependencies?: Record<string, string>;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string | string[];
};

export type LockFile = { packages: Record<string, LockEntry> };

/** Optional dependencies of one package: the same code built for different platforms. */
type PlatformFamily = { owner: string; family: string; members: { name: string; entry: LockEntry | undefined }[] };

type Target = { name: string; os: string; cpu: string; libc: string };

const targets: readonly Target[] = [
  { name: "linux-x64", os: "linux", cpu: "x64", libc: "glibc" },
  { name: "linux-arm64", os: "linux", cpu: "arm64", libc: "glibc" },
];

const platformWord =
  /[-/](?:aix|android|darwin|freebsd|linux|linuxmusl|netbsd|openbsd|openharmony|sunos|wasm32|webcontainers|win32|x64|arm64)(?:-.*)?$/;

/**
 * npm sometimes writes a lock file without the builds for other platforms, and without a warning. Returns an error for
 * each family of builds that would leave a target without any.
 */
export function listUnservedTargets(lock: LockFile): string[] {
  return listPlatformFamilies(lock)
    .filter((family) => !isForOtherSystemsOnly(family))
    .flatMap((family) =>
      targets
        .filter((target) => isInstalledOn(lock, family.owner, target))
        .filter((target) => !family.members.some(({ entry }) => isComplete(entry) && isBuiltFor(entry, target)))
        .map((target) => presentGap(family, target)),
    );
}

/** A package built for one platform needs its dependencies for that platform only. */
function isInstalledOn(lock: LockFile, owner: string, target: Target): boolean {
  const entry = lock.packages[owner];
  return owner === "" || entry === undefined || isBuiltFor(entry, target);
}

function listPlatformFamilies(lock: LockFile): PlatformFamily[] {
  return Object.entries(lock.packages).flatMap(([owner, { optionalDependencies = {} }]) => {
    const members = Object.entries(optionalDependencies).map(([name, wanted]) => {
      const entry = findEntry(lock, owner, name);
      return { name, entry: isWanted(entry, wanted) ? entry : undefined };
    });
    return Object.entries(Object.groupBy(members, ({ name }) => getFamily(name)))
      .map(([family, ofFamily = []]) => ({ owner, family, members: ofFamily }))
      .filter((family) => family.members.some(({ entry }) => entry === undefined || entry.cpu !== undefined));
  });
}

/** If two versions of a package are installed, builds of one do not serve the other. */
function isWanted(entry: LockEntry | undefined, wanted: string): boolean {
  return !/^\d+\.\d+\.\d+/.test(wanted) || entry?.version === undefined || entry.version === wanted;
}

/**
 * The name without its platform. One package may have several families (the repository itself has two), and a complete
 * one must not hide the gap in another.
 */
function getFamily(name: string): string {
  return name.replace(platformWord, "");
}

/** Resolves like Node: in the owner's own folder first, then in every folder above it. */
function findEntry(lock: LockFile, owner: string, name: string): LockEntry | undefined {
  const folders = owner === "" ? [] : owner.split("/");
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    if (folders[depth - 1] === "node_modules") continue;
    const entry = lock.packages[[...folders.slice(0, depth), "node_modules", name].join("/")];
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** True only when nothing is missing, because the missing package might be the Linux build. */
function isForOtherSystemsOnly({ members }: PlatformFamily): boolean {
  return members.every(({ entry }) => entry !== undefined && !allows(entry.os, "linux"));
}

function isComplete(entry: LockEntry | undefined): entry is LockEntry {
  return entry?.version !== undefined && entry.integrity !== undefined;
}

function isBuiltFor(entry: LockEntry, target: Target): boolean {
  return allows(entry.os, target.os) && allows(entry.cpu, target.cpu) && allows(entry.libc, target.libc);
}

/** npm's rules for these fields: no list allows everything, `!value` forbids one value. */
function allows(list: string | string[] | undefined, value: string): boolean {
  const values = list === undefined ? [] : [list].flat();
  const allowed = values.filter((item) => !item.startsWith("!"));
  return !values.includes(`!${value}`) && (allowed.length === 0 || allowed.includes(value) || allowed.includes("any"));
}

function presentGap({ owner, family, members }: PlatformFamily, target: Target): string {
  const missing = members.filter(({ entry }) => !isComplete(entry)).map(({ name }) => name);
  const reason = missing.length === 0 ? "" : ` (without a complete entry: ${missing.join(", ")})`;
  return `${owner === "" ? "package.json" : owner} has no ${family} for ${target.name}${reason}`;
}
