import { useState } from "react";
import type { Model, ModelDetail, PriceList } from "../../api/fetch-catalog.ts";
import type { Task } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { estimateCharge } from "./estimate-charge.ts";
import { EstimateLine } from "./estimate-line.tsx";
import { Filmstrip } from "./filmstrip.tsx";
import { MissingCredit } from "./missing-credit.tsx";
import { RequestFailure } from "./request-failure.tsx";
import { ReshootRun } from "./reshoot.tsx";
import { ShotEditor } from "./shot-editor.tsx";
import {
  addShot,
  changeShot,
  findShotProblem,
  moveShot,
  parseStoryboard,
  removeShot,
  type Shot,
  type Storyboard,
} from "./storyboard.ts";
import { useStoredState } from "./use-stored-state.ts";
import { useSubmission } from "./use-submission.ts";

type StoryboardEditorProps = {
  task: Task;
  fileId: string;
  model: ModelDetail;
  models: readonly Model[];
  prices: PriceList;
  onShow(taskId: string): void;
};

/** Edits a drama's storyboard before the video: reorder, change or redraw its shots. */
export function StoryboardEditor(props: StoryboardEditorProps) {
  const { data, error, refetch } = useTableQuery(queryTable.tasks.document(props.fileId));
  if (error !== null) return <LoadFailure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton className="h-64" />;
  const board = parseStoryboard(JSON.parse(data));
  return board === null ? null : <Editor key={props.fileId} {...props} made={board} />;
}

const keptBoard = { parse: parseStoryboard };
const keptDrawings = {
  // Only this page writes it.
  parse: (stored: unknown) => (typeof stored === "object" && stored !== null ? (stored as Record<string, string>) : {}),
};

function Editor({ task, model, models, prices, made, onShow }: StoryboardEditorProps & { made: Storyboard }) {
  const [changed, setChanged] = useStoredState<Storyboard | null>(`storyboard:${task.id}`, keptBoard);
  const [chosenId, setChosenId] = useState<string | null>(null);
  // By shot and stored, so other shots can be edited meanwhile and a reload loses no paid image.
  const [drawings, setDrawings] = useStoredState(`drawings:${task.id}`, keptDrawings);
  const submission = useSubmission(({ id }) => onShow(id));
  const board = changed ?? made;
  const chosen = board.shots.find(({ id }) => id === chosenId) ?? null;
  const change = (edit: (last: Storyboard) => Storyboard) => setChanged((last) => edit(last ?? made));
  const problem = board.shots.map(findShotProblem).find((each) => each !== null) ?? null;
  const body = { model: model.id, from_task_id: task.id, stage: "video", script: board };
  const estimate = estimateCharge(prices.data, { model, body, values: {} });
  const film = () => submission.submit({ type: "drama", body });
  const add = (afterId: string) => {
    const added = addShot(board, afterId);
    if (added === null) return;
    setChanged(added.board);
    setChosenId(added.id);
  };
  return (
    <section
      aria-label="Storyboard"
      className="flex min-w-0 flex-col gap-4 rounded-lg border border-line bg-surface p-4"
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h3 className="font-semibold">Storyboard</h3>
        <p className="text-sm text-ink-soft">Select a shot to edit, move or redraw it before you make the video.</p>
        {changed !== null && (
          <Button look="quiet" className="-mr-2 ml-auto" onClick={() => setChanged(null)}>
            Discard changes
          </Button>
        )}
      </div>
      <Filmstrip
        shots={board.shots}
        chosenId={chosenId}
        onChoose={(id) => setChosenId(id === chosenId ? null : id)}
        onMove={(id, to) => change((last) => moveShot(last, id, to))}
      />
      {chosen !== null && (
        <ShotEditor
          key={chosen.id}
          {...{ board, models, prices }}
          shot={chosen}
          position={board.shots.indexOf(chosen)}
          onChange={(part: Partial<Shot>) => change((last) => changeShot(last, chosen.id, part))}
          isDrawing={drawings[chosen.id] !== undefined}
          onDraw={(taskId) => setDrawings((last) => ({ ...last, [chosen.id]: taskId }))}
          onMove={(to) => change((last) => moveShot(last, chosen.id, to))}
          onAdd={() => add(chosen.id)}
          onRemove={() => change((last) => removeShot(last, chosen.id))}
        />
      )}
      {board.shots.map(({ id }, index) => {
        const taskId = drawings[id];
        const end = () => setDrawings(({ [id]: _, ...last }) => last);
        return taskId === undefined ? null : (
          <ReshootRun
            key={taskId}
            taskId={taskId}
            name={`shot ${index + 1}`}
            onImage={(fileId) => {
              end();
              change((last) => changeShot(last, id, { image_file_id: fileId }));
            }}
            onFailed={end}
          />
        );
      })}
      {submission.error !== null && <RequestFailure error={submission.error} onRetry={film} />}
      <MissingCredit type="drama" estimates={[estimate]} />
      <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
        <Button look="primary" isBusy={submission.isBusy} isDisabled={problem !== null} onClick={film}>
          Make the video
        </Button>
        {problem === null ? (
          <EstimateLine estimate={estimate} currency={prices.currency} source="storyboard" />
        ) : (
          <p className="text-sm text-danger">{problem}</p>
        )}
      </div>
    </section>
  );
}
