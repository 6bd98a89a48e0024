import { type DragEvent, type ReactNode, useState } from "react";
import { joinClasses } from "../../design/join-classes.ts";

type DropAreaProps = { isOff?: boolean; onFiles(files: File[]): void; children: ReactNode };

/** Takes files that are dropped onto it. Whoever has no pointer chooses them by a button inside. */
export function DropArea({ isOff = false, onFiles, children }: DropAreaProps) {
  const [isOver, setOver] = useState(false);
  const take = (event: DragEvent) => {
    // Without this the browser would leave the page and show the file.
    event.preventDefault();
    setOver(false);
    const files = [...event.dataTransfer.files];
    if (!isOff && files.length > 0) onFiles(files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way to do what a button does.
    <div
      data-drop-area
      onDragOver={(event) => {
        event.preventDefault();
        setOver(!isOff);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={take}
      className={joinClasses("rounded-lg", isOver && "outline-2 outline-offset-2 outline-accent outline-dashed")}
    >
      {children}
    </div>
  );
}
