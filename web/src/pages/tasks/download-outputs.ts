import type { Task } from "../../api/ask-tasks.ts";
import { nameDownload } from "../../parts/records/name-download.ts";
import { linkDownload } from "../../parts/records/output-links.ts";

/** More at once no browser takes from a page. */
const downloadsMax = 50;
const pauseMs = 250;

/** The files of some tasks that are still kept. */
export function listDownloads(tasks: readonly Task[], now: Date): string[] {
  return tasks
    .flatMap((task) =>
      task.output.flatMap((output, index) =>
        new Date(output.expires_at) > now ? [linkDownload(output, nameDownload(task, index))] : [],
      ),
    )
    .slice(0, downloadsMax);
}

/** One after the other: of several at the same moment, browsers keep only the last. */
export async function downloadOutputs(links: readonly string[]): Promise<void> {
  for (const [index, link] of links.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.download = "";
    anchor.click();
  }
}
