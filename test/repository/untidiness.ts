import { posix } from "node:path";

export type SourceFile = { path: string; text: string };

/** Files with the same name cannot be distinguished in editor tabs or stack traces. */
export function listSharedNames(files: readonly SourceFile[]): string[] {
  const paths = files.map(({ path }) => path).filter((path) => posix.basename(path) !== "index.ts");
  return Object.values(Object.groupBy(paths, (path) => posix.basename(path)))
    .filter((group = []) => group.length > 1)
    .map((group = []) => group.join(" and "));
}

/** Markers that belong in a branch, not in the history. */
export function listLeftovers(files: readonly SourceFile[]): string[] {
  return listMatches(files, /\b(TODO|FIXME|XXX)\b|\.only\(|\bas any\b|@ts-ignore/);
}

/** Time and randomness are arguments, so that tests control them; one file reads the system clock. */
export function listClockReads(files: readonly SourceFile[]): string[] {
  const gateway = files.filter(({ path }) =>
    /^(?:src\/(?!lib\/clock\.ts$)|packages\/sandbox\/).*(?<!\.test)\.tsx?$/.test(path),
  );
  return listMatches(gateway, /\bDate\.now\(|\bMath\.random\(|\bnew Date\(\s*\)/);
}

/** Code that bypasses the framework must handle its rules, such as HEAD without a body: only one folder may. */
export function listRawWrites(files: readonly SourceFile[]): string[] {
  const features = files.filter(({ path }) => /^src\/(?!platform\/http\/).*(?<!\.test)\.ts$/.test(path));
  return listMatches(features, /\.hijack\(|\braw\.(?:write|writeHead|end|flushHeaders)\(/);
}

/**
 * A page may show a text late, or twice, for example in a toast. A test that checks once, or expects one match, is
 * flaky.
 */
export function listHastyLooks(files: readonly SourceFile[]): string[] {
  const browsing = files.filter(({ path }) => /^test\/(?:browser|harness\/site)\//.test(path));
  return listMatches(
    browsing,
    /getByText\((?:[^()]|\([^()]*\))*\)\.waitFor\(|expect\(await [^;]*\.(?:count|inputValue|textContent|getAttribute|title)\([^()]*\)\)\.to|expect\(await listAxeFindings/,
  );
}

/** A feature is imported through an index.ts that describes its contract and lists its exports by name. */
export function listDoorFaults(files: readonly SourceFile[]): string[] {
  const folders = new Set(files.flatMap(({ path }) => path.match(/^src\/features\/[^/]+(?=\/)/) ?? []));
  return [...folders].flatMap((folder) => {
    const door = files.find(({ path }) => path === `${folder}/index.ts`);
    if (door === undefined) return [`${folder} has no index.ts`];
    return [
      ...(/^\s*\/\*\*/.test(door.text) ? [] : [`${door.path} does not begin with a doc comment`]),
      ...(/^\s*export \*/m.test(door.text) ? [`${door.path} exports without names`] : []),
    ];
  });
}

function listMatches(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => {
      const [found] = line.match(pattern) ?? [];
      return found === undefined ? [] : [`${path}:${index + 1}: ${found}`];
    }),
  );
}
