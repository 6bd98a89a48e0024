import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform } from "node:os";
import { join } from "node:path";

const resultsFile = join(import.meta.dirname, "RESULTS.md");

const preface = `# Results

Written by the benches. Figures of different runs or machines do not compare; the ratios within a run do.
`;

/** Prints a bench's results and stores them in the results file, replacing those of the same bench. */
export function writeResults(
  bench:
    | "caching"
    | "chaos"
    | "chat"
    | "crowd"
    | "endurance"
    | "growth"
    | "nodes"
    | "operators"
    | "paint"
    | "processes"
    | "requests"
    | "rollout"
    | "streams"
    | "tasks",
  text: string,
): void {
  const section = `## ${bench}\n\n${describeRun()}\n\n${text.trim()}\n`;
  console.log(`\n${section}`);
  const before = existsSync(resultsFile) ? readFileSync(resultsFile, "utf8") : preface;
  const kept = before.split(/^(?=## )/m).filter((part) => !part.startsWith(`## ${bench}\n`));
  const [head = preface, ...sections] = kept.map((part) => `${part.trim()}\n`);
  writeFileSync(resultsFile, [head, ...[...sections, section].toSorted()].join("\n"));
}

function describeRun(): string {
  const model = cpus()[0]?.model.trim() ?? "";
  const machine = `${availableParallelism()} cores${model === "" || model === "unknown" ? "" : ` (${model})`}, ${platform()} ${arch()}`;
  return `${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.versions.node}, commit ${readCommit()}`;
}

function readCommit(): string {
  const git = (...words: string[]): string =>
    execFileSync("git", words, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  try {
    return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain") === "" ? "" : " with changes"}`;
  } catch {
    // Not every copy of the source is a clone.
    return "unknown";
  }
}

/** A Markdown table with aligned columns; all but the first are right-aligned. */
export function presentTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const presentRow = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => alignCell(cells[column] ?? "", width, column)).join(" | ")} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [presentRow(titles), rule, ...rows.map(presentRow)].join("\n");
}

function alignCell(text: string, width: number, column: number): string {
  return column === 0 ? text.padEnd(width) : text.padStart(width);
}
