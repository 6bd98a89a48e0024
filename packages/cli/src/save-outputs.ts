import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, link, mkdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CliError } from "./cli-error.ts";
import { fetchOutput } from "./fetch-output.ts";
import type { TaskAnswer, TaskOutput } from "./task-answer.ts";
import type { Terminal } from "./terminal.ts";

export type Destination = { kind: "folder"; path: string } | { kind: "file"; path: string } | { kind: "stdout" };

type SaveOptions = { terminal: Terminal; doesForce: boolean; signal: AbortSignal };

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif",
  "video/mp4": "mp4",
  "video/webm": "webm",
  "video/quicktime": "mov",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/pcm": "pcm",
  "audio/mp4": "m4a",
  "audio/ogg": "ogg",
  "audio/flac": "flac",
  "application/json": "json",
  "text/vtt": "vtt",
};

/** Fails on an existing file now, before the task costs money. */
export async function chooseDestination(given: string | undefined, doesForce: boolean): Promise<Destination> {
  if (given === "-") return { kind: "stdout" };
  const path = given ?? ".";
  const known = await stat(path).catch(() => null);
  if (known?.isDirectory() || path.endsWith("/")) return { kind: "folder", path };
  if (known !== null && !doesForce) throw createExistence(path);
  return { kind: "file", path };
}

function createExistence(path: string): CliError {
  return new CliError(`${path} already exists.`, { remedy: "Overwrite it with --force, or choose another --output." });
}

/** Downloads a task's outputs and returns their paths. */
export async function saveOutputs(task: TaskAnswer, destination: Destination, options: SaveOptions): Promise<string[]> {
  if (destination.kind === "stdout") {
    for (const output of task.output) await writeOut(output, options);
    return [];
  }
  const paths = nameFiles(task, destination);
  for (const [index, output] of task.output.entries()) {
    const path = paths[index];
    if (path !== undefined) await saveOne(output, path, options);
  }
  return paths;
}

/** Builds safe file names: only letters and digits of the server's type and id, and known extensions. */
function nameFiles({ id, type, output }: TaskAnswer, destination: Exclude<Destination, { kind: "stdout" }>): string[] {
  const stem = `${type.replaceAll(/[^a-z]/g, "")}-${id.replaceAll(/[^0-9a-z]/g, "").slice(-8)}`;
  const names = output.map(({ content_type }) => extensions[content_type.split(";")[0]?.trim() ?? ""] ?? "bin");
  return names.map((extension, index) => {
    const isOne = names.filter((other) => other === extension).length === 1;
    const number = isOne ? "" : `-${names.slice(0, index + 1).filter((other) => other === extension).length}`;
    if (destination.kind === "folder") return join(destination.path, `${stem}${number}.${extension}`);
    if (output.length === 1) return destination.path;
    return `${destination.path.replace(/\.[^./]*$/, "")}${number}.${extension}`;
  });
}

async function saveOne(output: TaskOutput, path: string, options: SaveOptions): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Checked before the download, and again atomically by `link`.
  if (!options.doesForce && (await isThere(path))) throw createExistence(path);
  const draft = nameDraft(dirname(path));
  try {
    await fetchOutput(output, draft, options);
    if (options.doesForce) await rename(draft, path);
    else await link(draft, path).catch((error) => renameDraft(error, draft, path));
  } finally {
    await rm(draft, { force: true });
  }
}

function nameDraft(folder: string): string {
  return join(folder, `.sluice-${randomBytes(6).toString("hex")}.part`);
}

/** For file systems without hard links: check, then rename. */
async function renameDraft(error: NodeJS.ErrnoException, draft: string, path: string): Promise<void> {
  if (error.code === "EEXIST" || (await isThere(path))) throw createExistence(path);
  await rename(draft, path);
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Writes only a complete and verified download, because standard output cannot be undone. */
async function writeOut(output: TaskOutput, options: SaveOptions): Promise<void> {
  const draft = nameDraft(tmpdir());
  try {
    await fetchOutput(output, draft, options);
    for await (const chunk of createReadStream(draft)) options.terminal.write(chunk);
  } finally {
    await rm(draft, { force: true });
  }
}
