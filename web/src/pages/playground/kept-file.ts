import type { StoredFile } from "../../api/fetch-files.ts";
import type { TaskOutput } from "../../api/fetch-tasks.ts";
import type { KeptFile } from "./media-values.ts";

const dragType = "application/x-sluice-file";

/** URL of a file for this page. Unlike a signed link, it does not change. */
export function fileUrl(fileId: string): string {
  return `/console/api/files/${fileId}/content`;
}

export function keepStored({ id, filename, content_type: contentType, bytes }: StoredFile): KeptFile {
  return { id, name: filename, contentType, bytes, seconds: null };
}

export function keepOutput(output: TaskOutput, name: string): KeptFile {
  const { file_id: id, content_type: contentType, bytes, duration } = output;
  return { id, name, contentType, bytes, seconds: duration ?? null };
}

/** Lets a file of the account be dragged into file fields. */
export function writeDragged(transfer: DataTransfer, file: KeptFile): void {
  transfer.effectAllowed = "copy";
  transfer.setData(dragType, JSON.stringify(file));
}

export function readDragged(transfer: DataTransfer): KeptFile | null {
  const text = transfer.getData(dragType);
  // Only this page writes it.
  return text === "" ? null : (JSON.parse(text) as KeptFile);
}
