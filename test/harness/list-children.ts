import { readdir, readFile } from "node:fs/promises";
import { endSharedBrowser } from "./site/shared-browser.ts";

/** The ids of all descendants of this process, without zombies and without the browser of earlier test files. */
export async function listChildren(ancestor = process.pid): Promise<number[]> {
  await endSharedBrowser();
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (state !== undefined && state !== "Z" && state !== "X") parents.set(pid, Number(parent));
  }
  const isDescendant = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === ancestor || (parent > 1 && isDescendant(parent)));
  };
  return pids.filter((pid) => pid !== ancestor && isDescendant(pid));
}
