import { type DragEvent, type ReactNode, useState } from "react";
import { joinClasses } from "../../design/join-classes.ts";
import { readDragged } from "./kept-file.ts";
import type { KeptFile } from "./media-values.ts";

type DropAreaProps = {
  isOff?: boolean;
  onFiles(files: File[]): void;
  /** For a file of the account, such as a dragged output. */
  onKept?(file: KeptFile): void;
  children: ReactNode;
};

/** Accepts dropped files that no inner area took. The buttons inside do the same for keyboards. */
export function DropArea({ isOff = false, onFiles, onKept, children }: DropAreaProps) {
  const [isOver, setOver] = useState(false);
  const take = (event: DragEvent) => {
    setOver(false);
    if (event.isDefaultPrevented()) return;
    // Without this the browser navigates to the dropped file.
    event.preventDefault();
    const kept = readDragged(event.dataTransfer);
    const files = [...event.dataTransfer.files];
    if (isOff) return;
    if (kept !== null) onKept?.(kept);
    else if (files.length > 0) onFiles(files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping duplicates a button.
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
