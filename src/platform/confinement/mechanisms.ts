import { existsSync } from "node:fs";
import { join } from "node:path";
import { readableDevices, systemPaths, type View, writableDevices } from "./view.ts";

export type MechanismName = "bubblewrap" | "landlock";

export type Mechanism = {
  name: MechanismName;
  /** The program on the PATH. */
  program: string;
  /** The whole command line. The program reads the seccomp filter from file descriptor 3. */
  wrap(path: string, command: readonly string[], view: View): string[];
};

/** The best first. */
export const mechanisms: readonly Mechanism[] = [
  { name: "bubblewrap", program: "bwrap", wrap: wrapInBubble },
  { name: "landlock", program: "perl", wrap: wrapInLandlock },
];

/** Separate namespaces: no network, no other processes, and only the bound paths. */
function wrapInBubble(path: string, command: readonly string[], view: View): string[] {
  const bind = (kind: string, paths: readonly string[]): string[] => paths.flatMap((each) => [kind, each, each]);
  return [
    path,
    ...["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"],
    ...bind("--dev-bind-try", [...readableDevices, ...writableDevices]),
    ...bind("--ro-bind-try", systemPaths),
    ...bind("--ro-bind", [...command.slice(0, 1), ...(view.runs ?? []), ...view.reads]),
    ...bind("--bind", view.writes),
    ...["--remount-ro", "/", "--chdir", "/", "--seccomp", "3", "--"],
    ...command,
  ];
}

const prctlNumbers: Readonly<Record<string, string>> = { x64: "157", arm64: "167" };

/** Landlock works where namespaces are not permitted, as in most containers. */
function wrapInLandlock(path: string, command: readonly string[], view: View): string[] {
  const rule = (kind: string, paths: readonly string[]): string[] => paths.map((each) => `${kind}:${each}`);
  return [
    ...[path, join(import.meta.dirname, "landlock.pl"), prctlNumbers[process.arch] ?? ""],
    ...rule("read", [...readableDevices.filter(existsSync), ...view.reads]),
    ...rule("run", [...systemPaths.filter(existsSync), ...command.slice(0, 1), ...(view.runs ?? [])]),
    ...rule("write", [...writableDevices.filter(existsSync), ...view.writes]),
    "--",
    ...command,
  ];
}
