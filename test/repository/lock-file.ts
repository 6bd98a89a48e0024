export type LockEntry = {
  version?: string;
  integrity?: string;
  resolved?: string;
  /** A workspace of the repository itself; it comes from no registry. */
  link?: boolean;
  optionalDependencies?: Record<string, string>;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string | string[];
};

export type LockFile = { packages: Record<string, LockEntry> };

/** Optional dependencies of one package that are the same thing built for different machines. */
type PlatformFamily = { owner: string; family: string; members: { name: string; entry: LockEntry | undefined }[] };

type Target = { name: string; os: string; cpu: string; libc: string };

const targets: readonly Target[] = [
  { name: "linux-x64", os: "linux", cpu: "x64", libc: "glibc" },
  { name: "linux-arm64", os: "linux", cpu: "arm64", libc: "glibc" },
];

const platformWord =
  /[-/](?:aix|android|darwin|freebsd|linux|linuxmusl|netbsd|openbsd|openharmony|sunos|wasm32|webcontainers|win32|x64|arm64)(?:-.*)?$/;

/**
 * npm sometimes writes a lock file in which the builds for other machines are missing, and says nothing. Returns a
 * sentence for each family of builds that would leave a target without any.
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

/** A package that is itself built for one machine needs its parts for that machine only. */
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

/** Where two versions of a package are installed, the builds of one do not serve the other. */
function isWanted(entry: LockEntry | undefined, wanted: string): boolean {
  return !/^\d+\.\d+\.\d+/.test(wanted) || entry?.version === undefined || entry.version === wanted;
}

/**
 * The name without its platform. One package may have several families (the repository itself has two), and one that
 * is complete must not hide the gap in another.
 */
function getFamily(name: string): string {
  return name.replace(platformWord, "");
}

/** Looks where Node would look: in the owner's own folder first, then in every folder above it. */
function findEntry(lock: LockFile, owner: string, name: string): LockEntry | undefined {
  const folders = owner === "" ? [] : owner.split("/");
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    if (folders[depth - 1] === "node_modules") continue;
    const entry = lock.packages[[...folders.slice(0, depth), "node_modules", name].join("/")];
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** True only when nothing is missing: what is missing might be the very build for Linux. */
function isForOtherSystemsOnly({ members }: PlatformFamily): boolean {
  return members.every(({ entry }) => entry !== undefined && !allows(entry.os, "linux"));
}

function isComplete(entry: LockEntry | undefined): entry is LockEntry {
  return entry?.version !== undefined && entry.integrity !== undefined;
}

function isBuiltFor(entry: LockEntry, target: Target): boolean {
  return allows(entry.os, target.os) && allows(entry.cpu, target.cpu) && allows(entry.libc, target.libc);
}

/** As npm reads these fields: no list allows everything, `!value` forbids one value. */
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
