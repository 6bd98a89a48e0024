import { useEffect, useState } from "react";
import type { Model, PriceList } from "../../api/fetch-catalog.ts";
import { isOver } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { Notice } from "../../design/notice.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { useFollowedTask } from "../../parts/records/use-followed-task.ts";
import { estimateCharge } from "./estimate-charge.ts";
import { EstimateLine } from "./estimate-line.tsx";
import { RecentFiles } from "./recent-files.tsx";
import { RequestFailure } from "./request-failure.tsx";
import { buildShotImage, type Shot, type Storyboard } from "./storyboard.ts";
import { useSubmission } from "./use-submission.ts";

type ReshootProps = {
  board: Storyboard;
  shot: Shot;
  models: readonly Model[];
  prices: PriceList;
  /** Called when a new image is being drawn. */
  isDrawing: boolean;
  onDraw(taskId: string): void;
  /** `null` leaves drawing the image to the video step. */
  onImage(fileId: string | null): void;
};

/**
 * Redraws one shot. The API draws whole storyboards only, so an image model draws the shot at its own price. Or the
 * video step draws shots without an image.
 */
export function Reshoot({ board, shot, models, prices, isDrawing, onDraw, onImage }: ReshootProps) {
  const painters = models.filter(
    ({ type, capabilities }) => type === "image" && capabilities.includes("text_to_image"),
  );
  const [painterId, setPainterId] = useState(painters[0]?.id ?? "");
  const [isChoosing, setChoosing] = useState(false);
  const { data: painter } = useTableQuery(queryTable.models.one(painterId), { isEnabled: painterId !== "" });
  const submission = useSubmission((task) => onDraw(task.id));
  const body = painter === undefined ? null : buildShotImage(shot, board, painter);
  const estimate =
    painter === undefined || body === null ? null : estimateCharge(prices.data, { model: painter, body, values: {} });
  return (
    <div className="flex flex-col gap-3 rounded-md bg-sunken p-3">
      <div className="flex flex-wrap items-end gap-3">
        {painters.length > 1 && (
          <SelectField
            label="Image model"
            options={painters.map(({ id, name }) => ({ value: id, label: name }))}
            value={painterId}
            onChange={setPainterId}
          />
        )}
        {body !== null && (
          <Button
            isBusy={submission.isBusy}
            isDisabled={isDrawing || shot.prompt.trim() === ""}
            onClick={() => submission.submit({ type: "image", body })}
          >
            Re-shoot
          </Button>
        )}
        <Button onClick={() => setChoosing(true)}>Use another image</Button>
        {shot.image_file_id !== null && (
          <Button look="quiet" onClick={() => onImage(null)}>
            Draw with the video
          </Button>
        )}
      </div>
      <EstimateLine estimate={estimate} currency={prices.currency} />
      {submission.error !== null && <RequestFailure error={submission.error} />}
      {isChoosing && (
        <RecentFiles
          label="image of the shot"
          takes="image"
          onChoose={({ id }) => onImage(id)}
          onClose={() => setChoosing(false)}
        />
      )}
    </div>
  );
}

type ReshootRunProps = { taskId: string; name: string; onImage(fileId: string): void; onFailed(): void };

/** Polls the new image's task, then replaces the old image. */
export function ReshootRun({ taskId, name, onImage, onFailed }: ReshootRunProps) {
  const { task, error } = useFollowedTask(taskId);
  const image = task?.status === "succeeded" ? task.output[0]?.file_id : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each image is taken once.
  useEffect(() => {
    if (image !== undefined) onImage(image);
  }, [image]);
  const problem =
    error?.message ??
    task?.error?.message ??
    (task !== undefined && isOver(task) ? "The task produced no image. Try again." : null);
  if (image !== undefined) return null;
  if (problem === null) {
    return (
      <div className="flex flex-col gap-1 text-sm text-ink-soft">
        <p>Drawing {name}</p>
        <ProgressBar label={`New image of ${name}`} percent={task?.progress ?? 0} />
      </div>
    );
  }
  return (
    <Notice kind="error" title={`Could not redraw ${name}`}>
      <p>
        <InlineCodeText text={problem} />
      </p>
      <Button look="quiet" className="-ml-2" onClick={onFailed}>
        Close
      </Button>
    </Notice>
  );
}
