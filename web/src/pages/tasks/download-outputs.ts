import type { Task } from "../../api/ask-tasks.ts";
import { nameDownload } from "../../parts/records/name-download.ts";
import { linkDownload } from "../../parts/records/output-links.ts";

/** Browsers block more downloads at once. */
const downloadsMax = 50;
const pauseMs = 250;

/** Files that have not expired. */
export function listDownloads(tasks: readonly Task[], now: Date): string[] {
  return tasks
    .flatMap((task) =>
      task.output.flatMap((output, index) =>
        new Date(output.expires_at) > now ? [linkDownload(output, nameDownload(task, index))] : [],
      ),
    )
    .slice(0, downloadsMax);
}

/** Sequential: browsers keep only the last of several simultaneous downloads. */
export async function downloadOutputs(links: readonly string[]): Promise<void> {
  for (const [index, link] of links.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.download = "";
    anchor.click();
  }
}
