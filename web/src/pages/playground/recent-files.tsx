import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { FilePreview } from "./file-preview.tsx";
import { keepStored } from "./kept-file.ts";
import type { FileKind } from "./media-fields.ts";
import type { KeptFile } from "./media-values.ts";
import { isOfKind } from "./upload-input-file.ts";

type RecentFilesProps = { label: string; takes: FileKind; onChoose(file: KeptFile): void; onClose(): void };

/** Recent outputs and uploads that the field accepts. */
export function RecentFiles({ label, takes, onChoose, onClose }: RecentFilesProps) {
  const { data, error, refetch } = useTableQuery(queryTable.files.recent());
  const { time_zone: timeZone } = useSession().account;
  const files = data?.data.filter((file) => file.content_type !== "" && isOfKind(file.content_type, takes));
  return (
    <Dialog title={`Recent files: ${label}`} size="wide" onClose={onClose}>
      {error !== null && <LoadFailure error={error} onRetry={() => void refetch()} />}
      {error === null && files === undefined && <Skeleton className="h-64" />}
      {files?.length === 0 && (
        <EmptyState title="No files yet">
          {takes === "audio"
            ? "Generate speech, or upload a recording."
            : "Generate an image or a video, or upload one."}
        </EmptyState>
      )}
      {files !== undefined && files.length > 0 && (
        <ul className="grid max-h-[60vh] gap-3 overflow-y-auto p-1 sm:grid-cols-2">
          {files.map((file) => (
            <li key={file.id} className="flex min-w-0 flex-wrap items-center gap-3 rounded-md border border-line p-2">
              <FilePreview
                file={keepStored(file)}
                frame="size-20 shrink-0 rounded-md border border-line bg-sunken object-cover"
              />
              <div className="flex min-w-0 flex-1 flex-col items-start">
                <span className="max-w-full truncate text-sm font-medium">{file.filename}</span>
                <span className="text-xs text-ink-soft">
                  {file.purpose === "output" ? "Created" : "Uploaded"}{" "}
                  {formatMoment(new Date(file.created * 1000).toISOString(), timeZone)}
                </span>
                <Button
                  look="quiet"
                  className="-ml-2"
                  aria-label={`Use ${file.filename}`}
                  onClick={() => {
                    onChoose(keepStored(file));
                    onClose();
                  }}
                >
                  Use
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
