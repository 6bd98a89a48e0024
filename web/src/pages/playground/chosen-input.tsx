import type { Model } from "../../api/ask-catalog.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { FilePreview } from "./file-preview.tsx";
import { keepStored } from "./kept-file.ts";
import { type InputUse, listInputUses } from "./list-input-uses.ts";
import type { KeptFile } from "./media-values.ts";

type ChosenInputProps = {
  fileId: string;
  models: readonly Model[];
  chosenId: string;
  onUse(use: InputUse, file: KeptFile): void;
  onClose(): void;
};

/** A file passed in the URL, with the forms it can be used in. */
export function ChosenInput({ fileId, models, chosenId, onUse, onClose }: ChosenInputProps) {
  const { data, error, refetch } = useTableQuery(queryTable.files.one(fileId));
  if (error !== null) {
    return <LoadFailure title="Could not load the file." error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) return <Skeleton className="h-24" />;
  const file = keepStored(data);
  const uses = listInputUses(file.contentType, models, chosenId);
  return (
    <section
      aria-label="Use as input"
      className="flex flex-wrap items-center gap-4 rounded-lg border border-accent bg-accent-soft p-4"
    >
      <FilePreview file={file} frame="size-16 shrink-0 rounded-md border border-line bg-sunken object-cover" />
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <p className="text-sm font-medium">
          {uses.length === 0 ? "No model of your account accepts this file" : "Use this file as"}
        </p>
        <div className="flex flex-wrap gap-2">
          {uses.map((use) => (
            <Button key={`${use.type} ${use.field}`} onClick={() => onUse(use, file)}>
              {use.label}
            </Button>
          ))}
          <Button look="quiet" onClick={onClose}>
            Not now
          </Button>
        </div>
      </div>
    </section>
  );
}
