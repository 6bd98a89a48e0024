import type { Model, PriceList } from "../../api/fetch-catalog.ts";
import { Button } from "../../design/button.tsx";
import { CheckField } from "../../design/check-field.tsx";
import { Icon } from "../../design/icon.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { Reshoot } from "./reshoot.tsx";
import { type Line, type Shot, type Storyboard, shotSeconds } from "./storyboard.ts";

type ShotEditorProps = {
  board: Storyboard;
  shot: Shot;
  position: number;
  models: readonly Model[];
  prices: PriceList;
  isDrawing: boolean;
  onDraw(taskId: string): void;
  onChange(part: Partial<Shot>): void;
  onMove(to: number): void;
  onAdd(): void;
  onRemove(): void;
};

export function ShotEditor(props: ShotEditorProps) {
  const { board, shot, position, models, prices, isDrawing, onDraw, onChange } = props;
  const number = position + 1;
  return (
    <fieldset className="flex min-w-0 flex-col gap-4 border-t border-line pt-4">
      <legend className="sr-only">Shot {number}</legend>
      <ShotActions {...props} />
      <TextArea
        label="What the shot shows"
        name="shot_prompt"
        maxLength={4000}
        value={shot.prompt}
        onChange={(prompt) => onChange({ prompt })}
      />
      <div className="grid items-start gap-4 sm:grid-cols-[minmax(0,1fr)_9rem]">
        <TextField
          label="Camera"
          name="shot_camera"
          maxLength={300}
          value={shot.camera}
          onChange={(camera) => onChange({ camera })}
        />
        <TextField
          label="Seconds"
          name="shot_duration"
          type="number"
          min={shotSeconds.min}
          max={shotSeconds.max}
          step="0.1"
          value={String(shot.duration)}
          hint={shot.lines.length === 0 ? undefined : "Set by the spoken lines."}
          onChange={(text) => onChange({ duration: readSeconds(text) })}
        />
      </div>
      <Lines lines={shot.lines} roles={board.roles.map(({ name }) => name)} onChange={(lines) => onChange({ lines })} />
      {board.roles.length > 0 && <Cast board={board} shot={shot} onChange={(characters) => onChange({ characters })} />}
      <Reshoot
        {...{ board, shot, models, prices, isDrawing, onDraw }}
        onImage={(fileId) => onChange({ image_file_id: fileId })}
      />
    </fieldset>
  );
}

function readSeconds(text: string): number {
  const value = Number(text);
  return Number.isFinite(value) ? Math.min(shotSeconds.max, Math.max(shotSeconds.min, value)) : shotSeconds.min;
}

function ShotActions({ board, position, onMove, onAdd, onRemove }: ShotEditorProps) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      <h4 className="mr-auto text-sm font-semibold">Shot {position + 1}</h4>
      <Button onClick={() => onMove(position - 1)} isDisabled={position === 0}>
        Move left
      </Button>
      <Button onClick={() => onMove(position + 1)} isDisabled={position === board.shots.length - 1}>
        Move right
      </Button>
      <Button onClick={onAdd}>
        <Icon name="plus" />
        Add a shot
      </Button>
      <Button look="danger" onClick={onRemove} isDisabled={board.shots.length === 1}>
        Remove
      </Button>
    </div>
  );
}

type LinesProps = { lines: readonly Line[]; roles: readonly string[]; onChange(lines: Line[]): void };

const linesMax = 20;

function Lines({ lines, roles, onChange }: LinesProps) {
  const change = (index: number, part: Partial<Line>) =>
    onChange(lines.map((line, position) => (position === index ? { ...line, ...part } : line)));
  const speakers = [{ value: "", label: "Narrator" }, ...roles.map((name) => ({ value: name, label: name }))];
  return (
    <div className="flex flex-col gap-3">
      {lines.map((line, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id.
          key={index}
          className="grid items-end gap-2 sm:grid-cols-[10rem_minmax(0,1fr)_auto]"
        >
          <SelectField
            label={`Speaker of line ${index + 1}`}
            options={speakers}
            value={line.speaker ?? ""}
            onChange={(speaker) => change(index, { speaker: speaker === "" ? null : speaker })}
          />
          <TextField
            label={`Line ${index + 1}`}
            name={`line_${index + 1}`}
            maxLength={2000}
            value={line.text}
            onChange={(text) => change(index, { text })}
          />
          <Button
            look="quiet"
            aria-label={`Remove line ${index + 1}`}
            onClick={() => onChange(lines.filter((_, position) => position !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      {lines.length < linesMax && (
        <Button
          look="quiet"
          className="-ml-2 self-start"
          onClick={() => onChange([...lines, { speaker: lines.at(-1)?.speaker ?? null, text: "" }])}
        >
          <Icon name="plus" />
          Add a line
        </Button>
      )}
    </div>
  );
}

type CastProps = { board: Storyboard; shot: Shot; onChange(characters: string[]): void };

/** Visible characters; speakers always are. */
function Cast({ board, shot, onChange }: CastProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">In the shot</legend>
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        {board.roles.map(({ name }) => (
          <CheckField
            key={name}
            label={name}
            name={`cast_${name}`}
            isChecked={shot.characters.includes(name)}
            onChange={(isSeen) =>
              onChange(isSeen ? [...shot.characters, name] : shot.characters.filter((each) => each !== name))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
