import { posix } from "node:path";

export type SourceFile = { path: string; text: string };

/** Two tabs or two lines of a stack trace with the same name cannot be told apart. */
export function listSharedNames(files: readonly SourceFile[]): string[] {
  const paths = files.map(({ path }) => path).filter((path) => posix.basename(path) !== "index.ts");
  return Object.values(Object.groupBy(paths, (path) => posix.basename(path)))
    .filter((group = []) => group.length > 1)
    .map((group = []) => group.join(" and "));
}

/** What belongs into a branch, not into the history. */
export function listLeftovers(files: readonly SourceFile[]): string[] {
  return listMatches(files, /\b(TODO|FIXME|XXX)\b|\.only\(|\bas any\b|@ts-ignore/);
}

/** Time and chance come in as arguments, so that a test can decide them; one file asks the machine. */
export function listClockReads(files: readonly SourceFile[]): string[] {
  const gateway = files.filter(({ path }) =>
    /^(?:src\/(?!lib\/clock\.ts$)|packages\/sandbox\/).*(?<!\.test)\.tsx?$/.test(path),
  );
  return listMatches(gateway, /\bDate\.now\(|\bMath\.random\(|\bnew Date\(\s*\)/);
}

/** Who writes past the framework must know what it knows, such as that HEAD has no body: one folder does. */
export function listRawWrites(files: readonly SourceFile[]): string[] {
  const features = files.filter(({ path }) => /^src\/(?!platform\/http\/).*(?<!\.test)\.ts$/.test(path));
  return listMatches(features, /\.hijack\(|\braw\.(?:write|writeHead|end|flushHeaders)\(/);
}

/** A page shows a text when it does, and at times twice, as where a toast repeats it: who looks once, or for the only one, fails now and then. */
export function listHastyLooks(files: readonly SourceFile[]): string[] {
  const browsing = files.filter(({ path }) => /^test\/(?:browser|harness\/site)\//.test(path));
  return listMatches(
    browsing,
    /getByText\((?:[^()]|\([^()]*\))*\)\.waitFor\(|expect\(await [^;]*\.(?:count|inputValue|textContent|getAttribute|title)\([^()]*\)\)\.to|expect\(await listAxeFindings/,
  );
}

/** A feature is entered by an index.ts that says what it promises and lists its exports by name. */
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
