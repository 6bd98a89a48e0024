import { type DragEvent, type ReactNode, useState } from "react";
import { joinClasses } from "../../design/join-classes.ts";
import { readDragged } from "./kept-file.ts";
import type { KeptFile } from "./media-values.ts";

type DropAreaProps = {
  isOff?: boolean;
  onFiles(files: File[]): void;
  /** For something that the account has already, such as an output that was dragged here. */
  onKept?(file: KeptFile): void;
  children: ReactNode;
};

/**
 * Takes files that are dropped onto it, unless an area inside has taken them. Whoever has no pointer chooses them by a
 * button inside.
 */
export function DropArea({ isOff = false, onFiles, onKept, children }: DropAreaProps) {
  const [isOver, setOver] = useState(false);
  const take = (event: DragEvent) => {
    setOver(false);
    if (event.isDefaultPrevented()) return;
    // Without this the browser would leave the page and show the file.
    event.preventDefault();
    const kept = readDragged(event.dataTransfer);
    const files = [...event.dataTransfer.files];
    if (isOff) return;
    if (kept !== null) onKept?.(kept);
    else if (files.length > 0) onFiles(files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way to do what a button does.
    <div
      data-drop-area
      onDragOver={(event) => {
        setOver(!isOff && !event.isDefaultPrevented());
        event.preventDefault();
      }}
      onDragLeave={() => setOver(false)}
      onDrop={take}
      className={joinClasses(
        "min-w-0 rounded-lg",
        isOver && "outline-2 outline-offset-2 outline-accent outline-dashed",
      )}
    >
      {children}
    </div>
  );
}
