import { type DragEvent, useState } from "react";
import { joinClasses } from "../../design/join-classes.ts";
import { fileUrl } from "./kept-file.ts";
import { describeShot, measureRounded, type Shot } from "./storyboard.ts";

const dragType = "application/x-sluice-shot";

type FilmstripProps = {
  shots: readonly Shot[];
  chosenId: string | null;
  onChoose(id: string): void;
  onMove(id: string, to: number): void;
};

/** The shots in order, reordered by dragging or with the editor's buttons. */
export function Filmstrip({ shots, chosenId, onChoose, onMove }: FilmstripProps) {
  const [overId, setOverId] = useState<string | null>(null);
  return (
    <ol aria-label="Shots" className="-mx-1 flex gap-2 overflow-x-auto p-1 pb-2">
      {shots.map((shot, index) => (
        <li
          key={shot.id}
          className={joinClasses("shrink-0 rounded-md", overId === shot.id && "ring-2 ring-accent")}
          onDragOver={(event) => {
            if (!event.dataTransfer.types.includes(dragType)) return;
            event.preventDefault();
            setOverId(shot.id);
          }}
          onDragLeave={() => setOverId(null)}
          onDrop={(event) => {
            setOverId(null);
            const id = event.dataTransfer.getData(dragType);
            if (id === "") return;
            event.preventDefault();
            onMove(id, index);
          }}
        >
          <ShotCard
            {...{ shot, index }}
            isChosen={shot.id === chosenId}
            onChoose={() => onChoose(shot.id)}
            onDragStart={({ dataTransfer }) => dataTransfer.setData(dragType, shot.id)}
          />
        </li>
      ))}
    </ol>
  );
}

type ShotCardProps = {
  shot: Shot;
  index: number;
  isChosen: boolean;
  onChoose(): void;
  onDragStart(event: DragEvent): void;
};

function ShotCard({ shot, index, isChosen, onChoose, onDragStart }: ShotCardProps) {
  const words = describeShot(shot);
  return (
    <button
      type="button"
      draggable
      aria-pressed={isChosen}
      aria-label={`Shot ${index + 1}: ${words}`}
      onClick={onChoose}
      onDragStart={onDragStart}
      className={joinClasses(
        "flex w-40 cursor-grab flex-col overflow-hidden rounded-md border bg-canvas text-left",
        isChosen ? "border-accent ring-2 ring-accent" : "border-line hover:border-line-strong",
      )}
    >
      {shot.image_file_id === null ? (
        <span className="flex aspect-video w-full items-center justify-center bg-sunken px-2 text-center text-xs text-ink-soft">
          Drawn with the video
        </span>
      ) : (
        <img
          src={fileUrl(shot.image_file_id)}
          alt=""
          loading="lazy"
          draggable={false}
          className="aspect-video w-full bg-sunken object-cover"
        />
      )}
      <span className="flex flex-col gap-0.5 p-2">
        <span className="flex justify-between text-xs tabular-nums">
          <span className="font-semibold">{index + 1}</span>
          <span className="text-ink-soft">{measureRounded(shot)} s</span>
        </span>
        <span className="line-clamp-2 min-h-9 text-xs text-ink-soft">{words}</span>
      </span>
    </button>
  );
}
